// SPDX-License-Identifier: MIT
// Reading order: run, later, perform, answer, then one function per request.
#include "remote/device/host_link.hpp"

#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/demangle.hpp"
#include "cudart/code/host_lines.hpp"
#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/operation.hpp"
#include "cudart/runtime/status.hpp"
#include "remote/device/operation.hpp"
#include "remote/requests.hpp"
#include "sim/authors_files.hpp"
#include "sim/timing/timeline.hpp"

namespace course::remote {

using lab::CallResult;
using lab::Packet;
using lab::PacketKind;
using lab::PacketReader;
using lab::PacketWriter;

namespace {

// In bytes. The device itself checks the actual limit.
constexpr std::uint64_t kMaxShared = std::uint64_t{1} << 30;
constexpr std::uint32_t kMaxCluster = 16;
// Of the work that one call records, including what the recording itself takes for each request.
constexpr std::uint64_t kMaxWorkBytes = std::uint64_t{128} << 20;
constexpr std::uint64_t kBytesOfRecord = 128;
constexpr std::uint64_t kManyLaunches = 10000;  // no program of the course needs so many

bool fits(const sim::Dim3& grid, const sim::Dim3& cluster) {
  const auto along = [](std::uint32_t blocks, std::uint32_t size) {
    return size >= 1 && size <= kMaxCluster && blocks % size == 0;
  };
  return along(grid.x, cluster.x) && along(grid.y, cluster.y) && along(grid.z, cluster.z) &&
         cluster.count() <= kMaxCluster;
}

}  // namespace

bool HostLink::wait_until_ready() {
  const auto packet = lab::receive_packet(fd_);
  return packet && *packet && (*packet)->kind == PacketKind::ready && (*packet)->body.empty();
}

CallResult HostLink::run(const lab::Request& request) {
  CallResult result;
  result.end = CallResult::End::protocol_error;
  // A packet that was sent before this call would be taken for a part of it.
  pollfd waiting{fd_, POLLIN, 0};
  if (poll(&waiting, 1, 0) != 0 && (waiting.revents & POLLHUP) == 0) return result;
  // Until a packet arrives, the process may have ended after the previous call; then the verifier starts
  // another one.
  result.end = CallResult::End::ended_before_call;
  n_reports_ = 0;
  outside_.clear();
  n_bytes_read_ = 0;
  host_us_ = 0;
  work_.clear();
  work_bytes_ = 0;
  too_much_work_ = false;
  n_launches_ = 0;
  for (Opened& one : opened_) one.releasing.clear(), one.was_read = false;
  if (!lab::send_packet(fd_, PacketKind::call, lab::encode_call(request).body())) return result;
  for (;;) {
    const auto packet = lab::receive_packet(fd_);
    if (packet && !*packet) return result;
    result.end = CallResult::End::protocol_error;
    if (!packet) return result;
    if ((*packet)->kind == PacketKind::crashed) {
      PacketReader in(**packet);
      const auto note = in.get<lab::CrashNote>();
      if (!in.complete()) return result;
      result.end = CallResult::End::crashed;
      result.why = plain(describe_crash(note));
      return result;
    }
    if ((*packet)->kind != PacketKind::finished) {
      const bool sensible = answer(**packet);
      if (!outside_.empty()) {
        result.end = CallResult::End::refused;
        result.why = outside_;
        return result;
      }
      if (sensible || !can_reply_) result.end = CallResult::End::lost;  // if it ends from now on
      if (too_much_work_) {
        result.end = CallResult::End::out_of_memory;
        if (n_launches_ >= kManyLaunches)
          result.why =
              fmt::format("it had launched {} kernels when it was stopped: does its loop over launches end?",
                          n_launches_);
      }
      if (!sensible) return result;
      continue;
    }
    const auto finished = lab::decode_finished(**packet);
    if (!finished) return result;
    perform();
    result.end = finished->out_of_memory != 0 ? CallResult::End::out_of_memory : CallResult::End::returned;
    result.status = finished->status;
    result.unordered = finished->unordered != 0;
    // Faults of kernels are known here. Only launches that the runtime refused itself, and NCCL calls that
    // would never end, are reported by the other process.
    result.cuda_code = finished->cuda_code;
    for (const Opened& one : opened_)
      if (one.fault != sim::Fault::none)
        result.cuda_code = static_cast<std::int32_t>(cudart::meaning_of(one.fault).code);
    return result;
  }
}

namespace {

// The function's own name: without its result, namespaces, template arguments and parameters.
std::string bare_name(std::string_view signature) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string name;
  int depth = 0;
  while (!signature.empty()) {
    const bool unnamed = signature.starts_with(kUnnamed);
    const char c = signature[0];
    if (depth == 0 && c == '(' && !unnamed) break;
    if (c == '<') ++depth;
    if (depth == 0 && !unnamed) {
      if (c == ' ' || c == ':')
        name.clear();
      else
        name += c;
    }
    if (c == '>') --depth;
    signature.remove_prefix(unnamed ? kUnnamed.size() : 1);
  }
  return name;
}

std::string at_line(const cudart::HostLine& line) {
  return line.line == 0
             ? ""
             : fmt::format(" at {}:{}", std::filesystem::path(line.file).filename().string(), line.line);
}

}  // namespace

