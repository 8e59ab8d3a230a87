// SPDX-License-Identifier: MIT
// What ./lab bench measured, read from the JSON of the bench programs (common/bench/bench_main.cpp) or of an
// earlier run, and its tables: one for each kind of work, a row a rung, library or CPU, a column a size.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace course::grader {

struct BenchCell {
  double median_us = 0, min_us = 0, max_us = 0;
  double gb_per_s = 0;              // of the bytes that must move
  double of_ceiling = 0;            // 0 … 1: of the memory's rate in the same run
  std::optional<double> over_peer;  // how many times as fast as the fastest library, same size, same run
  bool right = true;
};

// What the simulator counted of a row's work at some n: it grows with n, near enough.
struct BenchCounted {
  double n = 0, warp_instructions = 0, bytes = 0;  // bytes: through global memory, in whole sectors
};

struct BenchRow {
  std::string name, kind;                    // kind: "rung", "yours", "peer", "cpu"
  std::map<std::uint64_t, BenchCell> cells;  // by n
  std::optional<BenchCounted> counted = {};  // at the largest n
};

struct BenchTable {
  std::string work;  // the case: "sum_i32_random"
  std::vector<BenchRow> rows;
  bool reads_only = false;                       // next to nothing is written: held against plain reads
  std::map<std::uint64_t, double> ceiling = {};  // GB/s of plain copies or reads, by n
};

struct BenchLab {
  std::string id, title;
  std::vector<std::uint64_t> sizes;
  std::vector<BenchTable> tables;
  double copy_gb_per_s = 0;  // at the largest size
  double issue_per_ns = 0;   // warp instructions that the device can issue in a nanosecond; 0: not known
};

struct BenchResults {
  std::string date, device;
  bool modelled = false;
  int driver = 0, runtime = 0;  // as CUDA counts: 13000
  int clock_mhz = 0;            // of the multiprocessors, while measuring; 0: not recorded
  std::vector<BenchLab> labs;
};

// A case's work without its size: "sum_i32_n16777216_random_bench1048576" is "sum_i32_random".
std::string work_of(const std::string& case_name);

// From a merged file, {"schema": 1, "labs": [ … ]}.
Result<BenchResults> read_bench(std::string_view json);
// Puts the files of single programs together. `yours`: programs built from the student's files, their rows
// are named so.
Result<std::string> merge_bench(const std::vector<std::string>& solutions,
                                const std::vector<std::string>& yours, const std::string& date);

// Puts what the same programs counted on the simulator beside the times of `measured`, row by row. What does
// not fit is left out.
Result<std::string> add_counted(const std::string& measured, const std::vector<std::string>& counted);

// "NVIDIA H200, driver for CUDA 13.0, toolkit 13.0, 1980 MHz, 2026-01-02", or that it is modelled.
std::string bench_where(const BenchResults& results);
// "2^20", or the number; "1.25 ms"; "yours: fast".
std::string size_text(std::uint64_t n);
std::string time_text(double us);
std::string name_of(const BenchRow& row);

std::string bench_text(const BenchResults& results);
// One lab's tables for its handout, with date, device, driver and toolkit; "" when the results don't have the
// lab.
std::string bench_markdown(const BenchResults& results, const std::string& lab);
std::string bench_csv(const BenchResults& results);

}  // namespace course::grader
