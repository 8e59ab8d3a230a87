// SPDX-License-Identifier: MIT
// Blocks start in ascending order, or in the order of the schedule's seed. Each host thread keeps a few
// blocks resident and runs one of them until it ends or has used up a long turn. In the second case the block
// may be waiting for another one, so the next block gets a turn.
// A program whose results may depend on the order of blocks runs on one host thread, so that the results
// never depend on the number of host threads. If the launch is interleaved, its blocks get short turns at
// random instead, the same in every run. Besides, the turn of a warp may end directly after a strong load or
// an atomic, with a seed after any strong access, in shared memory, too (Block::one_pause_in).
// A schedule's seed changes the order of blocks, the order of a block's warps in each round, and the order of
// the lanes of an atomic or a store. In a counted launch, and with a calm schedule (calm.hpp), warps and
// lanes keep the natural order if another one could change the counters.
// If the blocks may wait for each other, only a few of them are resident in an order of the seed: a GPU
// guarantees no more. A launch that hangs for this reason alone is ended with the reason (await_the_rest).
// Reading order: run_grid at the end (host threads, the order of blocks); HostThread::run_blocks (one turn
// after the other); wanted and next_turn (how many blocks, how long a turn); is_stuck, throw_hang and
// await_the_rest (launches that do not end).
#include "sim/grid/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <ctime>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "base/rng.hpp"
#include "sim/grid/block_start.hpp"
#include "sim/grid/calm.hpp"
#include "sim/grid/hang.hpp"
#include "sim/grid/progress.hpp"
#include "sim/grid/schedule.hpp"
#include "sim/grid/signals.hpp"
#include "sim/grid/tally.hpp"
#include "sim/machine/access.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/provenance.hpp"
#include "sim/machine/vain_polls.hpp"