// The note comes from the student's process, so it only becomes words.
std::string HostLink::describe_crash(const lab::CrashNote& note) {
  constexpr std::uint64_t kNullBytes = 65536, kManyCalls = 32;
  std::ifstream file(program_, std::ios::binary);
  const std::string contents{std::istreambuf_iterator<char>(file), {}};
  const auto line_of = [&](std::uint64_t code) {
    return cudart::line_of_code(std::as_bytes(std::span(contents)), code);
  };
  if (note.overflows_stack != 0 && note.n_repeats >= kManyCalls) {
    const cudart::HostLine call = line_of(note.repeated_call);
    const std::string function = bare_name(demangled(call.function));
    return fmt::format("the host's stack is full: {} calls itself without end, or far too often{}",
                       function.empty() ? "a function" : function, at_line(call));
  }
  if (note.overflows_stack != 0)
    return fmt::format(
        "the host's stack is full: a local array does not fit ({} KiB are missing), or a function "
        "calls itself too often. Use a std::vector for large arrays",
        note.missing_bytes / 1024);
  std::string line;
  for (const std::uint64_t code : note.calls) {
    if (code == 0 || !line.empty()) break;
    if (const cudart::HostLine call = line_of(code); sim::is_authors_file(call.file)) line = at_line(call);
  }
  if (note.address < kNullBytes) return fmt::format("host code uses a null pointer{}", line);
  for (std::uint32_t ordinal = 0; ordinal < opened_.size(); ++ordinal) {
    const sim::Allocation* const found = opened(ordinal).device->find_named(note.address);
    if (found == nullptr) continue;
    const std::string element =
        found->element_bytes == 0
            ? ""
            : fmt::format("element {} of ", (note.address - found->base) / found->element_bytes);
    return fmt::format("host code accesses {}{}{}. This is memory of the device: only kernels can access it",
                       found->name.empty() ? "" : element,
                       found->name.empty() ? "what a device pointer points to" : found->name, line);
  }
  return fmt::format("host code accesses the address {:#x}{}, where the program has no memory", note.address,
                     line);
}

HostLink::Opened& HostLink::opened(std::uint32_t ordinal) {
  Opened& one = opened_[ordinal];
  if (one.device == nullptr) one.device = &devices_(ordinal);
  return one;
}

bool HostLink::later(std::size_t n_bytes, std::function<void()> work) {
  work_bytes_ += n_bytes + kBytesOfRecord;
  too_much_work_ = too_much_work_ || work_bytes_ > kMaxWorkBytes;
  if (!too_much_work_) work_.push_back(std::move(work));
  return !too_much_work_;
}

void HostLink::perform() {
  for (const auto& work : std::exchange(work_, {})) work();
}

bool HostLink::answer(const Packet& request) {
  if (request.kind != PacketKind::operate) return answer_about_device(request);
  PacketReader in(request);
  return operate(in);
}

bool HostLink::answer_about_device(const Packet& request) {
  PacketReader in(request);
  const auto ordinal = in.get<std::uint32_t>();
  if (!in.ok() || ordinal >= opened_.size()) return false;
  about_ = &opened(ordinal);
  switch (request.kind) {
    case PacketKind::find_kernel: return find_kernel(in);
    case PacketKind::find_symbol: return find_symbol(in);
    case PacketKind::launch: return launch(in);
    case PacketKind::occupancy: return occupancy(in);
    case PacketKind::allocate: return allocate(in);
    case PacketKind::release: return release(in);
    case PacketKind::find: return find(in);
    case PacketKind::free_bytes: return free_bytes(in);
    case PacketKind::store: return store(in);
    case PacketKind::fill: return fill(in);
    case PacketKind::read: return read(in);
    case PacketKind::report: return report(in);
    default: return false;
  }
}

bool HostLink::reply(const PacketWriter& body) {
  can_reply_ = static_cast<bool>(lab::send_packet(fd_, PacketKind::answer, body.body()));
  return can_reply_;
}

