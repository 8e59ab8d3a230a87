// SPDX-License-Identifier: MIT
#include "sim/grid/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "sim/machine/describe.hpp"
#include "sim/machine/index_origins.hpp"
#include "sim/machine/source_places.hpp"

namespace course::sim {
namespace {

// grid_group::sync() of cooperative_groups.h traps if the launch has given it no memory to count arrivals in.
bool lacks_cooperative_launch(const LaunchRequest& launch, const GridOutcome& o) {
  return o.fault == Fault::trap && !launch.cooperative && !o.where.empty() &&
         o.where.front().file.ends_with("/cooperative_groups.h");
}

const char* kind_of(const GridOutcome& o, const LaunchRequest& launch, const Arena& arena) {
  switch (o.fault) {
    case Fault::illegal_address: {
      if (o.address >= kSharedWindow && o.address < kSharedWindow + kWindowSize)
        return "out-of-bounds-shared";
      if (o.address >= kLocalWindow && o.address < kLocalWindow + kWindowSize) return "out-of-bounds-local";
      if (arena.find_freed(o.address) != nullptr && arena.find(o.address) == nullptr) return "use-after-free";
      if (const OtherMemory* other = arena.find_other(o.address))
        return other->memory.kind == MemoryKind::module_variable ? "host-variable" : "no-peer-access";
      return "out-of-bounds";
    }
    case Fault::misaligned_address: return "misaligned";
    case Fault::launch_timeout: return o.out_of_time ? "time-limit" : "no-progress";
    case Fault::device_assert: return "assert";
    case Fault::trap: return lacks_cooperative_launch(launch, o) ? "not-cooperative" : "trap";
    default: return "fault";
  }
}

// Whether the op loads the address of what the call at the end of its basic block calls.
bool loads_callee(const Program& program, const MicroOp& op) {
  return op.kind == OpKind::load && std::ranges::any_of(program.blocks, [&](const BasicBlock& b) {
           return b.exit == Exit::call_indirect && b.first <= op.index && op.index < b.last &&
                  program.calls[b.target].selector == op.dst[0];
         });
}

}  // namespace

void note_fault(GridOutcome& o, const DeviceFault& fault, const Block& block, const Worker& worker) {
  o.fault = fault.fault;
  o.text = fault.what();
  o.address = fault.address;
  o.lanes = fault.lanes;
  o.where.clear();
  o.op = nullptr;
  o.stray_index.clear();
  std::copy_n(block.index, 3, o.thread.block);
  for (const Warp& w : block.warps) {
    if (&w != worker.launch_warp || w.current == nullptr) continue;
    o.where = places_of(*w.program, *w.current);
    o.op = w.current;
    const std::uint32_t lane =
        fault.lanes == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(fault.lanes));
    if (fault.fault == Fault::illegal_address)
      o.stray_index = describe_stray_index(w, *w.current, static_cast<int>(lane));
    const std::uint32_t thread = w.number * kLanes + lane;
    const Dim3& size = worker.launch->block;
    o.thread.thread[0] = thread % size.x;
    o.thread.thread[1] = thread / size.x % size.y;
    o.thread.thread[2] = thread / size.x / size.y;
  }
}

Finding diagnose(const Program& program, const LaunchRequest& launch, const GridOutcome& o,
                 const Arena& arena) {
  Finding f;
  const bool memory = o.fault == Fault::illegal_address || o.fault == Fault::misaligned_address;
  f.checker = memory ? Checker::memcheck : Checker::execution;
  f.kind = kind_of(o, launch, arena);
  f.kernel = program.demangled;
  f.where = o.where;
  f.thread = o.thread;
  if (o.fault == Fault::launch_timeout) {
    f.message = fmt::format("{}: {}", program.demangled, o.text);
    return f;
  }
  if (memory && o.address != 0) {
    std::vector<std::uint64_t> origins;
    if (o.op != nullptr)
      for (const auto& [offset, pointer] : pointers_behind(program, launch, *o.op))
        origins.push_back(pointer);
    f.object = describe_address(program, arena, o.address, o.op == nullptr ? 0 : o.op->width, origins);
  }
  if (f.kind == "out-of-bounds" && o.op != nullptr && loads_callee(program, *o.op))
    f.object +=
        ". It should load the address of a virtual function: if host code has made the object and copied "
        "it, it has the host's table. Construct it in a kernel";
  if (memory && o.address == 0) f.object = describe_null(arena);
  if (lacks_cooperative_launch(launch, o)) {
    const SourcePlace own = own_place(o.where);
    f.message = fmt::format(
        "{} at {}: waits for all blocks of the grid, but the kernel was launched with <<<>>>, which does not "
        "run all blocks at the same time. Launch it with cudaLaunchCooperativeKernel, or with "
        "cudaLaunchKernelEx and the attribute cudaLaunchAttributeCooperative",
        describe_thread(o.thread), file_and_line(own.file, own.line));
    return f;
  }
  const bool strays = f.kind.starts_with("out-of-bounds") && o.op != nullptr;
  f.message = fmt::format("{} at {}: {}{}{}{}", describe_thread(o.thread), one_line(o.where), o.text,
                          f.object.empty() ? "" : ": ", f.object,
                          !strays                 ? ""
                          : o.stray_index.empty() ? describe_index(program, launch, arena, *o.op)
                                                  : o.stray_index);
  return f;
}

}  // namespace course::sim
