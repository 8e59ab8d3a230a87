// SPDX-License-Identifier: MIT
// A trace as people read it: one table a block (and one for the whole grid) of every launch, a row a step, a cell an element. Made
// from the "trace" of the simulator's report (cudart/sim_control.h), which may be anything at all: what can't be read is left out.
// Rendered by text.cpp (terminal, Markdown), svg.cpp and html.cpp.
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
};

struct TraceStore {
  std::uint64_t element = 0, block = 0;
  std::uint32_t thread = 0, line = 0;
  std::vector<TraceSource> from;  // what the thread had read in this step
};

struct TraceStep {
  std::string after;  // "start", "barrier", "warp_sync", "block", "launch", "shuffle", "vote"
  std::string array;  // "s_data"
  std::string file;   // of the barrier or exchange: "reduction.cu"; "" when there is none
  std::uint32_t line = 0;
  std::vector<TraceCell> cells;
  int times = 1;                   // steps in a row that left the shown cells as they are here
  std::vector<TraceStore> stores;  // into the cells shown, in order
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
  std::vector<std::string>
      findings;  // a line each, most telling first: the trace ends where a fault ended the kernel
  bool truncated = false;
};

// `columns`: elements of an array that are shown, from the first.
TraceView trace_view(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                     std::string_view sim_report, std::uint64_t columns);

// For a terminal. `every_store`: also a line for each store, who did it and from what; `colour`: ANSI, else stars.
std::string trace_text(const TraceView& view, bool every_store, bool colour);
// Tables for the handouts; what was written in a step is in bold.
std::string trace_markdown(const TraceView& view);

}  // namespace course::grader