bool HostLink::refuse(const std::string& why) {
  return reply(PacketWriter().put(std::uint32_t{0}).put_text(why));
}

// Reads the program at the first request for a kernel or a variable, so that a program without kernels takes
// no time. A failure is reported for every such request.
Result<void> HostLink::read_program() {
  if (!load_failure_.empty()) return Error{load_failure_};
  if (codes_) return {};
  const std::ifstream file(code_, std::ios::binary);
  const std::string contents = (std::ostringstream() << file.rdbuf()).str();
  if (!file) return Error{load_failure_ = "the program's file can't be read"};
  const auto& chip = about_->device->options().preset;
  auto codes = cudart::code_of_program(std::as_bytes(std::span(contents)),
                                       chip.compute_major * 10 + chip.compute_minor);
  if (!codes) return Error{load_failure_ = codes.error().text};
  codes_ = std::move(*codes);
  return {};
}

// Loads the program into the device of the request.
Result<void> HostLink::load_program() {
  if (auto read = read_program(); !read) return read;
  if (about_->modules) return {};
  std::vector<sim::ModuleId> modules;
  for (const cudart::DeviceCode& code : *codes_) {
    const auto loaded = about_->device->load_module(code.ptx, code.compiled);
    if (!loaded) return Error{load_failure_ = loaded.error().text};
    modules.push_back(*loaded);
  }
  about_->modules = std::move(modules);
  return {};
}

void HostLink::begin_work(sim::Device& device) {
  if (opened_.size() > 1) device.timeline().host_at_least(host_us_);
}

void HostLink::end_work(sim::Device& device) {
  host_us_ = device.timeline().host();
}

const sim::Allocation* HostLink::visible(std::uint64_t address) const {
  const sim::Allocation* found = about_->device->find(address);
  const bool hidden = found == nullptr || found->by_kernel || about_->releasing.contains(found->base);
  return hidden ? nullptr : found;
}

bool HostLink::is_inside_one_allocation(std::uint64_t address, std::uint64_t n_bytes) const {
  const sim::Allocation* found = visible(address);
  return found != nullptr && n_bytes <= found->base + found->size - address;
}

bool HostLink::find_kernel(PacketReader& in) {
  const std::string name = in.get_text();
  if (!in.complete()) return false;
  if (const auto read = read_program(); !read) {
    outside_ = "device code that can't be read: " + read.error().text;
    return true;
  }
  if (const auto loaded = load_program(); !loaded) return refuse(loaded.error().text);
  for (const sim::ModuleId module : *about_->modules) {
    const auto found = about_->device->find_kernel(module, name);
    if (!found) continue;
    const sim::KernelFacts& facts = about_->device->facts(*found);
    if (facts.parameters.size() > kMaxParameters) return refuse("a kernel of too many parameters");
    about_->known_kernels.insert(*found);
    PacketWriter out;
    out.put(std::uint32_t{1}).put(*found);
    put_facts(out, facts);
    return reply(out);
  }
  return refuse("the program has no such kernel");
}

bool HostLink::find_symbol(PacketReader& in) {
  const std::string name = in.get_text();
  if (!in.complete()) return false;
  if (const auto loaded = load_program(); !loaded) return refuse(loaded.error().text);
  for (const sim::ModuleId module : *about_->modules) {
    if (const auto found = about_->device->find_symbol(module, name))
      return reply(PacketWriter().put(std::uint32_t{1}).put(*found));
  }
  return refuse("the program has no such variable");
}

bool HostLink::launch(PacketReader& in) {
  const auto head = in.get<LaunchHead>();
  if (!in.ok() || about_->known_kernels.count(head.kernel) == 0 || !fits(head.grid, head.cluster) ||
      head.dynamic_shared > kMaxShared)
    return false;
  sim::LaunchRequest request;
  request.kernel = head.kernel;
  request.grid = head.grid;
  request.block = head.block;
  request.cluster = head.cluster;
  request.dynamic_shared = head.dynamic_shared;
  request.cooperative = head.cooperative != 0;
  request.overlaps = !of_the_course_ && head.overlaps != 0;
  const auto parameters = in.rest();
  if (parameters.size() != about_->device->facts(head.kernel).parameter_bytes) return false;
  const sim::LaunchResult refused = about_->device->check(request);
  // The process gets no answer: its call ends here.
  outside_ = about_->device->outside_of_subset(request);
  if (!outside_.empty()) return true;
  LaunchAnswer launch_answer;
  if (refused.fault != sim::Fault::none && !cudart::meaning_of(refused.fault).sticky) {
    launch_answer.fault = static_cast<std::uint32_t>(refused.fault);
    return reply(PacketWriter().put(launch_answer).put_text(refused.text));
  }
  const auto work = [this, &on = *about_, request,
                     kept = std::vector<std::byte>(parameters.begin(), parameters.end())] {
    run_kernel(on, request, kept);
  };
  ++n_launches_;
  return later(parameters.size() + sizeof work, work) &&
         reply(PacketWriter().put(launch_answer).put_text(""));
}

