// SPDX-License-Identifier: MIT
// Finds pairs of accesses to the same shared or global memory by different threads, at least one of them a
// write, that nothing orders.
//
// Shadow memory: each 4 bytes of memory have two cells, one for the last write and one for the reads since
// then. A cell names an access record and a lane. A record stands for all executions of one op by one warp
// between two synchronisations of that warp. Its number is also a time stamp: numbers only grow, and after
// each synchronisation a warp uses new records. So "before the last barrier of the block" is one comparison,
// and shadow memory need not be cleared between blocks or launches.
// Global memory is large, and most warps access whole lines of it, that is, 32 aligned words. A line that has
// only been accessed in this way has one pair of cells, which name a pattern of lanes instead of a lane. The
// first access of another kind opens the line: from then on each word has its own cells.
//
// What orders accesses:
//   the program order of a thread; the end of a kernel
//   bar.sync, bar.red   among the threads that wait; from those that bar.arrive to those that wait
//   bar.warp.sync       among the lanes of the mask. Nothing else orders the lanes of a warp: not lock-step,
//                       nor shfl, vote, match, redux (CUDA C++ Programming Guide: these "do not imply a
//                       memory barrier")
//   asynchronous copies, mbarriers: async.cpp
//   release → acquire   fence; strong write or atomic → strong read or atomic of the same address; fence.
//                       A releasing write and an acquiring read need no fence. A relaxed read-modify-write
//                       needs both, also if it polls, takes a ticket or takes a lock.
// Scopes count: a fence of block scope publishes within the block only. Strong accesses (volatile, relaxed,
// atomic) of sufficient scope never race with each other.
//
// Two rules are more permissive than the PTX memory model, because code that every GPU runs correctly must
// pass:
//   A barrier publishes what the fences of its threads have made ready (fence; barrier; atomic by one
//   thread), and it acquires what the reads of its threads have seen.
//   A plain load does not race with atomics if a compare-and-swap of the same address then expects its value
//   (atomicAdd() for doubles in the Programming Guide): if the load was too early, the swap fails.
// One rule is stricter: strong accesses of two lanes of a warp race, too, because such lanes are written as
// if they ran in step (warp-synchronous code without __syncwarp). need_step() has the exceptions:
//   A lane that waits for others may find anything, and so may all that follows (note_wait()): in a loop that
//   goes round until it has read what it needs; by a lock; by an atomic whose result decides what to do.
//   All *_sync operations count, because both lanes have executed what comes before (but not for plain
//   accesses, nor for volatile ones in shared memory that both lanes ran together).
//   Atomics that update a word may have any order among each other.
//   A load may be early or late if it only decides whether to change the same word.
//   If several lanes store by one op, any may be the last one.
//   The lane that took the last ticket may reset the counter.
//
// Strong accesses do not race, but a strong load that is not ordered after a strong write may still get the
// value from before it. old_values.cpp makes such loads return that value.
//
// Reading order: access_records.hpp; racecheck.hpp; racecheck.cpp for accesses; whole_lines.cpp for whole lines; adjacent_lanes.cpp
// for adjacent lanes; sync.cpp and locks.hpp for what orders accesses; old_values.cpp; lost_updates.cpp;
// async.cpp; messages.cpp. In this file: the state, then the functions by the file that defines them.
// Source: Flanagan, Freund, "FastTrack", PLDI 2009; NVIDIA, "PTX ISA" 9.0, chapter 8, "Memory Consistency
// Model".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "sim/checkers/kernel_checker.hpp"
#include "sim/checkers/racecheck/access_records.hpp"
#include "sim/checkers/racecheck/locks.hpp"
#include "sim/checkers/racecheck/vector_clock.hpp"
#include "sim/checkers/reserve.hpp"
#include "sim/finding.hpp"
#include "sim/machine/gap.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

// Whether the store comes after the load and writes what it reads.
bool comes_back_to(const Program& program, const MicroOp& load, const MicroOp& store);

class Racecheck final : public KernelChecker {
 public:
  Racecheck(const Arena& arena, std::vector<Finding>& findings);

  static Gap gap(const OpRow& row);

