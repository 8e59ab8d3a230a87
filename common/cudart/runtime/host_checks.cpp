// SPDX-License-Identifier: MIT
#include "cudart/runtime/host_checks.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace course::cudart {
namespace {

bool is_an_answer(cudaError_t code) {
  constexpr cudaError_t kAnswers[] = {
      cudaErrorNotReady,
      cudaErrorNotSupported,
      cudaErrorPeerAccessAlreadyEnabled,
      cudaErrorPeerAccessNotEnabled,
  };
  return std::find(std::begin(kAnswers), std::end(kAnswers), code) != std::end(kAnswers);
}

const char* maker(Origin origin) {
  switch (origin) {
    case Origin::pitched: return "cudaMallocPitch";
    case Origin::host: return "cudaMallocHost";
    case Origin::managed: return "cudaMallocManaged";
    case Origin::pool: return "cudaMallocAsync";
    default: return "cudaMalloc";
  }
}

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
  return (context.device().mode() & sim::kHostcheck) != 0;
}

void check_call(const char* call, const Status& status) {
  Context& context = current_context();
  const std::lock_guard guard(context.lock);
  const bool created = context.created.load(std::memory_order_acquire);
  if (!created && (runtime().environment().mode & sim::kHostcheck) == 0) return;
  if (!checks_host(context) || is_an_answer(status.code()) || status.code() == context.sticky) return;
  const std::string text = status.text().empty() ? error_string(status.code()) : status.text();
  context.device().add_finding(
      host_finding(sim::Checker::memcheck, status.kind(), "",
                   fmt::format("{} fails with {}: {}", call, error_name(status.code()), text)));
}

void check_source(const CopyOp& copy, const std::string& what) {
  const std::optional<Place> place = locate(copy.src);
  if (!place) return;
  const std::lock_guard guard(place->context->lock);
  sim::Device& device = place->context->device();
  if (!checks_host(*place->context)) return;
  for (std::uint64_t z = 0; z < copy.depth; ++z)
    for (std::uint64_t y = 0; y < copy.height; ++y) {
      const std::byte* row = copy.src + y * copy.src_pitch + z * copy.src_slice;
      if (device.any_written(reinterpret_cast<std::uint64_t>(row), copy.width))
        return;  // NOLINT: of our arena
    }
  const std::string name =
      place->name.empty() ? fmt::format("an allocation of {} bytes", place->size) : place->name;
  device.add_finding(host_finding(
      sim::Checker::initcheck, "uninitialised-global", name,
      fmt::format("{} reads {} bytes of {}, but nothing has been written there since it was allocated", what,
                  copy.width * copy.height * copy.depth, name)));
}

void check_leaks(Context& context) {
  const std::lock_guard guard(context.lock);
  // After a fault, nothing can be freed.
  if (!context.created.load(std::memory_order_acquire) || !checks_host(context) ||
      context.sticky != cudaSuccess)
    return;
  // Number of allocations, by call and bytes.
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> kinds;
  for (const auto& [address, owned] : context.owned)
    if (owned.origin != Origin::graph) ++kinds[{maker(owned.origin), owned.bytes}];
  for (const auto& [what, n] : kinds) {
    const std::string object = fmt::format("{} allocation{} of {} bytes", n, n == 1 ? "" : "s", what.second);
    context.device().add_finding(
        host_finding(sim::Checker::leakcheck, "leak", object,
                     fmt::format("{} by {} {} never freed: {} bytes", object, what.first,
                                 n == 1 ? "is" : "are", n * what.second)));
  }
  context.device().find_heap_leaks();
}

std::size_t print_findings() {
  std::size_t errors = 0, hints = 0;
  std::string unchecked;
  Runtime& all = runtime();
  for (int i = 0; i < all.n_devices(); ++i) {
    Context& context = all.context(i);
    if (!context.created.load(std::memory_order_acquire)) continue;
    const std::lock_guard guard(context.lock);
    unchecked += context.device().unchecked_text();
    const std::string text = context.device().findings_text();
    if (text.empty()) continue;
    say(text);
    // Findings with the same cause count as one error.
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      errors += line.starts_with("error: ") ? 1u : 0u;
      hints += line.starts_with("hint: ") ? 1u : 0u;
    }
  }
  const auto count = [](std::size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  std::istringstream lines(unchecked);
  for (std::string line; std::getline(lines, line);) say(fmt::format("not checked: {}", line));
  if (errors + hints == 0)
    say(unchecked.empty() ? "checked: nothing found" : "checked: nothing found in what was checked");
  else
    say(fmt::format("checked: {}, {}", count(errors, "error"), count(hints, "hint")));
  return errors;
}

}  // namespace course::cudart
