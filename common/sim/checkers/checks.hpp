// SPDX-License-Identifier: MIT
// The checkers that a mode asks for, as one observer of a launch.
// Reading order: finding.hpp for what comes out; checks.cpp for who is told what; racecheck.hpp (on clock.hpp), initcheck.hpp,
// synccheck.hpp; together.hpp (with undo.hpp) for launches whose blocks several host threads run.
// Bounds, alignment and freed memory are the machine's business, which always looks at them (ops/memory.hpp); boundcheck.hpp
// adds what needs more than the memory's own bounds.
#pragma once

#include <cstdint>

#include "sim/checkers/boundcheck.hpp"
#include "sim/checkers/initcheck.hpp"
#include "sim/checkers/lane_access.hpp"
#include "sim/checkers/racecheck.hpp"
#include "sim/checkers/synccheck.hpp"
#include "sim/footprint.hpp"
#include "sim/machine/hang.hpp"

namespace course::sim {

class Checks final : public Observer, public KeepsHistory {
 public:
  // Any of the first three may be absent. `footprint`: gets what launches access from now on; may be nullptr. `old_values`: `race` gives
  // some to loads, see Racecheck::give_old_values().
  Checks(Racecheck* race, Initcheck* init, Synccheck* sync, Boundcheck& bounds, Footprint* footprint,
         bool old_values = false);

  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  void launch_ends() override;
  void block_begins(Block& block) override;
  void before(Warp& w, const MicroOp& op) override;
  void after(Warp& w, const MicroOp& op) override;
  void barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void barrier_released(Block& block, std::uint32_t barrier) override;
  void warp_synced(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void threads_exit(Warp& w, const Group& group, const BasicBlock& b) override;
  void local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override;
  void frame_opened(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override;
  void copies_issued(Warp& w, const CopyBatch& batch) override;
  void copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override;
  void rendezvous_arrived(Warp& w, int lane, std::uint64_t address) override;
  void rendezvous_ended(Block& block, std::uint64_t address) override;
  void rendezvous_passed(Warp& w, int lane, std::uint64_t address) override;
  void stuck(Block& block) override;
  WriteHistory* history() override { return &history_; }

 private:
  Racecheck* race_;
  Initcheck* init_;
  Synccheck* sync_;
  Boundcheck& bounds_;
  Footprint* footprint_;
  WriteHistory history_;
  std::uint32_t kinds_ = 0;  // of ops that some checker looks at
};

}  // namespace course::sim
