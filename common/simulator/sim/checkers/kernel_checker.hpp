// SPDX-License-Identifier: MIT
// A checker of kernels: an observer that also gets the addresses of each memory access. Class Checks calls
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "sim/checkers/lane_access.hpp"
#include "sim/finding.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

// A set of kinds as bits, as in Warp::observed.
template <typename... Kinds>
constexpr std::uint32_t bits_of(Kinds... kinds) {
  return ((1u << static_cast<std::uint32_t>(kinds)) | ... | 0u);
}

// Pointers to the findings of a map.
template <typename Map>
std::vector<const Finding*> findings_of(const Map& known) {
  std::vector<const Finding*> all;
  for (const auto& [key, finding] : known) all.push_back(&finding);
  return all;
}

class KernelChecker : public Observer {
 public:
  // before() is called for ops of `kinds`, and for all ops of a warp while follows() returns true for it.
  explicit KernelChecker(std::uint32_t kinds = 0) : Observer(false), kinds_(kinds) {}
  std::uint32_t kinds() const { return kinds_; }

  // Called before each access to memory, after before().
  virtual void access(Warp&, const MicroOp&, const LaneAccess&) {}
  // Whether a register of the warp holds a value that the checker tracks until it is used.
  virtual bool follows(const Warp&) const { return false; }
  // racing() returns the ops, by number, that took part in a race of this launch. Before launch_ends(),
  // Checks asks every checker and passes all of them to races_found() of every checker.
  virtual std::set<std::uint32_t> racing() const { return {}; }
  virtual void races_found(const std::set<std::uint32_t>& /*racing*/) {}
  // What it has found in this launch so far, and how much that is. launch_ends() reports it, except what a
  // race explains. Valid until the next op.
  virtual std::vector<const Finding*> found() const { return {}; }
  virtual std::size_t n_found() const { return 0; }
  bool knows_an_error() const override {
    return std::ranges::any_of(found(), [](const Finding* f) { return f->severity == Severity::error; });
  }
  // Called before a Program is destroyed: the checker must discard everything that it derived from the
  // program's code.
  virtual void code_unloaded() {}
  // Called between launches: nothing is allocated in this range of the arena any more, so the shadow memory
  // for it can be returned to the host.
  virtual void released(std::uint64_t /*address*/, std::uint64_t /*n_bytes*/) {}

 private:
  std::uint32_t kinds_;
};

}  // namespace course::sim
