// SPDX-License-Identifier: MIT
#include "sim/grid/signal_times.hpp"

#include <algorithm>
#include <utility>

namespace course::sim {
namespace {

// Where an address is in a table, or would be added.
std::uint64_t place_of(const std::vector<SignalTimes::Signal>& table, std::uint64_t address) {
  std::uint64_t at = (address * 0x9e3779b97f4a7c15u >> 20) & (table.size() - 1);
  while (table[at].address != 0 && table[at].address != address) at = (at + 1) & (table.size() - 1);
  return at;
}

}  // namespace

void SignalTimes::raise(std::uint64_t address, std::uint64_t time, std::uint64_t block, std::uint64_t kind) {
  if (2 * (n_ + 1) > table_.size()) grow();
  Signal& s = table_[place_of(table_, address)];
  n_ += s.address == 0 ? 1 : 0;
  if (s.address != 0 && s.block == block && s.first < time) stages_[block].push_back({s.first, time});
  s = {address, block, s.address == 0 || s.block != block ? time : s.first, time, kind};
}

const SignalTimes::Signal* SignalTimes::find(std::uint64_t address) const {
  if (table_.empty()) return nullptr;
  const Signal& s = table_[place_of(table_, address)];
  return s.address == 0 ? nullptr : &s;
}

std::uint64_t SignalTimes::available(const Signal& signal) const {
  const auto stages = stages_.find(signal.block);
  if (signal.first != signal.last || stages == stages_.end()) return signal.first;
  const auto between = std::ranges::find_if(
      stages->second, [&](const Stages& of) { return of.first < signal.first && signal.first <= of.last; });
  return between == stages->second.end() ? signal.first : between->first;
}

void SignalTimes::grow() {
  std::vector<Signal> old(table_.empty() ? 256 : 2 * table_.size());
  std::swap(old, table_);
  for (const Signal& s : old)
    if (s.address != 0) table_[place_of(table_, s.address)] = s;
}

}  // namespace course::sim
