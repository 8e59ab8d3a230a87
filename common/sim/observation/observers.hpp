// SPDX-License-Identifier: MIT
// The set of observers that a mode asks for, behind the single Observer that the run loop calls. Keeps them from launch to
// launch, since they follow memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/checkers/checker_set.hpp"
#include "sim/checkers/footprint_recorder.hpp"
#include "sim/finding.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"
#include "sim/types.hpp"

namespace course::sim {

class CheckedTogether;
class Dataflow;
class Initcheck;
class Racecheck;
class Trace;
struct TraceLog;

class Observers {
 public:
  // Findings go to `findings`, what is traced to `trace`. `shortcuts`: of checkers, see Racecheck.
  Observers(const Arena& arena, std::vector<Finding>& findings, TraceLog& trace, bool shortcuts);
  ~Observers();

  // What host code did to memory.
  void allocated(std::uint64_t address, std::uint64_t n_bytes, MemoryKind kind);
  void host_wrote(std::uint64_t address, std::uint64_t n_bytes);
  bool any_written(std::uint64_t address, std::uint64_t n_bytes) const;
  void forget_writes(std::uint64_t address, std::uint64_t n_bytes);
  // A Program is about to go: what was read off the code goes first.
  void code_unloaded();

  // A mode for the launches to come. The earlier, the more is seen: memory that was filled before initcheck was first asked
  // for counts as initialised.
  void prepare(std::uint32_t mode);
  // The observer for a launch in `mode`, or nullptr when the mode needs none.
  Observer* begin(std::uint32_t mode, const Program& program, const LaunchRequest& launch,
                  std::uint64_t schedule_seed);
  // After begin(): observers for as many host threads, each for the blocks that it runs; none where the launch must be seen by one. It may
  // turn out afterwards that one should have: then what is to be done again has been put back.
  std::vector<Observer*> begin_together(std::uint32_t mode, const Program& program,
                                        const LaunchRequest& launch, int host_threads);
  bool must_see_again(bool faulted);
  // After the launch: adds what the observers counted.
  void end(Counters& counters);
  // What the launch accessed in global memory, in a mode with kHostcheck and one of kAllChecks.
  Footprint take_footprint();
  // Forgets what was followed so far: data ranges start afresh.
  void reset();

 private:
  Racecheck* racecheck() const;  // nullptr: none yet

  const Arena& arena_;
  std::vector<Finding>& findings_;
  TraceLog& trace_log_;
  bool shortcuts_;
  std::unique_ptr<Dataflow> dataflow_;
  CheckerSet checkers_;
  Initcheck* initcheck_ = nullptr;  // of checkers_, once it has one
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<CheckedTogether> together_;
  std::unique_ptr<Observer> checks_, several_;  // of the launch at hand
  Footprint footprint_;                         // of the launch at hand
  FootprintRecorder recorder_{footprint_};
  bool counts_dataflow_ = false;
  bool ran_unwatched_ = false;  // initcheck missed a launch
};

}  // namespace course::sim
