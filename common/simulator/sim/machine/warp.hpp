// SPDX-License-Identifier: MIT
// The state of a running warp and block, shared by the op handlers (ops/), the run loop (ops/run.cpp) and the
// observers. Threads of a warp that are at the same position in the code form a group. A warp that has not
// diverged has one group.
// Invariant: the groups of a warp have disjoint masks and different positions. The union of the masks is the
// set of live lanes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "sim/machine/copies.hpp"
#include "sim/machine/hot_spots.hpp"
#include "sim/machine/program.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

inline constexpr int kLanes = 32;
inline constexpr std::uint32_t kAllLanes = ~0u;

// The lanes of a mask, in ascending order: for (const int lane : EachLane{mask}).
struct EachLane {
  struct Iterator {
    std::uint32_t left;
    int operator*() const { return std::countr_zero(left); }
    Iterator& operator++() {
      left &= left - 1;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };
  std::uint32_t mask;
  Iterator begin() const { return {mask}; }
  Iterator end() const { return {0}; }
};

// Number of lanes in a mask. Checks for the full mask first, because portable code has no popcount
// instruction.
inline std::uint32_t count_lanes(std::uint32_t mask) {
  return mask == kAllLanes ? kLanes : static_cast<std::uint32_t>(std::popcount(mask));
}

struct Block;
struct Worker;
struct Warp;

// Thrown by op handlers; ends the launch. `lanes`: the lanes at fault. `address`: the faulting address, else
// 0.
struct DeviceFault : std::runtime_error {
  DeviceFault(Fault fault_kind, const std::string& what, std::uint32_t lanes_at_fault = 0,
              std::uint64_t where = 0)
      : std::runtime_error(what), fault(fault_kind), lanes(lanes_at_fault), address(where) {}
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
  kNonCoherent = 1 << 5,  // loads, ld.global.nc: of memory that no thread writes during the kernel
  kCombined = 1 << 5,     // atomics: one lane executes it for all (mark_combined_atomics)
  // What the decoder finds out about a look (is_look): its thread goes by whatever others have done, because
  // it waits, or because that does no harm; such a look is always at the same place, and its value decides at
  // most which way is taken.
  kWaits = 1 << 6,
  kOnlyDecides = 1 << 7,
};

// Whether the op may get what another thread has just written: a strong load, an atomic whose old value is
// used, a test of an mbarrier.
inline bool is_look(const MicroOp& op) {
  return op.space != MemorySpace::local && op.dst[0] != MicroOp::kNoSlot &&
         (op.kind == OpKind::atomic || op.kind == OpKind::mbarrier ||
          (op.kind == OpKind::load && (op.order & kOrderMask) != kWeak));
}

// Whether other threads may see this change before they see the thread's next one.
inline bool is_strong_change(const MicroOp& op) {
  return op.space != MemorySpace::local &&
         (op.kind == OpKind::atomic || (op.kind == OpKind::store && (op.order & kOrderMask) != kWeak));
}

enum class Wait : std::uint8_t { none, warp_sync, barrier };

// Threads of one warp at the same position.
struct Group {
  std::uint32_t block = 0;  // the basic block that runs next
  // The ops of it that have run: if a turn has ended within it (Block::one_pause_in).
  std::uint32_t done = 0;
  std::uint32_t mask = 0;
  Wait wait = Wait::none;
  std::uint32_t barrier = 0;      // where it waits, if wait == Wait::barrier
  bool passed = false;            // the sync op at the head of `block` may run now
  std::uint64_t stamp = 0;        // Warp::clock when the group was last chosen to run
  std::uint32_t from = kNoBlock;  // in observed launches: the basic block that ran last

  static constexpr std::uint32_t kNoBlock = ~0u;
};

// Saved at a function call, for each lane, because the lanes of a group may have different call sites.
struct CallFrame {
  std::uint32_t return_block;
  std::uint32_t call;         // index into Program::calls
  std::uint32_t caller_base;  // caller's frame base in local memory
  std::uint32_t function;     // the callee
  bool spilled;               // the callee was already active in this lane, so its registers were saved
};

// Zeroed bytes, aligned to 128. Exactly as many as asked for, so that AddressSanitizer finds any access
// beyond.
struct AlignedDelete {
  void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{128}); }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;
inline AlignedBytes aligned_bytes(std::size_t n) {
  return AlignedBytes(new (std::align_val_t{128}) std::byte[n]{});
}