// After a fault the device runs no further kernel.
void HostLink::run_kernel(Opened& on, sim::LaunchRequest request, std::span<const std::byte> parameters) {
  if (on.fault != sim::Fault::none) return;
  request.parameters = parameters;
  begin_work(*on.device);
  const sim::LaunchResult result = on.device->launch(request);
  end_work(*on.device);
  if (cudart::meaning_of(result.fault).sticky) on.fault = result.fault;
  if (!result.text.empty()) cudart::say(result.text);
}

bool HostLink::occupancy(PacketReader& in) {
  const auto request = in.get<OccupancyRequest>();
  if (!in.complete() || about_->known_kernels.count(request.kernel) == 0 || request.threads_per_block < 1 ||
      request.dynamic_shared > kMaxShared)
    return false;
  const std::int32_t n_blocks =
      about_->device->occupancy(request.kernel, request.threads_per_block, request.dynamic_shared);
  return reply(PacketWriter().put(std::uint32_t{1}).put(n_blocks));
}

bool HostLink::allocate(PacketReader& in) {
  const auto request = in.get<AllocateRequest>();
  if (!in.complete()) return false;
  const auto address = about_->device->allocate(request.n_bytes, sim::MemoryKind::device);
  if (!address) return refuse(address.error().text);
  about_->allocated.insert(*address);
  return reply(PacketWriter().put(std::uint32_t{1}).put(*address));
}

bool HostLink::release(PacketReader& in) {
  const auto address = in.get<std::uint64_t>();
  if (!in.complete()) return false;
  if (about_->allocated.erase(address) == 0) return refuse("not the start of an allocation");
  about_->releasing[address] = about_->device->find(address)->size;
  const auto work = [&on = *about_, address] {
    on.releasing.erase(address);
    static_cast<void>(on.device->release(address));
  };
  return later(0, work) && reply(PacketWriter().put(std::uint32_t{1}));
}

bool HostLink::free_bytes(PacketReader& in) {
  if (!in.complete()) return false;
  std::uint64_t n_bytes = about_->device->free_bytes();
  for (const auto& [base, size] : about_->releasing) n_bytes += size;
  return reply(PacketWriter().put(std::uint32_t{1}).put(n_bytes));
}

bool HostLink::find(PacketReader& in) {
  const auto address = in.get<std::uint64_t>();
  if (!in.complete()) return false;
  const sim::Allocation* found = visible(address);
  if (found == nullptr) return refuse("no device memory");
  return reply(PacketWriter()
                   .put(std::uint32_t{1})
                   .put(found->base)
                   .put(found->size)
                   .put(static_cast<std::uint32_t>(found->kind))
                   .put_text(found->name));
}

bool HostLink::store(PacketReader& in) {
  const auto address = in.get<std::uint64_t>();
  const auto bytes = in.rest();
  if (!in.ok()) return false;
  if (!is_inside_one_allocation(address, bytes.size())) return refuse("outside of device memory");
  const auto work = [this, &on = *about_, address,
                     kept = std::vector<std::byte>(bytes.begin(), bytes.end())] {
    auto* dst = reinterpret_cast<std::byte*>(address);  // NOLINT: inside the arena
    static_cast<void>(on.device->copy(dst, kept.data(), kept.size()));
    on.device->host_wrote(address, kept.size());
    begin_work(*on.device);
    on.device->timeline().transfer(cudart::from_host_us(on.device->options().preset, kept.size()));
    on.device->timeline().synchronise();
    end_work(*on.device);
    // What host code has read on other devices may be among the bytes: each has sent them.
    for (const Opened& other : opened_)
      if (other.was_read && &other != &on) other.device->count_sent(1, kept.size());
  };
  return later(bytes.size(), work) && reply(PacketWriter().put(std::uint32_t{1}));
}

