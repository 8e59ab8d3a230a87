// SPDX-License-Identifier: MIT
// What ./lab bench measured, read from the JSON of the bench programs (common/lab/bench/bench_main.cpp) or of an earlier run, and its
// tables: one for each kind of work, a row a rung, library or CPU, a column a size.
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

struct BenchRow {
  std::string name, kind;                    // kind: "rung", "yours", "peer", "cpu"
  std::map<std::uint64_t, BenchCell> cells;  // by n
};

struct BenchTable {
  std::string work;  // the case: "sum_i32_random"
  std::vector<BenchRow> rows;
};

struct BenchLab {
  std::string id, title;
  std::vector<std::uint64_t> sizes;
  std::vector<BenchTable> tables;
};

struct BenchResults {
  std::string date, device;
  bool modelled = false;
  int driver = 0, runtime = 0;  // as CUDA counts: 13000
  std::vector<BenchLab> labs;
};

// A case's work without its size: "sum_i32_n16777216_random_bench1048576" is "sum_i32_random".
std::string work_of(const std::string& case_name);

// From a merged file, {"schema": 1, "labs": [ … ]}.
Result<BenchResults> read_bench(std::string_view json);
// Puts the files of single programs together. `yours`: programs built from the student's files, their rows are named so.
Result<std::string> merge_bench(const std::vector<std::string>& solutions,
                                const std::vector<std::string>& yours, const std::string& date);

std::string bench_text(const BenchResults& results);
// One lab's tables for its handout, with date, device, driver and toolkit; "" when the results don't have the lab.
std::string bench_markdown(const BenchResults& results, const std::string& lab);
std::string bench_csv(const BenchResults& results);

}  // namespace course::grader
