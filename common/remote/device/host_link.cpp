// SPDX-License-Identifier: MIT
// Reading order: run, answer, then one function per question.
#include "remote/device/host_link.hpp"

#include <poll.h>

#include <fstream>
#include <iterator>

#include "cudart/code/program_file.hpp"
#include "cudart/runtime/memory.hpp"
#include "cudart/runtime/operation.hpp"
#include "remote/questions.hpp"
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
  if (!lab::send_packet(fd_, PacketKind::call, lab::encode_call(request).body())) return result;
  for (;;) {
    const auto packet = lab::receive_packet(fd_);
    if (packet && !*packet) return result;
    result.end = CallResult::End::protocol_error;
    if (!packet) return result;
    if ((*packet)->kind != PacketKind::finished) {
      const bool sensible = answer(**packet);
      if (sensible || !can_reply_) result.end = CallResult::End::lost;  // if it ends from now on
      if (!sensible) return result;
      continue;
    }
    const auto finished = lab::decode_finished(**packet);
    if (!finished) return result;
    result.end = finished->out_of_memory != 0 ? CallResult::End::out_of_memory : CallResult::End::returned;
    result.status = finished->status;
    result.unordered = finished->unordered != 0;
    // Faults of kernels are known here. Only launches that the runtime refused itself are reported by the
    // other process.
    result.cuda_code = fault_ != sim::Fault::none ? static_cast<std::int32_t>(cudart::meaning_of(fault_).code)
                                                  : finished->cuda_code;
    return result;
  }
}

bool HostLink::answer(const Packet& question) {
  PacketReader in(question);
  switch (question.kind) {
    case PacketKind::find_kernel: return find_kernel(in);
    case PacketKind::find_symbol: return find_symbol(in);
    case PacketKind::launch: return launch(in);
    case PacketKind::occupancy: return occupancy(in);
    case PacketKind::allocate: return allocate(in);
    case PacketKind::release: return release(in);
    case PacketKind::find: return find(in);
    case PacketKind::free_bytes:
      return in.complete() && reply(PacketWriter().put(std::uint32_t{1}).put(device_.free_bytes()));
    case PacketKind::store: return store(in);
    case PacketKind::fill: return fill(in);
    case PacketKind::ready:
    case PacketKind::finished:
    case PacketKind::call:
    case PacketKind::answer: break;
  }
  return false;
}

bool HostLink::reply(const PacketWriter& body) {
  can_reply_ = static_cast<bool>(lab::send_packet(fd_, PacketKind::answer, body.body()));
  return can_reply_;
}

bool HostLink::refuse(const std::string& why) {
  return reply(PacketWriter().put(std::uint32_t{0}).put_text(why));
}

// Loads the program at the first question, so that a program without kernels takes no time. A failure is
// reported for every question.
Result<void> HostLink::load_program() {
  if (!load_failure_.empty()) return Error{load_failure_};
  if (modules_) return {};
  const auto failed = [&](const std::string& why) {
    load_failure_ = why;
    return Error{why};
  };
  std::ifstream file(program_, std::ios::binary);
  const std::string contents{std::istreambuf_iterator<char>(file), {}};
  if (!file) return failed("the program's file can't be read");
  const auto& chip = device_.options().preset;
  auto codes = cudart::code_of_program(std::as_bytes(std::span(contents)),
                                       chip.compute_major * 10 + chip.compute_minor);
  if (!codes) return failed(codes.error().text);
  std::vector<sim::ModuleId> modules;
  for (cudart::DeviceCode& code : *codes) {
    const auto loaded = device_.load_module(code.ptx);
    if (!loaded) return failed(loaded.error().text);
    modules.push_back(*loaded);
    registers_.merge(code.registers);
  }
  modules_ = std::move(modules);
  return {};
}

bool HostLink::is_inside_one_allocation(std::uint64_t address, std::uint64_t n_bytes) const {
  const sim::Allocation* found = device_.find(address);
  return found != nullptr && n_bytes <= found->base + found->size - address;
}

