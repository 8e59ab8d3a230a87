// SPDX-License-Identifier: MIT
#include "sim/checkers/parallel.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "sim/checkers/checks.hpp"
#include "sim/checkers/footprint_recorder.hpp"
#include "sim/checkers/racecheck/racecheck.hpp"

namespace course::sim {
namespace {

constexpr std::size_t kMaxParts = 8;  // each reserves shadow address space for all of the arena

bool is_global(const MicroOp& op) {
  return op.space == MemorySpace::global || op.space == MemorySpace::generic;
}

}  // namespace

// The checkers of one host thread.
class ParallelChecks::Part final : public Checks {
 public:
  explicit Part(const Arena& arena) : Checks({}), arena_(arena) {}

  void begin(std::uint32_t mode, const CheckerSet& main, Undo& undo) {
    undo_ = &undo;
    findings.clear();
    footprint = {};
    checkers_.make(mode, arena_, findings, &main);
    std::vector<KernelChecker*> all = checkers_.of(mode);
    if ((mode & kHostcheck) != 0) all.push_back(&recorder_);
    check_with(std::move(all));
  }
  CheckerSet& checkers() { return checkers_; }
  const Racecheck& race() const { return static_cast<const Racecheck&>(*checkers_.find(Checker::racecheck)); }

  void before(Warp& w, const MicroOp& op) override {
    if (op.kind == OpKind::store || op.kind == OpKind::atomic)
      if (is_global(op)) keep(w, op);
    Checks::before(w, op);
  }

  std::vector<Finding> findings;
  Footprint footprint;

 private:
  void keep(Warp& w, const MicroOp& op) {
    LaneAccess a;
    resolve(w, op, a);
    if (a.run) return undo_->keep(a.start(), std::uint64_t{a.count} * a.bytes);
    for (std::uint32_t m = a.mask; m != 0; m &= m - 1) undo_->keep(a.at(std::countr_zero(m)), a.bytes);
  }

  const Arena& arena_;
  CheckerSet checkers_;
  FootprintRecorder recorder_{footprint};
  Undo* undo_ = nullptr;
};

ParallelChecks::ParallelChecks(const Arena& arena) : arena_(arena) {}
ParallelChecks::~ParallelChecks() = default;

// Weak loads and stores, and atomics whose old value is not used, have the same result in every order of
// blocks unless two blocks conflict. If one block both stored to a word and updated it atomically, it cannot
// be found out afterwards whether another block accessed that word, so a kernel must not use both.
bool ParallelChecks::suits(const Program& program, const LaunchRequest& launch) {
  if (program.order_sensitive || launch.cooperative || launch.grid.count() < 2) return false;
  if (std::any_of(program.calls.begin(), program.calls.end(),
                  [](const CallSite& c) { return !c.builtin.empty(); }))
    return false;
  bool stores = false, updates = false;
  for (const MicroOp& op : program.ops) {
    if (op.kind == OpKind::copy || op.kind == OpKind::mbarrier) return false;
    if (!is_global(op)) continue;
    if (op.kind == OpKind::atomic) {
      updates = true;
      if (op.dst[0] != MicroOp::kNoSlot || (op.order & kScopeMask) < kScopeDevice) return false;
    } else if (op.kind == OpKind::load || op.kind == OpKind::store) {
      stores = stores || op.kind == OpKind::store;
      if ((op.order & kOrderMask) != kWeak) return false;
    }
  }
  return !(stores && updates);
}

std::vector<Observer*> ParallelChecks::begin(std::uint32_t mode, std::size_t n, const CheckerSet& main,
                                             Initcheck* init) {
  n_used_ = 0;
  try {
    if (undo_ == nullptr || init_ != init)
      undo_ = std::make_unique<Undo>(arena_, init != nullptr ? init->marks() : nullptr);
    init_ = init;
    while (parts_.size() < std::min(n, kMaxParts)) parts_.push_back(std::make_unique<Part>(arena_));
  } catch (const std::bad_alloc&) {  // use those that exist
    if (undo_ == nullptr) return {};
  }
  undo_->begin();
  std::vector<Observer*> observers;
  n_used_ = std::min(n, parts_.size());
  for (std::size_t k = 0; k < n_used_; ++k) {
    parts_[k]->begin(mode, main, *undo_);
    observers.push_back(parts_[k].get());
  }
  return observers;
}

bool ParallelChecks::nothing_found() const {
  return std::all_of(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(n_used_),
                     [](const auto& p) { return p->findings.empty(); }) &&
         nobody_met();
}

bool ParallelChecks::nobody_met() const {
  std::vector<const Racecheck*> races;
  for (std::size_t k = 0; k < n_used_; ++k) races.push_back(&parts_[k]->race());
  return std::all_of(arena_.live().begin(), arena_.live().end(), [&](const auto& place) {
    return Racecheck::nobody_met(races, place.first, place.second.size);
  });
}

void ParallelChecks::add_footprints(Footprint& all) const {
  for (std::size_t k = 0; k < n_used_; ++k) all.add(parts_[k]->footprint);
}

void ParallelChecks::released(std::uint64_t address, std::uint64_t n_bytes) {
  for (const auto& part : parts_) part->checkers().released(address, n_bytes);
}

void ParallelChecks::put_back() {
  undo_->put_back();
}

}  // namespace course::sim
