// SPDX-License-Identifier: MIT
#include "sim/machine/control_flow.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

#include "sim/machine/builtins.hpp"

namespace course::sim {
namespace {

std::uint32_t uniform(Warp& w, std::uint32_t slot) {
  return w.slot<std::uint32_t>(slot)[std::countr_zero(w.mask)];
}

// Releases all threads of the block that wait at the barrier.
void release_here(Block& block, std::uint32_t number) {
  Barrier& barrier = block.barriers[number];
  if (number == kClusterBarrier) ++block.cluster_phase;
  barrier.result_count = barrier.true_threads;
  barrier.result_or = barrier.true_threads != 0;
  barrier.result_and = barrier.true_threads == barrier.voters;
  barrier.arrived = barrier.true_threads = barrier.voters = 0;
  barrier.expected = 0;
  Worker& worker = *block.warps.front().worker;
  std::uint64_t time = 0;
  for (Warp& w : block.warps) {
    for (Group& g : w.groups) {
      if (g.wait != Wait::barrier || g.barrier != number) continue;
      g.wait = Wait::none;
      g.passed = true;
      time = std::max(time, w.time);
      w.waited = true;
    }
  }
  for (Warp& w : block.warps)
    if (std::exchange(w.waited, false)) w.time = time + worker.barrier_clocks;
  ++worker.barriers_completed;
  if (worker.observer != nullptr) worker.observer->barrier_released(block, number);
}

// Whether enough threads have arrived. The barrier of a cluster is complete when it is complete in every
// block.
bool complete(const Block& block, std::uint32_t number) {
  const Barrier& own = block.barriers[number];
  if (number != kClusterBarrier || block.cluster == nullptr)
    return own.arrived != 0 && own.arrived >= (own.expected != 0 ? own.expected : block.live_threads);
  bool any = false;
  for (const Block* member : block.cluster->members) {
    if (member == nullptr) continue;
    const std::uint32_t arrived = member->barriers[number].arrived;
    if (arrived < member->live_threads) return false;
    any = any || arrived != 0;
  }
  return any;
}

void release(Block& block, std::uint32_t number) {
  if (number != kClusterBarrier || block.cluster == nullptr) return release_here(block, number);
  for (Block* member : block.cluster->members)
    if (member != nullptr) release_here(*member, number);
}

void end_lanes(Warp& w, std::uint32_t lanes) {
  w.live &= ~lanes;
  Block& block = *w.block;
  block.live_threads -= count_lanes(lanes);
  // Warp-wide ops do not wait for exited lanes, so waiting groups check again.
  for (Group& g : w.groups)
    if (g.wait == Wait::warp_sync) g.wait = Wait::none;
  for (std::uint32_t number = 0; number < std::size(block.barriers); ++number)
    if (complete(block, number)) release(block, number);
}

// Moves each lane of a group to the block that `to` returns for it. Splits the group where these differ.
template <typename To>
void scatter(Warp& w, std::size_t k, const To& to) {
  const Group whole = w.groups[k];
  std::uint32_t left = whole.mask;
  bool first = true;
  while (left != 0) {
    const std::uint32_t block = to(std::countr_zero(left));
    std::uint32_t same = 0;
    for (const int lane : EachLane{left})
      if (to(lane) == block) same |= 1u << lane;
    left &= ~same;
    Group part = whole;
    part.mask = same;
    part.block = block;
    part.passed = false;
    if (first)
      w.groups[k] = part;
    else
      w.groups.push_back(part), w.went_apart = true;
    first = false;
  }
}

std::byte* local_of(Warp& w, int lane) {
  return w.local.data() + static_cast<std::size_t>(lane) * w.local_stride;
}

// Grows the local memory of every lane to at least `bytes`.
void reserve_local(Warp& w, std::uint32_t bytes) {
  if (bytes <= w.local_stride) return;
  if (bytes > kMaxLocal)
    throw DeviceFault(Fault::illegal_address,
                      "the call stack is deeper than a thread's 512 KiB of local memory", w.mask);
  const std::uint32_t stride = std::min(std::max(bytes, 2 * w.local_stride), kMaxLocal);
  std::vector<std::byte> grown(static_cast<std::size_t>(stride) * kLanes);
  for (int lane = 0; lane < kLanes && w.local_stride > 0; ++lane)
    std::memcpy(grown.data() + static_cast<std::size_t>(lane) * stride, local_of(w, lane), w.local_stride);
  w.local = std::move(grown);
  w.local_stride = stride;
}

void set_frame(Warp& w, int lane, std::uint32_t base) {
  w.frame_base[lane] = base;
  w.slot<std::uint32_t>(w.program->frame_slot)[lane] = base;
}

// Saves and restores one lane's registers of a function that is entered while it is already active.
void spill(Warp& w, int lane, const ProgramFunction& f) {
  auto& stack = w.spilled[lane];
  for (const auto s : f.narrow_slots) stack.push_back(w.slot<std::uint32_t>(s)[lane]);
  for (const auto s : f.wide_slots) stack.push_back(w.slot<std::uint64_t>(s)[lane]);
  for (const auto s : f.predicate_slots) stack.push_back(w.predicate(s) >> lane & 1);
}
void restore(Warp& w, int lane, const ProgramFunction& f) {
  auto& stack = w.spilled[lane];
  const auto pop = [&] {
    const std::uint64_t value = stack.back();
    stack.pop_back();
    return value;
  };
  for (auto s = f.predicate_slots.rbegin(); s != f.predicate_slots.rend(); ++s) {
    std::uint32_t& p = w.predicate(*s);
    p = (p & ~(1u << lane)) | static_cast<std::uint32_t>(pop()) << lane;
  }
  for (auto s = f.wide_slots.rbegin(); s != f.wide_slots.rend(); ++s) w.slot<std::uint64_t>(*s)[lane] = pop();
  for (auto s = f.narrow_slots.rbegin(); s != f.narrow_slots.rend(); ++s)
    w.slot<std::uint32_t>(*s)[lane] = static_cast<std::uint32_t>(pop());
}

// Whether a function is active in a lane; the current one is.
bool is_active(const Warp& w, int lane, std::uint32_t function, std::uint32_t current) {
  if (function == current || function == 0) return true;
  return std::ranges::any_of(w.calls[lane], [&](const CallFrame& f) { return f.function == function; });
}

void enter(Warp& w, int lane, std::uint32_t call, const CallSite& site, std::uint32_t callee,
           const BasicBlock& b) {
  const Program& program = *w.program;
  const ProgramFunction& f = program.functions[callee];
  const std::uint32_t caller_base = w.frame_base[lane];
  const std::uint32_t base = caller_base + program.functions[b.function].frame_bytes;
  const bool again = is_active(w, lane, callee, b.function);
  if (again) {
    spill(w, lane, f);
    w.worker->recursion_bytes = std::max<std::uint64_t>(w.worker->recursion_bytes, base + f.frame_bytes);
  }
  std::byte* memory = local_of(w, lane);
  const std::size_t n = std::min(site.arguments.size(), f.parameter_offsets.size());
  for (std::size_t k = 0; k < n; ++k)
    std::memmove(memory + base + f.parameter_offsets[k], memory + caller_base + site.arguments[k].offset,
                 std::min(site.arguments[k].bytes, f.parameter_sizes[k]));
  w.calls[lane].push_back({b.next, call, caller_base, callee, again});
  set_frame(w, lane, base);
  Observer* const observer = w.worker->observer;
  if (observer == nullptr) return;
  observer->frame_opened(w, lane, base, f.frame_bytes);
  for (std::size_t k = 0; k < n; ++k)
    observer->local_copied(w, lane, base + f.parameter_offsets[k], caller_base + site.arguments[k].offset,
                           f.parameter_sizes[k]);
}

void leave(Warp& w, int lane) {
  const Program& program = *w.program;
  const CallFrame frame = w.calls[lane].back();
  w.calls[lane].pop_back();
  const ProgramFunction& f = program.functions[frame.function];
  const CallSite& site = program.calls[frame.call];
  std::byte* memory = local_of(w, lane);
  const std::uint32_t base = w.frame_base[lane];
  const std::size_t n = std::min(site.results.size(), f.result_offsets.size());
  for (std::size_t k = 0; k < n; ++k)
    std::memmove(memory + frame.caller_base + site.results[k].offset, memory + base + f.result_offsets[k],
                 std::min(site.results[k].bytes, f.result_sizes[k]));
  if (w.worker->observer != nullptr)
    for (std::size_t k = 0; k < n; ++k)
      w.worker->observer->local_copied(w, lane, frame.caller_base + site.results[k].offset,
                                       base + f.result_offsets[k], site.results[k].bytes);
  set_frame(w, lane, frame.caller_base);
  if (frame.spilled) restore(w, lane, f);
}

std::uint32_t callee_of(const Warp& w, const CallSite& site, std::uint64_t address) {
  const auto& known = w.program->function_addresses;
  for (std::size_t k = 1; k < known.size(); ++k)
    if (known[k] != 0 && known[k] == address && w.program->reaches(site, k))
      return static_cast<std::uint32_t>(k);
  throw DeviceFault(Fault::illegal_address, "call through a pointer that is not a function of its type",
                    w.mask, address);
}

void make_call(Warp& w, std::size_t k, const BasicBlock& b) {
  const Program& program = *w.program;
  const CallSite& site = program.calls[b.target];
  if (!site.builtin.empty()) {
    run_builtin(w, site);
    w.groups[k].block = b.next;
    w.groups[k].passed = false;
    return;
  }
  std::uint32_t callee[kLanes] = {};
  std::uint32_t deepest = 0;
  for (const int lane : EachLane{w.mask}) {
    callee[lane] = site.callee != CallSite::kIndirect
                       ? site.callee
                       : callee_of(w, site, w.slot<std::uint64_t>(site.selector)[lane]);
    deepest = std::max(deepest, w.frame_base[lane] + program.functions[b.function].frame_bytes +
                                    program.functions[callee[lane]].frame_bytes);
    // Each call takes at least 16 bytes of a GPU's stack.
    if (w.calls[lane].size() >= kMaxLocal / 16) deepest = kMaxLocal + 1;
  }
  reserve_local(w, deepest);
  w.has_calls = true;
  for (const int lane : EachLane{w.mask}) {
    enter(w, lane, b.target, site, callee[lane], b);
  }
  scatter(w, k, [&](int lane) { return program.functions[callee[lane]].entry_block; });
}

// A group may continue if the phase of the cluster's barrier at which it arrived is complete.
bool cluster_wait(Warp& w, std::size_t k) {
  bool over = true;
  for (const int lane : EachLane{w.mask}) over = over && w.cluster_phase[lane] != w.block->cluster_phase;
  if (over) return true;
  w.groups[k].wait = Wait::barrier;
  w.groups[k].barrier = kClusterBarrier;
  return false;
}

}  // namespace

std::uint32_t barrier_number(Warp& w, std::uint32_t mask, const MicroOp& op) {
  if (op.imm == kClusterArrive || op.imm == kClusterWait) return kClusterBarrier;
  return w.slot<std::uint32_t>(op.src[1])[std::countr_zero(mask)] & 15;
}

bool arrive_at_barrier(Warp& w, std::size_t k, const MicroOp& op) {
  Block& block = *w.block;
  if (op.imm == kClusterWait) return cluster_wait(w, k);
  const std::uint32_t number = barrier_number(w, w.mask, op);
  Barrier& barrier = block.barriers[number];
  if (w.worker->observer != nullptr) w.worker->observer->barrier_arrived(w, w.mask, op);
  barrier.arrived += count_lanes(w.mask);
  if (op.src[2] != MicroOp::kNoSlot) barrier.expected = uniform(w, op.src[2]);
  if (op.imm == kBarrierReduce) {
    barrier.voters += static_cast<std::uint32_t>(std::popcount(w.mask));
    barrier.true_threads += static_cast<std::uint32_t>(std::popcount(w.mask & w.predicate(op.src[0])));
  }
  const bool waits = waits_at_barrier(op);
  if (number == kClusterBarrier)
    for (const int lane : EachLane{w.mask}) w.cluster_phase[lane] = block.cluster_phase;
  if (waits) {
    w.groups[k].wait = Wait::barrier;
    w.groups[k].barrier = number;
  }
  if (!complete(block, number)) return !waits;
  release(block, number);
  return true;
}

void leave_by_machine(Warp& w, std::size_t k, const BasicBlock& b) {
  const Program& program = *w.program;
  switch (b.exit) {
    case Exit::call:
    case Exit::call_indirect: make_call(w, k, b); return;
    case Exit::ret: {
      std::uint32_t top = 0;
      for (const int lane : EachLane{w.mask})
        if (w.calls[lane].empty()) top |= 1u << lane;
      if (top != 0) break;  // return from the kernel itself
      std::uint32_t to[kLanes] = {};
      for (const int lane : EachLane{w.mask}) {
        to[lane] = w.calls[lane].back().return_block;
        leave(w, lane);
      }
      scatter(w, k, [&](int lane) { return to[lane]; });
      return;
    }
    case Exit::indexed: {
      const auto& table = program.jump_tables[b.target];
      const std::uint32_t* index = w.slot<std::uint32_t>(b.predicate);
      for (const int lane : EachLane{w.mask})
        if (index[lane] >= table.size())
          throw DeviceFault(Fault::illegal_instruction, "index past the end of a branch table", 1u << lane);
      scatter(w, k, [&](int lane) { return table[index[lane]]; });
      return;
    }
    case Exit::trap: throw DeviceFault(Fault::trap, "trap instruction", w.mask);
    default: break;
  }
  const std::uint32_t lanes = w.groups[k].mask;
  if (w.worker->observer != nullptr) w.worker->observer->threads_exit(w, w.groups[k], b);
  w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(k));
  end_lanes(w, lanes);
}

void begin_warp(Warp& w, Block& block, std::uint32_t number, std::uint32_t n_threads) {
  const Program& program = *w.program;
  w.block = &block;
  w.number = number;
  const std::uint32_t first = number * kLanes;
  const std::uint32_t n = std::min<std::uint32_t>(kLanes, n_threads - first);
  w.live = n == kLanes ? kAllLanes : (1u << n) - 1;
  w.groups.clear();
  Group whole;
  whole.block = program.functions[0].entry_block;
  whole.mask = w.live;
  w.groups.push_back(whole);
  w.copies.clear();
  w.bulk_copies.clear();
  std::ranges::fill(w.cluster_phase, ~0u);
  w.back_edges = 0;
  w.favoured = 0;
  w.clock = 0;
  w.time = block.start;
  w.stall = 0;
  w.polled.op = Warp::kNeverPolled;
  std::ranges::fill(w.near_lines, 0);
  w.has_calls = w.went_apart = false;
  for (int lane = 0; lane < kLanes; ++lane) {
    w.calls[lane].clear();
    w.spilled[lane].clear();
    set_frame(w, lane, 0);
  }
  reserve_local(w, program.functions[0].frame_bytes);
}

}  // namespace course::sim
