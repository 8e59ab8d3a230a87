// SPDX-License-Identifier: MIT
#include "sim/grid/launch_counters.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/memory/cache.hpp"

namespace course::sim {
namespace {

void add(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k];
}

// Adds what one host thread counted.
void add_worker(GridOutcome& o, const Worker& w) {
  add(o.block_runs, w.block_runs);
  add(o.block_lanes, w.block_lanes);
  add(o.diverged, w.diverged);
  add(o.guarded_off, w.guarded_off);
  for (std::size_t k = 0; k < o.op_counters.size(); ++k) {
    OpCounters& sum = o.op_counters[k];
    const OpCounters& part = w.op_counters[k];
    sum.requests += part.requests;
    sum.lanes += part.lanes;
    sum.sectors += part.sectors;
    sum.wavefronts += part.wavefronts;
    sum.conflicts += part.conflicts;
    sum.serialised += part.serialised;
    sum.copied += part.copied;
  }
  o.counters.barriers += w.barriers_completed;
  o.counters.global_lines += w.lines;
  o.counters.near_sectors += w.near_sectors;
  o.counters.memory_read_sectors += w.filled_sectors;
  o.counters.memory_write_sectors += w.dirty_sectors;
  o.counters.partial_sectors += w.partial_sectors;
  o.counters.global_atomic_passes += w.atomic_passes;
  o.output += w.output;
  o.printed_bytes += w.printed_bytes;
  o.recursion_bytes = std::max(o.recursion_bytes, w.recursion_bytes);
}

// Whether the hardware combines the lanes that have the same address. In shared memory, an addition of the
// constant 1 whose old value is not used becomes ATOMS.POPC.INC, which counts them. Additions of a variable
// take a turn for each lane (measured: handouts/results/lessons).
bool combines_lanes(const Program& program, const MicroOp& op) {
  if (op.space != MemorySpace::shared || op.dst[0] != MicroOp::kNoSlot || op.width != 4) return false;
  const ptx::Instruction& i = program.functions[op.function].source->instructions[op.ptx_index];
  const std::size_t value = i.opcode == "atom" ? 2 : 1;  // operand index
  return i.has("add") && i.operands.size() > value && i.operands[value].kind == ptx::Operand::Kind::integer &&
         i.operands[value].integer == 1;
}

// Whether an addition in shared memory becomes a loop with ATOMS.CAST.SPIN: all but those of 32-bit integers.
bool adds_in_a_loop(const Program& program, const MicroOp& op) {
  const ptx::Instruction& i = program.functions[op.function].source->instructions[op.ptx_index];
  return i.has("add") && !i.types.empty() && i.types.back() != ptx::Type::u32 &&
         i.types.back() != ptx::Type::s32;
}

// Adds what one op did, depending on the memory that it accesses.
void add_op(Counters& c, const Program& program, const MicroOp& op, const OpCounters& n) {
  const bool global = op.space == MemorySpace::global || (op.space == MemorySpace::generic && n.sectors > 0);
  const std::uint64_t bytes = n.lanes * op.width * op.count;
  const auto add_global = [&](bool reads, std::uint64_t requests, std::uint64_t moved) {
    (reads ? c.global_load_requests : c.global_store_requests) += requests;
    (reads ? c.global_load_sectors : c.global_store_sectors) += n.sectors;
    (reads ? c.global_load_bytes : c.global_store_bytes) += moved;
  };
  if ((op.kind == OpKind::load || op.kind == OpKind::store) && global) {
    add_global(op.kind == OpKind::load, n.requests, bytes);
  } else if (op.kind == OpKind::other && global) {  // textures, surfaces and prefetches
    add_global(op.n_dst > 0 || op.prefetches, n.requests, bytes);
  } else if (op.space == MemorySpace::local) {
    c.local_requests += n.requests;
    c.local_sectors += n.sectors;
  } else if (op.kind == OpKind::copy) {  // global to shared memory, or shared to global memory
    add_global(op.space == MemorySpace::global, n.requests, n.copied);
    c.shared_requests += n.requests;
  } else if (op.kind == OpKind::load || op.kind == OpKind::store) {
    c.shared_requests += n.requests;
  }
  // The lanes of one generic access may access both global and shared memory.
  c.shared_conflicts += n.conflicts;
  if (op.kind == OpKind::load || op.kind == OpKind::store || op.kind == OpKind::copy)
    c.shared_wavefronts += n.wavefronts;
  if (op.kind == OpKind::atomic && n.wavefronts > 0) {
    c.shared_atomic_requests += n.requests;
    c.shared_atomic_wavefronts += n.wavefronts;
  }
  if (op.kind == OpKind::atomic) {
    c.atomic_requests += n.requests;
    c.atomic_lanes += n.lanes;
    const bool shared = n.wavefronts > 0;
    const std::uint64_t turns =
        combines_lanes(program, op) ? n.wavefronts : std::max(n.wavefronts, n.serialised);
    c.atomic_turns += turns;
    if (shared) c.shared_atomic_passes += turns;
    if (shared && adds_in_a_loop(program, op)) c.shared_loop_passes += turns;
    if (global)  // read and written back in L2
      for (const bool reads : {true, false}) add_global(reads, 0, bytes);
  }
}

// Adds what was counted by basic block and by op: the counts of a worker, or of all in a GridOutcome.
// `waits`: also of basic blocks that only poll.
void add_runs(Counters& c, const Program& program, const auto& counts, bool waits) {
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const BasicBlock& block = program.blocks[b];
    if (block.only_polling && !waits) continue;
    c.warp_instructions += counts.block_runs[b] * block.counted;
    c.lane_instructions += counts.block_lanes[b] * block.counted;
    for (std::size_t k = 0; k < kInstructionKinds; ++k) c.mix[k] += counts.block_runs[b] * block.mix[k];
    if (block.exit == Exit::branch) c.branches += counts.block_runs[b];
    c.divergent_branches += counts.diverged[b];
  }
  for (std::size_t k = 0; k < program.ops.size(); ++k) {
    c.lane_instructions -= counts.guarded_off[k];
    if (counts.op_counters[k].requests != 0) add_op(c, program, program.ops[k], counts.op_counters[k]);
  }
}

