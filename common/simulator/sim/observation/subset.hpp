// SPDX-License-Identifier: MIT
// What a graded kernel may use: only what every observer follows completely. A race in code that the race
// checker does not follow would count as none. The observers say what they follow (machine/gap.hpp); here
// they are only asked.
// Two uses: in labs, a kernel or a launch outside of the subset is refused. Elsewhere everything runs, and
// the report says which checks did not apply.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/decode/decode.hpp"
#include "sim/finding.hpp"
#include "sim/machine/gap.hpp"
#include "sim/machine/program.hpp"
#include "sim/types.hpp"

namespace course::sim {

enum class Watcher : std::uint8_t {
  bounds,
  races,
  initialisation,
  synchronisation,
  results,
  counters,
  timing
};
inline constexpr std::array<std::string_view, 7> kWatchers = {
    "memory checks", "race checks", "initialisation checks", "synchronisation checks",
    "exact results", "counters",    "timing model"};
static_assert(kWatchers.size() == static_cast<std::size_t>(Watcher::timing) + 1);
inline constexpr std::size_t kCheckingWatchers = 5;  // the first ones; the others measure

// What each watcher misses, by Watcher.
using Gaps = std::array<Gap, kWatchers.size()>;

// `op`: nullptr for any op of the row.
Gaps gaps_of(const OpRow& row, const MicroOp* op = nullptr);
Gaps gaps_of(const Program& program, const LaunchRequest& launch);

// Something outside of the subset.
struct Outside {
  std::string what;                     // "clock64", "a cluster of 2 blocks"
  std::string why;                      // "timing model: clocks count instructions …"
  std::string instead;                  // what to use; "" for nothing in particular
  std::vector<SourcePlace> where = {};  // innermost first; empty for a launch
};

std::string name_and_place(const Outside& one);     // "clock64 at scan.cu:12"
std::string reason_and_advice(const Outside& one);  // "timing model: …; use …"
std::string describe(const Outside& one);           // both: "clock64 at scan.cu:12: timing model: …"

// What a kernel, or a launch of it, uses outside of the subset; each instruction and line once.
std::vector<Outside> outside_of(const Program& program, const OpTable& table);
std::vector<Outside> outside_of(const Program& program, const LaunchRequest& launch);
// The checks that do not apply to a launch of the program: "with clusters: race checks, …". The measures do
// not count here. `interleaved`: other threads may run between a load and the store that follows from it.
std::vector<std::string> unchecked_of(const Program& program, const LaunchRequest& launch, bool interleaved);
// What a module uses, in kernels and in functions that no kernel calls. Also an instruction that is unknown.
std::vector<Outside> outside_of(const ptx::Module& module, const OpTable& table);

// What to use instead of an instruction, by its opcode or the key of its row; "" if there is no advice.
std::string_view instead_of(std::string_view instruction);

// The instructions of the subset and those outside of it, as a table in Markdown, with the number of rows.
std::string subset_as_markdown(const OpTable& table);

}  // namespace course::sim
