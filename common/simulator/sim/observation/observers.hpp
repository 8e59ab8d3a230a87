// SPDX-License-Identifier: MIT
// The observers that a mode asks for, behind the single Observer that the run loop calls. They are kept from
// launch to launch because they follow the contents of memory. Used by one host thread at a time.
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

class ParallelChecks;
class Dataflow;
class Initcheck;
namespace race {
class Racecheck;
}
class Trace;
struct TraceLog;

class Observers {
 public:
  // Findings are added to `findings`, the trace to `trace`; both must outlive this object. `shortcuts`:
  // whether checkers may use them, see Racecheck.
  Observers(const Arena& arena, std::vector<Finding>& findings, TraceLog& trace, bool shortcuts);
  ~Observers();

  // Called for what host code does to memory.
  void allocated(std::uint64_t address, std::uint64_t n_bytes, MemoryKind kind);
  void host_wrote(std::uint64_t address, std::uint64_t n_bytes);
  std::vector<ByteRange> never_written(std::uint64_t address, std::uint64_t n_bytes) const;
  void forget_writes(std::uint64_t address, std::uint64_t n_bytes);
  // Nothing is allocated in this range any more.
  void released(std::uint64_t address, std::uint64_t n_bytes);
  // Called before a Program is destroyed: discards everything that was derived from its code.
  void code_unloaded();

  // Creates the observers for a mode. The earlier this is called, the more they see: memory that was filled
  // before the first mode with initcheck counts as initialised.
  void prepare(std::uint32_t mode);
  // The observer for a launch in `mode`, or nullptr if the mode needs none. Valid until the next call.
  Observer* begin(std::uint32_t mode, const Program& program, const LaunchRequest& launch,
                  std::uint64_t schedule_seed);
  // After begin(): one observer per host thread, each for the blocks that it runs. Empty if a single observer
  // must see the whole launch. After such a launch, must_see_again() returns whether the launch must be
  // repeated, after another begin_parallel(); memory has then been restored.
  std::vector<Observer*> begin_parallel(std::uint32_t mode, const Program& program,
                                        const LaunchRequest& launch, int host_threads);
  bool must_see_again(bool faulted);
  // After the launch: adds what the observers counted.
  void end(Counters& counters);
  // What the launch accessed in global memory. Empty unless the mode has kHostcheck and one of kAllChecks.
  Footprint take_footprint();
  // Discards the state of dataflow and trace; both start anew.
  void reset();

 private:
  race::Racecheck* racecheck() const;  // nullptr if there is none yet

  const Arena& arena_;
  std::vector<Finding>& findings_;
  TraceLog& trace_log_;
  bool shortcuts_;
  std::unique_ptr<Dataflow> dataflow_;
  CheckerSet checkers_;
  Initcheck* initcheck_ = nullptr;  // the one in checkers_, nullptr if there is none
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<ParallelChecks> parallel_;
  std::unique_ptr<Observer> checks_, composite_;  // for the current launch
  Footprint footprint_;                           // of the current launch
  FootprintRecorder recorder_{footprint_};
  bool counts_dataflow_ = false, gives_old_values_ = false;
  bool ran_unwatched_ = false;  // kernels have run since initcheck last observed a launch
};

}  // namespace course::sim
