// SPDX-License-Identifier: MIT
#include "sim/checkers/checks.hpp"

#include <bit>

namespace course::sim {
namespace {

template <typename... Kinds>
constexpr std::uint32_t bits(Kinds... kinds) {
  return ((1u << static_cast<std::uint32_t>(kinds)) | ...);
}

constexpr std::uint32_t kMemory = bits(OpKind::load, OpKind::store, OpKind::atomic, OpKind::rendezvous);
constexpr std::uint32_t kWarpWide = bits(OpKind::shuffle, OpKind::vote, OpKind::reduce);

Footprint::Use use_of(const MicroOp& op) {
  const auto order = op.order & kOrderMask;
  const bool strong = op.kind == OpKind::atomic || order != kWeak;
  if (op.kind == OpKind::load) return strong ? Footprint::kStrongRead : Footprint::kRead;
  if (!strong) return Footprint::kWrite;
  const bool reaches_host = order == kVolatile || (op.order & kScopeMask) == kScopeSystem;
  return reaches_host ? Footprint::kSystemWrite : Footprint::kStrongWrite;
}

void add_to(Footprint& footprint, const MicroOp& op, const LaneAccess& a) {
  if (op.space == MemorySpace::constant || op.kind == OpKind::rendezvous) return;
  if (!a.mixed && a.place != Place::global) return;
  const Footprint::Use use = use_of(op);
  if (a.run) return footprint.add(a.start(), std::uint64_t{a.count} * a.bytes, use);
  for (std::uint32_t m = a.mask; m != 0; m &= m - 1) {
    const std::uint64_t address = a.at(std::countr_zero(m));
    if (place_of(address) == Place::global) footprint.add(address, a.bytes, use);
    if (a.same) return;
  }
}

void add_to(Footprint& footprint, const CopyBatch& batch) {
  for (std::uint32_t m = batch.lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    if (place_of(batch.from[i]) == Place::global)
      footprint.add(batch.from[i], batch.read[i], Footprint::kRead);
    if (place_of(batch.to[i]) == Place::global) footprint.add(batch.to[i], batch.bytes[i], Footprint::kWrite);
  }
}

}  // namespace

Checks::Checks(Racecheck* race, Initcheck* init, Synccheck* sync, Boundcheck& bounds, Footprint* footprint,
               bool old_values)
    : Observer(old_values),
      race_(race),
      init_(init),
      sync_(sync),
      bounds_(bounds),
      footprint_(footprint),
      kinds_(kMemory) {
  if (race != nullptr) kinds_ |= bits(OpKind::fence);
  if (sync != nullptr) kinds_ |= kWarpWide;
}

void Checks::launch_begins(const Program& program, const LaunchRequest& launch) {
  history_.launch_begins(program);
  bounds_.launch_begins(program, launch);
  if (race_ != nullptr) race_->launch_begins(program, launch);
  if (init_ != nullptr) init_->launch_begins(program, launch);
  if (sync_ != nullptr) sync_->launch_begins(program, launch);
}

void Checks::launch_ends() {
  bounds_.launch_ends();
  if (sync_ != nullptr) sync_->launch_ends();
  if (init_ != nullptr) init_->launch_ends(race_ != nullptr ? race_->racing() : std::set<std::uint32_t>{});
  if (race_ != nullptr) race_->launch_ends();
}

void Checks::block_begins(Block& block) {
  for (Warp& w : block.warps) w.observed = kinds_;
  if (race_ != nullptr) race_->block_begins(block);
  if (init_ != nullptr) init_->block_begins(block);
  if (sync_ != nullptr) sync_->block_begins(block);
}

void Checks::before(Warp& w, const MicroOp& op) {
  const std::uint32_t kind = bits(op.kind);
  const bool follows = w.observed != kinds_;  // a value that some checker has doubts about
  if (follows && init_ != nullptr && init_->follows(w)) init_->follow(w, op);
  if ((kind & kMemory) != 0) {
    if (history_.keeps()) history_.before(w, op);
    LaneAccess a;
    resolve(w, op, a);
    bounds_.access(w, op, a);
    if (footprint_ != nullptr) add_to(*footprint_, op, a);
    if (init_ != nullptr) init_->access(w, op, a);
    if (race_ != nullptr) race_->access(w, op, a);
  }
  if (op.kind == OpKind::fence && race_ != nullptr) race_->fence(w, op);
  if (sync_ != nullptr && ((kind & kWarpWide) != 0 || follows)) sync_->before(w, op);
  if (w.observed != kinds_ && (sync_ == nullptr || !sync_->follows(w)) &&
      (init_ == nullptr || !init_->follows(w)))
    w.observed = kinds_;
}

void Checks::after(Warp& w, const MicroOp& op) {
  if (race_ != nullptr && (op.kind == OpKind::load || op.kind == OpKind::atomic))
    race_->deliver_old_values(w, op);
}

void Checks::barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) {
  if (sync_ != nullptr) sync_->barrier_arrived(w, mask, op);
  if (race_ != nullptr) race_->barrier_arrived(w, mask, op);
}

void Checks::barrier_released(Block& block, std::uint32_t barrier) {
  if (sync_ != nullptr) sync_->barrier_released(block, barrier);
  if (race_ != nullptr) race_->barrier_released(block, barrier);
}

void Checks::warp_synced(Warp& w, std::uint32_t mask, const MicroOp& op) {
  if (sync_ != nullptr) sync_->warp_synced(w, mask, op);
  if (race_ != nullptr) race_->warp_synced(w, mask, op);
}

void Checks::threads_exit(Warp& w, const Group& group, const BasicBlock& b) {
  if (sync_ != nullptr) sync_->threads_exit(w, group, b);
}

void Checks::local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) {
  if (init_ != nullptr) init_->local_moved(w, lane, offset, bytes);
}

void Checks::frame_opened(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) {
  if (init_ != nullptr) init_->frame_opened(w, lane, offset, bytes);
}

void Checks::copies_issued(Warp& w, const CopyBatch& batch) {
  if (footprint_ != nullptr) add_to(*footprint_, batch);
  if (init_ != nullptr) init_->copies_issued(w, batch);
  if (race_ != nullptr) race_->copies_issued(w, batch);
}

void Checks::copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                             std::uint64_t barrier) {
  if (init_ != nullptr) init_->copies_finished(block, batch, lanes);
  if (race_ != nullptr) race_->copies_finished(block, batch, lanes, barrier);
}

void Checks::rendezvous_arrived(Warp& w, int lane, std::uint64_t address) {
  if (race_ != nullptr) race_->rendezvous_arrived(w, lane, address);
}

void Checks::rendezvous_ended(Block& block, std::uint64_t address) {
  if (race_ != nullptr) race_->rendezvous_ended(block, address);
}

void Checks::rendezvous_passed(Warp& w, int lane, std::uint64_t address) {
  if (race_ != nullptr) race_->rendezvous_passed(w, lane, address);
}

void Checks::stuck(Block& block) {
  if (sync_ != nullptr) sync_->stuck(block);
}

}  // namespace course::sim
