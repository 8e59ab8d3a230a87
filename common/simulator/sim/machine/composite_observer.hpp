// SPDX-License-Identifier: MIT
// Combines several observers into one. Each gets every call, in the given order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/machine/warp.hpp"
#include "sim/machine/write_history.hpp"

namespace course::sim {

class CompositeObserver : public Observer, public KeepsHistory {
 public:
  explicit CompositeObserver(std::vector<Observer*> all) { observe_with(std::move(all)); }

  void launch_begins(const Program& p, const LaunchRequest& l) override {
    tell(&Observer::launch_begins, p, l);
    look_after_as_needed();
  }
  void block_begins(Block& b) override {
    for (Observer* o : all_) o->block_begins(b);
    for (Warp& w : b.warps) w.observed = ~0u;
  }
  void block_ends(Block& b) override { tell(&Observer::block_ends, b); }
  void before(Warp& w, const MicroOp& op) override {
    for (Observer* o : all_) o->before(w, op);
    w.observed = ~0u;
  }
  void after(Warp& w, const MicroOp& op) override {
    for (Observer* o : all_) o->after(w, op);
  }
  void guarded_off(Warp& w, const MicroOp& op, std::uint32_t lanes) override {
    tell(&Observer::guarded_off, w, op, lanes);
  }
  void branches(Warp& w, const BasicBlock& b, std::uint32_t mask) override {
    tell(&Observer::branches, w, b, mask);
  }
  void barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) override {
    tell(&Observer::barrier_arrived, w, mask, op);
  }
  void barrier_released(Block& b, std::uint32_t barrier) override {
    tell(&Observer::barrier_released, b, barrier);
  }
  void warp_synced(Warp& w, std::uint32_t mask, const MicroOp& op) override {
    tell(&Observer::warp_synced, w, mask, op);
  }
  void threads_exit(Warp& w, const Group& g, const BasicBlock& b) override {
    tell(&Observer::threads_exit, w, g, b);
  }
  void local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override {
    tell(&Observer::local_moved, w, lane, offset, bytes);
  }
  void local_copied(Warp& w, int lane, std::uint32_t to, std::uint32_t from, std::uint32_t bytes) override {
    tell(&Observer::local_copied, w, lane, to, from, bytes);
  }
  void frame_opened(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override {
    tell(&Observer::frame_opened, w, lane, offset, bytes);
  }
  void copies_issued(Warp& w, const CopyBatch& batch) override { tell(&Observer::copies_issued, w, batch); }
  void copies_finished(Block& b, const CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override {
    tell(&Observer::copies_finished, b, batch, lanes, barrier);
  }
  void mbarrier_arrived(Warp& w, int lane, std::uint64_t address) override {
    tell(&Observer::mbarrier_arrived, w, lane, address);
  }
  void mbarrier_ended(Block& b, std::uint64_t address) override {
    tell(&Observer::mbarrier_ended, b, address);
  }
  void mbarrier_passed(Warp& w, int lane, std::uint64_t address) override {
    tell(&Observer::mbarrier_passed, w, lane, address);
  }
  void stuck(Block& b) override { tell(&Observer::stuck, b); }
  void faulted(Block& b) override { tell(&Observer::faulted, b); }
  void launch_ends() override { tell(&Observer::launch_ends); }
  bool knows_an_error() const override {
    return std::ranges::any_of(all_, [](const Observer* o) { return o->knows_an_error(); });
  }
  // The history of the first observer that has one.
  WriteHistory* history() override {
    for (Observer* o : all_)
      if (auto* keeper = dynamic_cast<KeepsHistory*>(o)) return keeper->history();
    return nullptr;
  }

 protected:
  void observe_with(std::vector<Observer*> all) {
    all_ = std::move(all);
    look_after_as_needed();
  }

 private:
  void look_after_as_needed() {
    set_looks_after(std::ranges::any_of(all_, [](const Observer* o) { return o->looks_after(); }));
  }
  template <typename... Expected, typename... Given>
  void tell(void (Observer::*event)(Expected...), Given&&... given) {
    for (Observer* o : all_) (o->*event)(given...);
  }

  std::vector<Observer*> all_;
};

}  // namespace course::sim
