// SPDX-License-Identifier: MIT
#include "sim/observation/observers.hpp"

#include <utility>

#include "sim/checkers/checks.hpp"
#include "sim/checkers/initcheck/initcheck.hpp"
#include "sim/checkers/parallel.hpp"
#include "sim/checkers/racecheck/racecheck.hpp"
#include "sim/machine/composite_observer.hpp"
#include "sim/observation/attachment.hpp"
#include "sim/observation/dataflow.hpp"
#include "sim/observation/trace.hpp"

namespace course::sim {

Observers::Observers(const Arena& arena, std::vector<Finding>& findings, TraceLog& trace, bool shortcuts)
    : arena_(arena), findings_(findings), trace_log_(trace), shortcuts_(shortcuts) {}
Observers::~Observers() = default;

void Observers::allocated(std::uint64_t address, std::uint64_t n_bytes, MemoryKind kind) {
  if (initcheck_) initcheck_->allocated(address, n_bytes, kind);
}

void Observers::host_wrote(std::uint64_t address, std::uint64_t n_bytes) {
  if (initcheck_) initcheck_->host_wrote(address, n_bytes);
  if (dataflow_ && arena_.contains(address)) dataflow_->host_wrote(address, n_bytes);
}

std::vector<ByteRange> Observers::never_written(std::uint64_t address, std::uint64_t n_bytes) const {
  if (!initcheck_ || ran_unwatched_) return {};
  return initcheck_->never_written(address, n_bytes);
}

void Observers::forget_writes(std::uint64_t address, std::uint64_t n_bytes) {
  if (!initcheck_) return;
  // Must happen now, because trust_all() at the next launch would undo what follows.
  if (std::exchange(ran_unwatched_, false)) initcheck_->trust_all();
  initcheck_->allocated(address, n_bytes, MemoryKind::device);
}

void Observers::released(std::uint64_t address, std::uint64_t n_bytes) {
  if (n_bytes == 0) return;
  checkers_.released(address, n_bytes);
  if (parallel_) parallel_->released(address, n_bytes);
}

void Observers::code_unloaded() {
  checks_.reset();
  composite_.reset();
  checkers_.code_unloaded();
  parallel_.reset();
}

Racecheck* Observers::racecheck() const {
  return static_cast<Racecheck*>(checkers_.find(Checker::racecheck));
}

void Observers::prepare(std::uint32_t mode) {
  checkers_.make(mode, arena_, findings_);
  initcheck_ = static_cast<Initcheck*>(checkers_.find(Checker::initcheck));
  if (Racecheck* race = racecheck(); race != nullptr && !shortcuts_) race->take_no_shortcuts();
  if ((mode & kDataflow) != 0 && !dataflow_) dataflow_ = std::make_unique<Dataflow>(arena_);
  if ((mode & kTrace) != 0 && !trace_)
    trace_ = std::make_unique<Trace>(arena_, trace_log_, [this] {
      const Racecheck* race = racecheck();
      return race != nullptr ? race->first_race() : nullptr;
    });
}

Observer* Observers::begin(std::uint32_t mode, const Program& program, const LaunchRequest& launch,
                           std::uint64_t schedule_seed) {
  prepare(mode);
  if ((mode & kInitcheck) == 0) {
    ran_unwatched_ = true;
  } else if (ran_unwatched_) {
    initcheck_->trust_all();
    ran_unwatched_ = false;
  }
  counts_dataflow_ = (mode & kDataflow) != 0;
  checks_.reset();
  composite_.reset();
  // A thread that gets an old value polls once more, so counters and traces would depend on the schedule's
  // seed.
  gives_old_values_ = (mode & kRacecheck) != 0 && (mode & (kCounters | kDataflow | kTrace)) == 0 &&
                      race::OldValues::may_occur(program, launch);
  if ((mode & kRacecheck) != 0) racecheck()->give_old_values(gives_old_values_, schedule_seed);
  if ((mode & kAllChecks) != 0) {
    std::vector<KernelChecker*> checkers = checkers_.of(mode);
    if ((mode & kHostcheck) != 0) checkers.push_back(&recorder_);
    checks_ = std::make_unique<Checks>(std::move(checkers));
  }
  std::vector<Observer*> all;
  if (counts_dataflow_) all.push_back(dataflow_.get());
  if (checks_) all.push_back(checks_.get());
  if ((mode & kTrace) != 0) all.push_back(trace_.get());
  if (attachment != nullptr) all.push_back(&attachment->observer(arena_, checkers_.of(mode)));
  if (all.empty()) return nullptr;
  if (all.size() == 1) return all.front();
  composite_ = std::make_unique<CompositeObserver>(std::move(all));
  return composite_.get();
}

std::vector<Observer*> Observers::begin_parallel(std::uint32_t mode, const Program& program,
                                                 const LaunchRequest& launch, int host_threads) {
  const bool checks_alone = (mode & kRacecheck) != 0 && (mode & (kDataflow | kTrace)) == 0;
  if (attachment != nullptr || !checks_alone || !shortcuts_ || gives_old_values_) return {};
  if (parallel_ == nullptr) parallel_ = std::make_unique<ParallelChecks>(arena_);
  return parallel_->begin(mode, static_cast<std::size_t>(host_threads), program, launch, checkers_,
                          (mode & kInitcheck) != 0 ? initcheck_ : nullptr);
}

bool Observers::must_see_again(bool faulted) {
  if (!faulted && parallel_->nothing_found()) {
    parallel_->add_footprints(footprint_);
    return false;
  }
  parallel_->put_back();
  return true;
}

void Observers::end(Counters& counters) {
  if (!counts_dataflow_) return;
  counters.work = dataflow_->take_work();
  counters.steps = dataflow_->steps();
}

Footprint Observers::take_footprint() {
  return std::exchange(footprint_, {});
}

void Observers::reset() {
  dataflow_.reset();
  trace_.reset();
  trace_log_ = TraceLog{};
}

}  // namespace course::sim
