// SPDX-License-Identifier: MIT
// Global memory: streams by bytes in flight and by size, cold and from the L2 cache, strides, scattered
// reads, chains of dependent reads.
#include "sim/calibration/cases.hpp"

namespace course::calibration {
namespace {

template <typename T>
__device__ unsigned folded(T v) {
  if constexpr (sizeof(T) == 16)
    return v.x ^ v.y ^ v.z ^ v.w;
  else
    return v;
}

// Each thread has kInFlight loads in flight.
template <typename T, int kInFlight>
__global__ void read(const T* d_from, unsigned* d_to, unsigned n) {
  const unsigned n_threads = gridDim.x * blockDim.x;
  unsigned sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i + (kInFlight - 1) * n_threads < n;
       i += kInFlight * n_threads) {
    T pack[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) pack[k] = d_from[i + k * n_threads];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) sum += folded(pack[k]);
  }
  if (sum == 0x9e3779b9u) *d_to = sum;
}

template <typename T, int kInFlight>
__global__ void copy(const T* d_from, T* d_to, unsigned n) {
  const unsigned n_threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i + (kInFlight - 1) * n_threads < n;
       i += kInFlight * n_threads) {
    T pack[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) pack[k] = d_from[i + k * n_threads];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) d_to[i + k * n_threads] = pack[k];
  }
}

template <typename T>
__global__ void write(T* d_to, unsigned n, T value) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    d_to[i] = value;
}

__global__ void strided(const unsigned* d_from, unsigned* d_to, unsigned n, unsigned stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && d_from[i * stride] == 0x9e3779b9u) *d_to = i;
}

// Each thread reads its own run of `run` consecutive words: the first read of a sector brings the following
// words into L1.
__global__ void own_runs(const unsigned* d_from, unsigned* d_to, unsigned run) {
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
  unsigned sum = 0;
  for (unsigned k = 0; k < run; ++k) sum += d_from[first + k];
  if (sum == 0x9e3779b9u) *d_to = sum;
}

// Each thread has kInFlight reads at random positions in a power of two of words.
template <int kInFlight>
__global__ void scattered(const unsigned* d_from, unsigned* d_to, unsigned words, unsigned rounds) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u, sum = 0;
  for (unsigned k = 0; k < rounds; ++k) {
    unsigned value[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
      at = at * 1664525u + 1013904223u;
      value[j] = d_from[(at >> 4) & (words - 1)];
    }
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) sum += value[j];
  }
  if (sum == 0x9e3779b9u) *d_to = sum;
}

// Each lane writes at a random position.
__global__ void scattered_write(unsigned* d_to, unsigned words, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_to[(i * 2654435761u >> 3) & (words - 1)] = i;
}

// Each read determines the address of the next one: a chain of dependent reads.
__global__ void chain(const unsigned* d_from, unsigned* d_to, unsigned length, unsigned jump, unsigned mask) {
  unsigned at = 0;
  for (unsigned k = 0; k < length; ++k) at = (at + jump + (d_from[at] >> 31 << 5)) & mask;
  *d_to = at;
}

constexpr unsigned kMiB = 1u << 20;

// By size, with full occupancy.
void add_sizes(const Memory& m, std::vector<Case>& cases) {
  const auto cold = [m] { m.flush(); };
  const unsigned sms = static_cast<unsigned>(m.multiprocessors);
  const unsigned* from = m.d_from;
  unsigned* to = m.d_to;
  const auto* from4 = reinterpret_cast<const uint4*>(from);
  auto* to4 = reinterpret_cast<uint4*>(to);
  for (const unsigned mib : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u}) {
    const unsigned n = mib * kMiB / 4;
    const auto blocks = [=](unsigned wanted) { return std::min(wanted, sms * 8); };
    cases.push_back({"read",
                     {{"mib", mib}, {"bytes", 4}},
                     [=] { read<unsigned, 4><<<blocks(n / 1024), 256>>>(from, to, n); },
                     cold});
    cases.push_back({"read",
                     {{"mib", mib}, {"bytes", 16}},
                     [=] { read<uint4, 4><<<blocks(n / 4096), 256>>>(from4, to, n / 4); },
                     cold});
    cases.push_back({"copy",
                     {{"mib", mib}, {"bytes", 4}},
                     [=] { copy<unsigned, 1><<<n / 256, 256>>>(from, to, n); },
                     cold});
    cases.push_back({"copy",
                     {{"mib", mib}, {"bytes", 16}},
                     [=] { copy<uint4, 2><<<blocks(n / 2048), 256>>>(from4, to4, n / 4); },
                     cold});
    cases.push_back({"write",
                     {{"mib", mib}},
                     [=] { write<uint4><<<blocks(n / 1024), 256>>>(to4, n / 4, uint4{}); },
                     cold});
    if (mib <= 32)  // the second read is from the cache
      for (const unsigned times : {2u, 4u})
        cases.push_back({"read again",
                         {{"mib", mib}, {"times", times}},
                         [=] {
                           for (unsigned k = 0; k < times; ++k)
                             read<uint4, 4><<<blocks(n / 4096), 256>>>(from4, to, n / 4);
                         },
                         cold});
    if (mib <= 32)
      cases.push_back({"copy back",
                       {{"mib", mib}},
                       [=] {
                         copy<uint4, 1><<<n / 1024, 256>>>(from4, to4, n / 4);
                         copy<uint4, 1><<<n / 1024, 256>>>(to4, const_cast<uint4*>(from4), n / 4);
                       },
                       cold});
  }
}