  // For tests: checks each lane and word separately, without shortcuts. The findings must be the same.
  void take_no_shortcuts() { shortcuts_ = false; }
  // How much a pass over a launch remembers of weak reads: everything; of several readers of a word only
  // whether they are of one warp or block; of readers of a line that nothing has written not even which
  // words. If that is not enough to tell whether there is a race, the pass ends with a fault (see doubt())
  // and says nothing: the launch must be repeated with more care.
  enum class Care : std::uint8_t { lines, readers, everything };
  void take(Care care) { care_ = care; }
  std::vector<const Finding*> found() const override {
    std::vector<const Finding*> all;
    for (const Known& known : known_) all.push_back(&known.finding);
    return all;
  }
  std::size_t n_found() const override { return known_.size(); }

  // Whether strong loads of the next launch may get old values, chosen at random with the schedule's seed:
  // see old_values.cpp.
  void give_old_values(bool on, std::uint64_t schedule_seed);
  // The strong loads and stores, by number, that may together be one change of a word; and whether the stored
  // value is computed from the loaded one. See lost_updates.cpp.
  using Changes = std::map<std::pair<std::uint32_t, std::uint32_t>, bool>;
  static Changes changes_of(const Program& program);
  // Whether the kernel has strong loads that can get old values.
  static bool may_get_old_values(const Program& program, const LaunchRequest& launch);

  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  void launch_ends() override;
  // Ops that took part in a race of this launch. Must be called before launch_ends().
  std::set<std::uint32_t> racing() const override;
  // The first race of this launch so far, without hints; nullptr if there is none.
  const Finding* first_race() const;
  void released(std::uint64_t address, std::uint64_t n_bytes) override;
  // `parts`: checkers that each saw some of the blocks of one launch. True if no word of [address, address +
  // n_bytes) was accessed by two of them with at least one write. For launches in which the writes to global
  // memory are either all weak or all atomics; two atomics do not conflict.
  static bool nobody_met(std::span<const Racecheck* const> parts, std::uint64_t address,
                         std::uint64_t n_bytes);
  void block_begins(Block& block) override;
  void access(Warp& w, const MicroOp& op, const LaneAccess& a) override;
  void before(Warp& w, const MicroOp& op) override;  // for fences
  // Takes out of memory again the old values that access() has put there for this op.
  void after(Warp& w, const MicroOp& op) override;
  void barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void barrier_released(Block& block, std::uint32_t barrier) override;
  void warp_synced(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void copies_issued(Warp& w, const CopyBatch& batch) override;
  void copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override;
  void mbarrier_arrived(Warp& w, int lane, std::uint64_t address) override;
  void mbarrier_ended(Block& block, std::uint64_t address) override;
  void mbarrier_passed(Warp& w, int lane, std::uint64_t address) override;

 private:
  using Cell = race::Cell;
  using Record = race::Record;
  using Reader = race::Reader;
  static constexpr std::uint32_t kLaneBits = race::kLaneBits, kLaneMask = race::kLaneMask;
  static constexpr std::uint32_t kNobody = race::kNobody;
  static constexpr std::uint16_t kFlying = race::kFlying, kByBarrier = race::kByBarrier;
  static constexpr std::uint64_t kLineBytes = 128;
  // Bytes of global memory whose byte cells are allocated together.
  static constexpr std::uint64_t kBytePage = 4096;

  // What a fence has prepared to be published by the thread's next strong write: the thread's own accesses
  // before `own`, those of its warp before `warp`, those of its block before `block`, and `other`.
  struct Publication {
    RecordId own = 0, warp = 0, block = 0;
    VectorClock other;
    bool empty() const { return own == 0 && block == 0 && other.empty(); }
    bool is_copy_of(const Publication& p) const {
      return own == p.own && warp == p.warp && block == p.block && other.is_copy_of(p.other);
    }
  };
  enum Scope : std::uint8_t { kBlockWide, kDeviceWide, kScopes };
  // What one thread, or all threads of a warp, know to have happened before, and what they can publish.
  struct ThreadClocks {
    VectorClock known;  // in addition to what the bounds of the block and the warp imply
    Publication ready[kScopes];
    VectorClock seen[kScopes];  // from relaxed reads; becomes known at the next fence of that scope
    bool trivial() const {
      return known.empty() && ready[0].empty() && ready[1].empty() && seen[0].empty() && seen[1].empty();
    }
    bool is_copy_of(const ThreadClocks& k) const {
      return known.is_copy_of(k.known) && ready[0].is_copy_of(k.ready[0]) &&
             ready[1].is_copy_of(k.ready[1]) && seen[0].is_copy_of(k.seen[0]) &&
             seen[1].is_copy_of(k.seen[1]);
    }
  };

  // The lane whose atomic with a result came last at an address.
  struct Ticket {
    std::uint64_t address = 0;
    int lane = 0;
  };
  struct WarpState {
    RecordId fresh = 0;  // older records are not used for new accesses
    RecordId bound = 0;  // all lanes of the warp know of the warp's accesses before this one
    bool split = false;  // the lanes know different things
    ThreadClocks whole;
    std::vector<ThreadClocks> lane;
    // By lane: strong accesses of the warp before this one came before a wait of the lane, see note_wait().
    RecordId waited[kLanes] = {};
    bool may_exchange = false;  // there have been others since
    Ticket tickets[16];         // the latest, one for each value of an address modulo 16 words
    Ticket& ticket_at(std::uint64_t address) { return tickets[address / 4 % std::size(tickets)]; }
    static constexpr std::uint32_t kRecent = 64;
    struct Recent {
      std::uint32_t what = 0, lanes = 0;
      RecordId id = 0;
      RecordId many[3] = {};  // of this access: of its warp, of its block, of the grid
    } recent[kRecent];
    // By address and lane (as a bit): the value that it has loaded, and the op. See lost_updates.cpp.
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::pair<std::uint64_t, std::uint32_t>> loaded;
    const ThreadClocks& of(int l) const { return split ? lane[static_cast<std::size_t>(l)] : whole; }
  };

  // What the value of a synchronisation variable, that is, of a word in memory, publishes to its readers.
  struct Published {
    VectorClock device;  // to all threads
    VectorClock block;   // to the threads of block `owner` only
    std::uint32_t owner = ~0u;
    std::uint64_t fence = 0;  // BlockState::fence of the blocks that have published it
    void add(const Published& p) {
      device.join(p.device);
      if (owner != p.owner) block = VectorClock{};
      owner = p.owner;
      block.join(p.block);
      fence = std::max(fence, p.fence);
    }
  };
  struct SyncVariable : Published {
    // A strong write, with or without a fence, to find out what is missing.
    struct Writer {
      std::uint32_t block = ~0u, warp = 0, lane = 0;
      // It came before record `before`, and publishes accesses of its thread, warp and block before the next
      // three.
      RecordId before = 0, own = 0, same_warp = 0, same_block = 0;
      RecordId barrier = 0;       // the last barrier of its block
      std::uint64_t version = 0;  // of the variable, after the write
      bool is_ticket = false;     // an atomic that returns the value before it
    };
    std::vector<Writer> writers;
    std::uint32_t next_writer = 0;
    bool has_bytes = false;     // bytes of the word have synchronisation variables of their own
    std::uint64_t version = 0;  // number of strong writes
    Writer last;
  };
  // A strong read of a synchronisation variable in global memory by `lanes` of a warp.
  struct Look {
    std::uint64_t place = 0, version = 0;
    std::uint32_t warp = 0, lanes = 0;
    RecordId barrier = 0;         // the last barrier of the block
    SyncVariable::Writer last{};  // whose value it got
  };
  // By number of the word; those of 1 and 2 bytes by kByteKey + address, one for each byte.
  using SyncVariables = std::unordered_map<std::uint64_t, SyncVariable>;
  static constexpr std::uint64_t kByteKey = std::uint64_t{1} << 63;
  struct Keys {
    std::uint64_t first, step, n;
  };

  struct Arrival {
    std::uint32_t warp, lanes;
    RecordId before;
    bool waits, counted;
  };
  // Copies under way, and what has been published at an mbarrier: in the current phase, and before it.
  struct Flight {
    CopyBatch batch;
    std::uint32_t lanes;
    RecordId id;
  };
  struct Gate {
    VectorClock current, done;
  };
  struct BlockState {
    std::uint32_t number = 0;  // in the grid
    RecordId first = 0;        // older records belong to earlier blocks
    RecordId bound = 0;        // all threads of the block know of the block's accesses before this one
    bool trivial = true;       // no warp knows more than the bounds imply
    std::vector<WarpState> warps;
    std::vector<Cell> written, read;  // by word of shared memory
    std::uint64_t shared_bytes = 0;   // of this block; earlier ones may have had more
    std::vector<Cell> bytes;          // 8 per word, once a word needs them: 4 for writes, 4 for reads
    SyncVariables sync_variables;
    std::vector<Flight> flights;
    std::unordered_map<std::uint64_t, Gate> gates;  // by address
    std::vector<Arrival> arrivals[kBarriers];
    std::array<Look, 64> looks{};  // the last ones of its threads
    std::uint32_t n_looks = 0;
    // For old values: the last fence.sc that its threads know of; the last one that they will know of after
    // they acquire what they have seen; and where they have written since their last release.
    std::uint64_t fence = 0, seen_fence = 0;
    std::vector<std::uint64_t> unreleased;
  };

  // For old values: what an op does with the value in memory.
  enum class Role : std::uint8_t {
    reads,     // loads; atomics that only read
    compares,  // compare-and-swap
    adds,      // an atomic addition of integers whose result is not used
    replaces,  // a store; an exchange whose result is not used
    other
  };
  using Value = std::array<std::byte, 16>;
  // A strong write that other blocks need not see yet: see old_values.cpp.
  struct Unseen {
    Value old;                      // the value before the write
    Published old_published;        // what the old value publishes
    std::uint64_t instruction = 0;  // the one that wrote it or accessed it last
    std::uint64_t released = 0;     // number of the release by its block; 0: not released yet
    std::uint32_t block = 0, warp = 0, lanes = 0;
    RecordId id = 0;
    std::uint8_t bytes = 0, misses = 0;  // misses: loads that will still get the old value
    bool is_due = false;                 // the current instruction must see the new value
    bool is_first = false;               // the first strong write of the word in this launch
    Role role = Role::other;             // of the write; `other` also if its result has been used
  };
  using UnseenWrites = std::unordered_map<std::uint64_t, Unseen>;
  // A load that got an old value because a fence is missing. It is dropped if its thread reads the word
  // again.
  struct Miss {
    std::uint32_t op, block, warp, lane;
    RecordId write;
    std::uint32_t writers_lane;
  };

  // The cells of one kind of memory.
  struct Shadow {
    Cell* written;
    Cell* read;
    Cell* line_written;  // of whole lines, see above; nullptr for shared memory
    Cell* line_read;
    std::uint64_t base;   // generic address of cell 0
    std::uint64_t bytes;  // covered by the cells
    RecordId floor;       // older records no longer count
    RecordId bound;       // older records are ordered before this access
    bool shared;
  };
  // The access of a warp that is being checked, `h` in all functions that do this. `b` and `ws`: what its
  // block and its warp know.
  struct CurrentAccess {
    Warp& w;
    const MicroOp& op;
    BlockState& b;
    WarpState& ws;
    const LaneAccess& a;
    Shadow shadow;
    RecordId id;  // of this access
    bool reads, writes, strong;
    std::uint32_t gets_old = 0;  // lanes that get an old value, or change one
  };

  // --- records
  RecordId next() const { return records_.next(); }
  const Record& record(RecordId id) const { return records_[id]; }
  RecordId record_of(WarpState& ws, Warp& w, const BlockState& b, std::uint32_t what, Record::Kind kind);

  // --- accesses
  static bool is_strong(const MicroOp& op) {
    return op.kind == OpKind::atomic || (op.order & kOrderMask) != kWeak;
  }
  // Whether the scope of a strong access includes other blocks.
  static bool reaches_device(const MicroOp& op) {
    return (op.order & kOrderMask) == kVolatile || (op.order & kScopeMask) >= kScopeDevice;
  }
  // Accesses that overlap only partly are not morally strong (PTX ISA 8.7.2). Within a block, flags of one
  // byte each that are read as a word are right on every GPU, but an atomic may miss writes of another
  // size.
  static bool overlap_partly(const MicroOp& one, const MicroOp& two, bool same_block) {
    const auto is = [&](OpKind kind) { return one.kind == kind || two.kind == kind; };
    if (one.width == two.width || is(OpKind::mbarrier)) return false;
    return !same_block || (is(OpKind::atomic) && !is(OpKind::load));
  }
  static bool releases(const MicroOp& op) {
    const int order = op.order & kOrderMask;
    return order == kRelease || order == kAcquireRelease || order == kSequential;
  }
  static bool acquires(const MicroOp& op) {
    const int order = op.order & kOrderMask;
    return order == kAcquire || order == kAcquireRelease || order == kSequential;
  }
  BlockState& state(const Block& block) { return *blocks_[block.storage]; }
  Shadow shadow_of(BlockState& b, Place place);
  void look(CurrentAccess& h, Place place, std::uint32_t lanes);
  bool run_of_lanes(CurrentAccess& h);
  bool ordered_alike(const CurrentAccess& h, RecordId id, bool same_lanes) const;
  bool is_own(const CurrentAccess& h, Cell cell, std::uint32_t lane) const;
  void one_word_each(CurrentAccess& h, std::uint32_t lanes);
  void one_atomic_each(CurrentAccess& h, std::uint32_t lanes);
  void by_lane(CurrentAccess& h, std::uint32_t lanes);
  void lane(CurrentAccess& h, int lane);
  void by_word(CurrentAccess& h, int lane, std::uint64_t offset, std::uint32_t n_bytes);
  static bool is_inside(const CurrentAccess& h, std::uint64_t offset);
  void broadcast(CurrentAccess& h, std::uint32_t lanes, std::uint64_t offset, std::uint32_t n);
  void broadcast_cell(CurrentAccess& h, std::uint32_t lanes, std::uint64_t offset, Cell written, Cell& read);
  void cell(CurrentAccess& h, int lane, std::uint64_t offset, Cell& written, Cell& read);
  bool is_bytes(const CurrentAccess& h, Cell written) const;
  Cell* byte_cells(CurrentAccess& h, std::uint64_t word);
  Cell* open_bytes(CurrentAccess& h, std::uint64_t word);
  void bytes(CurrentAccess& h, int lane, std::uint64_t offset, std::uint32_t n);
  void check(CurrentAccess& h, int lane, std::uint64_t offset, Cell cell, bool old_writes);
  void check_non_coherent(CurrentAccess& h);
  static bool nothing_written(const CurrentAccess& h, Cell limit);
  bool has_weak(Cell written) const;
  Cell weak_part(Cell written) const;
  Cell with_reader(CurrentAccess& h, Cell cell, int lane, std::uint32_t lanes);
  Cell with_any_reader(CurrentAccess& h, Cell cell);
  [[noreturn]] static void doubt();
  bool ordered(const CurrentAccess& h, RecordId id, std::uint32_t other_lane, int lane) const;
  bool all_ordered(const CurrentAccess& h, Cell cell, int lane) const;
  bool may_be_unordered(const CurrentAccess& h, const Record& r, RecordId id, int lane) const;
  bool need_step(const CurrentAccess& h, const Record& r, RecordId id, int lane) const;
  template <typename Each>
  bool any_of_cell(Cell cell, const Each& each) const;

  // --- whole lines: whole_lines.cpp
  bool whole_lines(CurrentAccess& h);
  std::uint32_t mark_lines(const CurrentAccess& h, std::uint32_t lanes);
  bool line_ordered(const CurrentAccess& h, Cell cell, std::uint32_t pattern) const;
  void open_lines(CurrentAccess& h, std::uint32_t lanes);
  void open_line(const CurrentAccess& h, std::uint64_t line, Cell marker);
  // Whether this launch has written or read a line or a word.
  struct Traces {
    bool written, read;
  };
  bool has_touched(std::uint64_t line) const;
  Traces traces(std::uint64_t line, std::uint64_t word) const;
  const Cell* cells_of_bytes(std::uint64_t word) const {
    return byte_pages_.at(word * 4 / kBytePage)->data() + word * 8 % (kBytePage * 2);
  }

  // --- what orders accesses: sync.cpp
  ThreadClocks& clocks_of(Warp& w, WarpState& ws, int lane);
  void join(ThreadClocks& into, const ThreadClocks& from) const;
  void add_publication(VectorClock& into, const Publication& p, std::uint32_t block, std::uint32_t warp,
                       std::uint32_t lanes) const;
  void pour(ThreadClocks& into, const ThreadClocks& from, std::uint32_t block, std::uint32_t warp,
            std::uint32_t lanes) const;
  void pour(ThreadClocks& into, const BlockState& b, std::uint32_t warp, std::uint32_t lanes) const;
  void give(Warp& w, WarpState& ws, std::uint32_t lanes, const ThreadClocks& news);
  void prepare(ThreadClocks& k, const WarpState& ws, const BlockState& b, Scope scope) const;
  void acquire_seen(ThreadClocks& k, Scope scope) const;
  void note_wait(WarpState& ws, std::uint32_t lanes, RecordId before);
  void order_by(CurrentAccess& h, std::uint32_t lanes);
  void observe(CurrentAccess& h, int lane, const Published& from, bool acquires, Scope scope);
  static Keys keys_of(const MicroOp& op, std::uint64_t address);
  // Calls `each(key, variable)` for what has been published at these bytes, also by smaller and larger
  // writes.
  template <typename Each>
  static void for_variables(const SyncVariables& variables, Keys keys, const Each& each) {
    const auto visit = [&](std::uint64_t key) {
      const auto it = variables.find(key);
      if (it == variables.end()) return false;
      if (!it->second.writers.empty()) each(key, it->second);
      return it->second.has_bytes;
    };
    for (std::uint64_t k = 0; k < keys.n; ++k)
      if (const std::uint64_t key = keys.first + k * keys.step; visit(key))
        for (std::uint64_t byte = 0; byte < 4; ++byte) visit(kByteKey + key * 4 + byte);
    if (keys.first >= kByteKey) visit((keys.first - kByteKey) / 4);
  }
  void publish(CurrentAccess& h, int lane, SyncVariables& variables, std::uint64_t key, bool replaces);
  void add_published(Published& into, const CurrentAccess& h, int lane, bool replaces) const;
  // What is missing between an earlier access of another thread and this one, although a flag, a counter or a
  // lock passes between the two.
  enum class Missing : std::uint8_t {
    nothing_passes,
    writers_fence,
    readers_fence,
    writers_barrier,
    readers_barrier,
    lock_fence
  };
  static bool is_fence(Missing missing) {
    return missing == Missing::writers_fence || missing == Missing::readers_fence ||
           missing == Missing::lock_fence;
  }
  Missing missing_between(const CurrentAccess& h, int lane, const Record& r, RecordId id,
                          std::uint32_t other_lane, std::uint64_t but_not = 0) const;
  static void note_look(CurrentAccess& h, int lane, std::uint64_t place, const SyncVariable& variable);
  void note_replaced(const CurrentAccess& h, std::uint64_t word, Cell written);
  bool has_run(std::uint32_t op, std::uint32_t block, std::uint32_t warp, std::uint32_t lane) const;
  enum class Announced : std::uint8_t { no, before_by_itself, before_by_another };
  Announced announced(const CurrentAccess& h, const Record& r, RecordId id, std::uint32_t other_lane) const;
  Cell replaced_by(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId id,
                   std::uint32_t other_lane, bool old_writes) const;

  // --- old values: old_values.cpp
  static bool may_be_old(const MicroOp& op);
  static std::vector<Role> roles_of(const Program& program);
  template <typename Each>
  void for_unseen(std::uint64_t address, std::uint64_t n_bytes, const Each& each);
  void note_old_values(CurrentAccess& h, std::uint32_t lanes);
  void note_write(CurrentAccess& h, std::uint32_t lanes);
  void note_load(CurrentAccess& h, std::uint32_t lanes);
  void forget_misses(const CurrentAccess& h, std::uint32_t lanes);
  void give_old(CurrentAccess& h, UnseenWrites::iterator it, int lane);
  void note_release(BlockState& b);
  void forget_unseen(std::uint64_t address, std::uint64_t n_bytes);
  bool must_see(const CurrentAccess& h, const Unseen& u, int lane) const;
  bool may_precede(const CurrentAccess& h, const Unseen& u, std::uint32_t lanes, int lane) const;
  void report_miss(std::uint64_t address, const Miss& miss);

  // --- lost updates: lost_updates.cpp
  void note_loaded(CurrentAccess& h, std::uint32_t lanes);
  void check_changes(CurrentAccess& h, std::uint32_t lanes);
  void report_lost(const CurrentAccess& h, int lane, const MicroOp& load, const Record& r,
                   std::uint32_t other_lane, bool is_certain);

  // --- copies: async.cpp
  void touch(CurrentAccess& h, int lane, std::uint64_t address, std::uint32_t n_bytes, bool writes);
  void fly(Block& block, Flight& flight);
  void renew_flights(Block& block);

  // --- messages: messages.cpp
  enum class Hazard : std::uint8_t { read_write, write_write, same_value, stale, missed, lost, maybe_lost };
  // Whether the op is a line of the toolkit's headers.
  bool is_systems(const MicroOp& op);
  struct Side {
    const MicroOp* op;
    ThreadId thread;
  };
  Side side_of(const CurrentAccess& h, int lane) const;
  Side side_of(const Record& r, std::uint32_t lane) const;
  // Without kind and message.
  Finding finding_of(const Side& one, const Side& two, std::uint64_t address, std::uint32_t width) const;
  bool counts_again(std::uint64_t key);
  static std::uint64_t pair_of(Hazard hazard, std::uint32_t one, std::uint32_t other);
  void explain_by_several(std::uint32_t write);
  // Lane `lane` of the current access conflicts with lane `other` of record `id`. `old_writes`: the earlier
  // access is a write.
  void report(CurrentAccess& h, int lane, std::uint64_t offset, RecordId id, std::uint32_t other,
              bool old_writes);
  void report_stale(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId writer,
                    std::uint32_t writers_lane);
  // The value that a lane is about to store in the element that contains byte `at` of its access. For an
  // atomic: its first operand.
  static std::uint64_t stored(Warp& w, const MicroOp& op, int lane, std::uint64_t at);
  bool same_value(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId id,
                  std::uint32_t other) const;
  Finding describe(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId id, std::uint32_t other,
                   Hazard hazard, bool old_writes) const;
  std::string reason_of(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId id,
                        std::uint32_t other, Hazard hazard, bool old_writes, Missing missing,
                        const MicroOp& one, const MicroOp& two) const;
  std::string two_ways_to(std::uint64_t address, const MicroOp& one, const MicroOp& two) const;
  std::string reason_between_blocks(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId id,
                                    std::uint32_t other, bool old_writes, Missing missing) const;

  const Arena& arena_;
  std::vector<Finding>& findings_;
  const Program* program_ = nullptr;
  const LaunchRequest* launch_ = nullptr;
  bool updates_ = false;                // the kernel has atomics on global memory
  std::set<std::uint32_t> swap_loads_;  // see loads_before_swaps()
  // exchanges_: the kernel has strong accesses by which lanes of a warp may exchange values.
  bool fences_ = false, sync_global_ = false, one_block_ = false, exchanges_ = false;
  bool shortcuts_ = true;
  Care care_ = Care::everything;

  race::AccessRecords records_;

  Reserved<Cell> written_, read_;            // of global memory, by word
  Reserved<Cell> line_written_, line_read_;  // by line
  std::unordered_map<std::uint64_t, std::unique_ptr<std::vector<Cell>>> byte_pages_;
  std::vector<std::unique_ptr<BlockState>> blocks_;  // by storage
  SyncVariables sync_variables_;                     // of global memory
  std::size_t n_writers_ = 0;                        // that all synchronisation variables remember together
  race::Locks locks_;
  // By word of global memory: the weak write of this launch that a later one has replaced.
  std::unordered_map<std::uint64_t, Cell> replaced_;

  Changes changes_;  // changes_of() this launch's kernel

  bool gives_old_values_ = false;
  std::vector<Role> roles_;         // by op
  std::uint64_t one_write_in_ = 1;  // so rarely is a write missed at all
  Rng dice_{0};
  UnseenWrites unseen_;                   // of global memory, by address
  std::uint64_t unseen_step_ = 4;         // the size of the smallest of them, 4 at most
  std::map<std::uint64_t, Miss> misses_;  // by address
  // All of them lie between these addresses.
  std::uint64_t unseen_begin_ = ~std::uint64_t{0}, unseen_end_ = 0;
  std::uint64_t n_instructions_ = 0, n_fences_ = 0;  // counted so far
  // The newest values that are missing in memory while the current op is executed, by address.
  std::vector<std::pair<std::uint64_t, Value>> put_back_;

  struct Known {
    Finding finding;
    std::uint32_t op, other_op;
    bool in_a_warp = false;  // its two threads are of one warp
  };
  std::unordered_map<std::uint64_t, std::size_t> reported_;  // from hazard and ops to the index in known_
  std::unordered_map<std::uint32_t, bool> systems_;          // is_systems(), by op
  std::vector<Known> known_;
};

}  // namespace course::sim
