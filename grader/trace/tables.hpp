// SPDX-License-Identifier: MIT
// A trace as people read it: one table a block (and one for the whole grid) of every launch, a row a step, a
// cell an element. Made from the "trace" of the simulator's report (cudart/sim_control.h), which may be
// anything at all: what can't be read is left out. Rendered by text.cpp (terminal, Markdown), stepper.cpp
// (one step at a time), picture.cpp (SVG) and html.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/problem.hpp"

namespace course::grader {

struct TraceCell {
  std::string text;      // "25"; "" where nothing has been written yet
  bool written = false;  // in this step
};

struct TraceSource {
  std::string array;
  std::uint64_t element = 0;
  bool inside = false;  // put there in this very step, before
};

struct TraceStore {
  std::uint64_t element = 0, block = 0;
  std::uint32_t thread = 0, line = 0;
  std::vector<TraceSource> from;  // what the value was made of
};

// What one warp did at one line in a step.
struct TraceLanes {
  std::uint64_t block = 0;
  std::uint32_t warp = 0, line = 0;
  std::uint32_t lanes = 0, live = 0;  // masks: that took part; that could have
  std::uint32_t passes =
      0;  // of the shared memory, where bank conflicts made them more than could be; else 0
  bool diverged() const { return lanes != live; }
};

struct TraceStep {
  int number = 0;  // from 1, through all tables
  std::string
      after;  // "start", "barrier", "warp_sync", "block", "launch", "shuffle", "vote", "publish", "fault"
  std::string array;             // "s_data", "s_data[1024…]"
  std::string base;              // "s_data"
  std::uint64_t first = 0;       // the element in the first cell
  std::uint64_t row_length = 0;  // of an array with two dimensions
  std::string file;              // of the barrier or exchange: "reduction.cu"; "" when there is none
  std::string path;              // with its folder, as the compiler knew it
  std::uint32_t line = 0;
  std::vector<TraceCell> cells;
  int times = 1;                   // steps in a row that left the shown cells as they are here
  std::vector<TraceStore> stores;  // into the cells shown, in order
  std::vector<TraceLanes> lanes;   // by block and warp
};

struct TraceTable {
  std::uint32_t launch = 0;
  std::string kernel;                  // "k01_neighboured"; "" for the inputs before the first launch
  std::optional<std::uint64_t> block;  // nothing: arrays that all blocks share
  std::vector<TraceStep> steps;
};

struct TraceView {
  std::string lab, task, case_name;
  std::vector<TraceTable> tables;
  std::vector<std::string> findings;  // a line each, most telling first
  std::string fault;  // what ended the trace: a finding, or the race that was seen first; "" for nothing
  bool truncated = false;
};

// `columns`: elements of an array that are shown, from the first.
TraceView trace_view(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                     std::string_view sim_report, std::uint64_t columns);

// Keeps what is asked for: arrays by name (all when none is named), steps by number.
struct TraceChoice {
  std::vector<std::string> arrays;
  int first = 1, last = 1 << 30;
};
void choose(TraceView& view, const TraceChoice& choice);

// "Launch 1: k04_blelloch, block 0"; "after the barrier in line 225", with the place or without; "0 2 4 6",
// who stored.
std::string title_of(const TraceTable& table);
std::string moment_of(const TraceStep& step, bool with_line = true);
std::string threads_of(const TraceStep& step);
// "lanes 0 2 4 6 of 32 at line 81, in 8 passes (bank conflicts)": of each warp and line where lanes were idle
// or passes too many.
std::vector<std::string> remarks_on_lanes(const TraceStep& step);

// For a terminal; `colour`: ANSI, else what was written has a star.
std::string trace_text(const TraceView& view, bool colour);
// Tables for the handouts; what was written in a step is in bold.
std::string trace_markdown(const TraceView& view);

}  // namespace course::grader