struct alignas(64) Warp {
  std::uint32_t lane_mask[kLanes] = {};  // `mask` as one word per lane, all ones or zero
  std::byte* registers = nullptr;
  std::uint32_t mask = 0;  // lanes that execute the current op
  std::uint32_t live = 0;  // lanes that have not exited
  Block* block = nullptr;
  Worker* worker = nullptr;
  const Program* program = nullptr;
  const MicroOp* current = nullptr;  // for diagnostics and memory caches
  std::uint32_t number = 0;          // in its block
  std::uint32_t observed = ~0u;      // bits 1 << OpKind: the kinds of op for which the observer is called
  std::uint32_t back_edges = 0;      // taken while diverged, since `favoured` was last set
  // Lanes of a group that runs out of order, so that spinning lanes do not starve it.
  std::uint32_t favoured = 0;
  std::uint64_t clock = 0;
  // For the timing model: the warp's own time in clocks, what the loads of the current basic block add to it,
  // and the last polled position, which the warp may be polling again.
  std::uint64_t time = 0;
  std::uint32_t stall = 0;
  bool waited = false;  // at the barrier that is being released
  static constexpr std::uint32_t kNeverPolled = ~0u;
  struct Look {
    std::uint32_t op = kNeverPolled, lanes = 0;
    std::array<std::uint64_t, kLanes> at{};
    bool operator==(const Look&) const = default;
  } polled;
  std::uint64_t polled_time = 0;
  std::array<std::byte, 16 * kLanes> polled_values{};  // that the lanes of `polled` found
  bool only_polls = false;                             // as the basic block that runs
  // The lines of global memory that the warp loaded last: line number, and 4 bits for the sectors; and the
  // time when they are there.
  static constexpr std::uint32_t kNearLines = 32;
  std::uint64_t near_lines[kNearLines] = {}, near_from[kNearLines] = {};
  std::vector<Group> groups;
  AlignedBytes register_store;

  // Local memory: contiguous for each lane; frames grow upwards.
  std::vector<std::byte> local;
  std::uint32_t local_stride = 0;
  std::uint32_t frame_base[kLanes] = {};
  std::vector<CallFrame> calls[kLanes];
  std::vector<std::uint64_t> spilled[kLanes];  // registers of re-entered functions: one stack per lane
  bool has_calls = false;

  CopyQueue copies, bulk_copies;
  // Block::cluster_phase when the lane last arrived at the cluster's barrier.
  std::uint32_t cluster_phase[kLanes] = {};
  std::uint32_t first_lane = 0;  // comes first in an atomic or a store: see for_lanes_in_turn()
  bool went_apart = false;       // lanes have taken different paths since all live lanes last synchronised

  // The time at which an op of the current basic block is issued.
  std::uint64_t time_of(const MicroOp& op) const {
    return time + op.clocks + std::uint64_t{stall} * op.waits;
  }

  template <typename T>
  T* slot(std::uint32_t offset) const {
    return reinterpret_cast<T*>(registers + offset);
  }
  std::uint32_t& predicate(std::uint32_t offset) { return *slot<std::uint32_t>(offset); }

  void set_mask(std::uint32_t m) {
    if (m == mask) return;
    mask = m;
    for (int i = 0; i < kLanes; ++i) lane_mask[i] = (m >> i & 1) != 0 ? ~0u : 0u;
  }
};

// Calls `each(lane)` for `lanes` in the order in which their atomics and stores take effect.
template <typename Each>
void for_lanes_in_turn(const Warp& w, std::uint32_t lanes, const Each& each) {
  for (const int lane : EachLane{std::rotr(lanes, static_cast<int>(w.first_lane))})
    each(static_cast<int>((static_cast<std::uint32_t>(lane) + w.first_lane) % kLanes));
}

struct Barrier {
  std::uint32_t arrived = 0;       // threads that wait, or have arrived without waiting
  std::uint32_t expected = 0;      // threads; 0: all live threads
  std::uint32_t true_threads = 0;  // for bar.red: threads whose predicate is true
  std::uint32_t voters = 0;
  bool result_and = false, result_or = false;  // of the last completed bar.red
  std::uint32_t result_count = 0;
};

// The barriers of a block: 16 for bar.sync, and that of the cluster.
inline constexpr std::uint32_t kClusterBarrier = 16, kBarriers = 17;

// Blocks that run at the same time and can access each other's shared memory. A block without a cluster has
// none.
struct Cluster {
  std::vector<Block*> members;  // by rank; nullptr once the block has ended
};

