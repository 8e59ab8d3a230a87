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

// Saves what is about to be written.
class Keeper final : public KernelChecker {
 public:
  explicit Keeper(Undo& undo) : undo_(undo) {}
  void access(Warp&, const MicroOp& op, const LaneAccess& a) override {
    if (op.kind == OpKind::load || !is_global(op)) return;
    if (a.run) return undo_.keep(a.start(), std::uint64_t{a.count} * a.bytes);
    for (std::uint32_t m = a.mask; m != 0; m &= m - 1) undo_.keep(a.at(std::countr_zero(m)), a.bytes);
  }

 private:
  Undo& undo_;
};

// The checkers of one host thread.
class ParallelChecks::Part final : public Checks {
 public:
  Part(const Arena& arena, Undo& undo) : Checks({}), arena_(arena), keeper_(undo) {}

  void begin(std::uint32_t mode, const CheckerSet& main, Racecheck::Care care) {
    findings.clear();
    footprint = {};
    checkers_.make(mode, arena_, findings, &main);
    race().take(care);
    std::vector<KernelChecker*> all = checkers_.of(mode);
    all.insert(all.begin(), &keeper_);  // before initcheck changes its marks
    if ((mode & kHostcheck) != 0) all.push_back(&recorder_);
    check_with(std::move(all));
  }
  CheckerSet& checkers() { return checkers_; }
  Racecheck& race() const { return static_cast<Racecheck&>(*checkers_.find(Checker::racecheck)); }

  std::vector<Finding> findings;
  Footprint footprint;

 private:
  const Arena& arena_;
  CheckerSet checkers_;
  FootprintRecorder recorder_{footprint};
  Keeper keeper_;
};

ParallelChecks::ParallelChecks(const Arena& arena) : arena_(arena) {}
ParallelChecks::~ParallelChecks() = default;

// Weak loads and stores, and atomics whose old value is not used, have the same result in every order of
// blocks unless two blocks conflict. If one block both stored to a word and updated it atomically, it cannot
// be found out afterwards whether another block accessed that word, so a kernel must not use both.
bool ParallelChecks::suits(const Program& program, const LaunchRequest& launch) {
  if (program.order_sensitive || launch.cooperative || launch.grid.count() < 2) return false;
  bool stores = false, updates = false;
  for (const MicroOp& op : program.ops) {
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

bool ParallelChecks::can_repeat(const Program& program) {
  return std::ranges::all_of(program.calls, [](const CallSite& c) { return c.builtin.empty(); }) &&
         std::ranges::none_of(program.ops, [](const MicroOp& op) {
           return op.kind == OpKind::copy || op.kind == OpKind::mbarrier;
         });
}

std::vector<Observer*> ParallelChecks::begin(std::uint32_t mode, std::size_t n, const Program& program,
                                             const LaunchRequest& launch, const CheckerSet& main,
                                             Initcheck* init) {
  n_used_ = 0;
  attempt_ = &attempts_[&program];
  if (!suits(program, launch)) n = 1;
  if (*attempt_ > static_cast<int>(Racecheck::Care::everything) ||
      (n < 2 && *attempt_ == static_cast<int>(Racecheck::Care::everything)) || !can_repeat(program))
    return {};
  try {
    if (undo_ == nullptr || init_ != init) {
      parts_.clear();
      undo_ = std::make_unique<Undo>(arena_, init != nullptr ? init->marks() : nullptr);
    }
    init_ = init;
    while (parts_.size() < std::min(n, kMaxParts)) parts_.push_back(std::make_unique<Part>(arena_, *undo_));
  } catch (const std::bad_alloc&) {  // use those that exist
    if (undo_ == nullptr) return {};
  }
  undo_->begin();
  std::vector<Observer*> observers;
  n_used_ = std::min(n, parts_.size());
  for (std::size_t k = 0; k < n_used_; ++k) {
    parts_[k]->begin(mode, main, static_cast<Racecheck::Care>(*attempt_));
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
  ++*attempt_;
  undo_->put_back();
}

}  // namespace course::sim
