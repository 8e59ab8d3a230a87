// SPDX-License-Identifier: MIT
// Runs random kernels on the device at hand, a GPU or the simulator, and prints a digest of what each leaves behind. Two runs on
// two machines must print the same text: whatever line differs names a kernel that they disagree about.
//   differential SEED COUNT          digests of the kernels SEED … SEED + COUNT - 1
//   differential --ptx SEED          the kernel's module
//   differential --outputs SEED      its output, a thread a line (generate.cpp, leave(), says which word is which register)
// `ninja -C build common/sim/differential` builds it. Without Meson, with the toolkit and a compiler alone:
//   g++ -std=c++20 -O1 -Icommon -I/usr/local/cuda/include -o differential common/sim/conformance/differential/*.cpp
//     common/sim/conformance/{*_operations,*_scenarios,exact,operand,scenario}.cpp common/ptx/ir.cpp
//     -L/usr/local/cuda/lib64 -lcudart (and -lfmt where fmt is installed)
// ./differential 1 100000 > gpu.txt; LD_LIBRARY_PATH=build/common/cudart ./differential 1 100000 > sim.txt; diff gpu.txt sim.txt
// Exit status: 0, 1 when a kernel could not be loaded or run, 77 without a device.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "sim/conformance/differential/generate.hpp"

namespace course::sim::differential {
namespace {

constexpr int kSm = 90;              // the same kernels on every device
constexpr std::uint64_t kBatch = 8;  // kernels a module: loading one takes longer than running it

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

class Buffers {
 public:
  Buffers() {
    must(cudaMalloc(&in_, kBlocks * kThreads * kWordsIn * 8), "cudaMalloc");
    must(cudaMalloc(&out_, kBlocks * kThreads * kWordsOut * 8), "cudaMalloc");
  }
  ~Buffers() {
    static_cast<void>(cudaFree(in_));
    static_cast<void>(cudaFree(out_));
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  std::vector<std::uint64_t> run(cudaLibrary_t library, std::uint64_t seed) {
    const std::string name = name_of(seed);
    cudaKernel_t kernel;
    must(cudaLibraryGetKernel(&kernel, library, name.c_str()), name.c_str());
    const std::vector<std::uint64_t> in = random_input(seed);
    std::vector<std::uint64_t> out(kBlocks * kThreads * kWordsOut);
    must(cudaMemcpy(in_, in.data(), in.size() * 8, cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemset(out_, 0, out.size() * 8), "cudaMemset");
    void* arguments[] = {&in_, &out_};
    must(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(kBlocks), dim3(kThreads), arguments, 0,
                          nullptr),
         name.c_str());
    must(cudaMemcpy(out.data(), out_, out.size() * 8, cudaMemcpyDeviceToHost), name.c_str());
    return out;
  }

 private:
  std::uint64_t *in_ = nullptr, *out_ = nullptr;
};

class Library {
 public:
  explicit Library(const std::string& ptx) {
    must(cudaLibraryLoadData(&handle_, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
         "cudaLibraryLoadData");
  }
  ~Library() { static_cast<void>(cudaLibraryUnload(handle_)); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  cudaLibrary_t handle() const { return handle_; }

 private:
  cudaLibrary_t handle_{};
};

std::uint64_t digest(const std::vector<std::uint64_t>& words) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint64_t w : words)
    for (int k = 0; k < 8; ++k) hash = (hash ^ (w >> (8 * k) & 0xff)) * 0x100000001b3u;
  return hash;
}

void print_digests(std::uint64_t first, std::uint64_t count) {
  Buffers buffers;
  for (std::uint64_t seed = first; seed < first + count; seed += kBatch) {
    const std::uint64_t n = std::min(kBatch, first + count - seed);
    const Library library(module_of(seed, n));
    for (std::uint64_t k = 0; k < n; ++k)
      std::printf("%llu %016llx\n", static_cast<unsigned long long>(seed + k),
                  static_cast<unsigned long long>(digest(buffers.run(library.handle(), seed + k))));
  }
}

void print_outputs(std::uint64_t seed) {
  Buffers buffers;
  const Library library(module_of(seed, 1));
  const auto out = buffers.run(library.handle(), seed);
  for (std::size_t k = 0; k < out.size(); ++k)
    std::printf("%016llx%c", static_cast<unsigned long long>(out[k]), (k + 1) % kWordsOut == 0 ? '\n' : ' ');
}

}  // namespace
}  // namespace course::sim::differential

int main(int argc, char** argv) {
  using namespace course::sim::differential;
  const auto number = [&](int k) { return std::strtoull(argv[k], nullptr, 10); };
  if (argc != 3) {
    std::fprintf(stderr, "usage: differential SEED COUNT | --ptx SEED | --outputs SEED\n");
    return 2;
  }
  if (std::strcmp(argv[1], "--ptx") == 0)
    std::fputs(module_of(number(2), 1).c_str(), stdout);
  else if (std::strcmp(argv[1], "--outputs") == 0)
    print_outputs(number(2));
  else
    print_digests(number(1), number(2));
  return 0;
}