struct Block {
  std::shared_ptr<Cluster> cluster;
  std::uint32_t index[3] = {0, 0, 0};
  std::uint64_t linear = 0;
  std::uint32_t storage = 0;  // number of this Block object, which is reused for one block after another
  const LaunchRequest* launch = nullptr;
  AlignedBytes shared_store;
  std::byte* shared = nullptr;  // static, then dynamic; 128-byte aligned
  std::uint32_t shared_bytes = 0;
  std::vector<Warp> warps;
  Barrier barriers[kBarriers];
  std::uint64_t ticks = 0;                // value of its clock registers, see ops/clock_rows.cpp
  std::uint32_t cluster_phase = 0;        // number of completed barriers of the cluster
  std::vector<CopyBatch> counted_copies;  // copies under way that an mbarrier counts
  std::uint64_t n_copies = 0;             // copy instructions executed so far
  std::uint64_t rounds = 0;               // number of rounds in which each of its warps had a turn
  // One in so many ops that look (is_look) ends the warp's turn, at random, so that other warps run between a
  // load and the store that follows from it. 0: none. `pauses_at_changes`: also strong changes, so that
  // others run between two of them.
  std::uint32_t one_pause_in = 0;
  bool pauses_at_changes = false;
  Rng dice{0};  // for these pauses; does not depend on the host thread
  std::uint32_t live_threads = 0;
  std::uint64_t start = 0;  // in clocks of the timing model
  Counters own;             // what add_turn() in launch_counters.hpp has added
  std::uint32_t n_threads = 0;
};

// What memory instructions did, per op. Summed into Counters and, per source line, into profiles.
struct OpCounters {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;
  std::uint64_t sectors = 0;     // global, local
  std::uint64_t wavefronts = 0;  // shared
  std::uint64_t conflicts = 0;   // shared: wavefronts beyond those that the bytes need
  std::uint64_t serialised = 0;  // atomics
  std::uint64_t copied = 0;      // bytes, by asynchronous copies
};

// Observes the instructions of a launch, before and after they run, and what the machine does between them.
// Any of the calls may throw DeviceFault. With several host threads, each has its own observer.
class Observer {
 public:
  // `looks_after`: whether `after` is called at all.
  explicit Observer(bool looks_after = true) : looks_after_(looks_after) {}
  virtual ~Observer() = default;
  bool looks_after() const { return looks_after_; }
  virtual void launch_begins(const Program&, const LaunchRequest&) {}
  virtual void block_begins(Block&) {}
  virtual void block_ends(Block&) {}
  // Only for the kinds of op in Warp::observed, which block_begins may narrow.
  virtual void before(Warp&, const MicroOp&) {}
  virtual void after(Warp&, const MicroOp&) {}
  // Lanes `lanes` do not execute an op because of its guard. Called before the others execute it.
  virtual void guarded_off(Warp&, const MicroOp&, std::uint32_t /*lanes*/) {}
  // Lanes `mask` have executed a basic block that ends with a conditional or an indexed branch, or with an
  // indirect call.
  virtual void branches(Warp&, const BasicBlock&, std::uint32_t /*mask*/) {}
  // Threads `mask` arrive at a barrier. `barrier_released` follows once enough threads have arrived.
  virtual void barrier_arrived(Warp&, std::uint32_t /*mask*/, const MicroOp&) {}
  virtual void barrier_released(Block&, std::uint32_t /*barrier*/) {}
  // Lanes `mask` have met at bar.warp.sync `op` and continue. They may have several different member masks.
  virtual void warp_synced(Warp&, std::uint32_t /*mask*/, const MicroOp& /*op*/) {}
  // A group of threads leaves the kernel at the end of a basic block. Called while it still counts as live.
  virtual void threads_exit(Warp&, const Group&, const BasicBlock&) {}
  // local_moved: a builtin function or a call wrote values to a lane's local memory. local_copied: a call or
  // a return copied them there from another place in it. frame_opened: a call opened a new frame.
  virtual void local_moved(Warp&, int /*lane*/, std::uint32_t /*offset*/, std::uint32_t /*bytes*/) {}
  virtual void local_copied(Warp& w, int lane, std::uint32_t to, std::uint32_t /*from*/,
                            std::uint32_t bytes) {
    local_moved(w, lane, to, bytes);
  }
  virtual void frame_opened(Warp&, int /*lane*/, std::uint32_t /*offset*/, std::uint32_t /*bytes*/) {}
  // copies_issued: the copies of a batch have started. copies_finished: some of them are about to be carried
  // out, for a thread that waited or, if `barrier` is not 0, for the threads that wait for that mbarrier.
  virtual void copies_issued(Warp&, const CopyBatch&) {}
  virtual void copies_finished(Block&, const CopyBatch&, std::uint32_t /*lanes*/, std::uint64_t /*barrier*/) {
  }
  // For mbarriers: a lane arrives, a phase ends, a lane sees that the phase it asked for has ended.
  virtual void mbarrier_arrived(Warp&, int /*lane*/, std::uint64_t /*address*/) {}
  virtual void mbarrier_ended(Block&, std::uint64_t /*address*/) {}
  virtual void mbarrier_passed(Warp&, int /*lane*/, std::uint64_t /*address*/) {}
  // No thread of the block can run: the launch is about to end as a deadlock.
  virtual void stuck(Block&) {}
  // A fault in this block has ended the launch. This block and later ones run no further.
  virtual void faulted(Block&) {}
  virtual void launch_ends() {}
  // Whether a fault of the program is known already. Callable while the launch runs.
  virtual bool knows_an_error() const { return false; }

