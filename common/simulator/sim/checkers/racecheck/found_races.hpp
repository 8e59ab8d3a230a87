// SPDX-License-Identifier: MIT
// What is found in a launch: conflicts, and the findings about them, one for each kind of hazard and pair of
// ops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/checkers/racecheck/current_access.hpp"
#include "sim/finding.hpp"

namespace course::sim::race {

enum class Hazard : std::uint8_t { read_write, write_write, same_value, stale, missed, lost, maybe_lost };

// Two accesses that nothing orders: lane `lane` of the current access conflicts, at `offset` of its memory,
// with lane `other` of record `id`.
struct Conflict {
  const CurrentAccess& h;
  int lane;
  std::uint64_t offset;
  RecordId id;
  std::uint32_t other;
  bool old_writes;  // the earlier access is a write
  Hazard hazard = Hazard::read_write;

  const Record& record() const { return h.record(id); }
  const MicroOp& old_op() const { return h.op_of(id); }
  bool in_a_block() const { return record().block == h.b.number; }
  bool in_a_warp() const { return in_a_block() && warp_of(record()) == h.w.number; }
};

class FoundRaces {
 public:
  struct Race {
    Finding finding;
    std::uint32_t op, other_op;
    bool in_a_warp = false;  // its two threads are of one warp
  };

  void clear() { *this = {}; }
  // The race of these ops, in either order, that was found before; it is counted once more. If there is none,
  // returns nullptr, and the caller must add() it next.
  Race* again(Hazard hazard, std::uint32_t one, std::uint32_t other) {
    const auto [known, fresh] = indices_.try_emplace(key_of(hazard, one, other), races_.size());
    if (fresh) return nullptr;
    ++races_[known->second].finding.times;
    return &races_[known->second];
  }
  void add(Race race) { races_.push_back(std::move(race)); }
  bool contains(Hazard hazard, std::uint32_t one, std::uint32_t other) const {
    return indices_.contains(key_of(hazard, one, other));
  }
  const std::vector<Race>& all() const { return races_; }
  std::vector<Race>& all() { return races_; }
  // Without hints.
  const Finding* first_error() const {
    const auto first = std::ranges::find_if(races_, is_error);
    return first == races_.end() ? nullptr : &first->finding;
  }
  std::set<std::uint32_t> ops_of_errors() const {
    std::set<std::uint32_t> ops;
    for (const Race& r : races_)
      if (is_error(r)) ops.insert({r.op, r.other_op});
    return ops;
  }
  // A conflict that is only sometimes harmless is reported once, as a fault.
  void report_to(std::vector<Finding>& findings) {
    const std::set<std::uint32_t> faulty = ops_of_errors();
    for (Race& r : races_)
      if (is_error(r) || (!faulty.contains(r.op) && !faulty.contains(r.other_op)))
        add_finding(findings, std::move(r.finding));
    clear();
  }

 private:
  static bool is_error(const Race& r) { return r.finding.severity == Severity::error; }
  static std::uint64_t key_of(Hazard hazard, std::uint32_t one, std::uint32_t other) {
    return static_cast<std::uint64_t>(hazard) << 60 | std::uint64_t{std::max(one, other)} << 30 |
           std::min(one, other);
  }

  std::unordered_map<std::uint64_t, std::size_t> indices_;
  std::vector<Race> races_;
};

}  // namespace course::sim::race
