// SPDX-License-Identifier: MIT
// Kernels that are not the course's, for comparing modelled times with measured ones: the patterns of CUDA
// samples, textbooks and libraries, written for this purpose. README.md of the folder above says how they
// run.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace course::foreign {

struct Case {
  std::string name;
  std::function<void()> run;      // the timed work, on the default stream
  std::function<void()> prepare;  // before each run, not timed; may be empty
};

// Device memory that all cases use.
struct Memory {
  static constexpr unsigned kItems = 1u << 24;
  static constexpr std::size_t kScratchBytes = std::size_t{192} << 20;
  float *a = nullptr, *b = nullptr, *c = nullptr;  // kItems each; a, b: numbers in [0, 1)
  int* ints = nullptr;                             // kItems random integers ≥ 0
  int* out = nullptr;                              // kItems
  void* scratch = nullptr;                         // kScratchBytes, of libraries
};

void must(cudaError_t code, const char* what);

void add_reductions(const Memory& m, std::vector<Case>& cases);
void add_streams(const Memory& m, std::vector<Case>& cases);
void add_tiles(const Memory& m, std::vector<Case>& cases);
void add_compute(const Memory& m, std::vector<Case>& cases);
void add_cub(const Memory& m, std::vector<Case>& cases);
void add_numerics(const Memory& m, std::vector<Case>& cases);
void add_patterns(const Memory& m, std::vector<Case>& cases);

}  // namespace course::foreign
