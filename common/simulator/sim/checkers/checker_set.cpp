// SPDX-License-Identifier: MIT
#include "sim/checkers/checker_set.hpp"

#include <algorithm>
#include <iterator>

#include "sim/checkers/boundcheck.hpp"
#include "sim/checkers/initcheck/initcheck.hpp"
#include "sim/checkers/racecheck/racecheck.hpp"
#include "sim/checkers/synccheck.hpp"
#include "sim/types.hpp"

namespace course::sim {
namespace {

using Made = std::unique_ptr<KernelChecker>;

template <typename T>
Made make_alone(const Arena& arena, std::vector<Finding>& findings, const KernelChecker* /*main*/) {
  return std::make_unique<T>(arena, findings);
}

Made make_initcheck(const Arena& arena, std::vector<Finding>& findings, const KernelChecker* main) {
  if (main == nullptr) return std::make_unique<Initcheck>(arena, findings);
  return std::make_unique<Initcheck>(static_cast<const Initcheck&>(*main), findings);
}

// How each checker is created, in the order in which they observe a launch. A checker without a mode bit of
// its own takes part whenever any other one does.
constexpr struct {
  Checker checker;
  Made (*make)(const Arena&, std::vector<Finding>&, const KernelChecker* main);
} kMakers[] = {
    {Checker::memcheck, make_alone<Boundcheck>},
    {Checker::synccheck, make_alone<Synccheck>},
    {Checker::initcheck, make_initcheck},
    {Checker::racecheck, make_alone<Racecheck>},
};

constexpr bool every_mode_has_a_maker() {
  std::uint32_t modes = 0;
  for (const auto& maker : kMakers) modes |= row_of(maker.checker).mode;
  return modes == kCheckersOfKernels;
}
static_assert(every_mode_has_a_maker());
static_assert((kCheckersOfKernels & (kCounters | kDataflow | kTrace | kProfile | kHostcheck)) == 0,
              "a checker needs a mode bit of its own");

bool asks_for(std::uint32_t mode, Checker checker) {
  const std::uint32_t own = row_of(checker).mode;
  return (mode & (own != 0 ? own : kCheckersOfKernels)) != 0;
}

std::ptrdiff_t order_of(Checker checker) {
  return std::ranges::find_if(kMakers, [&](const auto& maker) { return maker.checker == checker; }) -
         std::begin(kMakers);
}

}  // namespace

void CheckerSet::make(std::uint32_t mode, const Arena& arena, std::vector<Finding>& findings,
                      const CheckerSet* main) {
  for (const auto& maker : kMakers)
    if (asks_for(mode, maker.checker) && find(maker.checker) == nullptr)
      made_.push_back({maker.checker,
                       maker.make(arena, findings, main != nullptr ? main->find(maker.checker) : nullptr)});
  std::ranges::sort(made_,
                    [](const auto& a, const auto& b) { return order_of(a.checker) < order_of(b.checker); });
}

std::vector<KernelChecker*> CheckerSet::of(std::uint32_t mode) const {
  std::vector<KernelChecker*> all;
  for (const auto& [checker, it] : made_)
    if (asks_for(mode, checker)) all.push_back(it.get());
  return all;
}

KernelChecker* CheckerSet::find(Checker checker) const {
  for (const auto& [made, it] : made_)
    if (made == checker) return it.get();
  return nullptr;
}

void CheckerSet::released(std::uint64_t address, std::uint64_t n_bytes) {
  for (const auto& made : made_) made.it->released(address, n_bytes);
}

void CheckerSet::code_unloaded() {
  for (const auto& made : made_) made.it->code_unloaded();
}

}  // namespace course::sim
