// SPDX-License-Identifier: MIT
// A sim::Device in another process: what needs the device is a request over the channel, which
// device/host_link.cpp answers; other methods do nothing. Linked into the libcudart of students' processes in
// place of common/simulator/sim. Nothing here affects a grade: the device's process does not rely on what
// this process sends or on its memory.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "cudart/sim_parts.h"
#include "remote/requests.hpp"
#include "sim/observation/report.hpp"
#include "sim/timing/timeline.hpp"

namespace course::sim {
namespace {

using lab::Packet;
using lab::PacketKind;
using lab::PacketReader;
using lab::PacketWriter;

// Without the device's process this process cannot continue.
[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "simulator: the device's process is gone: %s\n", why.c_str());
  std::_Exit(1);
}

// A request about this device.
PacketWriter about(const DeviceOptions& device) {
  return PacketWriter().put(static_cast<std::uint32_t>(device.ordinal));
}

Packet ask(PacketKind request, const PacketWriter& body) {
  if (const auto sent = lab::send_packet(lab::kDeviceFd, request, body.body()); !sent)
    give_up(sent.error().text);
  auto received = lab::receive_packet(lab::kDeviceFd);
  if (!received) give_up(received.error().text);
  if (!*received) give_up("it closed the channel");
  if ((*received)->kind != PacketKind::answer) give_up("it answered something else");
  return std::move(**received);
}

// Reads the first word of an answer: 1, or 0 and the reason.
Result<void> agreed(PacketReader& answer) {
  if (answer.get<std::uint32_t>() == 1) return {};
  return Error{answer.get_text()};
}

std::uint64_t address_of(const std::byte* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// Whether the address is in an allocation of the device.
bool is_of(const DeviceOptions& device, const std::byte* pointer) {
  const Packet packet = ask(PacketKind::find, about(device).put(address_of(pointer)));
  PacketReader answer(packet);
  return bool{agreed(answer)};
}

// The options of all devices in use. A copy may use memory of a device other than its stream's.
std::mutex devices_lock;
std::map<int, DeviceOptions> devices;

const DeviceOptions* owner_of(const std::byte* pointer) {
  const std::lock_guard guard(devices_lock);
  for (const auto& [ordinal, device] : devices)
    if (is_of(device, pointer)) return &device;
  return nullptr;
}

}  // namespace

struct Device::Impl {
  DeviceOptions options;
  std::uint32_t mode = kHostcheck;  // failing calls are reported
  std::map<KernelId, KernelFacts> facts;
  Allocation found;             // the last result of find()
  Timeline timeline{Timing{}};  // only for events of this process
  std::vector<Finding> none;
};

Device::Device(DeviceOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  const std::lock_guard guard(devices_lock);
  devices.insert_or_assign(static_cast<int>(impl_->options.ordinal), impl_->options);
}
Device::~Device() = default;

const DeviceOptions& Device::options() const {
  return impl_->options;
}

// --- memory ------------------------------------------------------------------------------------------------

Result<std::uint64_t> Device::allocate(std::uint64_t n_bytes, MemoryKind kind) {
  if (kind != MemoryKind::device) return Error{"only device memory can be had here"};
  const Packet packet =
      ask(PacketKind::allocate, about(impl_->options).put(remote::AllocateRequest{n_bytes}));
  PacketReader answer(packet);
  if (auto yes = agreed(answer); !yes) return yes.error();
  return answer.get<std::uint64_t>();
}

Result<void> Device::release(std::uint64_t address) {
  const Packet packet = ask(PacketKind::release, about(impl_->options).put(address));
  PacketReader answer(packet);
  return agreed(answer);
}

const Allocation* Device::find(std::uint64_t address) const {
  const Packet packet = ask(PacketKind::find, about(impl_->options).put(address));
  PacketReader answer(packet);
  if (!agreed(answer)) return nullptr;
  Allocation& found = impl_->found;
  found.base = answer.get<std::uint64_t>();
  found.size = answer.get<std::uint64_t>();
  found.kind = static_cast<MemoryKind>(answer.get<std::uint32_t>());
  found.name = answer.get_text();
  return &found;
}

std::uint64_t Device::free_bytes() const {
  const Packet packet = ask(PacketKind::free_bytes, about(impl_->options));
  PacketReader answer(packet);
  return agreed(answer) ? answer.get<std::uint64_t>() : 0;
}

std::span<std::byte> Device::device_only_memory() const {
  return {};
}

Result<void> Device::copy(std::byte* dst, const std::byte* src, std::uint64_t n_bytes) {
  const DeviceOptions* const to = owner_of(dst);
  if (const DeviceOptions* const from = owner_of(src)) {
    if (to != nullptr)
      return Error{"a lab's host code may not copy in the device's memory: kernels are to make the answer"};
    const Packet packet =
        ask(PacketKind::read, about(*from).put(remote::ReadRequest{address_of(src), n_bytes}));
    PacketReader answer(packet);
    if (auto yes = agreed(answer); !yes) return yes;
    const auto bytes = answer.rest();
    if (bytes.size() != n_bytes) give_up("it answered something else");
    std::ranges::copy(bytes, dst);
    return {};
  }
  for (std::uint64_t done = 0; done < n_bytes;) {
    const std::uint64_t now = std::min<std::uint64_t>(n_bytes - done, remote::kChunkBytes);
    const Packet packet = ask(PacketKind::store, about(to != nullptr ? *to : impl_->options)
                                                     .put(address_of(dst) + done)
                                                     .put_bytes(std::span(src + done, now)));
    PacketReader answer(packet);
    if (auto yes = agreed(answer); !yes) return yes;
    done += now;
  }
  return {};
}

Result<void> Device::fill(std::byte* dst, std::uint32_t value, std::uint32_t element_bytes,
                          std::uint64_t count) {
  const Packet packet =
      ask(PacketKind::fill,
          about(impl_->options).put(remote::FillRequest{address_of(dst), count, value, element_bytes}));
  PacketReader answer(packet);
  return agreed(answer);
}

Result<void> Device::set_other_memory(std::vector<OtherMemory>) {  // NOLINT: as declared
  return Error{"in a lab, devices have no access to each other's memory; use NCCL"};
}

// The device's process does these itself.
// NOLINTNEXTLINE: as declared
void Device::name_buffer(std::uint64_t, std::uint64_t, std::uint32_t, std::string, bool) {}
void Device::confine(std::uint64_t, bool) {}
void Device::host_wrote(std::uint64_t, std::uint64_t) {}
void Device::forget_writes(std::uint64_t, std::uint64_t) {}

// --- code: the device's process has loaded the code in this program's file ---------------------------------

Result<ModuleId> Device::load_module(std::string_view, const ResourceTable&) {
  return ModuleId{0};
}
Result<ModuleId> Device::load_linked(std::span<const std::string>, const ResourceTable&) {
  return ModuleId{0};
}
void Device::unload_module(ModuleId) {}

Result<KernelId> Device::find_kernel(ModuleId, std::string_view mangled_name) {
  const Packet packet = ask(PacketKind::find_kernel, about(impl_->options).put_text(mangled_name));
  PacketReader answer(packet);
  if (auto yes = agreed(answer); !yes) return yes.error();
  const auto kernel = answer.get<KernelId>();
  impl_->facts[kernel] = remote::get_facts(answer);
  return kernel;
}

const KernelFacts& Device::facts(KernelId kernel) const {
  return impl_->facts.at(kernel);
}

Result<Device::Symbol> Device::find_symbol(ModuleId, std::string_view mangled_name) {
  const Packet packet = ask(PacketKind::find_symbol, about(impl_->options).put_text(mangled_name));
  PacketReader answer(packet);
  if (auto yes = agreed(answer); !yes) return yes.error();
  return answer.get<Symbol>();
}

// --- execution ---------------------------------------------------------------------------------------------

LaunchResult Device::launch(const LaunchRequest& request) {
  remote::LaunchHead head;
  head.kernel = request.kernel;
  head.cooperative = request.cooperative ? 1 : 0;
  head.overlaps = request.overlaps ? 1 : 0;
  head.grid = request.grid;
  head.block = request.block;
  head.cluster = request.cluster;
  head.dynamic_shared = request.dynamic_shared;
  const Packet packet =
      ask(PacketKind::launch, about(impl_->options).put(head).put_bytes(request.parameters));
  PacketReader answer(packet);
  const auto launch_answer = answer.get<remote::LaunchAnswer>();
  LaunchResult result;
  result.fault = static_cast<Fault>(launch_answer.fault);
  result.text = answer.get_text();
  // The kernel runs after this call, and its time is for the grader. Here each launch takes as long.
  impl_->timeline.launch(1);
  return result;
}

int Device::occupancy(KernelId kernel, int threads_per_block, std::uint64_t dynamic_shared) const {
  const Packet packet =
      ask(PacketKind::occupancy,
          about(impl_->options).put(remote::OccupancyRequest{kernel, threads_per_block, dynamic_shared}));
  PacketReader answer(packet);
  return agreed(answer) ? answer.get<std::int32_t>() : 0;
}

Timeline& Device::timeline() {
  return impl_->timeline;
}

// --- observation: not possible from this process -----------------------------------------------------------

void Device::set_mode(std::uint32_t mode) {
  impl_->mode = mode | kHostcheck;
}
void Device::set_schedule(std::uint64_t, bool) {}
std::uint32_t Device::mode() const {
  return impl_->mode;
}
const std::vector<Finding>& Device::findings() const {
  return impl_->none;
}
const Allocation* Device::find_named(std::uint64_t address) const {
  return find(address);
}
const Allocation* Device::find_freed(std::uint64_t) const {
  return nullptr;
}
std::vector<ByteRange> Device::never_written(std::uint64_t, std::uint64_t) const {
  return {};
}
void Device::count_sent(std::uint64_t, std::uint64_t) {}
// Of this process's findings, only those about NCCL and about failing calls are reported: host code cannot
// make others here.
void Device::add_finding(Finding finding) {  // NOLINT: as declared
  PacketWriter body = about(impl_->options);
  const SourcePlace place = finding.where.empty() ? SourcePlace{} : finding.where.front();
  body.put_text(finding.kind).put_text(place.file).put(place.line).put_text(finding.message);
  body.put_text(finding.kernel);
  static_cast<void>(ask(PacketKind::report, body));
}
void Device::withdraw_finding(const Finding&) {}  // a task's host code is expected to make no failing call
void Device::find_heap_leaks() {}
Result<void> Device::set_heap_bytes(std::uint64_t) {
  return Error{"the grader's device keeps its heap as it is"};
}
void Device::empty_heap() {}
FindingsText Device::text_of(const std::vector<Finding>&) {
  return {};
}
std::string Device::unchecked_text() const {
  return "";
}
std::string Device::report_json() const {
  return "{}";
}
void Device::reset_report() {}

}  // namespace course::sim

extern "C" __attribute__((visibility("default"))) void simOperate(const SimOperand* operands, std::size_t n) {
  using namespace course;  // NOLINT: only the exported face
  lab::PacketWriter body;
  body.put(static_cast<std::uint32_t>(n));
  for (const SimOperand& operand : std::span(operands, n)) body.put(operand);
  static_cast<void>(sim::ask(lab::PacketKind::operate, body));
}
