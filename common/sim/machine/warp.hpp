// SPDX-License-Identifier: MIT
// The state of a running warp and block, shared by the op handlers (ops/), the run loop (ops/run.cpp) and the observers.
// Threads of a warp that stand at the same place form a group; a warp that has not diverged has one group.
// Invariant: groups of a warp have disjoint masks and different blocks; their union is the set of live lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/machine/copies.hpp"
#include "sim/machine/hot_spots.hpp"
#include "sim/machine/program.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

inline constexpr int kLanes = 32;
inline constexpr std::uint32_t kAllLanes = ~0u;

struct Block;
struct Worker;
struct Warp;

// Thrown by handlers: ends the launch. `lanes` are those at fault; `address` where that says something.
struct DeviceFault : std::runtime_error {
  DeviceFault(Fault fault_kind, std::string what, std::uint32_t lanes_at_fault = 0, std::uint64_t where = 0)
      : std::runtime_error(std::move(what)), fault(fault_kind), lanes(lanes_at_fault), address(where) {}
  Fault fault;
  std::uint32_t lanes;
  std::uint64_t address;
};

// Memory order and scope of an access, packed into MicroOp::order.
enum MemoryOrder : std::uint8_t {
  kWeak = 0,
  kVolatile = 1,
  kRelaxed = 2,
  kAcquire = 3,
  kRelease = 4,
  kAcquireRelease = 5,
  kSequential = 6,
  kOrderMask = 7,
  kScopeBlock = 0 << 3,
  kScopeCluster = 1 << 3,
  kScopeDevice = 2 << 3,
  kScopeSystem = 3 << 3,
  kScopeMask = 3 << 3,
  kNonCoherent = 1 << 5,  // a load of what nobody writes during the kernel: ld.global.nc
};

enum class Wait : std::uint8_t { none, warp_sync, barrier };

// Threads of one warp at one place.
struct Group {
  std::uint32_t block = 0;  // basic block about to run
  std::uint32_t mask = 0;
  Wait wait = Wait::none;
  std::uint32_t barrier = 0;      // when waiting at one
  bool passed = false;            // the sync op at the head of `block` may run now
  std::uint64_t stamp = 0;        // when it was last favoured, see Warp::favoured
  std::uint32_t from = kNoBlock;  // observed launches only: the basic block it ran last

  static constexpr std::uint32_t kNoBlock = ~0u;
};

// Saved when a function is called: per lane, since lanes of a group may have come from different call sites.
struct CallFrame {
  std::uint32_t return_block;
  std::uint32_t call;         // index into Program::calls
  std::uint32_t caller_base;  // caller's frame base in local memory
  std::uint32_t function;     // the callee
  bool spilled;               // the callee's registers were saved, since it was already active in this lane
};

struct alignas(64) Warp {
  std::uint32_t lane_mask[kLanes] = {};  // `mask`, one word a lane, all ones or zero
  std::byte* registers = nullptr;
  std::uint32_t mask = 0;  // lanes that the current op acts on
  std::uint32_t live = 0;  // lanes that have not exited
  Block* block = nullptr;
  Worker* worker = nullptr;
  const Program* program = nullptr;
  const MicroOp* current = nullptr;  // for diagnostics and memory caches
  std::uint32_t number = 0;          // in its block
  std::uint32_t observed = ~0u;      // kinds of op that the observer is called for: bits 1 << OpKind
  std::uint32_t back_edges = 0;      // taken while diverged, since the last rotation
  std::uint32_t favoured =
      0;  // lanes of the group that runs out of order, so that spinning lanes cannot starve it
  std::uint64_t clock = 0;
  // For the timing model: its own time in clocks, what the loads of the basic block at hand add to it, and the poll that it may be repeating.
  std::uint64_t time = 0;
  std::uint32_t stall = 0;
  bool waited = false;  // at the barrier that is released
  std::uint32_t polled_op = ~0u;
  std::uint64_t polled_address = 0, polled_time = 0;
  // Lines of global memory that it loaded last: line number and 4 bits, the sectors.
  static constexpr std::uint32_t kNearLines = 32;
  std::uint64_t near_lines[kNearLines] = {};
  std::vector<Group> groups;
  std::vector<std::byte> register_store;

