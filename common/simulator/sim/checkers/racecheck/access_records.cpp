// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/access_records.hpp"

#include <algorithm>

#include "sim/machine/warp.hpp"

namespace course::sim::race {

AccessRecords::AccessRecords() : steps_(4096) {}

bool AccessRecords::launch_begins() {
  base_ = next();
  log_.clear();
  readers_.clear();
  if (base_ < most / 2) return false;
  std::ranges::fill(steps_, Step{});
  base_ = 1;
  return true;
}

RecordId AccessRecords::add(const Record& r) {
  const RecordId id = next();
  log_.push_back(r);
  if (id + 2 >= most)
    throw DeviceFault(Fault::launch_timeout, "it is too long: the rest could not be checked for races");
  return id;
}

RecordId AccessRecords::with(RecordId from, const Reader& reader, int lane) {
  std::uint64_t hash = (std::uint64_t{from} << 32 | reader.record) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ (std::uint64_t{reader.lanes} << 5 | reader.offset)) * 0xc2b2ae3d27d4eb4fu;
  Step& step = steps_[hash >> 52];
  if (step.from == from && step.reader == reader) return step.to;

  Reader all[kMaxReaders];
  std::uint32_t n = 0;
  if (from != 0 && (*this)[from].kind == Record::readers)
    for (const Reader& r : readers((*this)[from])) all[n++] = r;
  else if (from != 0)
    all[n++] = {from, 0, 0};
  bool known = false;
  for (std::uint32_t k = 0; k < n; ++k) {
    const Reader& r = all[k];
    if (r.record != reader.record) continue;
    if (reader.lanes == 0 && (r.lanes >> lane & 1) != 0)
      return from;  // not cached in steps_, because it holds for this lane only
    known = known || (reader.lanes != 0 ? (reader.lanes & ~r.lanes) == 0 : r == reader);
  }
  RecordId to = from;
  if (!known && n < kMaxReaders) {
    all[n++] = reader;
    to = add({kNobody, static_cast<std::uint32_t>(readers_.size()), n, 0, Record::readers});
    for (std::uint32_t k = 0; k < n; ++k) readers_.push_back(all[k]);
  }
  step = {from, reader, to};
  return to;
}

}  // namespace course::sim::race