// Registers that the assembler keeps in local memory: each thread stores and loads them at least once. What
// the resident threads have beyond the size of L1 moves to and from L2.
void add_spills(Counters& c, std::uint64_t n_bytes, std::uint64_t in_l1, const LaunchRequest& launch) {
  const std::uint64_t threads = launch.block.count(), blocks = launch.grid.count();
  const std::uint64_t requests = 2 * ((n_bytes + 3) / 4) * ((threads + kLanes - 1) / kLanes) * blocks;
  const std::uint64_t moved = n_bytes - std::min(n_bytes, in_l1);
  c.local_requests += requests;
  c.local_sectors += 2 * ((moved + 3) / 4) * ((threads + 7) / 8) * blocks;  // one has words of eight lanes
  c.global_lines += requests;
  c.mix[static_cast<std::size_t>(InstructionKind::memory)] += requests;
}

}  // namespace

Gap gap_of_counters(const OpRow& row, const MicroOp* op) {
  const bool accesses = row.kind == OpKind::load || row.kind == OpKind::store || row.kind == OpKind::atomic;
  // Such as the elements of a vector of atomics, and of a matrix. Those of a call are in local memory.
  if (accesses && op != nullptr && !op->counted && op->space != MemorySpace::local)
    return "several accesses in one instruction count as one";
  if (is_plain(row.kind) || row.kind == OpKind::copy) return nullptr;
  if (row.kind == OpKind::mbarrier) return "accesses to mbarriers are not counted";
  return is_of(row, {"mma"}) ? "an operation on matrices counts as one instruction" : nullptr;
}