namespace course::sim {
namespace {

// Warp instructions that a warp runs before the next one gets a turn.
constexpr std::int64_t kWarpSlice = 4000;
// Warp instructions that a block runs before another resident block gets a turn; the smaller number is for
// kernels whose blocks may wait for each other. (Polling loops cost more than their instructions, see
// cfg.cpp.)
constexpr std::int64_t kBlockTurn = 1'000'000, kSensitiveTurn = 50'000;

// Interleaved launches: the number of blocks to choose from. If none of the resident blocks has ended after
// kTurnsOfEach short turns of each on average, one more starts every kShortTurnsThatCrowd turns, in case all
// of them wait for it.
constexpr std::size_t kInterleavedBlocks = 6;
constexpr std::uint64_t kTurnsOfEach = 11, kShortTurnsThatCrowd = 64;

// In every second interleaved launch, one block is held back after a short turn until each of a crowd of
// others has had kTurnsOfCrowd turns on average. So these wait for it, and then have to look far back.
constexpr std::uint64_t kMinCrowd = 40, kMaxCrowd = 100, kTurnsOfCrowd = 8;

// Whether blocks that may wait for each other start in an order of the schedule's seed, only a few at once.
bool scatters(const GridOptions& options, const Program& program, const LaunchRequest& launch) {
  return options.interleave && options.any_start_order && options.schedule_seed != 0 &&
         program.order_sensitive && !launch.cooperative && launch.cluster.count() <= 1;
}
// Warp instructions after which a scattered launch is first checked for progress. It hangs sooner than
// others.
constexpr std::uint64_t kScatteredPatience = std::uint64_t{1} << 22;

// Polls of mbarriers, by threads, after which a block is checked for progress.
constexpr std::uint32_t kVainPolls = 1u << 19;

enum class BlockEnd { finished, turn_over, waiting };

// Processor time of this process, in seconds. The watchdog uses it because it does not depend on the load of
// the machine.
double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// Whether another block of the cluster can run. If so, a block whose threads all wait may be waiting for it.
bool another_member_runs(const Block& block) {
  if (block.cluster == nullptr) return false;
  const auto runs = [](const Warp& w) {
    return std::any_of(w.groups.begin(), w.groups.end(), [](const Group& g) { return g.wait == Wait::none; });
  };
  return std::any_of(block.cluster->members.begin(), block.cluster->members.end(), [&](const Block* member) {
    return member != nullptr && std::any_of(member->warps.begin(), member->warps.end(), runs);
  });
}

// The fault of a launch that hangs, at the source position of one of the waiting threads.
DeviceFault at_waiting(Worker& worker, const Hang& hang, const std::string& text) {
  worker.launch_warp = hang.warp;
  if (hang.warp != nullptr) hang.warp->current = hang.op;
  return {Fault::launch_timeout, text, hang.lanes};
}

// Warp instructions that a block, and each of its warps, may run in one turn.
struct Turn {
  std::int64_t block, warp;
};

template <typename T>
void shuffle(std::vector<T>& order, std::uint64_t seed) {
  Rng rng(seed);
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
}

// The order in which the warps of a block take turns: ascending, or with a schedule's seed a different one in
// each round. It does not depend on the host thread that runs the block.
class WarpOrder {
 public:
  // `first_pauses`: the first look of a block always ends a turn (see pause_in), so that in the natural
  // order, too, other warps can come before the first one.
  WarpOrder(std::size_t n_warps, std::uint64_t seed, bool pauses, bool first_pauses)
      : order_(n_warps), seed_(seed), pauses_(pauses), first_pauses_(first_pauses) {
    std::iota(order_.begin(), order_.end(), 0u);
  }
  const std::vector<std::uint32_t>& next_round(Block& block) {
    if (seed_ == 0 || order_.size() < 2) return order_;
    std::iota(order_.begin(), order_.end(), 0u);
    shuffle(order_, seed_of(block) + block.rounds++);
    return order_;
  }
  void begin(Block& block) const {
    block.rounds = 0;
    block.dice = Rng(~seed_of(block));
    block.pauses_at_changes = seed_ != 0;
    block.one_pause_in = !pauses_ ? 0 : first_pauses_ ? 1 : std::uint32_t{2} << block.dice.below(4);
    for (Warp& w : block.warps)
      w.first_lane = seed_ == 0 ? 0 : static_cast<std::uint32_t>(mix(seed_of(block) ^ ~w.number) % kLanes);
  }

 private:
  std::uint64_t seed_of(const Block& block) const { return mix(seed_ + block.linear); }

