// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cudart/sim_control.h"
#include "protocol/go.hpp"
#include "verifier/session.hpp"

namespace course::lab {

using protocol::CaseRequest;

namespace {

// The simulator checks bounds exactly and needs no guard bands.
constexpr std::uint32_t kGpuGuardBytes = 4096;
// Of each device, in bytes: what the simulator writes at most. Untouched pages of the memfd cost nothing.
constexpr std::uint64_t kReportCapacity = (8u << 20) + 64;

}  // namespace

CaseRequest Session::lay_out(const Problem& problem, const Task& task, const Case& c, const Shape& shape,
                             DeviceKind device, const Measure& measure) {
  CaseRequest r;
  r.task = index_of(problem.manifest(), task);
  r.op = c.op;
  r.dtype = static_cast<std::uint32_t>(c.dtype);
  r.n = c.n;
  r.params = c.params;
  r.n_inputs = static_cast<std::uint32_t>(shape.inputs.size());
  r.n_outputs = static_cast<std::uint32_t>(shape.outputs.size());
  r.workspace_bytes = shape.workspace.n_bytes();
  r.n_devices = shape.n_devices;
  r.multiprocessors = c.multiprocessors;
  if (device == DeviceKind::gpu) {
    r.guard_bytes = kGpuGuardBytes;
    r.is_timed = measure.timed_runs > 0 ? 1 : 0;
    // The device unmasks whole 8-byte words.
    r.is_keyed = c.misalign % 8 == 0 ? r.is_timed : 0;
  } else {
    // Modelled time and counters are the same in every run, so one run is enough.
    if (measure.counters || measure.timed_runs > 0) r.sim_mode |= SIM_COUNTERS;
    if (measure.dataflow) r.sim_mode |= SIM_DATAFLOW;
    if (measure.checks) r.sim_mode |= SIM_CHECKS;
    if (measure.profile) r.sim_mode |= SIM_COUNTERS | SIM_PROFILE;
    if (measure.trace) r.sim_mode |= SIM_TRACE;
    r.forget_poison = measure.checks ? 1 : 0;
    r.report_capacity = kReportCapacity * shape.n_devices;
  }

  std::uint64_t end = 0;
  const auto reserve = [&end](std::uint64_t n_bytes) {
    const std::uint64_t start = end;
    end += (n_bytes + 4095) / 4096 * 4096;
    return start;
  };
  std::uint32_t slot = 0;
  for (const auto& spec : shape.inputs) {
    auto& buffer = r.buffers[slot];
    buffer.count = spec.count;
    buffer.dtype = static_cast<std::uint32_t>(spec.dtype);
    buffer.misalign = misalign_of(c, spec, slot++);
    buffer.name.set(spec.name);
    buffer.data_offset = reserve(spec.count * bytes_of(spec.dtype));
    buffer.back_offset = reserve(protocol::allocation_bytes(buffer, r.guard_bytes));
  }
  for (const auto& spec : shape.outputs) {
    auto& buffer = r.buffers[slot++];
    buffer.count = spec.count;
    buffer.dtype = static_cast<std::uint32_t>(spec.dtype);
    if (shape.misaligned_outputs) buffer.misalign = misalign_of(c, spec, 0);
    buffer.name.set(spec.name);
    buffer.back_offset = reserve(protocol::allocation_bytes(buffer, r.guard_bytes));
  }
  static_assert(kMaxWorkspaceArrays <= protocol::kMaxParts);
  for (const Workspace::Array& array : shape.workspace.arrays()) {
    auto& part = r.parts[r.n_parts++];
    part.first_byte = array.first_byte;
    part.count = array.count;
    part.dtype = static_cast<std::uint32_t>(array.dtype);
    part.name.set(array.name);
  }
  std::uint64_t band_bytes = 0;
  for (const protocol::Band& band : protocol::bands_of(r)) band_bytes += band.n_bytes;
  r.workspace_back_offset = reserve(band_bytes);
  r.report_offset = reserve(r.report_capacity);
  if (r.is_keyed != 0) r.go_offset = reserve(kGoBytes);
  r.shared_bytes = std::max<std::uint64_t>(end, 1);
  return r;
}

}  // namespace course::lab
