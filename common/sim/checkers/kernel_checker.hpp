// SPDX-License-Identifier: MIT
// A checker of kernels: an observer that is also shown where each access to memory goes. Checks tells it.
#pragma once

#include <cstdint>
#include <set>

#include "sim/checkers/lane_access.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

// Bits as in Warp::observed.
template <typename... Kinds>
constexpr std::uint32_t bits_of(Kinds... kinds) {
  return ((1u << static_cast<std::uint32_t>(kinds)) | ... | 0u);
}

class KernelChecker : public Observer {
 public:
  // before() is called for ops of `kinds`, and for all ops of a warp while follows() holds.
  explicit KernelChecker(std::uint32_t kinds = 0) : Observer(false), kinds_(kinds) {}
  std::uint32_t kinds() const { return kinds_; }

  // Before each access to memory, and after before().
  virtual void access(Warp&, const MicroOp&, const LaneAccess&) {}
  // Does a register of the warp hold a value whose use the checker waits for?
  virtual bool follows(const Warp&) const { return false; }
  // Ops that took part in a race of this launch. Before launch_ends() each checker is asked, then all are told.
  virtual std::set<std::uint32_t> racing() const { return {}; }
  virtual void told_of_races(const std::set<std::uint32_t>& /*racing*/) {}
  // A Program is about to go: what was read off its code goes first.
  virtual void code_unloaded() {}

 private:
  std::uint32_t kinds_;
};

}  // namespace course::sim