bool HostLink::fill(PacketReader& in) {
  const auto request = in.get<FillRequest>();
  const std::uint32_t element = request.element_bytes;
  if (!in.complete() || (element != 1 && element != 2 && element != 4)) return false;
  std::uint64_t n_bytes = 0;
  if (__builtin_mul_overflow(request.count, std::uint64_t{element}, &n_bytes) ||
      !is_inside_one_allocation(request.address, n_bytes))
    return refuse("outside of device memory");
  const auto work = [this, &on = *about_, request, n_bytes] {
    auto* dst = reinterpret_cast<std::byte*>(request.address);  // NOLINT: inside the arena
    static_cast<void>(on.device->fill(dst, request.value, request.element_bytes, request.count));
    on.device->host_wrote(request.address, n_bytes);
    begin_work(*on.device);
    on.device->timeline().launch(cudart::fill_us(on.device->options().preset, n_bytes));
    end_work(*on.device);
  };
  return later(sizeof work, work) && reply(PacketWriter().put(std::uint32_t{1}));
}

// The host waits for what it reads. It may read little, so that it cannot make the answer.
bool HostLink::read(PacketReader& in) {
  const auto request = in.get<ReadRequest>();
  if (!in.complete()) return false;
  if (opened_.size() < 2)
    return refuse(
        "a lab's host code may not copy out of the device's memory: kernels are to make the answer");
  if (!is_inside_one_allocation(request.address, request.n_bytes)) return refuse("outside of device memory");
  if (request.n_bytes > kMaxBytesRead - n_bytes_read_)
    return refuse("a lab's host code may copy at most " + std::to_string(kMaxBytesRead) +
                  " bytes out of the devices' memory: counts, but not items");
  n_bytes_read_ += request.n_bytes;
  perform();
  about_->was_read = true;
  std::vector<std::byte> bytes(request.n_bytes);
  const auto* src = reinterpret_cast<const std::byte*>(request.address);  // NOLINT: inside the arena
  if (const auto copied = about_->device->copy(bytes.data(), src, bytes.size()); !copied)
    return refuse(copied.error().text);
  begin_work(*about_->device);
  about_->device->timeline().transfer(0);  // of so few bytes: the latency alone
  about_->device->timeline().synchronise();
  end_work(*about_->device);
  return reply(PacketWriter().put(std::uint32_t{1}).put_bytes(bytes));
}

namespace {
// The values of Status::kind() that the student's process may report.
bool is_finding_of_call(std::string_view kind) {
  constexpr std::string_view kKinds[] = {"api-error", "double-free", "invalid-free", "host-variable"};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}
}  // namespace

// The text comes from the student's process, so it is made printable.
bool HostLink::report(PacketReader& in) {
  const std::string kind = in.get_text();
  sim::SourcePlace place;
  place.file = plain(in.get_text());
  place.line = in.get<std::uint32_t>();
  const std::string message = in.get_text(), kernel = in.get_text();
  const bool of_nccl = is_finding_of_nccl(kind);
  if (!in.complete() || (!of_nccl && !is_finding_of_call(kind))) return false;
  if (++n_reports_ <= kMaxReports) {
    sim::Finding finding;
    finding.checker = of_nccl ? sim::Checker::execution : sim::Checker::memcheck;
    if (!of_nccl) finding.severity = sim::Severity::hint;  // the call's error decides
    finding.kind = kind;
    if (!place.file.empty()) finding.where.push_back(std::move(place));
    finding.message = plain(message);
    finding.kernel = plain(kernel);
    about_->device->add_finding(std::move(finding));
  }
  return reply(PacketWriter().put(std::uint32_t{1}));
}

bool HostLink::operate(PacketReader& in) {
  // In a lab of one device it would be a copy that no kernel makes and no counter sees.
  if (opened_.size() < 2) return false;
  const auto operands = read_operands(in, static_cast<std::uint32_t>(opened_.size()));
  if (!operands) return false;
  for (const Operand& one : *operands) {
    about_ = &opened(one.device);
    for (const SimRange& range : nccl::ranges_of(one.call))
      if (range.n_bytes > 0 &&
          !is_inside_one_allocation(reinterpret_cast<std::uint64_t>(range.start), range.n_bytes))
        return false;
  }
  const auto work = [this, all = *operands] {
    if (std::ranges::any_of(all,
                            [&](const Operand& one) { return opened(one.device).fault != sim::Fault::none; }))
      return;
    const auto device_of = [&](const Operand& one) -> sim::Device& { return *opened(one.device).device; };
    for (const Operand& one : all) begin_work(device_of(one));
    execute(all, device_of);
    for (const Operand& one : all) end_work(device_of(one));
  };
  return later(operands->size() * sizeof(Operand), work) && reply(PacketWriter().put(std::uint32_t{1}));
}

}  // namespace course::remote
