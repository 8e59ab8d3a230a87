// SPDX-License-Identifier: MIT
// Where values come from: for each register, which array elements its value was made of. A trace draws arrows from them.
// Operations unite the origins of their operands; conditions and addresses count for nothing. A value that has been stored, or
// shown in an exchange between lanes, stands for itself from then on: its register then has that one place as its origin.
// For small inputs. A set keeps kMost places; more are left out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/machine/warp.hpp"

namespace course::sim {

struct TracePlace {
  std::string object;  // "s_data", "d_out"; several blocks have one "s_data" each
  std::uint64_t element = 0;
  std::uint32_t row =
      0;  // the array's row in which the value stands: those before, and one when it was written since
  friend auto operator<=>(const TracePlace&, const TracePlace&) = default;
};

class Origins {
 public:
  using Set = std::uint32_t;  // a set of places; 0 is the empty one
  static constexpr std::size_t kMost = 16;

  void launch_begins(const Program& program);
  void block_begins(const Block& block);

  Set single(const TracePlace& place);
  Set united(Set a, Set b);
  const std::vector<TracePlace>& places(Set set) const { return sets_[set]; }

  // Of the value in a slot, by lane; of a predicate slot where `predicate`.
  Set* of(const Warp& w, std::uint32_t slot, bool predicate = false);
  // Of a word in a thread's local memory.
  Set& local(const Warp& w, int lane, std::uint64_t address) { return local_[{&w, lane, address}]; }
  // An operation has run that makes its results of its operands.
  void combine(const Warp& w, const MicroOp& op);

 private:
  struct Shadow {
    std::vector<Set> registers;                                      // by slot offset / 4 + lane
    std::unordered_map<std::uint32_t, std::vector<Set>> predicates;  // by slot, 32 lanes
  };

  Set number_of(std::vector<TracePlace> places);

  const Program* program_ = nullptr;
  std::unordered_map<const Warp*, Shadow> shadows_;
  std::map<std::tuple<const Warp*, int, std::uint64_t>, Set> local_;
  std::vector<std::vector<TracePlace>> sets_{{}};
  std::map<std::vector<TracePlace>, Set> numbers_{{{}, 0}};
  std::map<std::pair<Set, Set>, Set> unions_;
};

}  // namespace course::sim
