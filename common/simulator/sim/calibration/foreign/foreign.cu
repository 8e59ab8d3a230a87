// SPDX-License-Identifier: MIT
// Times kernels of many kinds and writes the medians as JSON; the same binary runs on a GPU and on the
// simulator (its libcudart first on LD_LIBRARY_PATH), where the times between the events are modelled ones.
//   foreign [--list] [--once] [--only PREFIX] [--runs 15] [FILE]
// --once, for a profiler: nothing but the kernels, each case once.
// Before each run the inputs are evicted from the L2 cache. A kernel that only delays the device precedes the
// first event, so the time in which the device waits for the host does not count.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "foreign.hpp"

namespace course::foreign {

void must(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "foreign: %s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}

namespace {

__global__ void delay(unsigned rounds, unsigned* d_out) {
  unsigned x = rounds;
  for (unsigned k = 0; k < rounds; ++k) x = x * 1664525u + 1013904223u;
  if (x == 1) *d_out = x;
}

__global__ void read_all(const uint4* d_from, unsigned n, unsigned* d_out) {
  unsigned sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += d_from[i].x ^ d_from[i].y ^ d_from[i].z ^ d_from[i].w;
  if (sum == 0x9e3779b9u) *d_out = sum;
}

constexpr std::size_t kFlushBytes = std::size_t{128} << 20;
constexpr unsigned kDelayRounds = 30'000;  // at least 100 µs

template <typename T>
T* device(std::size_t n) {
  T* d = nullptr;
  must(cudaMalloc(reinterpret_cast<void**>(&d), n * sizeof(T)), "cudaMalloc");
  return d;
}

Memory make_memory() {
  Memory m;
  m.a = device<float>(Memory::kItems);
  m.b = device<float>(Memory::kItems);
  m.c = device<float>(Memory::kItems);
  m.ints = device<int>(Memory::kItems);
  m.out = device<int>(Memory::kItems);
  must(cudaMalloc(&m.scratch, Memory::kScratchBytes), "cudaMalloc");
  std::vector<int> ints(Memory::kItems);
  std::vector<float> floats(Memory::kItems);
  unsigned state = 1;
  const auto fill = [&](float* d) {
    for (std::size_t i = 0; i < ints.size(); ++i) {
      state = state * 1664525u + 1013904223u;
      ints[i] = static_cast<int>((state ^ state >> 15) & 0x7fffffffu);
      floats[i] = static_cast<float>(state >> 8) * 0x1p-24f;
    }
    must(cudaMemcpy(d, floats.data(), floats.size() * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
  };
  fill(m.a);
  fill(m.b);
  must(cudaMemcpy(m.ints, ints.data(), ints.size() * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
  must(cudaMemset(m.c, 0, Memory::kItems * 4), "cudaMemset");
  must(cudaMemset(m.out, 0, Memory::kItems * 4), "cudaMemset");
  return m;
}

// The simulator's controls (cudart/sim_control.h); null with NVIDIA's runtime.
struct Simulator {
  template <typename Function>
  static Function* find(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  }
  int (*set_mode)(unsigned) = find<int(unsigned)>("simSetMode");
  int (*reset)() = find<int()>("simResetReport");
  std::size_t (*report)(char*, std::size_t) = find<std::size_t(char*, std::size_t)>("simReport");

  // What limits each launch since reset() but the first, in order: ["memory", "issue"].
  std::string limiters() const {
    std::string text(report(nullptr, 0), '\0');
    report(text.data(), text.size());
    constexpr std::string_view kKey = "\"bound_by\":";
    std::string list;
    const std::size_t first = text.find(kKey) + kKey.size();
    for (std::size_t at = text.find(kKey, first); at != std::string::npos; at = text.find(kKey, at)) {
      const std::size_t from = text.find('"', at + kKey.size()), to = text.find('"', from + 1);
      list += (list.empty() ? "" : ", ") + text.substr(from, to + 1 - from);
      at = to;
    }
    return "[" + list + "]";
  }
};

struct Times {
  double median, lowest, highest;
  std::string limiters;
};

Times timed(const Case& c, int warm_up, int runs, const uint4* d_flush, unsigned* d_out) {
  const Simulator simulator;
  cudaEvent_t start = nullptr, end = nullptr;
  must(cudaEventCreate(&start), "cudaEventCreate");
  must(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> us;
  for (int k = 0; k < warm_up + runs; ++k) {
    if (c.prepare) c.prepare();
    read_all<<<1056, 256>>>(d_flush, kFlushBytes / 16, d_out);
    must(cudaDeviceSynchronize(), c.name.c_str());
    if (simulator.reset != nullptr) simulator.reset();
    delay<<<1, 1>>>(kDelayRounds, d_out);
    must(cudaEventRecord(start), "cudaEventRecord");
    c.run();
    must(cudaEventRecord(end), "cudaEventRecord");
    must(cudaDeviceSynchronize(), c.name.c_str());
    float ms = 0;
    must(cudaEventElapsedTime(&ms, start, end), "cudaEventElapsedTime");
    if (k >= warm_up) us.push_back(1e3 * static_cast<double>(ms));
  }
  must(cudaEventDestroy(start), "cudaEventDestroy");
  must(cudaEventDestroy(end), "cudaEventDestroy");
  std::sort(us.begin(), us.end());
  return {us[us.size() / 2], us.front(), us.back(), simulator.report != nullptr ? simulator.limiters() : ""};
}

int foreign(int argc, char** argv) {
  const char *file = nullptr, *only = "";
  int runs = 15;
  bool list = false, once = false;
  for (int k = 1; k < argc; ++k) {
    const std::string_view word = argv[k];
    if (word == "--list")
      list = true;
    else if (word == "--once")
      once = true;
    else if (word == "--only" && k + 1 < argc)
      only = argv[++k];
    else if (word == "--runs" && k + 1 < argc)
      runs = std::max(std::atoi(argv[++k]), 1);
    else
      file = argv[k];
  }
  const Memory m = list ? Memory{} : make_memory();
  std::vector<Case> cases;
  for (auto* add :
       {&add_reductions, &add_streams, &add_tiles, &add_compute, &add_cub, &add_numerics, &add_patterns})
    (*add)(m, cases);
  if (list) {
    for (const Case& c : cases) std::printf("%s\n", c.name.c_str());
    return 0;
  }
  if (once) {
    for (const Case& c : cases) {
      if (c.prepare) c.prepare();
      c.run();
      must(cudaDeviceSynchronize(), c.name.c_str());
    }
    return 0;
  }
  cudaDeviceProp properties{};
  must(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  const bool simulated = std::strncmp(properties.name, "Simulated", 9) == 0;
  std::FILE* out = file == nullptr ? stdout : std::fopen(file, "w");
  if (out == nullptr) must(cudaErrorUnknown, file);
  const uint4* d_flush = device<uint4>(kFlushBytes / 16);
  unsigned* d_out = device<unsigned>(1);
  std::fprintf(out, "{\"device\": \"%s\", \"simulated\": %s, \"cases\": {", properties.name,
               simulated ? "true" : "false");
  bool first = true;
  for (const Case& c : cases) {
    if (std::strncmp(c.name.c_str(), only, std::strlen(only)) != 0) continue;
    const Times t = simulated ? timed(c, 0, 1, d_flush, d_out) : timed(c, 3, runs, d_flush, d_out);
    std::fprintf(out, "%s\n \"%s\": {\"median_us\": %.3f, \"min_us\": %.3f, \"max_us\": %.3f",
                 first ? "" : ",", c.name.c_str(), t.median, t.lowest, t.highest);
    std::fprintf(out, simulated ? ", \"limiters\": %s}" : "}", t.limiters.c_str());
    std::fflush(out);
    first = false;
  }
  std::fprintf(out, "\n}}\n");
  return file == nullptr || std::fclose(out) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace course::foreign

int main(int argc, char** argv) {
  return course::foreign::foreign(argc, argv);
}
