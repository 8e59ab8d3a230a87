// SPDX-License-Identifier: MIT
// Vector clocks that determine which kernels, copies and memsets ("work") are ordered, and whether unordered
// work uses the same memory. The simulator executes work when it is submitted. A GPU may run two pieces of
// work in either order or concurrently, unless something orders them: a stream, an event, an edge of a graph,
// or the host by waiting. With SIM_CHECK=1, unordered work that accesses the same byte with at least one
// write is reported ("stream-race"), unless more than 512 pieces of work, or footprints of more than 256 MiB,
// are unfinished: then the oldest are forgotten. All host threads count as one, because the runtime does not
// see how they synchronise: if one of them has waited for work, all of them have. Thread-safe, apart from
// objects of class Clock and Work.
// Source: Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", CACM 21 (7), 1978.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cudart/runtime/runtime.hpp"
#include "sim/footprint.hpp"

namespace course::cudart {

// A stream or a node of a graph. Each piece of work is one tick of its agent.
using Agent = std::uint64_t;
struct Moment {
  Agent agent = 0;
  std::uint64_t tick = 0;
};

// For each agent, its last work that is known to have ended.
class Clock {
 public:
  void join(const Clock& other);
  void join(Moment moment);
  bool covers(Moment moment) const;
  bool covers(const Clock& other) const;
  std::uint64_t tick_of(Agent agent) const;

 private:
  std::map<Agent, std::uint64_t> ticks_;
};

// An agent that exists as long as this object. Its number is reused once the host has waited for all its
// work.
class OwnAgent {
 public:
  OwnAgent();
  ~OwnAgent();
  OwnAgent(const OwnAgent&) = delete;
  OwnAgent& operator=(const OwnAgent&) = delete;
  operator Agent() const { return number_; }  // NOLINT: implicit

 private:
  const Agent number_;
};

// A wait for an event that does not cover what the program may mean: all work before it and before the
// event's first record, if the event had not been recorded; or what it covered until it was recorded again.
struct VainWait {
  std::shared_ptr<const Clock> missed;
  std::string why;
};

// A piece of work: what is ordered before it, what is ordered before work that waits for it, and its stream's
// name for messages.
struct Work {
  Moment now;
  Clock before;
  Clock after;        // `before`, `now`, and the work of its parts
  std::string where;  // "stream 2"
  std::vector<VainWait> vain_waits = {};
};

// Starts the next piece of work of this agent, on the device with this ordinal. It is ordered after `before`
// and after everything that the host has waited for.
Work begin_work(Agent agent, Clock before, std::string where, int device, std::vector<VainWait> vain_waits);
// The same for a part of other work, such as a node of a graph; take_unordered_work() ignores it.
Work begin_part(const Work& whole, Agent agent, Clock before);

// Makes `work` the work that this thread is executing. Can be nested.
class CurrentWork {
 public:
  explicit CurrentWork(Work& work);
  ~CurrentWork();
  CurrentWork(const CurrentWork&) = delete;
  CurrentWork& operator=(const CurrentWork&) = delete;
  static Work* current();  // nullptr: none

 private:
  Work* outer_;
};

// Reports that the current work of this thread has accessed this memory. `what` is its name in messages:
// "kernel fill(int*)", "a copy". Findings are added to the device of `context`, whose lock must not be held.
void work_accessed(Context& context, const std::string& what, bool is_copy, sim::Footprint footprint);
// Reports that the current work of this thread allocates or frees this memory in stream order, which must not
// overlap with its use. Only its first MiB is looked at.
inline constexpr const char *kAllocates = "cudaMallocAsync", *kFrees = "cudaFreeAsync";  // `what`
void pool_used(Context& context, const char* what, std::uint64_t address, std::uint64_t n_bytes);
// Reports that the current work of this thread is a launch of this kernel. Only with the host's checks.
void kernel_launched(Context& context, const std::string& kernel);
// The last launch of each agent for which the host has not waited, and may not have waited.
struct Launched {
  Moment when;
  Context* context = nullptr;
  std::string kernel, where;
  CallStack calls;
};
std::vector<Launched> launches_not_waited_for();
// Must be called when memory has been allocated, freed or unregistered: accesses by earlier work are no
// longer compared with later ones.
void forget_accesses(std::uint64_t address, std::uint64_t n_bytes);

// Work that the host has not waited for and that conflicts with an access of the host to this byte;
// std::nullopt if there is none.
struct Unfinished {
  std::string what, where;
  bool is_copy = false, writes = false;
};
std::optional<Unfinished> unfinished_use(std::uint64_t address, bool host_writes);
// The pages of page-locked and managed memory that unfinished work uses, except pages that several
// allocations share, and those of work that may signal the host by writes of system scope.
struct HostPage {
  std::uint64_t address;
  bool written;
};
std::vector<HostPage> unfinished_host_pages();

// Must be called when the host has waited for the work that the clock covers.
void host_waited_for(const Clock& clock);
// Whether the host has waited, or may have waited, for all that the clock covers.
bool host_may_have_waited_for_all(const Clock& clock);
// Must be called after calls that may wait for all work, such as cudaFree. Earlier work is then no longer
// reported, but it does not count as ordered, because a program must not rely on the wait.
void host_may_have_waited();
// The same for the work that the clock covers, for example after a host function that was called in its
// stream.
void host_may_have_waited_for(const Clock& clock);
// Whether, since the last call of this function, two agents of a device have had unordered work, or there is
// work that neither `clock` nor what the host has waited for covers.
bool take_unordered_work(const Clock& clock);

}  // namespace course::cudart