  std::vector<std::uint32_t> order_;
  std::uint64_t seed_;  // 0: natural order
  bool pauses_, first_pauses_;
};

// Lets the warps take turns until all threads have exited or the block's turn is over. Throws DeviceFault on
// a fault or a deadlock.
BlockEnd run_block(Block& block, Worker& worker, const Engine& engine, WarpOrder& order, Turn turn) {
  const auto run = worker.observer != nullptr ? engine.run_observed : engine.run;
  const std::uint64_t turn_end = worker.instructions + static_cast<std::uint64_t>(turn.block);
  while (block.live_threads != 0) {
    bool ran = false;
    for (const std::uint32_t k : order.next_round(block)) {
      Warp& w = block.warps[k];
      if (std::none_of(w.groups.begin(), w.groups.end(), [](const Group& g) { return g.wait == Wait::none; }))
        continue;
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

// State shared by the host threads of one launch.
struct Shared {
  std::atomic<std::uint64_t> next_block{0};
  // Blocks that a host thread takes at once. Neighbours often use the same lines of memory.
  std::uint64_t chunk = 1;
  // After a fault only blocks with lower numbers run on, and only those of chunks that were taken before
  // start. So the fault of the lowest block is reported, whatever the number of host threads.
  std::atomic<std::uint64_t> fault_block{~std::uint64_t{0}};
  std::atomic<int> getting_on{0};  // host threads whose blocks may still make progress
  std::mutex mutex;
  GridOutcome outcome;
  // For the timing model: how long each block took. If blocks may wait for each other, `schedule` gives their
  // start times instead.
  std::vector<std::uint32_t> block_clocks;
  std::optional<Schedule> schedule;
};

void record_fault(Shared& shared, const DeviceFault& fault, const Block& block, const Worker& worker) {
  const std::lock_guard lock(shared.mutex);
  if (block.linear > shared.fault_block) return;
  shared.fault_block = block.linear;
  GridOutcome& o = shared.outcome;
  o.fault = fault.fault;
  o.text = fault.what();
  o.address = fault.address;
  o.lanes = fault.lanes;
  o.where.clear();
  o.op = nullptr;
  o.stray_index.clear();
  std::copy_n(block.index, 3, o.thread.block);
  for (const Warp& w : block.warps) {
    if (&w != worker.launch_warp || w.current == nullptr) continue;
    o.where = places_of(*w.program, *w.current);
    o.op = w.current;
    const std::uint32_t lane =
        fault.lanes == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(fault.lanes));
    if (fault.fault == Fault::illegal_address)
      o.stray_index = describe_stray_index(w, *w.current, static_cast<int>(lane));
    const std::uint32_t thread = w.number * kLanes + lane;
    const Dim3& size = worker.launch->block;
    o.thread.thread[0] = thread % size.x;
    o.thread.thread[1] = thread / size.x % size.y;
    o.thread.thread[2] = thread / size.x / size.y;
  }
}

class HostThread {
 public:
  HostThread(Worker& worker, const Engine& engine, const GridOptions& options, Shared& shared,
             const std::vector<std::uint64_t>& blocks)
      : worker_(worker),
        engine_(engine),
        options_(options),
        shared_(shared),
        blocks_(blocks),
        warp_order_((worker.launch->block.count() + kLanes - 1) / kLanes, options.schedule_seed,
                    options.interleave && !options.short_turns,
                    options.schedule_seed == 0 && !worker.program->order_sensitive),
        dice_(options.schedule_seed + 1) {
    interleaved_ = options.interleave && (worker.program->order_sensitive || options.short_turns) &&
                   !worker.launch->cooperative;
    scattered_ = scatters(options, *worker.program, *worker.launch);
    next_question_ = patience();
    usual_turn_.block = worker.program->order_sensitive ? kSensitiveTurn : kBlockTurn;
    const std::size_t most = blocks.size() / 2;  // the others have to wait for the end of one
    if (!interleaved_ || options.short_turns || options.schedule_seed % 2 != 0 || most <= crowd_) return;
    crowd_ = std::min<std::size_t>(kMinCrowd + dice_.below(kMaxCrowd - kMinCrowd), most);
    turns_of_crowd_ = kTurnsOfCrowd * crowd_;
  }

  void run() {
    run_blocks();
    if (!stuck_) shared_.getting_on.fetch_sub(1);
  }

 private:
  void run_blocks() {
    const double start = processor_seconds();
    while (true) {
      const std::uint64_t faulted = shared_.fault_block.load(std::memory_order_relaxed);
      if (faulted != ~std::uint64_t{0}) {
        for (const auto& b : resident_)
          if (b->cluster != nullptr) b->cluster->members.assign(b->cluster->members.size(), nullptr);
        std::erase_if(resident_,
                      [&](const auto& b) { return b->linear >= faulted || b->cluster != nullptr; });
        while (next_ != end_ && blocks_[next_] >= faulted) ++next_;
      }
      if (resident_.size() < wanted() && resident_.size() < most_resident()) {
        crowded_ = false;
        const bool may_start = faulted == ~std::uint64_t{0} || next_ != end_;
        if (!(may_start && admit()) && resident_.empty()) return;
      }
      if (interleaved_) std::swap(resident_.front(), resident_[dice_.below(resident_.size())]);
      if (resident_.front().get() == held_) std::swap(resident_.front(), resident_.back());
      Block& block = *resident_.front();
      try {
        worker_.launch_warp = nullptr;
        const BlockEnd end = run_block(block, worker_, engine_, warp_order_, next_turn());
        if (worker_.counting) add_turn(block, worker_);
        if (awaited_) look_at_awaited(block);
        if (turns_of_crowd_ != 0) hold(block, end);
        n_turns_ = end == BlockEnd::finished ? 0 : n_turns_ + 1;
        if (end == BlockEnd::finished) {
          patient_since_ = worker_.instructions;
          next_question_ = later(patient_since_, patience());
          finish_copies(block);
          if (worker_.observer != nullptr) worker_.observer->block_ends(block);
          if (worker_.counting) note_end(block);
          if (block.cluster != nullptr)
            block.cluster->members[rank_in_cluster(block.index, worker_.launch->cluster)] = nullptr;
          block.cluster = nullptr;
          spare_.push_back(std::move(resident_.front()));
          resident_.pop_front();
        } else {
          // A long turn: the block may be waiting for one that has not started or does not have its turn.
          const bool long_ago =
              n_turns_ >= kTurnsOfEach * resident_.size() && n_turns_ % kShortTurnsThatCrowd == 0;
          crowded_ = end == BlockEnd::turn_over && (!interleaved_ || long_ago);
          std::rotate(resident_.begin(), resident_.begin() + 1, resident_.end());
          if (options_.watchdog_seconds > 0) {
            const double used = processor_seconds() - start;
            const bool is_late = used > options_.seconds_after_error && worker_.observer != nullptr &&
                                 worker_.observer->knows_an_error();
            if (is_late || used > options_.watchdog_seconds) {
              note_time_limit();
              throw_hang(fmt::format(
                  "the kernel has not ended after {:.1f} s of processor time (the watchdog's limit)", used));
            }
          }
          if (waits_for_itself(block)) throw_hang(kNeverEnds, &block);
          if (worker_.instructions >= next_question_ && is_stuck()) {
            if (scattered_ && shared_.next_block < blocks_.size()) {
              await_the_rest();
            } else {
              throw_hang(kNeverEnds);
            }
          }
        }
      } catch (const DeviceFault& fault) {
        Block& guilty = asked_ != nullptr ? *asked_ : block;
        record_fault(shared_, fault, guilty, worker_);
        if (worker_.observer != nullptr) worker_.observer->faulted(guilty);
        asked_ = nullptr;
      }
    }
  }

  // `block` has just had a turn while a crowd is wanted. If it has ended, it did not wait for the one that is
  // held: then hold another one.
  void hold(const Block& block, BlockEnd end) {
    if (held_ == nullptr) held_ = &block;
    if (--turns_of_crowd_ == 0) crowd_ = kInterleavedBlocks;
    if (turns_of_crowd_ == 0 || end == BlockEnd::finished) held_ = nullptr;
  }

  // since + patience, without overflow: a patience of ~0 never runs out.
  static std::uint64_t later(std::uint64_t since, std::uint64_t patience) {
    return patience > ~since ? ~std::uint64_t{0} : since + patience;
  }

  using Verdict = ProgressWatch::Verdict;
  Verdict watch(ProgressWatch& watch, Block& block) {
    constexpr Turn kWatchedTurn{20'000, kWarpSlice};
    asked_ = &block;
    worker_.pauses = false;
    const Verdict verdict = watch.watch(block, [&] {
      return run_block(block, worker_, engine_, warp_order_, kWatchedTurn) == BlockEnd::finished;
    });
    worker_.pauses = true;
    asked_ = nullptr;
    return verdict;
  }

  // Whether all threads of the block wait for its mbarriers, which only they can complete.
  bool waits_for_itself(Block& block) {
    if (vain_polls() < kVainPolls || block.cluster != nullptr) return false;
    vain_polls() = 0;
    ProgressWatch one(worker_);
    return watch(one, block) != Verdict::gets_on && !one.looks_elsewhere();
  }

  // Whether the blocks of all host threads can make no more progress.
  bool is_stuck() {
    constexpr std::uint64_t kMuchLonger = 64;  // factor of patience after which polling alone counts as stuck
    const std::uint64_t waited = worker_.instructions - patient_since_;
    // A block that others wait for may not have started yet.
    bool stuck =
        (next_ == end_ && shared_.next_block >= blocks_.size()) || resident_.size() >= most_resident();
    {
      ProgressWatch all(worker_);
      for (std::size_t k = 0; k < resident_.size() && stuck; ++k) {
        const Verdict verdict = watch(all, *resident_[k]);
        stuck =
            verdict == Verdict::repeats || (verdict == Verdict::polls && waited / kMuchLonger >= patience());
      }
    }
    next_question_ = later(worker_.instructions, std::max(patience(), stuck ? 0 : waited));
    const bool was_stuck = std::exchange(stuck_, stuck);
    if (was_stuck != stuck) shared_.getting_on.fetch_add(stuck ? -1 : 1);
    return stuck && shared_.getting_on.load() == 0;
  }

  // Of all resident blocks, or only of one that waits for none of the others.
  Hang find_hang(Block* only = nullptr) {
    HangScene scene{worker_, engine_, {}, blocks_.size(), 0};
    for (const auto& block : resident_)
      if (only == nullptr || block.get() == only) scene.resident.push_back(block.get());
    if (worker_.alone && only == nullptr)
      scene.n_started = std::min<std::uint64_t>(shared_.next_block, blocks_.size());
    worker_.pauses = false;
    Hang hang = describe_hang(scene);
    worker_.pauses = true;
    return hang;
  }

  // Ends the launch and reports which threads wait or run forever, and where.
  static constexpr const char* kNeverEnds = "the kernel will never end: nothing changes any more";
  [[noreturn]] void throw_hang(const std::string& why, Block* only = nullptr) {
    const Hang hang = find_hang(only);
    if (hang.warp != nullptr) asked_ = hang.warp->block;
    throw at_waiting(worker_, hang, why + hang.text);
  }

  // The resident blocks of a scattered launch are stuck, but others have not started. Lets these start, too:
  // if one of them writes what a resident block polls, that block waited for one that had not started.
  void await_the_rest() {
    scattered_ = false;
    if (std::exchange(stuck_, false)) shared_.getting_on.fetch_add(1);
    patient_since_ = worker_.instructions;
    next_question_ = later(patient_since_, patience());
    Awaited awaited{find_hang(), nullptr, 0, {}};
    const Hang& hang = awaited.hang;
    if (hang.warp == nullptr || hang.address == 0) return;
    awaited.word = memory_at(*worker_.arena, *hang.warp->block, hang.address, hang.op->width);
    if (awaited.word == nullptr) return;
    awaited.value = value_at(awaited.word, hang.op->width);
    for (const auto& block : resident_) awaited.resident.push_back(block->linear);
    awaited_ = std::move(awaited);
  }

  // `block` has just had a turn.
  void look_at_awaited(const Block& block) {
    const Awaited& awaited = *awaited_;
    if (value_at(awaited.word, awaited.hang.op->width) == awaited.value) return;
    const Awaited known = *std::exchange(awaited_, std::nullopt);
    if (std::find(known.resident.begin(), known.resident.end(), block.linear) != known.resident.end()) return;
    asked_ = known.hang.warp->block;
    throw at_waiting(
        worker_, known.hang,
        fmt::format(
            "the kernel hangs if its blocks start in another order: {}; block {} writes it, but need "
            "not have started. Wait only for blocks that have: with numbers from a counter (a ticket, "
            "atomicAdd) instead of blockIdx, these are the ones with lower numbers",
            known.hang.wait, block.linear));
  }

  void note_time_limit() {
    const std::lock_guard lock(shared_.mutex);
    shared_.outcome.out_of_time = true;
  }

  // At most so many blocks are resident at once. In a scattered launch, at least one has to wait for the end
  // of another.
  std::size_t most_resident() const {
    const auto most = static_cast<std::size_t>(std::max(options_.resident_blocks, 1));
    if (!scattered_) return most;
    return std::min(most, std::clamp<std::size_t>(blocks_.size() - 1, 1, crowd_));
  }
  std::uint64_t patience() const {
    return scattered_ ? std::min(options_.patience, kScatteredPatience) : options_.patience;
  }

  // How many blocks to keep resident while there are more to start: one more than now if all of them may be
  // waiting.
  std::size_t wanted() const {
    const std::size_t one_more = resident_.empty() || crowded_ ? resident_.size() + 1 : resident_.size();
    return interleaved_ ? std::max(one_more, crowd_) : one_more;
  }
  // In an interleaved launch, turns range from a few instructions to a whole block: powers of two with equal
  // probability.
  Turn next_turn() {
    if (!interleaved_) return usual_turn_;
    if (options_.short_turns) return {std::int64_t{4} << dice_.below(5), std::int64_t{2} << dice_.below(4)};
    if (turns_of_crowd_ != 0 && held_ == nullptr) return {1, std::int64_t{8} << dice_.below(6)};
    return {std::int64_t{8} << dice_.below(11), std::int64_t{8} << dice_.below(10)};
  }

  // Starts the next block, or all blocks of the next cluster. Returns false if there are none left.
  bool admit() {
    if (next_ == end_) {
      next_ = std::min<std::uint64_t>(shared_.next_block.fetch_add(shared_.chunk), blocks_.size());
      end_ = std::min<std::uint64_t>(next_ + shared_.chunk, blocks_.size());
    }
    if (next_ == end_) return false;
    const std::uint64_t n = std::max<std::uint64_t>(worker_.launch->cluster.count(), 1);
    const std::uint64_t first = std::exchange(next_, next_ + n);
    const auto cluster = n > 1 ? std::make_shared<Cluster>() : nullptr;
    if (cluster != nullptr) cluster->members.resize(n);
    for (std::uint64_t k = first; k < first + n; ++k) {
      std::unique_ptr<Block> block;
      if (spare_.empty()) {
        block = make_block(worker_);
      } else {
        block = std::move(spare_.back());
        spare_.pop_back();
      }
      block->start = shared_.schedule ? shared_.schedule->start() : 0;
      begin_block(*block, blocks_[k], worker_);
      warp_order_.begin(*block);
      block->cluster = cluster;
      if (cluster != nullptr)
        cluster->members[rank_in_cluster(block->index, worker_.launch->cluster)] = block.get();
      resident_.push_front(std::move(block));
    }
    return true;
  }

  void note_end(const Block& block) {
    const UnitClocks own = unit_clocks(block.own, worker_.preset->timing);
    const std::lock_guard lock(shared_.mutex);
    UnitClocks& most = shared_.outcome.busiest_block;
    for (std::size_t k = 0; k < own.size(); ++k) most[k] = std::max(most[k], own[k]);
    std::uint64_t end = block.start;
    for (const Warp& w : block.warps) end = std::max(end, w.time);
    end += worker_.block_clocks;
    if (shared_.schedule)
      shared_.schedule->end(end);
    else
      shared_.block_clocks[block.linear] =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(end, UINT32_MAX));
  }

  Worker& worker_;
  const Engine& engine_;
  const GridOptions& options_;
  Shared& shared_;
  const std::vector<std::uint64_t>& blocks_;
  WarpOrder warp_order_;
  std::uint64_t next_ = 0, end_ = 0;  // the rest of the chunk
  std::deque<std::unique_ptr<Block>> resident_;
  std::vector<std::unique_ptr<Block>> spare_;
  bool crowded_ = false;  // all resident blocks may be waiting: one more may start
  Turn usual_turn_{kBlockTurn, kWarpSlice};
  bool interleaved_ = false;
  Rng dice_;                                // of the schedule's seed, so the same in every run
  std::uint64_t n_turns_ = 0;               // short turns since a block ended
  std::size_t crowd_ = kInterleavedBlocks;  // blocks to choose from
  std::uint64_t turns_of_crowd_ = 0;        // before the held block gets its next one
  const Block* held_ = nullptr;
  // Warp instructions: when a block last ended or the launch was last seen to get on, and when it is next
  // checked for progress.
  std::uint64_t patient_since_ = 0, next_question_ = 0;
  Block* asked_ = nullptr;  // the block that is being checked for progress, or that hangs
  bool stuck_ = false;      // the result of the last check
  // A word that a block of a scattered launch polls, and the blocks that were resident when they got stuck.
  struct Awaited {
    Hang hang;
    const std::byte* word;
    std::uint64_t value;
    std::vector<std::uint64_t> resident;
  };
  bool scattered_ = false;
  std::optional<Awaited> awaited_;
};

// Sorts the blocks so that those of a cluster follow one another.
void order_by_cluster(std::vector<std::uint64_t>& blocks, const LaunchRequest& launch) {
  const Dim3 &grid = launch.grid, &c = launch.cluster;
  const auto cluster_of = [&](std::uint64_t b) {
    const std::uint64_t x = b % grid.x / c.x, y = b / grid.x % grid.y / c.y, z = b / grid.x / grid.y / c.z;
    return (z * (grid.y / c.y) + y) * (grid.x / c.x) + x;
  };
  std::stable_sort(blocks.begin(), blocks.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return cluster_of(a) < cluster_of(b); });
}

// One worker for each host thread. `signals`: what the timing model of waiting blocks needs; nullptr if the
// blocks need not start in order.
std::vector<std::unique_ptr<Worker>> make_workers(const Program& program, const LaunchRequest& launch,
                                                  Arena& arena, const DevicePreset& preset,
                                                  const GridOptions& options, int n_threads,
                                                  Signals* signals) {
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

  Shared shared;
  shared.getting_on = n_threads;
  // A single thread starts each block, or cluster, only when it may run. Others take about 8 chunks each.
  shared.chunk = std::max<std::uint64_t>(launch.cluster.count(), 1);
  if (n_threads > 1)
    shared.chunk =
        std::clamp<std::uint64_t>(blocks.size() / static_cast<std::uint64_t>(8 * n_threads), 1, 32);
  Signals signals;
  const std::uint64_t places =
      launch.cooperative ? blocks.size() : static_cast<std::uint64_t>(std::max(options.resident_blocks, 1));
  const bool in_order = program.order_sensitive || launch.cooperative || clustered;
  if (options.counting && in_order) shared.schedule.emplace(places);
  if (options.counting && !in_order) shared.block_clocks.assign(blocks.size(), 0);
  const std::vector<std::unique_ptr<Worker>> workers =
      make_workers(program, launch, arena, preset, options, n_threads, in_order ? &signals : nullptr);
  for (const auto& w : workers)
    if (w->observer != nullptr) w->observer->launch_begins(program, launch);
  std::vector<std::thread> threads;
  for (int k = 1; k < n_threads; ++k)
    threads.emplace_back(
        [&, k] { HostThread(*workers[static_cast<std::size_t>(k)], engine, used, shared, blocks).run(); });
  HostThread(*workers[0], engine, used, shared, blocks).run();
  for (std::thread& t : threads) t.join();
  for (const auto& w : workers)
    if (w->observer != nullptr) w->observer->launch_ends();
  sum_up(program, workers, shared.outcome);
  for (const auto& w : workers)  // only one of them has any
    for (ChildLaunch& child : w->children) shared.outcome.children.push_back(std::move(child));
  if (options.counting) {
    if (!in_order) {
      shared.schedule.emplace(places);
      for (const std::uint64_t b : blocks)
        shared.schedule->end(shared.schedule->start() + shared.block_clocks[b]);
    }
    Counters& c = shared.outcome.counters;
    const bool fences = c.mix[static_cast<std::size_t>(InstructionKind::fence)] > 0;
    c.chain_clocks =
        shared.schedule->last() + look_back_clocks(signals, std::min<std::uint64_t>(places, blocks.size()),
                                                   blocks.size(), fences, preset.timing);
  }
  return std::move(shared.outcome);
}

}  // namespace course::sim
