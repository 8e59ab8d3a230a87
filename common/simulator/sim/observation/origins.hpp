// SPDX-License-Identifier: MIT
// Where values come from: for each register, the array elements from which its value was computed. A trace
// draws arrows from them. An operation unites the origins of its operands; guards, branches and addresses
// have no influence. When a value is stored, or exchanged between lanes, it becomes an origin itself: its
// register then has this place as its only origin.
// For small inputs. A set has at most kMax places; further ones are omitted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/machine/value_tracker.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

struct TracePlace {
  std::string object;  // "s_data", "d_out"; each block has its own "s_data"
  std::uint64_t element = 0;
  // The array's row that contains the value. If the value was written since the last row, the next one.
  std::uint32_t row = 0;
  std::uint32_t width = 0;  // of the value in bytes; 0: the value is not known
  std::uint64_t value = 0;
  // Not <=>, which texts lack in older libraries.
  friend bool operator<(const TracePlace& a, const TracePlace& b) {
    return std::tie(a.object, a.element, a.row, a.width, a.value) <
           std::tie(b.object, b.element, b.row, b.width, b.value);
  }
  friend bool operator==(const TracePlace&, const TracePlace&) = default;
};

class Origins {
 public:
  using Set = std::uint32_t;  // number of a set of places; 0 is the empty set
  static constexpr std::size_t kMax = 16;

  void launch_begins(const Program& program);
  void block_begins(const Block& block);

  Set single(const TracePlace& place);
  Set united(Set a, Set b);
  const std::vector<TracePlace>& places(Set set) const { return sets_[set]; }

  // The origins of a lane's value.
  Set get(const Warp& w, ValueSlot at, int lane) {
    const Values<Set>& values = values_[&w];
    return united(values.low(at, lane), values.high(at, lane));
  }
  void set(const Warp& w, ValueSlot at, int lane, Set origins) {
    values_[&w].set(at, lane, origins, origins);
  }
  // The origins of a word in a thread's local memory.
  Set& local(const Warp& w, int lane, std::uint64_t address) { return local_[{&w, lane, address}]; }
  // Called after an operation that computes its results from its operands.
  void combine(Warp& w, const MicroOp& op);

 private:
  Set number_of(std::vector<TracePlace> places);

  const Program* program_ = nullptr;
  std::unordered_map<const Warp*, Values<Set>> values_;
  std::map<std::tuple<const Warp*, int, std::uint64_t>, Set> local_;
  std::vector<std::vector<TracePlace>> sets_{{}};
  std::map<std::vector<TracePlace>, Set> numbers_{{{}, 0}};
  std::map<std::pair<Set, Set>, Set> unions_;
};

}  // namespace course::sim
