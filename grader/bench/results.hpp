// SPDX-License-Identifier: MIT
// The results of ./lab bench, read from the JSON of the bench programs (common/harness/bench/bench_main.cpp)
// or of an earlier run, and their tables: one for each kind of work, with a row for each rung, library or CPU
// baseline and a column for each size.
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
  // Median with the time in which the GPU waits for the host's launches; not measured on the simulator and
  // for CPUs.
  std::optional<double> launched_us;
  double gb_per_s = 0;    // the bytes that must move, divided by the time
  double of_ceiling = 0;  // gb_per_s as a share of the memory's rate in the same run
  // Speedup over the fastest library at the same size in the same run, in either time.
  std::optional<double> over_peer, over_peer_launched;
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

// An operation of NCCL by itself, in the run of a lab for several devices.
struct BenchCollective {
  std::string name;
  std::uint64_t n = 0;  // items of the lab's array; each has 4 bytes
  double median_us = 0, bus_gb_per_s = 0;
};

struct BenchLab {
  std::string id, title;
  std::vector<std::uint64_t> sizes;
  std::vector<BenchTable> tables;
  unsigned gpus = 0;  // of a lab for several devices: how many it ran on (scaling.hpp); else 0
  std::vector<BenchCollective> collectives = {};
};

struct BenchResults {
  std::string date, device;
  bool modelled = false;
  int driver = 0, runtime = 0;    // CUDA's version numbers, such as 13000
  int clock_mhz = 0;              // of the multiprocessors during the measurement; 0: not recorded
  std::vector<std::string> cccl;  // versions of CUB and Thrust, the toolkit's first; empty in older results
  std::vector<BenchLab> labs;
};

// The name of a case without its size and number of devices:
std::string work_of(const std::string& case_name);

// Reads a merged file, {"schema": 1, "labs": [ … ]}. An Error if it has another form.
Result<BenchResults> read_bench(std::string_view json);
// Merges the results of the bench programs. `yours`: results of programs built from the student's files,
// whose rows get the kind "yours".
Result<std::string> merge_bench(const std::vector<std::string>& solutions,
                                const std::vector<std::string>& yours, const std::string& date);

// "NVIDIA H200, driver for CUDA 13.0, toolkit 13.0, 1980 MHz, 2026-01-02", or that it is modelled.
std::string bench_where(const BenchResults& results);
// size_text: "2^20", or the number. time_text: "1.25 ms". name_of: "yours: fast".
std::string size_text(std::uint64_t n);
std::string time_text(double us);
std::string name_of(const BenchRow& row);

std::string bench_text(const BenchResults& results);
std::string bench_csv(const BenchResults& results);

}  // namespace course::grader
