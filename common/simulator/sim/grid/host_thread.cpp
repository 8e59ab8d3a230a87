// SPDX-License-Identifier: MIT
// Each host thread keeps a few blocks resident and runs one of them until it ends or has used up a long turn.
// In the second case the block may be waiting for another one, so the next block gets a turn. If the launch
// is interleaved, its blocks get short turns at random instead, the same in every run.
// If the blocks may wait for each other, only a few of them are resident in an order of the seed: a GPU
// guarantees no more. A launch that hangs for this reason alone is ended with the reason (await_the_rest).
// Reading order: HostThread::run (one turn after the other); wanted and next_turn (how many blocks, how long
// a turn); check_progress, throw_hang and await_the_rest (launches that do not end).
#include "sim/grid/host_thread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <memory>
#include <utility>

#include "base/rng.hpp"
#include "sim/grid/block_start.hpp"
#include "sim/grid/block_turn.hpp"
#include "sim/grid/describe_hang.hpp"
#include "sim/grid/diagnose.hpp"
#include "sim/grid/launch_counters.hpp"
#include "sim/grid/progress_watch.hpp"
#include "sim/machine/access.hpp"

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

// Warp instructions after which a scattered launch is first checked for progress. It hangs sooner than
// others.
constexpr std::uint64_t kScatteredPatience = std::uint64_t{1} << 22;

// Polls of mbarriers, by threads, after which a block is checked for progress.
constexpr std::uint32_t kVainPolls = 1u << 19;

// Processor time of this process, in seconds. The watchdog uses it because it does not depend on the load of
// the machine.
double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

class HostThread {
 public:
  HostThread(Worker& worker, const Engine& engine, const GridOptions& options, SharedRun& shared,
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

  // Runs blocks, one turn after the other, until there are none left.
  void run() {
    while (choose_block()) {
      Block& block = *resident_.front();
      try {
        worker_.launch_warp = nullptr;
        const BlockEnd end = run_block(block, worker_, engine_, warp_order_, next_turn());
        if (worker_.counting) add_turn(block, worker_);
        if (awaited_) look_at_awaited(block);
        if (turns_of_crowd_ != 0) hold(block, end);
        if (end == BlockEnd::finished)
          retire(block);
        else
          put_last(block, end);
      } catch (const DeviceFault& fault) {
        record(fault, asked_ != nullptr ? *asked_ : block);
        asked_ = nullptr;
      }
    }
    if (!stuck_) shared_.getting_on.fetch_sub(1);
  }

 private:
  // Moves the block that gets the next turn to the front. Returns false if there is none.
  bool choose_block() {
    const std::uint64_t faulted = shared_.fault_block.load(std::memory_order_relaxed);
    if (faulted != ~std::uint64_t{0}) {
      for (const auto& b : resident_)
        if (b->cluster != nullptr) b->cluster->members.assign(b->cluster->members.size(), nullptr);
      std::erase_if(resident_, [&](const auto& b) { return b->linear >= faulted || b->cluster != nullptr; });
      while (next_ != end_ && blocks_[next_] >= faulted) ++next_;
    }
    if (resident_.size() < wanted() && resident_.size() < most_resident()) {
      crowded_ = false;
      const bool may_start = faulted == ~std::uint64_t{0} || next_ != end_;
      if (!(may_start && admit()) && resident_.empty()) return false;
    }
    if (interleaved_) std::swap(resident_.front(), resident_[dice_.below(resident_.size())]);
    if (resident_.front().get() == held_) std::swap(resident_.front(), resident_.back());
    return true;
  }

  // The block at the front has ended.
  void retire(Block& block) {
    n_turns_ = 0;
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
  }

  // The block at the front has had a turn and not ended: it may be waiting for one that has not started or
  // does not have its turn. Throws if the launch must end.
  void put_last(Block& block, BlockEnd end) {
    ++n_turns_;
    const bool long_ago = n_turns_ >= kTurnsOfEach * resident_.size() && n_turns_ % kShortTurnsThatCrowd == 0;
    crowded_ = end == BlockEnd::turn_over && (!interleaved_ || long_ago);
    std::rotate(resident_.begin(), resident_.begin() + 1, resident_.end());
    if (options_.watchdog_seconds > 0) check_time();
    if (waits_for_itself(block)) throw_hang(kNeverEnds, &block);
    if (worker_.instructions < next_question_ || check_progress()) return;
    if (scattered_ && shared_.next_block < blocks_.size())
      await_the_rest();
    else
      throw_hang(kNeverEnds);
  }

  void check_time() {
    const double used = processor_seconds() - start_;
    const bool is_late = used > options_.seconds_after_error && worker_.observer != nullptr &&
                         worker_.observer->knows_an_error();
    if (!is_late && used <= options_.watchdog_seconds) return;
    {
      const std::lock_guard lock(shared_.mutex);
      shared_.outcome.out_of_time = true;
    }
    throw_hang(fmt::format("the kernel has not ended after {:.1f} s of processor time (the watchdog's limit)",
                           used));
  }

  void record(const DeviceFault& fault, Block& guilty) {
    {
      const std::lock_guard lock(shared_.mutex);
      if (guilty.linear <= shared_.fault_block) {
        shared_.fault_block = guilty.linear;
        note_fault(shared_.outcome, fault, guilty, worker_);
      }
    }
    if (worker_.observer != nullptr) worker_.observer->faulted(guilty);
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
    if (worker_.vain_polls < kVainPolls || block.cluster != nullptr) return false;
    worker_.vain_polls = 0;
    ProgressWatch one(worker_);
    return watch(one, block) != Verdict::gets_on && !one.looks_elsewhere();
  }

  // Runs the resident blocks under observation, and notes whether they are stuck. Returns false if the blocks
  // of all host threads are.
  bool check_progress() {
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
    return !stuck || shared_.getting_on.load() != 0;
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
    if (std::ranges::find(known.resident, block.linear) != known.resident.end()) return;
    asked_ = known.hang.warp->block;
    throw at_waiting(
        worker_, known.hang,
        fmt::format(
            "the kernel hangs if its blocks start in another order: {}; block {} writes it, but need "
            "not have started. Wait only for blocks that have: with numbers from a counter (a ticket, "
            "atomicAdd) instead of blockIdx, these are the ones with lower numbers",
            known.hang.wait, block.linear));
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
      block->start = shared_.block_times ? shared_.block_times->start() : 0;
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
    if (shared_.block_times)
      shared_.block_times->end(end);
    else
      shared_.block_clocks[block.linear] =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(end, UINT32_MAX));
  }

  const double start_ = processor_seconds();
  Worker& worker_;
  const Engine& engine_;
  const GridOptions& options_;
  SharedRun& shared_;
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

}  // namespace

bool scatters(const GridOptions& options, const Program& program, const LaunchRequest& launch) {
  return options.interleave && options.any_start_order && options.schedule_seed != 0 &&
         program.order_sensitive && !launch.cooperative && launch.cluster.count() <= 1;
}

void run_blocks(Worker& worker, const Engine& engine, const GridOptions& options, SharedRun& shared,
                const std::vector<std::uint64_t>& blocks) {
  HostThread(worker, engine, options, shared, blocks).run();
}

}  // namespace course::sim
