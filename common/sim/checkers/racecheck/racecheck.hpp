// SPDX-License-Identifier: MIT
// Finds accesses of different threads to the same memory, one of them a write, that nothing orders. Shared and global memory.
//
// Shadow memory: for each 4 bytes one cell for the last write and one for the reads since. A cell names an access record and
// a lane. A record stands for all executions of one op by one warp between two of its synchronisations; its number is also
// the time: numbers only grow, and whatever synchronises a warp makes it use fresh ones. So "before the block's last
// barrier" is one comparison, and shadow memory needs no clearing between blocks or launches.
// Global memory is large, and most warps read or write whole lines of it: 32 words, aligned. A line that has only been
// accessed so has one pair of cells, with the pattern of lanes in place of the lane. The first other access opens it.
//
// What orders accesses:
//   the program order of a thread; the end of a kernel
//   bar.sync, bar.red   among the threads that wait; from those that bar.arrive to those that wait
//   bar.warp.sync       among the lanes of the mask. Nothing else orders lanes of a warp: neither lock-step nor shfl, vote,
//                       match, redux (CUDA C++ Programming Guide: these "do not imply a memory barrier")
//   asynchronous copies, mbarriers: async.cpp
//   release → acquire   fence; strong write or atomic → strong read or atomic of the same place; fence. Or ordered accesses.
// Scopes count: a fence of block scope publishes within the block only. Strong accesses (volatile, relaxed, atomic) of
// sufficient scope never race with each other.
// Milder than the PTX memory model, since code that every GPU runs right must pass: a read-modify-write acquires without a fence
// of its own (the last-block ticket), a barrier publishes what its threads' fences have (fence; barrier; one thread's
// atomic) and acquires what its threads' reads have seen.
// a plain load whose value a compare-and-swap of the same place then expects does not race with atomics (the Programming Guide's
// atomicAdd() for doubles): the swap fails where the load was too early.
// Stricter: volatile accesses of lanes that ran both in step race (warp-synchronous code without __syncwarp).
//
// Strong accesses do not race, but a strong load that is not ordered after a strong write may still get the value from before it.
// old_values.cpp makes such loads return it.
//
// Reading order: racecheck.hpp; racecheck.cpp for accesses; lines.cpp for whole lines, runs.cpp for lanes that lie
// regularly; sync.cpp for what orders them; old_values.cpp; async.cpp; words.cpp.
// Source: Flanagan, Freund, "FastTrack", PLDI 2009; NVIDIA, "PTX ISA" 9.0, chapter 8, "Memory Consistency Model".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/rng.hpp"
#include "sim/checkers/kernel_checker.hpp"
#include "sim/checkers/racecheck/clock.hpp"
#include "sim/checkers/reserve.hpp"
#include "sim/finding.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

class Racecheck final : public KernelChecker {
 public:
  Racecheck(const Arena& arena, std::vector<Finding>& findings);

  // For tests: looks at each lane and word by itself, without any of the shortcuts. The findings must be the same.
  void take_no_shortcuts() { shortcuts_ = false; }

