// SPDX-License-Identifier: MIT
// Runs the conformance suite's instructions on the present GPU and compares the results with the expected
// ones. If they differ, the suite (and so the simulator) is wrong, or the instruction's result is not
// determined. Known deviations of the machine code from the ISA (Operation::on_sm90) do not count.
// `ninja -C build common/simulator/sim/check_gpu` builds it. On a machine without fmt, the toolkit and a
// compiler with std::format (GCC 13) are enough:
//   nvcc -std=c++20 -O1 -Icommon -Icommon/simulator -o check_gpu
//     common/simulator/sim/conformance/*_operations.cpp common/simulator/sim/conformance/*_scenarios.cpp
//     common/simulator/sim/conformance/{check_gpu,exact,operand,scenario}.cpp common/simulator/ptx/ir.cpp
//     -lcudart
//   ./check_gpu [TUPLES]
// TUPLES of operands for each instruction (default 3000), rounded up to a multiple of 250.
// Exit status: 0 when all agree, 1 when some differ, 2 when a call fails, 77 without a GPU.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "sim/conformance/format.hpp"
#include "sim/conformance/operation.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

constexpr unsigned kThreads = 250;

std::string running;  // the current instruction or scenario

void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("%s: %s, in %s\n", what, cudaGetErrorString(status), running.c_str());
  std::exit(2);  // after a fault no further kernel can run
}

std::string header(int sm) {
  return fmt::format(".version 9.0\n.target sm_{}\n.address_size 64\n", sm);
}

