// SPDX-License-Identifier: MIT
#include "sim/grid/signals.hpp"

#include <utility>

namespace course::sim {
namespace {

std::uint64_t place_of(std::uint64_t address, std::uint64_t size) {
  return (address * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
}

}  // namespace

void Signals::clear() {
  table_.clear();
  n_ = looks = blocks_seen = 0;
}

void Signals::raise(std::uint64_t address, std::uint64_t time, std::uint64_t block) {
  if (2 * (n_ + 1) > table_.size()) grow();
  std::uint64_t at = place_of(address, table_.size());
  while (table_[at].address != 0 && table_[at].address != address) at = (at + 1) & (table_.size() - 1);
  Signal& s = table_[at];
  if (s.address == 0) {
    s = {address, time, time, block};
    ++n_;
    return;
  }
  s.last = time;
  s.block = block;
}

const Signals::Signal* Signals::find(std::uint64_t address) const {
  if (table_.empty()) return nullptr;
  std::uint64_t at = place_of(address, table_.size());
  while (table_[at].address != 0) {
    if (table_[at].address == address) return &table_[at];
    at = (at + 1) & (table_.size() - 1);
  }
  return nullptr;
}

void Signals::grow() {
  std::vector<Signal> old(table_.empty() ? 256 : 2 * table_.size());
  std::swap(old, table_);
  for (const Signal& s : old) {
    if (s.address == 0) continue;
    std::uint64_t at = place_of(s.address, table_.size());
    while (table_[at].address != 0) at = (at + 1) & (table_.size() - 1);
    table_[at] = s;
  }
}

}  // namespace course::sim
