// SPDX-License-Identifier: MIT
// Finds pairs of accesses to the same shared or global memory by different threads, at least one of them a
// write, that nothing orders. README.md has the rules, and the order in which to read the files.
// This class receives what a launch does, and checks each access against the cells of shadow memory: in
// word_by_word.cpp, whole_lines.cpp, adjacent_lanes.cpp and async.cpp, too. Its members are parts, each a
// class with files of its own.
// Source: Flanagan, Freund, "FastTrack", PLDI 2009; NVIDIA, "PTX ISA" 9.0, chapter 8, "Memory Consistency
// Model".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/checkers/kernel_checker.hpp"
#include "sim/checkers/racecheck/found_races.hpp"
#include "sim/checkers/racecheck/old_values.hpp"
#include "sim/checkers/racecheck/read_modify_write.hpp"
#include "sim/checkers/racecheck/shadow_memory.hpp"
#include "sim/checkers/racecheck/sync_tracker.hpp"
#include "sim/machine/gap.hpp"
#include "sim/machine/op_table.hpp"

namespace course::sim::race {

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
  std::vector<const Finding*> found() const override;
  std::size_t n_found() const override { return found_.all().size(); }

  // Whether strong loads of the next launch may get old values, chosen at random with the schedule's seed:
  // see old_values.hpp.
  void give_old_values(bool on, std::uint64_t schedule_seed) {
    old_values_.turn(on, schedule_seed);
    set_looks_after(on);
  }

  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  void launch_ends() override;
  // Ops that took part in a race of this launch. Must be called before launch_ends().
  std::set<std::uint32_t> racing() const override { return found_.ops_of_errors(); }
  // The first race of this launch so far, without hints; nullptr if there is none.
  const Finding* first_race() const { return found_.first_error(); }
  void released(std::uint64_t address, std::uint64_t n_bytes) override { shadow_.release(address, n_bytes); }
  // `parts`: checkers that each saw some of the blocks of one launch. True if no word of [address, address +
  // n_bytes) was accessed by two of them with at least one write. For launches in which the writes to global
  // memory are either all weak or all atomics; two atomics do not conflict.
  static bool nobody_met(std::span<const Racecheck* const> parts, std::uint64_t address,
                         std::uint64_t n_bytes);
  void block_begins(Block& block) override;
  void access(Warp& w, const MicroOp& op, const LaneAccess& a) override;
  void before(Warp& w, const MicroOp& op) override { sync_.before(state(w), w, op, old_values_); }
  // Takes out of memory again the old values that access() has put there for this op.
  void after(Warp&, const MicroOp& op) override { old_values_.after(op); }
  void barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) override {
    state(w).arrive(w, mask, op, next());
  }
  void barrier_released(Block& block, std::uint32_t barrier) override {
    if (state(block).release(block, barrier, next())) renew_flights(block);
  }
  void warp_synced(Warp& w, std::uint32_t mask, const MicroOp& op) override {
    state(w).sync_warp(w, mask, op, next());
  }
  void copies_issued(Warp& w, const CopyBatch& batch) override;
  void copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override;
  void mbarrier_arrived(Warp& w, int lane, std::uint64_t address) override;
  void mbarrier_ended(Block& block, std::uint64_t address) override;
  void mbarrier_passed(Warp& w, int lane, std::uint64_t address) override;

 private:
  RecordId next() const { return records_.next(); }
  const Record& record(RecordId id) const { return records_[id]; }
  BlockState& state(const Block& block) { return *blocks_[block.storage]; }
  BlockState& state(const Warp& w) { return state(*w.block); }
  Shadow shadow_of(BlockState& b, Place place);
  // The record of the ops `op` that a warp executes until it next synchronises.
  RecordId record_of(WarpState& ws, const Warp& w, const BlockState& b, std::uint32_t op, Record::Kind kind) {
    WarpState::Recent& recent = ws.recent[op % WarpState::kRecent];
    if (recent.op == op && recent.lanes == w.mask && recent.id >= ws.fresh) return recent.id;
    recent = {
        op, w.mask, records_.add({b.number, op, w.mask, static_cast<std::uint16_t>(w.number), kind}), {}};
    return recent.id;
  }
  [[noreturn]] static void doubt();  // ends a pass that has taken too little care

  // --- accesses: racecheck.cpp
  void check_in(CurrentAccess& h, Place place, std::uint32_t lanes);
  void check_non_coherent(CurrentAccess& h);

  // --- one word of one lane after the other: word_by_word.cpp
  void by_lane(CurrentAccess& h, std::uint32_t lanes);
  void one_word_each(CurrentAccess& h, std::uint32_t lanes);
  void one_atomic_each(CurrentAccess& h, std::uint32_t lanes);
  void lane(CurrentAccess& h, int lane);
  void by_word(CurrentAccess& h, int lane, std::uint64_t offset, std::uint32_t n_bytes);
  void broadcast(CurrentAccess& h, std::uint32_t lanes, std::uint64_t offset, std::uint32_t n);
  void broadcast_cell(CurrentAccess& h, std::uint32_t lanes, std::uint64_t offset, Cell written, Cell& read);
  void cell(CurrentAccess& h, int lane, std::uint64_t offset, Cell& written, Cell& read);
  Cell* bytes_of(CurrentAccess& h, std::uint64_t word);
  Cell* open_bytes(CurrentAccess& h, std::uint64_t word);
  void bytes(CurrentAccess& h, int lane, std::uint64_t offset, std::uint32_t n);
  void check(CurrentAccess& h, int lane, std::uint64_t offset, Cell cell, bool old_writes);
  bool may_be_unordered(const CurrentAccess& h, RecordId id, int lane) const;
  Cell with_reader(CurrentAccess& h, Cell cell, int lane, std::uint32_t lanes);
  Cell with_any_reader(CurrentAccess& h, Cell cell);
  void note_replaced(const CurrentAccess& h, std::uint64_t word, Cell written);

  // --- all lanes at once: adjacent_lanes.cpp, whole_lines.cpp
  bool adjacent_lanes(CurrentAccess& h);
  bool whole_lines(CurrentAccess& h);
  std::uint32_t mark_lines(const CurrentAccess& h, std::uint32_t lanes);
  void open_lines(CurrentAccess& h, std::uint32_t lanes);
  static void open_line(const CurrentAccess& h, std::uint64_t line, Cell marker);

  // --- lost updates: lost_updates.cpp
  void note_loaded(CurrentAccess& h, std::uint32_t lanes);
  void check_changes(CurrentAccess& h, std::uint32_t lanes);
  void report_lost(const CurrentAccess& h, int lane, const MicroOp& load, RecordId id,
                   std::uint32_t other_lane, bool is_certain);

  // --- copies: async.cpp
  void touch(CurrentAccess& h, int lane, std::uint64_t address, std::uint32_t n_bytes, bool writes);
  void fly(Block& block, Flight& flight);
  void renew_flights(Block& block);

  // --- messages: messages.cpp
  // One of two accesses.
  struct Side {
    const MicroOp* op;
    ThreadId thread;
  };
  Side side_of(const CurrentAccess& h, int lane) const;
  Side side_of(RecordId id, std::uint32_t lane) const;
  // Without kind and message.
  Finding finding_of(const Side& one, const Side& two, std::uint64_t address, std::uint32_t width) const;
  bool is_systems(const MicroOp& op);
  void explain_by_several(std::uint32_t write);
  void report(Conflict c);
  void report_stale(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId writer,
                    std::uint32_t writers_lane);
  void report_miss(std::uint64_t address, const OldValues::Miss& miss);
  Finding describe(const Conflict& c) const;
  std::string reason_of(const Conflict& c, Missing missing, const MicroOp& one, const MicroOp& two) const;
  std::string reason_in_a_block(const Conflict& c, bool scatter, const MicroOp& one) const;
  std::string reason_between_blocks(const Conflict& c, Missing missing, const MicroOp& one,
                                    const MicroOp& two) const;
  Cell replaced_by(const Conflict& c) const;

  const Arena& arena_;
  std::vector<Finding>& findings_;
  bool shortcuts_ = true;
  Care care_ = Care::everything;

  // Of the current launch.
  const Program* program_ = nullptr;
  const LaunchRequest* launch_ = nullptr;
  bool updates_ = false;                             // the kernel has atomics on global memory
  std::set<std::uint32_t> swap_loads_;               // see loads_before_swaps()
  Changes changes_;                                  // see changes_of()
  std::unordered_map<std::uint32_t, bool> systems_;  // is_systems(), by op
  // By word of global memory: the weak write that a later one has replaced.
  std::unordered_map<std::uint64_t, Cell> replaced_;

  AccessRecords records_;
  ShadowMemory shadow_;                              // of global memory
  std::vector<std::unique_ptr<BlockState>> blocks_;  // by storage
  SyncTracker sync_{records_};
  OldValues old_values_;
  FoundRaces found_;
};

}  // namespace course::sim::race

namespace course::sim {
using race::Racecheck;
}  // namespace course::sim