 protected:
  void set_looks_after(bool looks_after) { looks_after_ = looks_after; }

 private:
  bool looks_after_;
};

class Cache;
class SignalTimes;

inline constexpr std::uint64_t kGridWorkspace = 256;  // bytes: the size, then the word that counts arrivals

// One host thread's share of a launch.
struct Worker {
  const Program* program = nullptr;
  Arena* arena = nullptr;
  const LaunchRequest* launch = nullptr;
  const DevicePreset* preset = nullptr;
  // Where grid.sync() counts arrivals in a cooperative launch: the value of %envreg1 (high half) and
  // %envreg2.
  std::uint64_t grid_workspace = 0;
  Observer* observer = nullptr;
  std::map<std::uint64_t, ChildLaunch> prepared;  // by the address of the parameters
  std::vector<ChildLaunch> children;
  bool counting = false;
  bool pauses = true;                      // see Block::one_pause_in
  bool alone = true;                       // no other host thread runs this launch or uses its memory
  std::uint64_t instructions = 0;          // warp instructions since the launch began
  std::vector<std::uint64_t> block_runs;   // by basic block: warp-wide executions
  std::vector<std::uint64_t> block_lanes;  // by basic block: executions by lanes
  std::vector<std::uint64_t> diverged;     // by basic block: conditional branches that split a group
  std::vector<std::uint64_t> guarded_off;  // by op: lanes whose guard was false
  std::vector<OpCounters> op_counters;     // by op
  std::uint64_t barriers_completed = 0;
  // How often a thread has found that the phase of an mbarrier has not ended, since one last changed.
  std::uint32_t vain_polls = 0;
  // For the timing model.
  Cache* cache = nullptr;
  SignalTimes* signals = nullptr;  // used if blocks may wait for each other
  // Lines of a warp for which L1 has room: a power of two. Bytes of a thread.
  std::uint32_t near_lines = Warp::kNearLines;
  std::uint64_t near_bytes = 0;
  // Clocks beyond those of an L1 hit: for L2, DRAM and atomics. Clocks of an L1 hit.
  std::uint32_t near_stall = 0, far_stall = 0, fetch_stall = 0, near_clocks = 0;
  std::uint64_t publish_clocks = 0, barrier_clocks = 0, block_clocks = 0;
  double conflict_clocks = 0, shared_atomic_clocks = 0;
  std::uint64_t lines = 0, near_sectors = 0, filled_sectors = 0, dirty_sectors = 0, partial_sectors = 0;
  std::uint64_t atomic_passes = 0;
  HotSpots hot_spots;
  Counters seen;                                         // by add_turn(), at the end of the last turn
  std::uint32_t storages = 0;                            // Block objects made so far
  const Warp* launch_warp = nullptr;                     // the warp that runs, for diagnostics
  std::string output;                                    // of printf, in order
  std::uint64_t printed_bytes = 0, recursion_bytes = 0;  // as in LaunchResult

  // The allocations accessed last, indexed by op: most accesses go to the same allocation as the last one of
  // the same op.
  struct Window {
    std::uint64_t low = 1, high = 0;
  };
  static constexpr std::uint32_t kWindows = 64;
  Window windows[kWindows];
};

}  // namespace course::sim
