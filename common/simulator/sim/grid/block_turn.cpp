// SPDX-License-Identifier: MIT
#include "sim/grid/block_turn.hpp"

#include <algorithm>

#include "sim/machine/describe.hpp"

namespace course::sim {
namespace {

// Whether another block of the cluster can run. If so, a block whose threads all wait may be waiting for it.
bool another_member_runs(const Block& block) {
  if (block.cluster == nullptr) return false;
  const auto runs = [](const Warp& w) {
    return std::ranges::any_of(w.groups, [](const Group& g) { return g.wait == Wait::none; });
  };
  return std::ranges::any_of(block.cluster->members, [&](const Block* member) {
    return member != nullptr && std::ranges::any_of(member->warps, runs);
  });
}

}  // namespace

DeviceFault at_waiting(Worker& worker, const Hang& hang, const std::string& text) {
  worker.launch_warp = hang.warp;
  if (hang.warp != nullptr) hang.warp->current = hang.op;
  return {Fault::launch_timeout, text, hang.lanes};
}

BlockEnd run_block(Block& block, Worker& worker, const Engine& engine, WarpOrder& order, Turn turn) {
  const auto run = worker.observer != nullptr ? engine.run_observed : engine.run;
  const std::uint64_t turn_end = worker.instructions + static_cast<std::uint64_t>(turn.block);
  while (block.live_threads != 0) {
    bool ran = false;
    for (const std::uint32_t k : order.next_round(block)) {
      Warp& w = block.warps[k];
      if (std::ranges::none_of(w.groups, [](const Group& g) { return g.wait == Wait::none; })) continue;
      ran = true;
      run(w, turn.warp);
    }
    if (!ran && block.live_threads != 0) {
      if (another_member_runs(block)) return BlockEnd::waiting;
      worker.launch_warp = nullptr;
      if (worker.observer != nullptr) worker.observer->stuck(block);
      throw at_waiting(worker, first_waiting(block, false), "deadlock: " + describe_waits(block));
    }
    if (worker.instructions >= turn_end)
      return block.live_threads == 0 ? BlockEnd::finished : BlockEnd::turn_over;
  }
  return BlockEnd::finished;
}

}  // namespace course::sim
