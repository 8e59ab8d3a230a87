// SPDX-License-Identifier: MIT
// Tries the candidates for solutions/device/tuning.hpp: runs the solutions' own kernels with each of them,
// compares their results with CUB's, and prints their times, CUB's and a copy's as CSV.
//   tune [--logs 20,24,28]
// Candidates that do not fit into the device's multiprocessors are passed over; those of the table must fit.
// The exit code is 0 if they do, and all results are right.
// Method: inputs and outputs rotate through twice the largest size; CUDA events around each call; 3 calls to
// warm up; the median of 25.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compaction/state_of_the_art.cuh"
#include "hierarchical_scan/state_of_the_art.cuh"

namespace course {
namespace {

using Item = std::int32_t;

void must(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::printf("tune: %s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}
template <typename T>
T* allocated(std::uint64_t n) {
  void* data = nullptr;
  must(cudaMalloc(&data, n * sizeof(T)), "cudaMalloc");
  return static_cast<T*>(data);
}

__global__ void fill(Item* d, std::uint64_t n) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * 256 + threadIdx.x;
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull;  // Steele, Lea, Flood 2014: splitmix64
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  if (i < n) d[i] = static_cast<Item>(z >> 32);
}
__global__ void count_differences(const Item* d_a, const Item* d_b, std::uint64_t n,
                                  unsigned long long* d_count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < n && d_a[i] != d_b[i]) atomicAdd(d_count, 1ull);
}
unsigned blocks(std::uint64_t n) {
  return static_cast<unsigned>((n + 255) / 256);
}

struct Memory {
  std::uint64_t most;  // items of a run
  std::size_t work_bytes = std::max<std::size_t>(most, 16 << 20);
  Item *d_in = allocated<Item>(2 * most), *d_out = allocated<Item>(2 * most);
  Item* d_want = allocated<Item>(most);
  unsigned long long *d_count = allocated<unsigned long long>(3),
                     *d_work = allocated<unsigned long long>(work_bytes / 8);
  int multiprocessors = 0;
  cudaStream_t stream = nullptr;
  cudaEvent_t start = nullptr, end = nullptr;
  explicit Memory(std::uint64_t most_items) : most(most_items) {
    must(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), "multiprocessors");
    must(cudaStreamCreate(&stream), "stream");
    must(cudaEventCreate(&start), "event");
    must(cudaEventCreate(&end), "event");
    fill<<<blocks(2 * most), 256, 0, stream>>>(d_in, 2 * most);
  }
};

// Arrays of one size, at rotating positions in the memory that the runs use.
struct Run {
  const Item* d_in;
  Item* d_out;
  std::uint64_t n;
};
struct Candidate {
  std::string lab, name;
  std::function<void(const Memory&, const Run&)> launch;
};

template <typename Tuning>
std::string name_of() {
  std::string name;
  for (const unsigned number :
       {Tuning::kThreads, Tuning::kRows, Tuning::kBlocks, Tuning::kLag, Tuning::kSlots})
    name += (name.empty() ? "" : "x") + std::to_string(number);
  return name;
}
// Candidates that call `launch` with a job, each with its tuning; "table" has the one that tuning.hpp
// chooses.
template <typename... Tunings>
void add_scans(std::vector<Candidate>& all) {
  namespace hs = hierarchical_scan;
  const auto launch = [](auto scan) {
    return [scan](const Memory& m, const Run& run) {
      hs::Job<hs::Sum<Item>> job;
      job.d_in = run.d_in;
      job.n = run.n;
      job.d_out = run.d_out;
      job.d_flags = reinterpret_cast<std::uint32_t*>(m.d_work);
      job.multiprocessors = m.multiprocessors;
      job.stream = m.stream;
      scan(job);
    };
  };
  const auto with = []<typename Tuning>(Tuning) {
    return [](const auto& job) { hs::scan_in_waves<Tuning>(job); };
  };
  all.push_back({"scan", "table", launch([](const auto& job) { hs::state_of_the_art(job); })});
  (all.push_back({"scan", name_of<Tunings>(), launch(with(Tunings{}))}), ...);
}
template <typename... Tunings>
void add_compactions(std::vector<Candidate>& all) {
  namespace c = compaction;
  const auto launch = [](auto compact) {
    return [compact](const Memory& m, const Run& run) {
      c::Job<Item, c::IsPositive<Item>> job;
      job.d_in = run.d_in;
      job.n = run.n;
      job.d_out = run.d_out;
      job.d_count = reinterpret_cast<c::Index*>(m.d_count);
      job.d_spare = reinterpret_cast<c::Index*>(m.d_work);
      job.multiprocessors = m.multiprocessors;
      job.stream = m.stream;
      compact(job);
    };
  };
  const auto with = []<typename Tuning>(Tuning) {
    return [](const auto& job) { c::compact_in_waves<Tuning>(job); };
  };
  all.push_back({"compaction", "table", launch([](const auto& job) { c::state_of_the_art(job); })});
  (all.push_back({"compaction", name_of<Tunings>(), launch(with(Tunings{}))}), ...);
}

void cub_scan(const Memory& m, const Item* d_in, Item* d_out, std::uint64_t n) {
  std::size_t bytes = m.work_bytes;
  must(cub::DeviceScan::InclusiveSum(m.d_work, bytes, d_in, d_out, n, m.stream), "CUB");
}
void cub_select(const Memory& m, const Item* d_in, Item* d_out, unsigned long long* d_count,
                std::uint64_t n) {
  std::size_t bytes = m.work_bytes;
  must(cub::DeviceSelect::If(m.d_work, bytes, d_in, d_out, d_count, static_cast<std::int64_t>(n),
                             compaction::IsPositive<Item>{}, m.stream),
       "CUB");
}

template <unsigned kThreads, unsigned kRows, unsigned kBlocks, unsigned kLag, unsigned kSlots>
using R = device::RingTuning<device::TileTuning<kThreads, kRows, kBlocks>, kLag, kSlots>;

std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  all.push_back(
      {"copy", "cudaMemcpy", [](const Memory& m, const Run& run) {
         must(cudaMemcpyAsync(run.d_out, run.d_in, run.n * sizeof(Item), cudaMemcpyDeviceToDevice, m.stream),
              "cudaMemcpy");
       }});
  all.push_back(
      {"scan", "CUB", [](const Memory& m, const Run& run) { cub_scan(m, run.d_in, run.d_out, run.n); }});
  add_scans<R<256, 4, 2, 3, 6>, R<256, 4, 2, 4, 6>, R<256, 3, 2, 4, 6>, R<256, 2, 3, 4, 6>,
            R<320, 4, 2, 3, 5>, R<384, 8, 1, 2, 4>, R<512, 2, 2, 3, 6>, R<512, 4, 1, 2, 5>,
            R<512, 4, 1, 3, 6>>(all);
  all.push_back({"compaction", "CUB", [](const Memory& m, const Run& run) {
                   cub_select(m, run.d_in, run.d_out, m.d_count, run.n);
                 }});
  add_compactions<R<256, 4, 2, 3, 6>, R<256, 4, 2, 4, 6>, R<256, 3, 2, 4, 6>, R<256, 2, 3, 4, 6>,
                  R<320, 4, 2, 3, 5>, R<384, 8, 1, 2, 4>, R<512, 2, 2, 3, 6>, R<512, 4, 1, 3, 6>>(all);
  return all;
}

