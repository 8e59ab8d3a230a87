// SPDX-License-Identifier: MIT
#include "sim/checkers/checks.hpp"

#include <set>
#include <utility>

namespace course::sim {
namespace {

constexpr std::uint32_t kMemory = bits_of(OpKind::load, OpKind::store, OpKind::atomic, OpKind::mbarrier);

}  // namespace

Checks::Checks(std::vector<KernelChecker*> checkers) : CompositeObserver({}) {
  check_with(std::move(checkers));
}

void Checks::check_with(std::vector<KernelChecker*> checkers) {
  observe_with({checkers.begin(), checkers.end()});
  checkers_ = std::move(checkers);
  kinds_ = kMemory;
  for (const KernelChecker* c : checkers_) kinds_ |= c->kinds();
}

void Checks::launch_begins(const Program& program, const LaunchRequest& launch) {
  history_.launch_begins(program);
  CompositeObserver::launch_begins(program, launch);
  if (history_.keeps()) set_looks_after(true);
}

void Checks::launch_ends() {
  std::set<std::uint32_t> racing;
  for (const KernelChecker* c : checkers_) racing.merge(c->racing());
  for (KernelChecker* c : checkers_) c->races_found(racing);
  CompositeObserver::launch_ends();
}

void Checks::block_begins(Block& block) {
  CompositeObserver::block_begins(block);
  for (Warp& w : block.warps)
    if (!follow(w)) w.observed = kinds_;
}

void Checks::before(Warp& w, const MicroOp& op) {
  const std::uint32_t kind = bits_of(op.kind);
  const bool follows = w.observed != kinds_;  // some checker tracks a value of this warp
  for (KernelChecker* c : checkers_)
    if ((kind & c->kinds()) != 0 || (follows && c->follows(w))) c->before(w, op);
  if ((kind & kMemory) != 0) {
    if (history_.keeps()) history_.before(w, op);
    LaneAccess a;
    resolve(w, op, a);
    for (KernelChecker* c : checkers_) c->access(w, op, a);
  }
  if (w.observed != kinds_ && !follow(w)) w.observed = kinds_;
}

void Checks::after(Warp& w, const MicroOp& op) {
  CompositeObserver::after(w, op);
  history_.after();
}

}  // namespace course::sim
