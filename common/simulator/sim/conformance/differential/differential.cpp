// SPDX-License-Identifier: MIT
// Compares two devices, GPUs or simulators, bit by bit: run it on both; the two must print the same text.
//   differential SEED COUNT             random kernels SEED … SEED + COUNT - 1, a digest of each one's output
//   differential --ptx SEED             a kernel's module
//   differential --outputs SEED         its output, a line per thread, in the order of Generator::leave()
//   differential --approximate SEED COUNT   a digest of every approximate instruction on COUNT tuples
//                                           (rounded up to 65,536)
// `ninja -C build common/simulator/sim/differential` builds it. Without Meson, the toolkit and a compiler are
// enough (without fmt, one with std::format, GCC 13):
//   g++ -std=c++20 -O1 -Icommon -Icommon/simulator -I/usr/local/cuda/include -o differential
//     common/simulator/sim/conformance/differential/*.cpp
//     common/simulator/sim/conformance/{*_operations,*_scenarios,exact,operand,scenario}.cpp
//     common/simulator/ptx/ir.cpp -L/usr/local/cuda/lib64 -lcudart (and -lfmt where fmt is installed)
//   ./differential 1 100000 > gpu.txt
//   LD_LIBRARY_PATH=build/common/simulator/cudart ./differential 1 100000 > sim.txt; diff gpu.txt sim.txt
// JIT_LEVEL=0 in the environment turns the driver's optimisations off (4 is the default). A GPU that agrees
// with the simulator then, and not otherwise, departs from the ISA because of an optimisation.
// Exit status: 0; 1 when a kernel could not be loaded or run; 2 for wrong arguments; 77 without a device.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "sim/conformance/differential/generate.hpp"

namespace course::sim::differential {
namespace {

constexpr int kSm = 90;              // compute capability of the kernels, the same on every device
constexpr std::uint64_t kBatch = 8;  // kernels per module, because loading takes longer than running

void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(status == cudaErrorNoDevice ? 77 : 1);
}

std::string name_of(std::uint64_t seed) {
  return "k" + std::to_string(seed);
}

std::string module_of(std::uint64_t first, std::uint64_t n) {
  std::string text = header(kSm);
  for (std::uint64_t seed = first; seed < first + n; ++seed) text += random_kernel(seed, name_of(seed), kSm);
  return text;
}

class Library {
 public:
  explicit Library(const std::string& ptx) {
    const char* level = std::getenv("JIT_LEVEL");
    cudaJitOption option = cudaJitOptimizationLevel;
    void* value = reinterpret_cast<void*>(std::strtoull(level == nullptr ? "4" : level, nullptr, 10));
    must(cudaLibraryLoadData(&handle_, ptx.c_str(), &option, &value, 1, nullptr, nullptr, 0),
         "cudaLibraryLoadData");
  }
  ~Library() { static_cast<void>(cudaLibraryUnload(handle_)); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  cudaLibrary_t handle() const { return handle_; }

 private:
  cudaLibrary_t handle_{};
};

// Device memory for a kernel's input and output, in 64-bit words.
class Buffers {
 public:
  Buffers(std::size_t n_in, std::size_t n_out) : out_words_(n_out) {
    must(cudaMalloc(&in_, n_in * 8), "cudaMalloc");
    must(cudaMalloc(&out_, n_out * 8), "cudaMalloc");
  }
  ~Buffers() {
    static_cast<void>(cudaFree(in_));
    static_cast<void>(cudaFree(out_));
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  const std::vector<std::uint64_t>& run(const Library& library, const std::string& name, unsigned blocks,
                                        unsigned threads, const std::vector<std::uint64_t>& in) {
    cudaKernel_t kernel;
    must(cudaLibraryGetKernel(&kernel, library.handle(), name.c_str()), name.c_str());
    must(cudaMemcpy(in_, in.data(), in.size() * 8, cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemset(out_, 0, out_words_.size() * 8), "cudaMemset");
    void* arguments[] = {&in_, &out_};
    must(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads), arguments, 0,
                          nullptr),
         name.c_str());
    must(cudaMemcpy(out_words_.data(), out_, out_words_.size() * 8, cudaMemcpyDeviceToHost), name.c_str());
    return out_words_;
  }