bool HostLink::find_kernel(PacketReader& in) {
  const std::string name = in.get_text();
  if (!in.complete()) return false;
  if (const auto loaded = load_program(); !loaded) return refuse(loaded.error().text);
  for (const sim::ModuleId module : *modules_) {
    const auto found = device_.find_kernel(module, name);
    if (!found) continue;
    const sim::KernelFacts& facts = device_.facts(*found);
    if (facts.parameters.size() > kMaxParameters) return refuse("a kernel of too many parameters");
    const auto declared = registers_.find(name);
    known_kernels_[*found] = declared != registers_.end() ? declared->second : facts.registers;
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
  for (const sim::ModuleId module : *modules_) {
    if (const auto found = device_.find_symbol(module, name))
      return reply(PacketWriter().put(std::uint32_t{1}).put(*found));
  }
  return refuse("the program has no such variable");
}

bool HostLink::launch(PacketReader& in) {
  const auto head = in.get<LaunchHead>();
  if (!in.ok() || known_kernels_.count(head.kernel) == 0 || !fits(head.grid, head.cluster) ||
      head.dynamic_shared > kMaxShared)
    return false;
  sim::LaunchRequest request;
  request.kernel = head.kernel;
  request.grid = head.grid;
  request.block = head.block;
  request.cluster = head.cluster;
  request.dynamic_shared = head.dynamic_shared;
  request.cooperative = head.cooperative != 0;
  request.registers = known_kernels_[head.kernel];
  request.parameters = in.rest();
  if (request.parameters.size() != device_.facts(head.kernel).parameter_bytes) return false;
  LaunchAnswer launch_answer;
  std::string text;
  if (fault_ == sim::Fault::none) {
    const sim::LaunchResult result = device_.launch(request);
    launch_answer.fault = static_cast<std::uint32_t>(result.fault);
    launch_answer.modelled_us = result.modelled_us;
    text = result.text;
    if (cudart::meaning_of(result.fault).sticky) fault_ = result.fault;
  } else {
    launch_answer.fault = static_cast<std::uint32_t>(fault_);
  }
  return reply(PacketWriter().put(launch_answer).put_text(text));
}

bool HostLink::occupancy(PacketReader& in) {
  const auto question = in.get<OccupancyQuestion>();
  if (!in.complete() || known_kernels_.count(question.kernel) == 0 || question.threads_per_block < 1 ||
      question.dynamic_shared > kMaxShared)
    return false;
  const std::int32_t n_blocks =
      device_.occupancy(question.kernel, question.threads_per_block, question.dynamic_shared);
  return reply(PacketWriter().put(std::uint32_t{1}).put(n_blocks));
}

bool HostLink::allocate(PacketReader& in) {
  const auto question = in.get<AllocateQuestion>();
  if (!in.complete()) return false;
  const auto address = device_.allocate(question.n_bytes, sim::MemoryKind::device);
  if (!address) return refuse(address.error().text);
  allocated_.insert(*address);
  return reply(PacketWriter().put(std::uint32_t{1}).put(*address));
}

bool HostLink::release(PacketReader& in) {
  const auto address = in.get<std::uint64_t>();
  if (!in.complete()) return false;
  if (allocated_.erase(address) == 0) return refuse("not the start of an allocation");
  const auto released = device_.release(address);
  return released ? reply(PacketWriter().put(std::uint32_t{1})) : refuse(released.error().text);
}

bool HostLink::find(PacketReader& in) {
  const auto address = in.get<std::uint64_t>();
  if (!in.complete()) return false;
  const sim::Allocation* found = device_.find(address);
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
  auto* dst = reinterpret_cast<std::byte*>(address);  // NOLINT: inside the arena
  if (const auto copied = device_.copy(dst, bytes.data(), bytes.size()); !copied)
    return refuse(copied.error().text);
  device_.host_wrote(address, bytes.size());
  return reply(PacketWriter().put(std::uint32_t{1}));
}

bool HostLink::fill(PacketReader& in) {
  const auto question = in.get<FillQuestion>();
  const std::uint32_t element = question.element_bytes;
  if (!in.complete() || (element != 1 && element != 2 && element != 4)) return false;
  std::uint64_t n_bytes = 0;
  if (__builtin_mul_overflow(question.count, std::uint64_t{element}, &n_bytes) ||
      !is_inside_one_allocation(question.address, n_bytes))
    return refuse("outside of device memory");
  auto* dst = reinterpret_cast<std::byte*>(question.address);  // NOLINT: inside the arena
  if (const auto filled = device_.fill(dst, question.value, element, question.count); !filled)
    return refuse(filled.error().text);
  device_.host_wrote(question.address, n_bytes);
  const sim::DevicePreset& chip = device_.options().preset;
  device_.timeline().transfer(cudart::fill_us(chip, n_bytes));
  return reply(PacketWriter().put(std::uint32_t{1}));
}

}  // namespace course::remote