  // Local memory: per lane, contiguous; frames grow upwards.
  std::vector<std::byte> local;
  std::uint32_t local_stride = 0;
  std::uint32_t frame_base[kLanes] = {};
  std::vector<CallFrame> calls[kLanes];
  std::vector<std::uint64_t> spilled[kLanes];  // registers of re-entered functions, a stack by lane
  bool has_calls = false;

  CopyQueue copies, bulk_copies;
  std::uint32_t cluster_phase[kLanes] =
      {};                        // of the block's cluster barrier when the lane arrived there last
  std::uint32_t first_lane = 0;  // the lane whose part of an atomic is done first; the others follow in turn

  template <typename T>
  T* slot(std::uint32_t offset) {
    return reinterpret_cast<T*>(registers + offset);
  }
  std::uint32_t& predicate(std::uint32_t offset) { return *slot<std::uint32_t>(offset); }

  void set_mask(std::uint32_t m) {
    if (m == mask) return;
    mask = m;
    for (int i = 0; i < kLanes; ++i) lane_mask[i] = (m >> i & 1) != 0 ? ~0u : 0u;
  }
};

struct Barrier {
  std::uint32_t arrived = 0;       // threads waiting or having arrived without waiting
  std::uint32_t expected = 0;      // threads, 0 = all that live
  std::uint32_t true_threads = 0;  // of bar.red: threads whose predicate holds
  std::uint32_t voters = 0;
  bool result_and = false, result_or = false;  // of the last completed bar.red
  std::uint32_t result_count = 0;
};

// Barriers of a block: bar.sync's, and that of the cluster.
inline constexpr std::uint32_t kClusterBarrier = 16, kBarriers = 17;

// Blocks that run at the same time and reach each other's shared memory. Clusters of one block have none.
struct Cluster {
  std::vector<Block*> members;  // by rank; nullptr once it has ended
};

struct Block {
  std::shared_ptr<Cluster> cluster;
  std::uint32_t index[3] = {0, 0, 0};
  std::uint64_t linear = 0;
  std::uint32_t storage = 0;  // number of this piece of storage, which one block after another uses
  const LaunchRequest* launch = nullptr;
  std::vector<std::byte> shared_store;
  std::byte* shared = nullptr;  // static, then dynamic; 128-byte aligned
  std::uint32_t shared_bytes = 0;
  std::vector<Warp> warps;
  Barrier barriers[kBarriers];
  std::uint64_t ticks = 0;                // what its clocks show, see ops/clock_rows.cpp
  std::uint32_t cluster_phase = 0;        // times that barrier.cluster has been completed
  std::vector<CopyBatch> counted_copies;  // under way, to be told to an mbarrier
  std::uint64_t n_copies = 0;             // instructions that copy, so far
  std::uint64_t rounds = 0;               // in which each of its warps had a turn
  std::uint32_t live_threads = 0;
  std::uint64_t start = 0;  // on the timing model's clock
  std::uint32_t n_threads = 0;
  bool had_early_exit = false;  // some threads have exited
};

// What memory instructions did, per op: summed into Counters and, line by line, into profiles.
struct OpCounters {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;
  std::uint64_t sectors = 0;     // global, local
  std::uint64_t wavefronts = 0;  // shared
  std::uint64_t conflicts = 0;   // … more of them than the bytes need
  std::uint64_t serialised = 0;  // atomics
  std::uint64_t copied = 0;      // bytes, by asynchronous copies
};