 private:
  std::uint64_t *in_ = nullptr, *out_ = nullptr;
  std::vector<std::uint64_t> out_words_;
};

// FNV-1a over words instead of bytes.
std::uint64_t digest(const std::vector<std::uint64_t>& words, std::uint64_t hash = 0xcbf29ce484222325u) {
  for (const std::uint64_t w : words) {
    hash = (hash ^ w) * 0x100000001b3u;
    hash ^= hash >> 32;
  }
  return hash;
}

unsigned long long printable(std::uint64_t word) {
  return word;
}

const std::vector<std::uint64_t>& run_kernel(Buffers& buffers, const Library& library, std::uint64_t seed) {
  return buffers.run(library, name_of(seed), kBlocks, kThreads, random_input(seed));
}

Buffers buffers_of_kernels() {
  return {kBlocks * kThreads * kWordsIn, kBlocks * kThreads * kWordsOut};
}

void print_digests(std::uint64_t first, std::uint64_t count) {
  Buffers buffers = buffers_of_kernels();
  for (std::uint64_t seed = first; seed < first + count; seed += kBatch) {
    const std::uint64_t n = std::min(kBatch, first + count - seed);
    const Library library(module_of(seed, n));
    for (std::uint64_t k = 0; k < n; ++k)
      std::printf("%llu %016llx\n", printable(seed + k),
                  printable(digest(run_kernel(buffers, library, seed + k))));
  }
}

void print_outputs(std::uint64_t seed) {
  Buffers buffers = buffers_of_kernels();
  const Library library(module_of(seed, 1));
  const auto& out = run_kernel(buffers, library, seed);
  for (std::size_t k = 0; k < out.size(); ++k)
    std::printf("%016llx%c", printable(out[k]), (k + 1) % kWordsOut == 0 ? '\n' : ' ');
}

constexpr unsigned kTupleThreads = 256, kTupleBlocks = 256;
constexpr std::size_t kTuples = std::size_t{kTupleThreads} * kTupleBlocks, kWordsATuple = 3;

void print_approximate(std::uint64_t seed, std::uint64_t count) {
  std::size_t row = 0;
  for (const Operation& o : approximate_operations(kSm)) {
    const Library library(header(kSm) + kernel_for(o, "k"));
    Buffers buffers(kTuples * o.sources.size(), kTuples * kWordsATuple);
    std::uint64_t hash = 0;
    std::uint64_t n = 0;
    for (; n < count; n += kTuples)
      hash = digest(buffers.run(library, "k", kTupleBlocks, kTupleThreads,
                                operands_for(o, kTuples, seed + n / kTuples)),
                    hash);
    std::printf("%zu %s %llu %016llx\n", row++, o.ptx.c_str(), printable(n), printable(hash));
  }
}

}  // namespace
}  // namespace course::sim::differential

int main(int argc, char** argv) {
  using namespace course::sim::differential;
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  // counted from the end
  const auto number = [&](int k) { return std::strtoull(argv[argc - k], nullptr, 10); };
  const auto is = [&](std::string_view mode, std::size_t n) { return words.size() == n && words[0] == mode; };
  if (is("--ptx", 2))
    std::fputs(module_of(number(1), 1).c_str(), stdout);
  else if (is("--outputs", 2))
    print_outputs(number(1));
  else if (is("--approximate", 3))
    print_approximate(number(2), number(1));
  else if (words.size() == 2)
    print_digests(number(2), number(1));
  else {
    std::fputs("usage: differential SEED COUNT | --ptx SEED | --outputs SEED | --approximate SEED COUNT\n",
               stderr);
    return 2;
  }
  return 0;
}
