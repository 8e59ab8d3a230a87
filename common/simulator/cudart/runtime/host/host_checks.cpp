// SPDX-License-Identifier: MIT
#include "cudart/runtime/host/host_checks.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <numeric>
#include <ranges>
#include <sstream>
#include <utility>

#include "cudart/runtime/call_stack.hpp"
#include "cudart/runtime/host/work_order.hpp"
#include "cudart/runtime/memory/registered.hpp"
#include "sim/observation/report.hpp"

namespace course::cudart {

bool is_an_answer(cudaError_t code) {
  constexpr cudaError_t kAnswers[] = {
      cudaErrorNotReady,
      cudaErrorPeerAccessAlreadyEnabled,
      cudaErrorPeerAccessNotEnabled,
  };
  return std::ranges::find(kAnswers, code) != std::end(kAnswers);
}

namespace {

sim::Finding host_finding(sim::Checker checker, std::string kind, std::string object, std::string message) {
  sim::Finding finding;
  finding.checker = checker;
  finding.kind = std::move(kind);
  finding.object = std::move(object);
  finding.message = std::move(message);
  return finding;
}

}  // namespace

bool checks_host(Context& context) {
  const std::lock_guard guard(context.lock);
  const sim::Device& device = context.device();
  return (device.mode() & sim::kHostcheck) != 0 && !device.device_only_memory().empty();
}

void check_call(const std::string& call, const Status& status) {
  Context& context = current_context();
  const std::lock_guard guard(context.lock);
  const bool created = context.created.load(std::memory_order_acquire);
  if (!created && (runtime().environment().mode & sim::kHostcheck) == 0) return;
  if ((context.device().mode() & sim::kHostcheck) == 0 ||
      (is_an_answer(status.code()) && status.kind() == std::string_view("api-error")) ||
      status.code() == context.sticky)
    return;
  std::string kind = status.kind();
  const auto& known = context.device().findings();
  if (kind == sim::kConsequence && std::ranges::find(known, "api-error", &sim::Finding::kind) == known.end())
    kind = "api-error";
  const std::string text = status.text().empty() ? error_string(status.code()) : status.text();
  constexpr std::size_t kMaxRemembered = 64;
  auto& failed = thread_state().failed_calls;
  sim::Finding finding = add_host_error(
      context, kind, fmt::format("{} fails with {}: {}", call, error_name(status.code()), text),
      status.kernel());
  if (failed.size() < kMaxRemembered) failed.push_back({call, status.code(), &context, std::move(finding)});
}

namespace {

template <typename Handled>
void withdraw_if(Handled&& is_handled) {
  std::erase_if(thread_state().failed_calls, [&](FailedCall& failed) {
    if (!is_handled(failed)) return false;
    const std::lock_guard guard(failed.context->lock);
    failed.context->device().withdraw_finding(failed.finding);
    return true;
  });
}

}  // namespace

void error_was_read(cudaError_t error) {
  withdraw_if([&](FailedCall& failed) {
    failed.read = failed.read || failed.error == error;
    return failed.read && failed.error == cudaErrorMemoryAllocation;
  });
}

void call_succeeded(const std::string& call, const std::string& kernel) {
  const bool asks_for_resources =
      !kernel.empty() || call == "cudaFuncSetAttribute" || call == "cudaDeviceSetLimit";
  withdraw_if([&](const FailedCall& failed) {
    return failed.read && asks_for_resources && failed.call == call && failed.finding.kernel == kernel;
  });
}

sim::Finding add_host_error(Context& context, std::string kind, std::string message, std::string kernel) {
  const auto checker = kind == "missing-wait" ? sim::Checker::synccheck : sim::Checker::memcheck;
  const bool follows = kind == sim::kConsequence;
  sim::Finding finding = host_finding(checker, std::move(kind), "", std::move(message));
  if (follows) finding.severity = sim::Severity::hint;
  finding.kernel = std::move(kernel);
  finding.where = place_of(call_stack());
  const std::lock_guard guard(context.lock);
  context.device().add_finding(finding);
  return finding;
}

namespace {

// Whether the code before the call is `volatile int x = 1; exit(x);`: a store of 1 to the stack and a load.
bool is_exit_of_device_function(const void* call) {
#ifdef __x86_64__
  constexpr std::size_t kCallBytes = 5, kMostBytes = 24;  // of the call; of the two instructions before it
  std::array<unsigned char, kMostBytes> code{};
  std::memcpy(code.data(), static_cast<const unsigned char*>(call) + 1 - kCallBytes - kMostBytes, kMostBytes);
  constexpr std::array<unsigned char, 4> kOne{1, 0, 0, 0};
  const auto stores = [&](std::initializer_list<unsigned char> opcode) {
    for (auto at = code.begin(); at + opcode.size() + 5 < code.end(); ++at)
      if (std::equal(opcode.begin(), opcode.end(), at) &&
          std::equal(kOne.begin(), kOne.end(), at + opcode.size() + 1))
        return true;
    return false;
  };
  return stores({0xc7, 0x45}) || stores({0xc7, 0x44, 0x24});  // mov dword [rbp + d], 1; [rsp + d]
#else
  static_cast<void>(call);
  return false;
#endif
}

}  // namespace

void check_exit() {
  if (!current_context().created.load(std::memory_order_acquire)) return;  // it is too late to create one
  const CallStack calls = call_stack();
  const auto is_exit = [](const void* call) {
    Dl_info object{};
    static const void* const of_exit = dladdr(reinterpret_cast<const void*>(&exit), &object) != 0  // NOLINT
                                           ? object.dli_fbase
                                           : nullptr;
    return dladdr(call, &object) != 0 && object.dli_fbase == of_exit;
  };
  const auto caller = std::ranges::find_if_not(calls, is_exit);
  if (caller == calls.end() || !is_exit_of_device_function(*caller)) return;
  add_host_error(current_context(), "device-function-on-host",
                 "host code seems to call a __device__ function, whose body for the host only calls exit(1): "
                 "declare it __host__ __device__, or call it in a kernel");
}

std::string name_of_memory(Context& context, const sim::Allocation& memory) {
  if (memory.kind == sim::MemoryKind::module_variable)
    return fmt::format("the __device__ variable {}", readable_name(memory.name));
  if (!memory.name.empty()) return memory.name;
  const auto owned = context.owned.find(memory.base);
  if (owned == context.owned.end()) return fmt::format("memory of the device ({} bytes)", memory.size);
  const std::string line = text_of(place_of(owned->second.made_by));
  return fmt::format("memory of the device ({} bytes from {}{}{})", memory.size, owned->second.call,
                     line.empty() ? "" : " at ", line);
}

void add_host_access(Context& context, const HostAccess& access, std::vector<sim::SourcePlace> where) {
  const std::lock_guard guard(context.lock);
  const std::uint64_t address = access.address;
  const sim::Device& device = context.device();
  const sim::Allocation* const live = device.find_named(address);
  const sim::Allocation* const known = live != nullptr ? live : device.find_freed(address);
  const std::string object = known == nullptr
                                 ? "memory of the device, outside of all allocations"
                                 : (live == nullptr ? "freed " : "") + name_of_memory(context, *known);
  std::string remedy;
  if (known != nullptr && known->kind == sim::MemoryKind::module_variable)
    remedy = access.writes ? fmt::format(": store into host memory and call cudaMemcpyToSymbol({}, host, {})",
                                         readable_name(known->name), known->size)
                           : fmt::format(": call cudaMemcpyFromSymbol(host, {}, {}) first",
                                         readable_name(known->name), known->size);
  else if (known != nullptr)
    remedy = access.writes ? ": store into host memory and copy that with cudaMemcpy(device, host, bytes, "
                             "cudaMemcpyHostToDevice), or set bytes with cudaMemset"
                           : fmt::format(
                                 ": copy it to the host first, with cudaMemcpy(host, device, {}, "
                                 "cudaMemcpyDeviceToHost)",
                                 known->size);
  Dl_info function{};  // glibc's free() reads the size of a block from the 8 bytes before it
  if (known == nullptr && device.find_named(address + 8) != nullptr && dladdr(access.code, &function) != 0 &&
      function.dli_sname != nullptr && std::strstr(function.dli_sname, "free") != nullptr)
    remedy = ": free() and delete release memory of the host; for memory of cudaMalloc…, call cudaFree";
  sim::Finding finding = host_finding(
      sim::Checker::memcheck, "host-access", object,
      fmt::format(
          "{} {}{}, which only kernels and CUDA's copies can access; with a GPU, this ends the program "
          "with a segmentation fault{}",
          access.what, known != nullptr ? fmt::format("byte {} of ", address - known->base) : "", object,
          remedy));
  finding.where = std::move(where);
  if (!runtime().environment().check) say(finding.message);  // otherwise it is printed at the end
  context.device().add_finding(std::move(finding));
}

void check_waits() {
  for (const Launched& launch : launches_not_waited_for()) {
    Context& context = *launch.context;
    sim::Finding finding =
        host_finding(sim::Checker::synccheck, "missing-wait", launch.kernel,
                     fmt::format("the program ends, but the host has not waited for {} ({}): with a GPU, the "
                                 "kernel may be stopped, its printf output is lost, and its errors are not "
                                 "seen. Call cudaDeviceSynchronize() after it, and check the result",
                                 launch.kernel, launch.where));
    finding.severity = sim::Severity::hint;
    finding.where = place_of(launch.calls);
    const std::lock_guard guard(context.lock);
    if (checks_host(context) && context.sticky == cudaSuccess)
      context.device().add_finding(std::move(finding));
  }
}

void check_leaks(Context& context) {
  const std::lock_guard guard(context.lock);
  // After a fault, nothing can be freed.
  if (!context.created.load(std::memory_order_acquire) || !checks_host(context) ||
      context.sticky != cudaSuccess)
    return;
  std::map<std::pair<std::string, CallStack>, std::vector<const Owned*>> calls;
  for (const auto& [address, owned] : context.owned)
    if (owned.origin != Origin::graph) calls[{owned.call, owned.made_by}].push_back(&owned);
  for (const auto& [what, leaks] : calls) {
    const auto bytes = std::ranges::minmax(leaks | std::views::transform(&Owned::bytes));
    const std::uint64_t all = std::transform_reduce(leaks.begin(), leaks.end(), std::uint64_t{0}, std::plus{},
                                                    [](const Owned* leak) { return leak->bytes; });
    const std::string object = fmt::format(
        "{} allocation{} of {} bytes", leaks.size(), leaks.size() == 1 ? "" : "s",
        bytes.min == bytes.max ? fmt::to_string(bytes.min) : fmt::format("{} to {}", bytes.min, bytes.max));
    sim::Finding finding = host_finding(sim::Checker::leakcheck, "leak", object,
                                        fmt::format("{} by {} {} never freed: {} bytes", object, what.first,
                                                    leaks.size() == 1 ? "is" : "are", all));
    finding.where = place_of(leaks.front()->made_by);
    context.device().add_finding(std::move(finding));
  }
  context.device().find_heap_leaks();
}

namespace {

std::atomic<bool> has_launched{false}, has_host_functions{false}, lacks_work{false};

void write_number_of_process() {
  static const char* const descriptor = std::getenv("SIM_CHECK_FD");
  if (descriptor != nullptr) ::dprintf(std::atoi(descriptor), "%d\n", ::getpid());
}

// The process that used a device last: a child of fork() is another one.
std::atomic<::pid_t> last_user{0};

}  // namespace

void note_activity(Activity what) {
  if (what == Activity::launch) has_launched = true;
  if (what == Activity::host_function) has_host_functions = true;
  if (last_user.exchange(::getpid()) != ::getpid()) write_number_of_process();
}

void note_missing() {
  lacks_work = true;
}
bool has_missing() {
  return lacks_work;
}

std::size_t print_findings() {
  std::vector<sim::Finding> all;
  std::string unchecked;
  for (Context* const context : runtime().created()) {
    const std::lock_guard guard(context->lock);
    unchecked += context->device().unchecked_text();
    const auto& found = context->device().findings();
    all.insert(all.end(), found.begin(), found.end());
  }
  // Of all devices in one list, since the first fault of one may cause those of another.
  std::ranges::stable_sort(all, {}, &sim::Finding::number);
  const sim::FindingsText found = sim::Device::text_of(all);
  if (runtime().environment().verbose && !found.text.empty()) say(found.text);
  if (!runtime().environment().verbose)
    for (const std::string& finding : found.brief) say_briefly(finding);
  if (!has_launched) unchecked += "kernels, since none was launched\n";
  if (has_host_functions)
    unchecked += "whether what a function of cudaLaunchHostFunc accesses is in use by other host code\n";
  if (ever_registered()) unchecked += "whether host code waits before it uses memory of cudaHostRegister\n";
  const auto count = [](std::size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  std::istringstream lines(unchecked);
  for (std::string line; std::getline(lines, line);) say(fmt::format("not checked: {}", line));
  if (found.errors + found.hints == 0)
    say(unchecked.empty() ? "checked: nothing found" : "checked: nothing found in what was checked");
  else
    say(fmt::format("checked: {}, {}", count(found.errors, "error"), count(found.hints, "hint")));
  if (last_user == ::getpid()) write_number_of_process();
  return found.errors;
}

}  // namespace course::cudart
