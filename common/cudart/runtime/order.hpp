// SPDX-License-Identifier: MIT
// Which work of streams is ordered before which, by vector clocks, and whether unordered work met in memory.
// The simulator executes all work when it is submitted, in this one order; a GPU may run two kernels in either order or
// at once, unless a stream, an event, a graph's edge or the host, by waiting, orders them. With SIM_CHECK=1 work that
// nothing orders and that uses the same bytes, writing, is reported ("stream-race").
// All threads of the host count as one, since nothing shows what orders them: what one has waited for, all have.
// Source: Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", CACM 21 (7), 1978.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cudart/runtime/runtime.hpp"
#include "sim/footprint.hpp"

namespace course::cudart {

// Streams and graph nodes are agents; each piece of work is one tick of its agent.
using Agent = std::uint64_t;
struct Moment {
  Agent agent = 0;
  std::uint64_t tick = 0;
};

// How much of each agent's work has ended as far as somebody knows.
class Clock {
 public:
  void join(const Clock& other);
  void join(Moment moment);
  bool covers(Moment moment) const;
  std::uint64_t tick_of(Agent agent) const;

 private:
  std::map<Agent, std::uint64_t> ticks_;
};

Agent new_agent();

// A piece of work: what it comes after, what whoever waits for it comes after, and where it runs, in words.
struct Turn {
  Moment now;
  Clock before;
  Clock after;        // `before`, `now`, and what parts of it add
  std::string where;  // "stream 2"
};

// Begins one piece of work of this agent, after all that `before` covers and all that the host has waited for.
Turn begin_turn(Agent agent, Clock before, std::string where);
// The same for a part of other work: a graph's node. For take_unordered_work() it is not work by itself.
Turn begin_part(const Turn& whole, Agent agent, Clock before);

// The work that this thread executes at the moment, for what it calls; nested.
class DoingTurn {
 public:
  explicit DoingTurn(Turn& turn);
  ~DoingTurn();
  DoingTurn(const DoingTurn&) = delete;
  DoingTurn& operator=(const DoingTurn&) = delete;
  static Turn* current();  // nullptr: none

 private:
  Turn* outer_;
};

// The work at hand has accessed this memory. `what` in words: "kernel fill(int*)", "a copy". Reports to `context`'s device.
void work_accessed(Context& context, const std::string& what, bool is_copy, sim::Footprint footprint);
// This memory has been allocated or freed: what earlier work did there concerns nobody any more.
void forget_accesses(std::uint64_t address, std::uint64_t n_bytes);

// Work whose end the host does not know of and that uses a byte so that the host must not: reads or writes it.
struct Unfinished {
  std::string what, where;
  bool is_copy = false, writes = false;
};
std::optional<Unfinished> unfinished_use(std::uint64_t address, bool host_writes);
// Pages of page-locked and managed memory that such work uses, and nobody else has a part of.
struct HostPage {
  std::uint64_t address;
  bool written;
};
std::vector<HostPage> unfinished_host_pages();

// The host has waited for all that the clock covers; or for everything.
void host_waited_for(const Clock& clock);
void host_waited_for_all();
// A call that may have waited for everything, such as cudaMalloc: earlier work is not reported any more, though nothing
// may rely on it.
void host_may_have_waited();
// Since the last call: was there work in two agents that nothing orders; or work that neither the host nor `clock` knows
// to have ended?
bool take_unordered_work(const Clock& clock);

}  // namespace course::cudart