void add_bytes_in_flight(const Memory& m, std::vector<Case>& cases) {
  const auto cold = [m] { m.flush(); };
  const unsigned sms = static_cast<unsigned>(m.multiprocessors);
  const unsigned* from = m.d_from;
  unsigned* to = m.d_to;
  const auto* from4 = reinterpret_cast<const uint4*>(from);
  for (const unsigned blocks : {1u, 4u, 16u, 66u, 132u, 264u, 528u})
    for (const unsigned threads : {32u, 256u, 1024u}) {
      if (blocks * threads > sms * 2048) continue;
      const unsigned mib = blocks * threads < 8192 ? 1 : 16, n = mib * kMiB / 4;
      cases.push_back({"in flight",
                       {{"blocks", blocks}, {"threads", threads}, {"bytes", 4}, {"mib", mib}},
                       [=] { read<unsigned, 1><<<blocks, threads>>>(from, to, n); },
                       cold});
      cases.push_back({"in flight",
                       {{"blocks", blocks}, {"threads", threads}, {"bytes", 64}, {"mib", mib}},
                       [=] { read<uint4, 4><<<blocks, threads>>>(from4, to, n / 4); },
                       cold});
    }
}

void add_patterns(const Memory& m, std::vector<Case>& cases) {
  const auto cold = [m] { m.flush(); };
  const unsigned sms = static_cast<unsigned>(m.multiprocessors);
  const unsigned* from = m.d_from;
  unsigned* to = m.d_to;
  for (const unsigned stride : {1u, 2u, 4u, 8u, 16u, 32u})
    cases.push_back(
        {"strided", {{"stride", stride}}, [=] { strided<<<4096, 256>>>(from, to, 1u << 20, stride); }, cold});
  for (const unsigned run : {4u, 16u, 64u, 256u})
    cases.push_back({"own runs",
                     {{"run", run}},
                     [=] { own_runs<<<(1u << 22) / run / 128, 128>>>(from, to, run); },
                     cold});
  for (const unsigned words : {1u << 14, 1u << 18, 1u << 21, 1u << 23, 1u << 25}) {
    cases.push_back({"scattered",
                     {{"words", words}, {"in_flight", 1}},
                     [=] { scattered<1><<<sms * 4, 256>>>(from, to, words, 8); },
                     cold});
    cases.push_back({"scattered",
                     {{"words", words}, {"in_flight", 4}},
                     [=] { scattered<4><<<sms * 4, 256>>>(from, to, words, 4); },
                     cold});
    cases.push_back({"scattered write",
                     {{"words", words}},
                     [=] { scattered_write<<<4096, 256>>>(to, words, 1u << 20); },
                     cold});
  }
  for (const unsigned kib : {16u, 1024u, 16384u, 131072u})
    for (const unsigned length : {512u, 2048u})
      cases.push_back({"chain",
                       {{"kib", kib}, {"length", length}},
                       [=] { chain<<<1, 1>>>(from, to, length, kib * 256 / length | 32, kib * 256 - 1); },
                       cold});
}

}  // namespace

std::vector<Case> memory_cases(const Memory& m) {
  std::vector<Case> cases;
  add_sizes(m, cases);
  add_bytes_in_flight(m, cases);
  add_patterns(m, cases);
  return cases;
}

}  // namespace course::calibration
