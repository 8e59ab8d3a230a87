// SPDX-License-Identifier: MIT
// ./lab bench of a lab for several devices: its results contain a BenchLab for each number of GPUs. Compares
// them, for arrays that stay the same (strong scaling) and for arrays that grow with the number of GPUs (weak
// scaling).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/results.hpp"

namespace course::grader {

// The array lengths to measure on `gpus` GPUs so that results for these lengths can be compared: each length,
// and as much on each GPU.
std::vector<std::uint64_t> sizes_on(unsigned gpus, const std::vector<std::uint64_t>& sizes);

// Strong scaling: t(1) / (gpus * t(gpus)). Weak scaling: t(1) / t(gpus), with gpus times as many items.
double strong_efficiency(double us_of_one, double us, unsigned gpus);
double weak_efficiency(double us_of_one, double us);

// The tables of one lab, from the results of all numbers of GPUs; "" if there are none. Labs of one device
// are not shown.
std::string scaling_text(const BenchResults& results, const std::string& lab);

}  // namespace course::grader
