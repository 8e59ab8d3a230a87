// SPDX-License-Identifier: MIT
// What a trace shows: a table for each block of a launch and one for the whole grid, a row for each step, a
// cell for each element. Made from "trace" in the simulator's report (cudart/sim_control.h), which may
// contain anything: fields that can't be read are left out.
// cli/trace.cpp and the search for small inputs call trace_view, then one of print.hpp (terminal, Markdown),
// picture.hpp (SVG) and html.hpp (a page of pictures), which share words.hpp.
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

// Where a value came from.
struct TraceSource {
  std::string array;
  std::uint64_t element = 0;
  bool inside = false;  // written earlier in the same step
  std::string value;    // when it was read; "" if it is not known
};

struct TraceStore {
  std::uint64_t element = 0, block = 0;
  std::uint32_t thread = 0, line = 0;
  std::vector<TraceSource> from = {};  // the elements that the value was computed from
  std::string value;                   // "" if it is not known
  std::uint64_t bits = 0;              // of the value
};

// The accesses of one warp at one source line in a step.
struct TraceLanes {
  std::uint64_t block = 0;
  std::uint32_t warp = 0, line = 0;
  std::uint32_t lanes = 0, live = 0;  // masks: active lanes; lanes that have not exited
  // Shared-memory wavefronts, if bank conflicts made them more than necessary; else 0.
  std::uint32_t passes = 0;
  bool diverged() const { return lanes != live; }
};

// One row: an array, or a part of one, after a step.
struct TraceStep {
  int number = 0;  // from 1, across all tables
  // The event that ended the step: "start", "barrier", "warp_sync", "block" (its end), "launch" (its end),
  // "shuffle", "vote", "publish" or "fault".
  std::string after;
  std::string array;             // "s_data", "s_data[1024…]"
  std::string base;              // "s_data"
  std::uint64_t first = 0;       // the element in the first cell
  std::uint64_t row_length = 0;  // of an array with two dimensions
  std::string file;              // of the barrier or exchange: "reduction.cu"; else ""
  std::string path;              // with its folder, as the compiler recorded it
  std::uint32_t line = 0;
  std::vector<TraceCell> cells;
  int times = 1;                   // consecutive steps with the same shown cells
  std::vector<TraceStore> stores;  // into the shown cells, in order
  // Those of the later steps that `times` counts: they stored the same values, perhaps from other elements.
  std::vector<TraceStore> repeated;
  std::vector<TraceLanes> lanes;  // by block and warp
};

// Whether two steps show the same values.
bool show_the_same(const TraceStep& a, const TraceStep& b);

struct TraceTable {
  std::uint32_t launch = 0;
  std::string kernel;                  // "k01_neighboured"; "" for the inputs before the first launch
  std::optional<std::uint64_t> block;  // std::nullopt: arrays that all blocks share
  std::vector<TraceStep> steps;
};

struct TraceView {
  std::string lab, task, case_name;
  std::vector<TraceTable> tables;
  std::vector<std::string> findings;  // one line each, most severe first
  std::string fault;                  // what ended the trace: a finding or the first race; else ""
  bool truncated = false;
};

// `columns`: how many elements of each array are shown.
TraceView trace_view(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                     std::string_view sim_report, std::uint64_t columns);

// Which arrays (all if the list is empty) and which steps choose() keeps.
struct TraceChoice {
  std::vector<std::string> arrays;
  int first = 1, last = 1 << 30;
};
void choose(TraceView& view, const TraceChoice& choice);

}  // namespace course::grader
