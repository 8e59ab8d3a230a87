// SPDX-License-Identifier: MIT
// Decides how many host threads run a launch, and in which order its blocks start: in ascending order, or in
// the order of the schedule's seed. Then sums up what was counted, and when the last block ends in modelled
// time.
// A program whose results may depend on the order of blocks runs on one host thread, so that the results
// never depend on the number of host threads. In a counted launch, and with a calm schedule
// (calm_schedule.hpp), warps and lanes keep the natural order if another one could change the counters.
#include "sim/grid/grid.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

#include "sim/grid/block_turn.hpp"
#include "sim/grid/calm_schedule.hpp"
#include "sim/grid/host_thread.hpp"
#include "sim/grid/launch_counters.hpp"
#include "sim/grid/signal_times.hpp"

namespace course::sim {
namespace {

// Sorts the blocks so that those of a cluster follow one another.
void order_by_cluster(std::vector<std::uint64_t>& blocks, const LaunchRequest& launch) {
  const Dim3 &grid = launch.grid, &c = launch.cluster;
  const auto cluster_of = [&](std::uint64_t b) {
    const std::uint64_t x = b % grid.x / c.x, y = b / grid.x % grid.y / c.y, z = b / grid.x / grid.y / c.z;
    return (z * (grid.y / c.y) + y) * (grid.x / c.x) + x;
  };
  std::ranges::stable_sort(blocks,
                           [&](std::uint64_t a, std::uint64_t b) { return cluster_of(a) < cluster_of(b); });
}

// One worker for each host thread. `signals`: what the timing model of waiting blocks needs; nullptr if the
// blocks need not start in order.
std::vector<std::unique_ptr<Worker>> make_workers(const Program& program, const LaunchRequest& launch,
                                                  Arena& arena, const DevicePreset& preset,
                                                  const GridOptions& options, int n_threads,
                                                  SignalTimes* signals) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (int k = 0; k < n_threads; ++k) {
    auto worker = std::make_unique<Worker>();
    worker->program = &program;
    worker->arena = &arena;
    worker->launch = &launch;
    worker->preset = &preset;
    worker->grid_workspace = options.grid_workspace;
    worker->observer =
        options.parallel.empty() ? options.observer : options.parallel[static_cast<std::size_t>(k)];
    worker->counting = options.counting;
    worker->alone = n_threads == 1 && !arena.shares_memory();
    if (options.counting) prepare_model(*worker, options, signals);
    worker->block_runs.assign(program.blocks.size(), 0);
    worker->block_lanes.assign(program.blocks.size(), 0);
    worker->diverged.assign(program.blocks.size(), 0);
    worker->guarded_off.assign(program.ops.size(), 0);
    worker->op_counters.assign(program.ops.size(), OpCounters{});
    workers.push_back(std::move(worker));
  }
  return workers;
}

}  // namespace

GridOutcome run_grid(const Program& program, const LaunchRequest& launch, Arena& arena,
                     const DevicePreset& preset, const Engine& engine, const GridOptions& options) {
  std::vector<std::uint64_t> blocks(launch.grid.count());
  std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  const bool clustered = launch.cluster.count() > 1;
  GridOptions used = options;
  const bool calm = (options.counting && !options.short_turns) || is_calm(options.schedule_seed);
  if (calm && program.shows_order) used.schedule_seed = 0;
  if (clustered)
    order_by_cluster(blocks, launch);
  else if (options.schedule_seed != 0 &&
           (!program.order_sensitive || (calm && options.any_start_order) || scatters(used, program, launch)))
    shuffle(blocks, options.schedule_seed);

  int n_threads = std::max(options.host_threads, 1);
  const bool watched_by_one = options.observer != nullptr && options.parallel.empty();
  if (program.order_sensitive || launch.cooperative || clustered || watched_by_one) n_threads = 1;
  if (!options.parallel.empty()) n_threads = std::min(n_threads, static_cast<int>(options.parallel.size()));
  n_threads = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(n_threads), blocks.size()));
  if (launch.cooperative) used.resident_blocks = static_cast<int>(blocks.size());

  SharedRun shared;
  shared.getting_on = n_threads;
  // A single thread starts each block, or cluster, only when it may run. Others take about 8 chunks each.
  shared.chunk = std::max<std::uint64_t>(launch.cluster.count(), 1);
  if (n_threads > 1)
    shared.chunk =
        std::clamp<std::uint64_t>(blocks.size() / static_cast<std::uint64_t>(8 * n_threads), 1, 32);
  SignalTimes signals;
  const std::uint64_t places =
      launch.cooperative ? blocks.size() : static_cast<std::uint64_t>(std::max(options.resident_blocks, 1));
  const bool in_order = program.order_sensitive || launch.cooperative || clustered;
  if (options.counting && in_order) shared.block_times.emplace(places);
  if (options.counting && !in_order) shared.block_clocks.assign(blocks.size(), 0);
  const std::vector<std::unique_ptr<Worker>> workers =
      make_workers(program, launch, arena, preset, options, n_threads, in_order ? &signals : nullptr);
  for (const auto& w : workers)
    if (w->observer != nullptr) w->observer->launch_begins(program, launch);
  std::vector<std::thread> threads;
  for (int k = 1; k < n_threads; ++k)
    threads.emplace_back(
        [&, k] { run_blocks(*workers[static_cast<std::size_t>(k)], engine, used, shared, blocks); });
  run_blocks(*workers[0], engine, used, shared, blocks);
  for (std::thread& t : threads) t.join();
  for (const auto& w : workers)
    if (w->observer != nullptr) w->observer->launch_ends();
  sum_up(program, workers, shared.outcome);
  for (const auto& w : workers)  // only one of them has any
    for (ChildLaunch& child : w->children) shared.outcome.children.push_back(std::move(child));
  if (options.counting) {
    if (!in_order) {
      shared.block_times.emplace(places);
      for (const std::uint64_t b : blocks)
        shared.block_times->end(shared.block_times->start() + shared.block_clocks[b]);
    }
    Counters& c = shared.outcome.counters;
    const bool fences = c.mix[static_cast<std::size_t>(InstructionKind::fence)] > 0;
    c.chain_clocks =
        shared.block_times->last() + look_back_clocks(signals, std::min<std::uint64_t>(places, blocks.size()),
                                                      blocks.size(), fences, preset.timing);
  }
  return std::move(shared.outcome);
}

}  // namespace course::sim
