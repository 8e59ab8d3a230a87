// SPDX-License-Identifier: MIT
// The tables of ./lab bench, from the JSON of the bench programs (common/harness/bench/bench_main.cpp): one
// for each kind of work and each size, with a row for each rung, library or CPU baseline. A lab for several
// devices has a run for each number of GPUs; its tables compare them, for arrays that stay the same (strong
// scaling) and for arrays that grow with the number of GPUs (weak scaling).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace course::grader {

// The array lengths to measure on `gpus` GPUs so that results for these lengths can be compared: each length,
// and as much on each GPU.
std::vector<std::uint64_t> sizes_on(unsigned gpus, const std::vector<std::uint64_t>& sizes);

// Merges the results of the bench programs to {"schema": 1, "date": …, "labs": [ … ]}. `yours`: results of
// programs built from the student's files, whose rungs are added to the tables of `solutions` with the kind
// "yours".
Result<std::string> merge_bench(const std::vector<std::string>& solutions,
                                const std::vector<std::string>& yours, const std::string& date);

// The tables of a merged file, in lines of at most 80 columns. An Error if it has another form.
Result<std::string> bench_text(std::string_view json);

// "2²⁰", or the number.
std::string size_text(std::uint64_t n);

}  // namespace course::grader