void prepare_model(Worker& worker, const GridOptions& options, SignalTimes* signals) {
  const DevicePreset& preset = *worker.preset;
  const Timing& t = preset.timing;
  const auto clocks = [](double v) { return static_cast<std::uint32_t>(std::max(v, 0.0)); };
  const std::uint64_t warps = (worker.launch->block.count() + kLanes - 1) / kLanes;
  worker.cache = options.cache;
  worker.signals = signals;
  worker.near_stall = clocks(t.l2_latency - t.near_latency);
  worker.far_stall = clocks(t.memory_latency - t.near_latency);
  worker.fetch_stall = clocks(t.fetch_latency);
  worker.near_clocks = clocks(t.near_latency);
  worker.publish_clocks = clocks(t.publish_latency);
  worker.barrier_clocks = clocks(t.barrier_latency + t.barrier_latency_per_warp * static_cast<double>(warps));
  worker.block_clocks = clocks(t.block_latency);
  worker.conflict_clocks = t.conflict_latency;
  worker.shared_atomic_clocks = t.shared_atomic_latency;
  // Each warp has its share of L1, that is, of what shared memory leaves.
  const std::uint64_t sms = static_cast<std::uint64_t>(preset.multiprocessors),
                      all = worker.launch->grid.count();
  const std::uint64_t places = static_cast<std::uint64_t>(std::max(options.resident_blocks, 1));
  const std::uint64_t blocks_each = std::max<std::uint64_t>((std::min(all, places) + sms - 1) / sms, 1);
  const std::uint64_t shared = worker.program->static_shared + worker.launch->dynamic_shared;
  const std::uint64_t size = static_cast<std::uint64_t>(preset.near_bytes);
  const std::uint64_t left = size - std::min(size, shared * blocks_each);
  worker.near_bytes = left / (blocks_each * worker.launch->block.count());
  worker.near_lines = std::clamp<std::uint32_t>(
      std::bit_floor(static_cast<std::uint32_t>(left / (blocks_each * warps * Cache::kLineBytes))), 1,
      Warp::kNearLines);
}

void add_turn(Block& block, Worker& worker) {
  Counters now;
  now.global_lines = worker.lines;
  now.near_sectors = worker.near_sectors;
  add_runs(now, *worker.program, worker, false);
  block.own += now;
  for_each_sum([&](auto, std::uint64_t Counters::*field) { block.own.*field -= worker.seen.*field; });
  for (std::size_t k = 0; k < kInstructionKinds; ++k) block.own.mix[k] -= worker.seen.mix[k];
  worker.seen = now;
}

UnitClocks unit_clocks(const Counters& c, const Timing& t) {
  const auto as_double = [](std::uint64_t n) { return static_cast<double>(n); };
  double slots = 0, busiest_unit = 0;
  for (std::size_t k = 0; k < kInstructionKinds; ++k) {
    slots += t.issue[k] * as_double(c.mix[k]);
    busiest_unit = std::max(busiest_unit, t.unit[k] * as_double(c.mix[k]));
  }
  const double loops = (t.loop_passes - 1) * as_double(c.shared_loop_passes);
  return {as_double(c.shared_wavefronts + c.global_lines) / t.near_passes_per_clock,
          std::max(slots, busiest_unit) / 4,
          (as_double(c.shared_atomic_passes) + loops) / t.shared_atomics_per_clock,
          as_double(c.global_load_sectors - c.near_sectors) / t.near_sectors_per_clock};
}

void sum_up(const Program& program, const std::vector<std::unique_ptr<Worker>>& workers, GridOutcome& o) {
  o.block_runs.assign(program.blocks.size(), 0);
  o.block_lanes.assign(program.blocks.size(), 0);
  o.diverged.assign(program.blocks.size(), 0);
  o.op_counters.assign(program.ops.size(), OpCounters{});
  o.guarded_off.assign(program.ops.size(), 0);
  for (const auto& w : workers) {
    add_worker(o, *w);
    if (w != workers.front()) workers.front()->hot_spots.add(w->hot_spots);
  }
  Counters& c = o.counters;
  c.launches = 1;
  c.hottest_atomics = workers.front()->hot_spots.most();
  add_runs(c, program, o, true);
  add_spills(c, program.spilled_bytes, workers.front()->near_bytes, *workers.front()->launch);
}

std::uint64_t look_back_clocks(const SignalTimes& signals, std::uint64_t resident, std::uint64_t blocks,
                               bool fences, const Timing& t) {
  if (signals.looks == 0) return 0;
  const double fence = t.latency[static_cast<std::size_t>(InstructionKind::fence)] + t.l2_latency;
  const double look = t.publish_latency + t.l2_latency + (fences ? fence : 0);
  const double width =
      std::max(static_cast<double>(signals.blocks_seen) / static_cast<double>(signals.looks), 1.0);
  const double rounds = static_cast<double>(blocks) / static_cast<double>(resident);
  return static_cast<std::uint64_t>(look * rounds * std::sqrt(2 * static_cast<double>(resident) / width));
}

}  // namespace course::sim