  // Whether strong loads of the next launch may get old values, by dice of the schedule's seed: see old_values.cpp.
  void give_old_values(bool on, std::uint64_t schedule_seed);
  // Does the kernel have strong loads that can get any?
  static bool may_get_old_values(const Program& program, const LaunchRequest& launch);

  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  void launch_ends() override;
  // Ops that took part in a race of this launch; asked before launch_ends().
  std::set<std::uint32_t> racing() const override;
  // The first race of this launch so far, hints aside; nullptr: none.
  const Finding* first_race() const;
  // Has it stopped looking?
  bool is_full() const { return full_; }
  // Of checkers that each saw a part of one launch's blocks: has no word of [address, address + n_bytes) been accessed by two, one of
  // them writing? For launches in which all writes to global memory are weak, or all are atomics: those may meet.
  static bool nobody_met(std::span<const Racecheck* const> parts, std::uint64_t address,
                         std::uint64_t n_bytes);
  void block_begins(Block& block) override;
  void access(Warp& w, const MicroOp& op, const LaneAccess& a) override;
  void before(Warp& w, const MicroOp& op) override;  // a fence
  // Puts the old values that access() has chosen into the registers of the load that has run.
  void after(Warp& w, const MicroOp& op) override;
  void barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void barrier_released(Block& block, std::uint32_t barrier) override;
  void warp_synced(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void copies_issued(Warp& w, const CopyBatch& batch) override;
  void copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override;
  void rendezvous_arrived(Warp& w, int lane, std::uint64_t address) override;
  void rendezvous_ended(Block& block, std::uint64_t address) override;
  void rendezvous_passed(Warp& w, int lane, std::uint64_t address) override;

 private:
  using Cell = std::uint32_t;  // record << 5 | lane; 0: nothing
  static constexpr std::uint32_t kLaneBits = 5, kLaneMask = 31;
  static constexpr std::uint64_t kLineBytes = 128;
  static constexpr std::uint64_t kBytePage = 4096;  // bytes of global memory that get byte cells at once

  // An access record, or one of the two stand-ins below.
  struct Record {
    enum Kind : std::uint16_t { access, readers, bytes };
    std::uint32_t block;  // of the grid
    std::uint32_t what;   // op; of readers: the first of them in readers_
    std::uint32_t lanes;  // that ran it together; of readers: how many; of copies: those under way
    std::uint16_t warp;   // of copies with kFlying
    Kind kind;
  };

  static constexpr std::uint16_t kFlying = 1 << 15, kByBarrier = 1 << 14;
  static bool is_flying(const Record& r, std::uint32_t lane) {
    return r.kind == Record::access && (r.warp & kFlying) != 0 && (r.lanes >> lane & 1) != 0;
  }
  // The warp that did it; for copies that an mbarrier counts, one that no thread is of.
  static std::uint16_t author(const Record& r) { return static_cast<std::uint16_t>(r.warp & ~kFlying); }
  static std::uint32_t warp_of(const Record& r) { return author(r) & ~std::uint32_t{kByBarrier}; }

  // Accesses of a cell that nothing orders among each other: reads, or a weak write and strong ones that met it.
  struct Reader {
    RecordId record;
    std::uint32_t lanes;   // 0: one lane, the cell's lane + `offset`
    std::uint32_t offset;  // mod 32
  };
  static constexpr std::uint32_t kMostReaders = 8;  // of a cell; later ones are not remembered

  // What a fence has made ready to be published by the thread's next strong write: its own accesses before `own`, its
  // warp's before `warp`, its block's before `block`, and `other`.
  struct Publication {
    RecordId own = 0, warp = 0, block = 0;
    Clock other;
    bool empty() const { return own == 0 && block == 0 && other.empty(); }
  };
  enum Scope : std::uint8_t { kBlockWide, kDeviceWide, kScopes };
  struct Knowledge {
    Clock known;  // beyond the block's and the warp's bounds
    Publication ready[kScopes];
    Clock seen[kScopes];  // by relaxed reads: known once a fence of that scope follows
    bool trivial() const {
      return known.empty() && ready[0].empty() && ready[1].empty() && seen[0].empty() && seen[1].empty();
    }
  };

  struct WarpState {
    RecordId fresh = 0;  // older records are no longer used for new accesses
    RecordId bound = 0;  // what lanes of the warp did before is known to all of them
    bool split = false;  // lanes know different things
    Knowledge whole;
    std::vector<Knowledge> lane;
    static constexpr std::uint32_t kRecent = 64;
    struct Recent {
      std::uint32_t what = 0, lanes = 0;
      RecordId id = 0;
    } recent[kRecent];
    const Knowledge& of(int l) const { return split ? lane[static_cast<std::size_t>(l)] : whole; }
  };

  // What the value of one place of memory publishes.
  struct Mail {
    Clock device;  // for everybody
    Clock block;   // for threads of `owner` only
    std::uint32_t owner = ~0u;
    std::uint64_t fence = 0;  // BlockState::fence of those who published
  };
  struct Mailbox : Mail {
    struct Writer {
      std::uint32_t block;
      RecordId before;
    };
    std::vector<Writer> writers;  // fence or not: to tell what a missing fence would have ordered
    std::uint32_t next_writer = 0;
  };
  using Mailboxes = std::unordered_map<std::uint64_t, Mailbox>;

  struct Arrival {
    std::uint32_t warp, lanes;
    RecordId before;
    bool waits, counted;
  };
  // Copies under way, and what has been published at an mbarrier: in the phase at hand, and before.
  struct Flight {
    CopyBatch batch;
    std::uint32_t lanes;
    RecordId id;
  };
  struct Gate {
    Clock current, done;
  };
  struct BlockState {
    std::uint32_t number = 0;  // in the grid
    RecordId first = 0;        // records below are of earlier blocks
    RecordId bound = 0;        // what threads of the block did before is known to all of them
    bool trivial = true;       // no warp knows anything beyond the bounds
    std::vector<WarpState> warps;
    std::vector<Cell> written, read;  // by word of shared memory
    std::vector<Cell> bytes;          // 8 a word where a word is kept by byte: 4 for writes, 4 for reads
    Mailboxes mailboxes;
    std::vector<Flight> flights;
    std::unordered_map<std::uint64_t, Gate> gates;  // by address
    std::vector<Arrival> arrivals[kBarriers];
    std::array<std::uint64_t, 16> looked_at{};  // mailboxes of global memory that its threads read last
    std::uint32_t n_looked_at = 0;
    // For old values: the last fence.sc that its threads know of, and will once they acquire what they have seen; and the words
    // that they have written since they released last.
    std::uint64_t fence = 0, seen_fence = 0;
    std::vector<std::uint64_t> unreleased;
  };

  // A strong write that others need not see yet: old_values.cpp.
  struct Unseen {
    std::array<std::byte, 16> old;  // the value before it
    Mail old_mail;                  // what that publishes
    std::uint64_t instruction = 0;  // that wrote it, or looked at it last
    std::uint64_t released = 0;     // when its block released it; 0: not yet
    std::uint32_t block = 0, warp = 0, lanes = 0;
    RecordId id = 0;
    std::uint8_t bytes = 0, misses = 0;  // loads that will get the old value
    bool is_due = false;                 // the instruction at hand must see it
    bool is_first = false;               // strong write of the word in this launch
  };
  // A load that got an old value for want of a fence, unless its thread looks at the word again.
  struct Miss {
    std::uint32_t op, block, warp, lane;
    RecordId write;
    std::uint32_t writers_lane;
  };

  // Cells of one kind of memory.
  struct Shadow {
    Cell* written;
    Cell* read;
    Cell* line_written;  // of whole lines, see above; nullptr for shared memory
    Cell* line_read;
    std::uint64_t base;   // generic address of cell 0
    std::uint64_t bytes;  // covered
    RecordId floor;       // older records mean nothing
    RecordId bound;       // older ones are ordered before this access
    bool shared;
  };
  struct Here {
    Warp& w;
    const MicroOp& op;
    BlockState& b;
    WarpState& ws;
    const LaneAccess& a;
    Shadow shadow;
    RecordId id;  // of this access
    bool reads, writes, strong;
    std::uint32_t gets_old = 0;  // lanes
  };

  // --- records
  RecordId next() const { return base_ + static_cast<RecordId>(log_.size()); }
  const Record& record(RecordId id) const { return log_[id - base_]; }
  RecordId new_record(const Record& r);
  RecordId record_of(WarpState& ws, Warp& w, const BlockState& b, std::uint32_t what, Record::Kind kind);
  void start_afresh();

  // --- accesses
  static bool is_strong(const MicroOp& op) {
    return op.kind == OpKind::atomic || (op.order & kOrderMask) != kWeak;
  }
  // Does the scope of a strong access reach other blocks?
  static bool reaches_device(const MicroOp& op) {
    return (op.order & kOrderMask) == kVolatile || (op.order & kScopeMask) >= kScopeDevice;
  }
  static bool releases(const MicroOp& op) {
    const int order = op.order & kOrderMask;
    return order == kRelease || order == kAcquireRelease || order == kSequential;
  }
  BlockState& state(const Block& block) { return *blocks_[block.storage]; }
  Shadow shadow_of(BlockState& b, Place place);
  void look(Here& h, Place place, std::uint32_t lanes);
  bool run_of_lanes(Here& h);
  bool run_ordered(const Here& h, const Cell* cells, std::uint32_t n, std::uint32_t words) const;
  bool ordered_alike(const Here& h, RecordId id, bool same_lanes) const;
  bool in_pieces(Here& h);
  enum class Before : std::uint8_t { yes, no, unclear };
  Before piece_before(const Here& h, Cell cell, std::uint32_t lane) const;
  bool run_with_gaps(Here& h, std::uint32_t lanes);
  bool is_own(const Here& h, Cell cell, std::uint32_t lane) const;
  void one_word_each(Here& h, std::uint32_t lanes);
  void by_lane(Here& h, std::uint32_t lanes);
  void lane(Here& h, int lane);
  static bool is_inside(const Here& h, std::uint64_t offset);
  void broadcast(Here& h, std::uint32_t lanes, std::uint64_t offset, std::uint32_t n);
  void broadcast_cell(Here& h, std::uint32_t lanes, std::uint64_t offset, Cell written, Cell& read);
  void cell(Here& h, int lane, std::uint64_t offset, Cell& written, Cell& read);
  bool is_bytes(const Here& h, Cell written) const;
  Cell* byte_cells(Here& h, std::uint64_t word);
  Cell* open_bytes(Here& h, std::uint64_t word);
  void bytes(Here& h, int lane, std::uint64_t offset, std::uint32_t n);
  void check(Here& h, int lane, std::uint64_t offset, Cell cell, bool old_writes);
  void check_non_coherent(Here& h);
  bool has_weak(Cell written) const;
  Cell weak_part(Cell written) const;
  Cell with_reader(Here& h, Cell cell, int lane, std::uint32_t lanes);
  bool ordered(const Here& h, RecordId id, std::uint32_t his_lane, int lane) const;
  bool all_ordered(const Here& h, Cell cell, int lane) const;
  bool may_meet(const Here& h, const Record& r, int lane) const;
  std::span<const Reader> readers(const Record& r) const { return {readers_.data() + r.what, r.lanes}; }
  template <typename Each>
  bool any_of_cell(Cell cell, const Each& each) const;

  // --- whole lines: lines.cpp
  bool whole_lines(Here& h);
  bool line_ordered(const Here& h, Cell cell, std::uint32_t pattern) const;
  void open_lines(Here& h, std::uint32_t lanes);
  void open_line(const Here& h, std::uint64_t line, Cell marker);
  // What this launch did to a line or a word.
  struct Traces {
    bool written, read;
  };
  bool has_touched(std::uint64_t line) const;
  Traces traces(std::uint64_t line, std::uint64_t word) const;
  const Cell* cells_of_bytes(std::uint64_t word) const {
    return byte_pages_.at(word * 4 / kBytePage)->data() + word * 8 % (kBytePage * 2);
  }

  // --- what orders them: sync.cpp
  Knowledge& knowledge(Warp& w, WarpState& ws, int lane);
  void join(Knowledge& into, const Knowledge& from) const;
  Clock published(const Publication& p, std::uint32_t block, std::uint32_t warp, std::uint32_t lanes) const;
  void pour(Knowledge& into, const Knowledge& from, std::uint32_t block, std::uint32_t warp,
            std::uint32_t lanes) const;
  void pour(Knowledge& into, const BlockState& b, std::uint32_t warp, std::uint32_t lanes) const;
  void give(Warp& w, WarpState& ws, std::uint32_t lanes, const Knowledge& news);
  void prepare(Knowledge& k, const WarpState& ws, const BlockState& b, Scope scope) const;
  void acquire_seen(Knowledge& k, Scope scope) const;
  void order_by(Here& h, std::uint32_t lanes);
  void hear(Here& h, int lane, const Mail& mail, bool acquires, Scope scope);
  void publish(Here& h, int lane, Mailboxes& boxes, std::uint64_t place, bool replaces);
  bool fence_would_order(const Here& h, const Record& r, RecordId id, std::uint64_t but_not = 0) const;

  // --- old values: old_values.cpp
  static bool may_be_old(const MicroOp& op);
  bool only_looks(const MicroOp& op) const { return op.kind == OpKind::load || looks_.contains(op.index); }
  template <typename Each>
  void for_unseen(std::uint64_t address, std::uint64_t n_bytes, const Each& each);
  void note_old_values(Here& h, std::uint32_t lanes);
  void note_write(Here& h, std::uint32_t lanes);
  void note_load(Here& h, std::uint32_t lanes);
  void note_release(BlockState& b);
  void forget_unseen(std::uint64_t address, std::uint64_t n_bytes);
  bool must_see(const Here& h, const Unseen& u, int lane) const;
  void report_miss(std::uint64_t address, const Miss& miss);

  // --- copies: async.cpp
  void touch(Here& h, int lane, std::uint64_t address, std::uint32_t n_bytes, bool writes);
  void fly(Block& block, Flight& flight);
  void renew_flights(Block& block);

  // --- words: words.cpp
  enum class Hazard : std::uint8_t { read_write, write_write, same_value, stale, missed };
  // Lane `lane` of the access at hand against lane `other` of record `id`; `old_writes`: the earlier one wrote.
  void report(Here& h, int lane, std::uint64_t offset, RecordId id, std::uint32_t other, bool old_writes);
  void report_stale(const Here& h, int lane, std::uint64_t offset, RecordId writer,
                    std::uint32_t writers_lane);
  bool same_value(const Here& h, int lane, std::uint64_t offset, RecordId id, std::uint32_t other) const;
  Finding describe(const Here& h, int lane, std::uint64_t offset, RecordId id, std::uint32_t other,
                   Hazard hazard) const;

  const Arena& arena_;
  std::vector<Finding>& findings_;
  const Program* program_ = nullptr;
  const LaunchRequest* launch_ = nullptr;
  bool updates_ = false;                // there are atomics on global memory
  std::set<std::uint32_t> swap_loads_;  // see loads_before_swaps()
  bool fences_ = false, mail_global_ = false, one_block_ = false, full_ = false;
  bool shortcuts_ = true;

  std::vector<Record> log_;  // of this launch
  RecordId base_ = 1;        // number of its first record
  std::vector<Reader> readers_;
  struct Step {
    RecordId from = 0, reader = 0;
    std::uint32_t lanes = 0, offset = 0;
    RecordId to = 0;
  };
  std::vector<Step> steps_;  // direct-mapped: set and reader to larger set

  Reserved<Cell> written_, read_;            // of global memory, by word
  Reserved<Cell> line_written_, line_read_;  // by line
  std::unordered_map<std::uint64_t, std::unique_ptr<std::vector<Cell>>> byte_pages_;
  std::vector<std::unique_ptr<BlockState>> blocks_;  // by storage
  Mailboxes mailboxes_;                              // of global memory
  std::size_t n_writers_ = 0;                        // that all mailboxes remember

  bool gives_old_values_ = false;
  std::set<std::uint32_t> looks_;  // see atomics_that_only_look()
  Rng dice_{0};
  std::unordered_map<std::uint64_t, Unseen> unseen_;                 // of global memory, by word
  std::map<std::uint64_t, Miss> misses_;                             // by word
  std::uint64_t unseen_begin_ = ~std::uint64_t{0}, unseen_end_ = 0;  // addresses between which they all lie
  std::uint64_t n_instructions_ = 0, n_fences_ = 0;                  // noted so far
  struct Old {
    int lane;
    std::array<std::byte, 16> value;
  };
  std::vector<Old> to_deliver_;

  struct Known {
    Finding finding;
    std::uint32_t op, other_op;
  };
  std::unordered_map<std::uint64_t, std::size_t> told_;  // hazard and ops to index into known_
  std::vector<Known> known_;
};

}  // namespace course::sim
