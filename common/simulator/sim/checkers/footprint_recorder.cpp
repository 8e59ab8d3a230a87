// SPDX-License-Identifier: MIT
#include "sim/checkers/footprint_recorder.hpp"

#include <algorithm>
#include <bit>

namespace course::sim {
namespace {

Footprint::Use use_of(const MicroOp& op) {
  const auto order = op.order & kOrderMask;
  const bool strong = op.kind == OpKind::atomic || order != kWeak;
  const bool reads = op.kind == OpKind::load;
  if (!strong) return reads ? Footprint::kRead : Footprint::kWrite;
  if (order == kVolatile || (op.order & kScopeMask) == kScopeSystem)
    return reads ? Footprint::kSystemRead : Footprint::kSystemWrite;
  return reads ? Footprint::kStrongRead : Footprint::kStrongWrite;
}

}  // namespace

void FootprintRecorder::access(Warp&, const MicroOp& op, const LaneAccess& a) {
  if (op.kind == OpKind::mbarrier) return;
  if (!a.mixed && a.place != Place::global) return;
  const Footprint::Use use = use_of(op);
  if (a.run) return footprint_.add(a.start(), std::uint64_t{a.count} * a.bytes, use);
  std::uint64_t start = 0, end = 0;  // adjacent bytes of several lanes
  for (std::uint32_t m = a.mask; m != 0; m &= m - 1) {
    const std::uint64_t address = a.at(std::countr_zero(m));
    if (place_of(address) != Place::global) continue;
    if (address < start || address > end) {
      footprint_.add(start, end - start, use);
      start = end = address;
    }
    end = std::max(end, address + a.bytes);
  }
  footprint_.add(start, end - start, use);
}

void FootprintRecorder::copies_issued(Warp&, const CopyBatch& batch) {
  for (const int i : EachLane{batch.lanes}) {
    if (place_of(batch.from[i]) == Place::global)
      footprint_.add(batch.from[i], batch.read[i], Footprint::kRead);
    if (place_of(batch.to[i]) == Place::global)
      footprint_.add(batch.to[i], batch.bytes[i], Footprint::kWrite);
  }
}

}  // namespace course::sim