// A module of kernels; empty if the driver refuses it.
class Library {
 public:
  explicit Library(const std::string& ptx) {
    status_ = cudaLibraryLoadData(&library_, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (status_ != cudaSuccess) static_cast<void>(cudaGetLastError());
  }
  ~Library() {
    if (status_ == cudaSuccess) static_cast<void>(cudaLibraryUnload(library_));
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  bool loaded() const { return status_ == cudaSuccess; }
  const char* error() const { return cudaGetErrorString(status_); }

  // Runs a kernel on `in` and returns the n_out words that it wrote.
  std::vector<Bits> run(const std::string& kernel, unsigned blocks, unsigned threads,
                        const std::vector<Bits>& in, std::size_t n_out) {
    cudaKernel_t k;
    if (cudaLibraryGetKernel(&k, library_, kernel.c_str()) != cudaSuccess) {  // compiled lazily, at this call
      std::printf("not taken: %s: %s\n", kernel.c_str(), cudaGetErrorString(cudaGetLastError()));
      return {};
    }
    Bits *d_in = nullptr, *d_out = nullptr;
    must(cudaMalloc(&d_in, 8 * std::max<std::size_t>(in.size(), 1)), "cudaMalloc");
    must(cudaMalloc(&d_out, 8 * n_out), "cudaMalloc");
    must(cudaMemcpy(d_in, in.data(), 8 * in.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemset(d_out, 0, 8 * n_out), "cudaMemset");
    void* arguments[] = {&d_in, &d_out};
    must(cudaLaunchKernel(reinterpret_cast<const void*>(k), dim3(blocks), dim3(threads), arguments, 0,
                          nullptr),
         kernel.c_str());
    std::vector<Bits> out(n_out);
    must(cudaMemcpy(out.data(), d_out, 8 * n_out, cudaMemcpyDeviceToHost), kernel.c_str());
    must(cudaFree(d_in), "cudaFree");
    must(cudaFree(d_out), "cudaFree");
    return out;
  }

 private:
  cudaLibrary_t library_{};
  cudaError_t status_ = cudaSuccess;
};

// Returns the number of errors in the results of an operation and prints the first few.
std::size_t compare(const Operation& o, const std::vector<Bits>& operands, const std::vector<Bits>& out) {
  std::size_t wrong = 0;
  const std::size_t k = o.sources.size();
  for (std::size_t i = 0; i < operands.size() / k; ++i) {
    const Operands x = &operands[i * k];
    const Outcome want = expected_outcome(o, x, i % 2 == 1);
    for (const bool guarded : {false, true}) {
      const Bits got = out[3 * i + (guarded ? 1 : 0)], wanted = guarded ? want.guarded : want.plain;
      const bool ran = !guarded || i % 2 == 1;
      if (got == wanted || (ran && o.accepts && o.accepts(x, got))) continue;
      if (ran && o.on_sm90 && got == o.on_sm90(x)) continue;
      if (!ran && o.sm90_loses_guard && got == out[3 * i]) continue;
      if (++wrong > 3) continue;
      std::string text;
      for (std::size_t s = 0; s < k; ++s) text += fmt::format(" {:#x}", x[s]);
      std::printf("  %s%s of%s: GPU %#llx, expected %#llx\n", o.ptx.c_str(), guarded ? " (guarded)" : "",
                  text.c_str(), static_cast<unsigned long long>(got),
                  static_cast<unsigned long long>(wanted));
    }
  }
  return wrong;
}

struct Counts {
  int run = 0, differ = 0, newer = 0, ordered = 0, refused = 0;
};

void check_operations(int sm, std::size_t blocks, Counts& n) {
  const std::size_t tuples = blocks * kThreads;
  std::vector<Operation> operations;
  for (Operation& o : all_operations()) {
    if (o.least_sm <= sm)
      operations.push_back(std::move(o));
    else
      ++n.newer;
  }
  constexpr std::size_t kBatch = 60;
  for (std::size_t first = 0; first < operations.size(); first += kBatch) {
    const std::size_t last = std::min(first + kBatch, operations.size());
    std::string text = header(sm);
    for (std::size_t k = first; k < last; ++k) text += kernel_for(operations[k], fmt::format("op{}", k));
    Library all(text);
    for (std::size_t k = first; k < last; ++k) {
      const Operation& o = operations[k];
      const std::string name = fmt::format("op{}", k);
      running = o.ptx;
      const auto operands = operands_for(o, tuples);
      std::vector<Bits> out;
      if (all.loaded()) out = all.run(name, static_cast<unsigned>(blocks), kThreads, operands, 3 * tuples);
      if (out.empty()) {  // one of the batch is refused: find out which
        Library one(header(sm) + kernel_for(o, name));
        if (!one.loaded()) {
          std::printf("not taken: %s: %s\n", o.ptx.c_str(), one.error());
          ++n.refused;
          continue;
        }
        out = one.run(name, static_cast<unsigned>(blocks), kThreads, operands, 3 * tuples);
      }
      if (out.empty()) {
        std::printf("  (%s)\n", o.ptx.c_str());
        ++n.refused;
        continue;
      }
      ++n.run;
      if (const std::size_t wrong = compare(o, operands, out); wrong != 0) {
        std::printf("DIFFERS %s: %zu of %zu\n", o.ptx.c_str(), wrong, 2 * tuples);
        ++n.differ;
      }
    }
  }
}

void check_scenarios(int sm, Counts& n) {
  for (const Scenario& s : all_scenarios()) {
    if (s.least_sm > sm || !s.any_order) {
      ++(s.least_sm > sm ? n.newer : n.ordered);
      continue;
    }
    running = s.name;
    Library library(header(sm) + s.ptx);
    if (!library.loaded()) {
      std::printf("not taken: %s: %s\n", s.name.c_str(), library.error());
      ++n.refused;
      continue;
    }
    const auto out = library.run("k", s.blocks, s.threads, s.in, s.out.size());
    if (out.empty()) {
      std::printf("  (%s)\n", s.name.c_str());
      ++n.refused;
      continue;
    }
    ++n.run;
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (out[k] == s.out[k]) continue;
      if (wrong++ < 2)
        std::printf("  %s: word %zu: GPU %#llx, expected %#llx\n", s.name.c_str(), k,
                    static_cast<unsigned long long>(out[k]), static_cast<unsigned long long>(s.out[k]));
    }
    if (wrong != 0) {
      std::printf("DIFFERS %s: %zu of %zu\n", s.name.c_str(), wrong, out.size());
      ++n.differ;
    }
  }
}

int check_all(int sm, std::size_t blocks) {
  Counts n;
  check_operations(sm, blocks, n);
  check_scenarios(sm, n);
  std::printf(
      "%d instructions and scenarios run, %d differ; not run: %d that ptxas refuses, %d of newer GPUs, %d "
      "whose outcome depends on the order of warps\n",
      n.run, n.differ, n.refused, n.newer, n.ordered);
  return n.differ == 0 ? 0 : 1;
}

}  // namespace
}  // namespace course::sim

int main(int argc, char** argv) {
  const std::size_t tuples = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 3000;
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    std::puts("no GPU");
    return 77;
  }
  std::printf("%s\n", properties.name);
  return course::sim::check_all(10 * properties.major + properties.minor,
                                (tuples + course::sim::kThreads - 1) / course::sim::kThreads);
}
