// SPDX-License-Identifier: MIT
#include "sim/observation/observers.hpp"

#include <utility>

#include "sim/checkers/checks.hpp"
#include "sim/checkers/together.hpp"
#include "sim/machine/hang.hpp"
#include "sim/observation/dataflow.hpp"
#include "sim/observation/trace.hpp"

namespace course::sim {
namespace {

// Tells several observers everything. What one finds and counts does not depend on the others.
class Several final : public Observer, public KeepsHistory {
 public:
  explicit Several(std::vector<Observer*> all) : all_(std::move(all)) {}

  void launch_begins(const Program& p, const LaunchRequest& l) override {
    for (Observer* o : all_) o->launch_begins(p, l);
  }
  void block_begins(Block& b) override {
    for (Observer* o : all_) o->block_begins(b);
    for (Warp& w : b.warps) w.observed = ~0u;
  }
  void block_ends(Block& b) override {
    for (Observer* o : all_) o->block_ends(b);
  }
  void before(Warp& w, const MicroOp& op) override {
    for (Observer* o : all_) o->before(w, op);
    w.observed = ~0u;
  }
  void after(Warp& w, const MicroOp& op) override {
    for (Observer* o : all_) o->after(w, op);
  }
  void barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) override {
    for (Observer* o : all_) o->barrier_arrived(w, mask, op);
  }
  void barrier_released(Block& b, std::uint32_t barrier) override {
    for (Observer* o : all_) o->barrier_released(b, barrier);
  }
  void warp_synced(Warp& w, std::uint32_t mask, const MicroOp& op) override {
    for (Observer* o : all_) o->warp_synced(w, mask, op);
  }
  void threads_exit(Warp& w, const Group& g, const BasicBlock& b) override {
    for (Observer* o : all_) o->threads_exit(w, g, b);
  }
  void local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override {
    for (Observer* o : all_) o->local_moved(w, lane, offset, bytes);
  }
  void frame_opened(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) override {
    for (Observer* o : all_) o->frame_opened(w, lane, offset, bytes);
  }
  void copies_issued(Warp& w, const CopyBatch& batch) override {
    for (Observer* o : all_) o->copies_issued(w, batch);
  }
  void copies_finished(Block& b, const CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override {
    for (Observer* o : all_) o->copies_finished(b, batch, lanes, barrier);
  }
  void rendezvous_arrived(Warp& w, int lane, std::uint64_t address) override {
    for (Observer* o : all_) o->rendezvous_arrived(w, lane, address);
  }
  void rendezvous_ended(Block& b, std::uint64_t address) override {
    for (Observer* o : all_) o->rendezvous_ended(b, address);
  }
  void rendezvous_passed(Warp& w, int lane, std::uint64_t address) override {
    for (Observer* o : all_) o->rendezvous_passed(w, lane, address);
  }
  void stuck(Block& b) override {
    for (Observer* o : all_) o->stuck(b);
  }
  void faulted(Block& b) override {
    for (Observer* o : all_) o->faulted(b);
  }
  WriteHistory* history() override {
    for (Observer* o : all_)
      if (auto* keeper = dynamic_cast<KeepsHistory*>(o)) return keeper->history();
    return nullptr;
  }
  void launch_ends() override {
    for (Observer* o : all_) o->launch_ends();
  }

 private:
  std::vector<Observer*> all_;
};

}  // namespace

Observers::Observers(const Arena& arena, std::vector<Finding>& findings, TraceLog& trace, bool shortcuts)
    : arena_(arena), findings_(findings), trace_log_(trace), shortcuts_(shortcuts) {}
Observers::~Observers() = default;

void Observers::allocated(std::uint64_t address, std::uint64_t n_bytes, MemoryKind kind) {
  if (initcheck_) initcheck_->allocated(address, n_bytes, kind);
}

void Observers::host_wrote(std::uint64_t address, std::uint64_t n_bytes) {
  if (initcheck_) initcheck_->host_wrote(address, n_bytes);
}

bool Observers::any_written(std::uint64_t address, std::uint64_t n_bytes) const {
  return !initcheck_ || ran_unwatched_ || initcheck_->any_written(address, n_bytes);
}

void Observers::forget_writes(std::uint64_t address, std::uint64_t n_bytes) {
  if (!initcheck_) return;
  // Now, not at the next launch: that would bring back what is forgotten here.
  if (std::exchange(ran_unwatched_, false)) initcheck_->trust_all();
  initcheck_->allocated(address, n_bytes, MemoryKind::device);
}

void Observers::code_unloaded() {
  checks_.reset();  // refers to boundcheck_
  several_.reset();
  boundcheck_.reset();
  together_.reset();
}

void Observers::prepare(std::uint32_t mode) {
  if ((mode & kInitcheck) != 0 && !initcheck_) initcheck_ = std::make_unique<Initcheck>(arena_, findings_);
  if ((mode & kRacecheck) != 0 && !racecheck_) {
    racecheck_ = std::make_unique<Racecheck>(arena_, findings_);
    if (!shortcuts_) racecheck_->take_no_shortcuts();
  }
  if ((mode & kAllChecks) != 0 && !boundcheck_) boundcheck_ = std::make_unique<Boundcheck>(arena_, findings_);
  if ((mode & kSynccheck) != 0 && !synccheck_) synccheck_ = std::make_unique<Synccheck>(findings_);
  if ((mode & kDataflow) != 0 && !dataflow_) dataflow_ = std::make_unique<Dataflow>(arena_);
  if ((mode & kTrace) != 0 && !trace_)
    trace_ = std::make_unique<Trace>(arena_, trace_log_,
                                     [this] { return racecheck_ ? racecheck_->first_race() : nullptr; });
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
  several_.reset();
  // Who gets an old value polls once more, so that counts and traces would depend on the schedule's seed.
  const bool old_values = (mode & kRacecheck) != 0 && (mode & (kCounters | kDataflow | kTrace)) == 0 &&
                          Racecheck::may_get_old_values(program, launch);
  if ((mode & kRacecheck) != 0) racecheck_->give_old_values(old_values, schedule_seed);
  if ((mode & kAllChecks) != 0)
    checks_ = std::make_unique<Checks>((mode & kRacecheck) != 0 ? racecheck_.get() : nullptr,
                                       (mode & kInitcheck) != 0 ? initcheck_.get() : nullptr,
                                       (mode & kSynccheck) != 0 ? synccheck_.get() : nullptr, *boundcheck_,
                                       (mode & kHostcheck) != 0 ? &footprint_ : nullptr, old_values);
  std::vector<Observer*> all;
  if (counts_dataflow_) all.push_back(dataflow_.get());
  if (checks_) all.push_back(checks_.get());
  if ((mode & kTrace) != 0) all.push_back(trace_.get());
  if (all.empty()) return nullptr;
  if (all.size() == 1) return all.front();
  several_ = std::make_unique<Several>(std::move(all));
  return several_.get();
}

std::vector<Observer*> Observers::begin_together(std::uint32_t mode, const Program& program,
                                                 const LaunchRequest& launch, int host_threads) {
  const bool checks_alone = (mode & kRacecheck) != 0 && (mode & (kDataflow | kTrace)) == 0;
  if (host_threads < 2 || !checks_alone || !shortcuts_ || !CheckedTogether::suits(program, launch)) return {};
  if (together_ == nullptr) together_ = std::make_unique<CheckedTogether>(arena_);
  return together_->begin(mode, static_cast<std::size_t>(host_threads),
                          (mode & kInitcheck) != 0 ? initcheck_.get() : nullptr);
}

bool Observers::must_see_again(bool faulted) {
  if (!faulted && together_->nothing_found()) {
    together_->add_footprints(footprint_);
    return false;
  }
  together_->put_back();
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