// The median of 25 runs; nothing if the candidate needs more shared memory or registers than the device has.
std::optional<double> median_us(const Memory& m, const Candidate& candidate, std::uint64_t n, Run& last) {
  std::vector<float> us;
  const std::uint64_t slots = 2 * m.most / n;
  for (std::uint64_t turn = 0; turn < 28; ++turn) {
    const std::uint64_t first = (7 * turn + 3) % slots * n;
    last = {m.d_in + first, m.d_out + first, n};
    must(cudaMemsetAsync(m.d_work, 0xA5, 8 << 20, m.stream), "poison");
    must(cudaMemsetAsync(last.d_out, 0xA5, n * sizeof(Item), m.stream), "poison");
    must(cudaDeviceSynchronize(), "synchronize");
    must(cudaEventRecord(m.start, m.stream), "event");
    candidate.launch(m, last);
    must(cudaEventRecord(m.end, m.stream), "event");
    must(cudaDeviceSynchronize(), candidate.name.c_str());
    const cudaError_t launched = cudaGetLastError();
    if (launched == cudaErrorInvalidValue || launched == cudaErrorCooperativeLaunchTooLarge ||
        launched == cudaErrorLaunchOutOfResources)
      return std::nullopt;
    must(launched, candidate.name.c_str());
    float ms = 0;
    must(cudaEventElapsedTime(&ms, m.start, m.end), "event");
    if (turn >= 3) us.push_back(1000 * ms);
  }
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

// Number of items of the output that differ from CUB's.
unsigned long long differences(const Memory& m, const Candidate& candidate, const Run& run) {
  unsigned long long counts[3] = {};
  must(cudaMemsetAsync(m.d_count + 1, 0, 2 * sizeof counts[0], m.stream), "memset");
  if (candidate.lab == "scan") cub_scan(m, run.d_in, m.d_want, run.n);
  if (candidate.lab == "compaction") cub_select(m, run.d_in, m.d_want, m.d_count + 1, run.n);
  must(cudaMemcpy(counts, m.d_count, sizeof counts, cudaMemcpyDefault), "cudaMemcpy");
  if (candidate.lab == "compaction" && counts[0] != counts[1]) return run.n;
  const std::uint64_t n = candidate.lab == "compaction" ? counts[1] : run.n;
  count_differences<<<blocks(n), 256, 0, m.stream>>>(candidate.lab == "copy" ? run.d_in : m.d_want, run.d_out,
                                                     n, m.d_count + 2);
  must(cudaMemcpy(counts, m.d_count, sizeof counts, cudaMemcpyDefault), "cudaMemcpy");
  return counts[2];
}

int run(const std::vector<int>& logs) {
  cudaDeviceProp device{};
  must(cudaGetDeviceProperties(&device, 0), "device");
  std::printf("# %s, compute capability %d\n", device.name, 10 * device.major + device.minor);
  const Memory memory(std::uint64_t{1} << *std::max_element(logs.begin(), logs.end()));
  int n_wrong = 0;
  std::printf("lab,threads x rows x blocks x lag x slots,log2 n,us,differences\n");
  for (const Candidate& candidate : candidates()) {
    for (const int log : logs) {
      Run last{};
      const auto us = median_us(memory, candidate, std::uint64_t{1} << log, last);
      if (!us) {
        std::printf("%s,%s,%d,does not fit,\n", candidate.lab.c_str(), candidate.name.c_str(), log);
        n_wrong += candidate.name == "table";
        continue;
      }
      const unsigned long long wrong = differences(memory, candidate, last);
      n_wrong += wrong != 0;
      std::printf("%s,%s,%d,%.2f,%llu\n", candidate.lab.c_str(), candidate.name.c_str(), log, *us, wrong);
      std::fflush(stdout);
    }
  }
  return n_wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace course

int main(int argc, char** argv) {
  std::vector<int> logs{20, 24, 28};
  if (argc == 3 && std::string(argv[1]) == "--logs") {
    logs.clear();
    for (const char* at = argv[2]; *at != '\0'; at += *at == ',') {
      char* end = nullptr;
      logs.push_back(static_cast<int>(std::strtol(at, &end, 10)));
      at = end;
    }
  } else if (argc != 1) {
    std::printf("usage: tune [--logs 20,24,28]\n");
    return 2;
  }
  for (const int log : logs) {
    if (log < 10 || log > 28) return std::printf("tune: sizes are 2^10 to 2^28\n"), 2;
  }
  return course::run(logs);
}