// Sees the instructions of an observed launch, before and after they run, and what the machine does between them. Any of the
// calls may throw DeviceFault.
class Observer {
 public:
  // `looks_after`: whether `after` is to be called at all.
  explicit Observer(bool looks_after = true) : looks_after_(looks_after) {}
  virtual ~Observer() = default;
  bool looks_after() const { return looks_after_; }
  virtual void launch_begins(const Program&, const LaunchRequest&) {}
  virtual void block_begins(Block&) {}
  virtual void block_ends(Block&) {}
  // Only for the kinds of op in Warp::observed, which block_begins may narrow.
  virtual void before(Warp&, const MicroOp&) {}
  virtual void after(Warp&, const MicroOp&) {}
  // Threads `mask` reach a barrier; `barrier_released` follows once enough have.
  virtual void barrier_arrived(Warp&, std::uint32_t /*mask*/, const MicroOp&) {}
  virtual void barrier_released(Block&, std::uint32_t /*barrier*/) {}
  // Lanes `mask` have met at bar.warp.sync `op` (or several of the same member mask) and go on.
  virtual void warp_synced(Warp&, std::uint32_t /*mask*/, const MicroOp& /*op*/) {}
  // A group of threads leaves the kernel at the end of a basic block. Called while it still counts as live.
  virtual void threads_exit(Warp&, const Group&, const BasicBlock&) {}
  // A call or a return moved values in a lane's local memory, or a call opened a fresh frame there.
  virtual void local_moved(Warp&, int /*lane*/, std::uint32_t /*offset*/, std::uint32_t /*bytes*/) {}
  virtual void frame_opened(Warp&, int /*lane*/, std::uint32_t /*offset*/, std::uint32_t /*bytes*/) {}
  // Copies are put under way (of the batch's lanes); some of them have been done, for the thread that waited or, unless it is 0,
  // for those that wait for the mbarrier. Called before the data moves.
  virtual void copies_issued(Warp&, const CopyBatch&) {}
  virtual void copies_finished(Block&, const CopyBatch&, std::uint32_t /*lanes*/, std::uint64_t /*barrier*/) {
  }
  // An mbarrier: a lane arrives there, its phase ends, a lane sees that the phase it asked for has ended.
  virtual void rendezvous_arrived(Warp&, int /*lane*/, std::uint64_t /*address*/) {}
  virtual void rendezvous_ended(Block&, std::uint64_t /*address*/) {}
  virtual void rendezvous_passed(Warp&, int /*lane*/, std::uint64_t /*address*/) {}
  // Nothing in the block can run any more: the launch is about to be ended as a deadlock.
  virtual void stuck(Block&) {}
  // Something in the block has ended the launch: it and later blocks run no further.
  virtual void faulted(Block&) {}
  virtual void launch_ends() {}

 protected:
  void set_looks_after(bool looks_after) { looks_after_ = looks_after; }

 private:
  bool looks_after_;
};

// One host thread's share of a launch.
class Cache;
class Signals;

struct Worker {
  const Program* program = nullptr;
  Arena* arena = nullptr;
  const LaunchRequest* launch = nullptr;
  const DevicePreset* preset = nullptr;
  std::uint64_t grid_workspace = 0;  // what %envreg1 and 2 hold, high half first
  Observer* observer = nullptr;
  bool counting = false;
  bool alone = true;                       // no other host thread runs this launch
  std::uint64_t instructions = 0;          // warp instructions since the launch began
  std::vector<std::uint64_t> block_runs;   // by basic block: warp-wide executions
  std::vector<std::uint64_t> block_lanes;  // … and lanes
  std::vector<std::uint64_t> diverged;     // by basic block: conditional branches that split a group
  std::vector<std::uint64_t> guarded_off;  // by op: lanes that a guard switched off
  std::vector<OpCounters> op_counters;     // by op
  std::uint64_t barriers_completed = 0;
  // For the timing model.
  Cache* cache = nullptr;
  Signals* signals = nullptr;  // where blocks may wait for each other
  std::uint32_t near_lines =
      Warp::kNearLines;  // of a warp that the first-level cache has room for: a power of two
  std::uint32_t near_stall = 0, far_stall = 0,
                fetch_stall = 0;  // clocks beyond the nearest: second-level cache, memory, atomics
  std::uint64_t publish_clocks = 0, barrier_clocks = 0, block_clocks = 0;
  double conflict_clocks = 0, shared_atomic_clocks = 0;
  std::uint64_t lines = 0, near_sectors = 0, filled_sectors = 0, dirty_sectors = 0, partial_sectors = 0;
  std::uint64_t atomic_passes = 0;
  HotSpots hot_spots;
  std::uint32_t storages = 0;         // blocks' storage made so far
  const Warp* launch_warp = nullptr;  // the warp that runs, for diagnostics
  std::string output;                 // of printf, in order

  // The allocations hit last, hashed by op: most accesses fall where the last one of the same op did.
  struct Window {
    std::uint64_t low = 1, high = 0;
  };
  static constexpr std::uint32_t kWindows = 64;
  Window windows[kWindows];
};

}  // namespace course::sim
