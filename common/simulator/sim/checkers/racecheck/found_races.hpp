// SPDX-License-Identifier: MIT
// The findings of a launch so far: one for each kind of hazard and pair of ops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/finding.hpp"

namespace course::sim::race {

enum class Hazard : std::uint8_t { read_write, write_write, same_value, stale, missed, lost, maybe_lost };

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
