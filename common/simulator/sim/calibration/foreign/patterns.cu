// SPDX-License-Identifier: MIT
// The blind set, second half: atomics, tables, hashing, random numbers, scans, sorting networks, queues.
// Its predictions were stored before anything of it was measured.
#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>

#include "foreign.hpp"

namespace course::foreign {
namespace {

namespace cg = cooperative_groups;

__constant__ float c_table[256];

__device__ unsigned thread_number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ unsigned n_threads() {
  return gridDim.x * blockDim.x;
}

__global__ void dot_in_doubles(const float* a, const float* b, double* sum, unsigned n) {
  __shared__ double s[256];
  double x = 0;
  for (unsigned i = thread_number(); i < n; i += n_threads()) x += static_cast<double>(a[i]) * b[i];
  s[threadIdx.x] = x;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(sum, s[0]);
}

__global__ void sum_with_an_atomic_per_warp(const float* a, float* sum, unsigned n) {
  const unsigned i = thread_number();
  float x = i < n ? a[i] : 0;
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_down_sync(~0u, x, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, x);
}

__global__ void filter(const int* in, int* out, int* count, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n || in[i] % 3 != 0) return;
  const auto active = cg::coalesced_threads();
  int base = 0;
  if (active.thread_rank() == 0) base = atomicAdd(count, static_cast<int>(active.size()));
  out[active.shfl(base, 0) + active.thread_rank()] = in[i];
}

__global__ void histogram_per_warp(const int* in, int* bins, unsigned n) {
  __shared__ int s[8][64];
  for (unsigned k = threadIdx.x; k < 512; k += blockDim.x) s[k / 64][k % 64] = 0;
  __syncthreads();
  for (unsigned i = thread_number(); i < n; i += n_threads()) atomicAdd(&s[threadIdx.x / 32][in[i] & 63], 1);
  __syncthreads();
  if (threadIdx.x >= 64) return;
  int sum = 0;
  for (unsigned w = 0; w < 8; ++w) sum += s[w][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], sum);
}

__global__ void histogram_by_match(const int* in, int* bins, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n) return;
  const unsigned bin = in[i] & 15, same = __match_any_sync(~0u, bin);
  if (threadIdx.x % 32 == __ffs(same) - 1u) atomicAdd(&bins[bin], __popc(same));
}

__global__ void table_in_constant_memory(const int* in, float* out, unsigned n) {
  const unsigned i = thread_number();
  if (i < n) out[i] = c_table[in[i] & 255];
}

__global__ void table_in_shared_memory(const int* in, float* out, unsigned n) {
  __shared__ float s[256];
  s[threadIdx.x] = c_table[threadIdx.x];
  __syncthreads();
  for (unsigned i = thread_number(); i < n; i += n_threads()) {
    const unsigned word = static_cast<unsigned>(in[i]);
    out[i] = s[word & 255] + s[word >> 8 & 255] + s[word >> 16 & 255];
  }
}

__device__ unsigned hash_of(unsigned key) {
  key ^= key >> 16;
  key *= 0x85ebca6bu;
  key ^= key >> 13;
  key *= 0xc2b2ae35u;
  return key ^ key >> 16;
}

__global__ void hash_insert(const int* keys, unsigned* slots, unsigned mask, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n) return;
  const unsigned key = static_cast<unsigned>(keys[i]) + 1;
  for (unsigned at = hash_of(key) & mask;; at = (at + 1) & mask) {
    const unsigned before = atomicCAS(&slots[at], 0u, key);
    if (before == 0 || before == key) return;
  }
}

// The table is an array of random numbers. Those divisible by 4 are empty slots, so most chains are short.
__global__ void hash_look_up(const int* keys, const unsigned* slots, int* out, unsigned mask, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n) return;
  const unsigned key = static_cast<unsigned>(keys[i]);
  unsigned at = hash_of(key) & mask, steps = 0;
  while (slots[at] % 4 != 0 && slots[at] != key) at = (at + 1) & mask, ++steps;
  out[i] = static_cast<int>(steps);
}

__global__ void find_string(const unsigned char* text, int* counts, unsigned n) {
  int found = 0;
  for (unsigned i = thread_number(); i + 4 < n; i += n_threads()) {
    unsigned k = 0;
    while (k < 4 && text[i + k] == 'a' + k) ++k;
    found += k == 4;
  }
  if (found > 0) atomicAdd(counts, found);
}

__global__ void fnv_of_records(const uint4* in, unsigned* out, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n) return;
  unsigned hash = 2166136261u;
  for (unsigned k = 0; k < 4; ++k) {
    const uint4 v = in[4 * i + k];
    for (const unsigned word : {v.x, v.y, v.z, v.w})
      for (unsigned first = 0; first < 32; first += 8) hash = (hash ^ (word >> first & 255)) * 16777619u;
  }
  out[i] = hash;
}

__global__ void box_muller(float2* out, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n) return;
  unsigned x = i * 2654435761u + 1;
  float2 sum = make_float2(0, 0);
  for (int k = 0; k < 4; ++k) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    const float u = (static_cast<float>(x >> 8) + 0.5f) * 0x1p-24f;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    float sine = 0, cosine = 0;
    sincospif(2 * static_cast<float>(x >> 8) * 0x1p-24f, &sine, &cosine);
    const float radius = sqrtf(-2 * logf(u));
    sum.x += radius * cosine, sum.y += radius * sine;
  }
  out[i] = sum;
}

__global__ void hillis_steele(const int* in, int* out) {
  __shared__ int s[2][1024];
  const unsigned t = threadIdx.x;
  s[0][t] = in[blockIdx.x * 1024 + t];
  unsigned from = 0;
  for (unsigned offset = 1; offset < 1024; offset *= 2, from ^= 1) {
    __syncthreads();
    s[from ^ 1][t] = s[from][t] + (t >= offset ? s[from][t - offset] : 0);
  }
  out[blockIdx.x * 1024 + t] = s[from][t];
}

__global__ void blelloch(const int* in, int* out) {
  __shared__ int s[1024];
  const unsigned t = threadIdx.x;
  s[2 * t] = in[blockIdx.x * 1024 + 2 * t];
  s[2 * t + 1] = in[blockIdx.x * 1024 + 2 * t + 1];
  unsigned offset = 1;
  for (unsigned d = 512; d > 0; d /= 2, offset *= 2) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
  }
  if (t == 0) s[1023] = 0;
  for (unsigned d = 1; d < 1024; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      const unsigned low = offset * (2 * t + 1) - 1, high = offset * (2 * t + 2) - 1;
      const int x = s[low];
      s[low] = s[high];
      s[high] += x;
    }
  }
  __syncthreads();
  out[blockIdx.x * 1024 + 2 * t] = s[2 * t];
  out[blockIdx.x * 1024 + 2 * t + 1] = s[2 * t + 1];
}

__global__ void warp_sort(const int* in, int* out) {
  const unsigned lane = threadIdx.x % 32;
  int x = in[thread_number()];
  for (unsigned size = 2; size <= 32; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      const int other = __shfl_xor_sync(~0u, x, stride);
      const bool up = (lane & size) == 0, low = (lane & stride) == 0;
      x = up == low ? min(x, other) : max(x, other);
    }
  }
  out[thread_number()] = x;
}

__global__ void bitonic_step(int* data, unsigned stride, unsigned size) {
  const unsigned t = thread_number(), low = t / stride * 2 * stride + t % stride;
  const int a = data[low], b = data[low + stride];
  if ((a > b) == ((low & size) == 0)) data[low] = b, data[low + stride] = a;
}

// Two buffers of 1024 floats, filled by asynchronous copies while the other one is used.
__global__ void pipelined_sums(const float* in, float* out, unsigned tiles_per_block) {
  __shared__ alignas(16) float s[2][1024];
  const unsigned t = threadIdx.x;
  const float* from = in + static_cast<std::size_t>(blockIdx.x) * tiles_per_block * 1024 + 4 * t;
  __pipeline_memcpy_async(&s[0][4 * t], from, 16);
  __pipeline_commit();
  float sum = 0;
  for (unsigned k = 0; k < tiles_per_block; ++k) {
    if (k + 1 < tiles_per_block) __pipeline_memcpy_async(&s[(k + 1) % 2][4 * t], from + (k + 1) * 1024, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (unsigned j = 0; j < 4; ++j) sum += s[k % 2][(t * 5 + j * 256) % 1024];
    __syncthreads();
  }
  out[thread_number()] = sum;
}

// Blocks take tiles from a common counter until none is left.
__global__ void queue_of_tiles(const float* in, float* out, unsigned* next, unsigned n_tiles) {
  __shared__ unsigned tile;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(next, 1u);
    __syncthreads();
    const unsigned mine = tile;
    __syncthreads();
    if (mine >= n_tiles) return;
    float x = in[mine * 256 + threadIdx.x];
    for (unsigned k = 0; k < mine % 64; ++k) x = x * 0.999f + 0.5f;
    out[mine * 256 + threadIdx.x] = x;
  }
}

__global__ void rotate_image(cudaTextureObject_t image, float* out, unsigned width) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float u = static_cast<float>(x) - 512, v = static_cast<float>(y) - 512;
  out[y * width + x] = tex2D<float>(image, 0.8f * u - 0.6f * v + 512.5f, 0.6f * u + 0.8f * v + 512.5f);
}

// One step of a breadth-first search in a graph of random edges, eight for each node.
constexpr int kFirstLevel = 0x01010101;
__global__ void bfs_step(const int* edges, int* levels, int level, unsigned n) {
  const unsigned node = thread_number();
  if (node >= n || levels[node] != level - 1) return;
  for (unsigned k = 0; k < 8; ++k) {
    const unsigned to = static_cast<unsigned>(edges[8 * node + k]) % n;
    if (levels[to] == 0) levels[to] = level;
  }
}

__global__ void collatz(int* out, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n) return;
  unsigned long long x = i + 1;
  int steps = 0;
  while (x != 1) x = x % 2 == 0 ? x / 2 : 3 * x + 1, ++steps;
  out[i] = steps;
}

__global__ void power_modulo(const int* in, unsigned* out, unsigned n) {
  const unsigned i = thread_number();
  if (i >= n) return;
  constexpr unsigned long long kModulus = 4294967291ull;
  unsigned long long base = static_cast<unsigned>(in[i]), result = 1;
  for (unsigned exponent = 65537; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = result * base % kModulus;
    base = base * base % kModulus;
  }
  out[i] = static_cast<unsigned>(result);
}

// A thread adds up a part of a column; blocks of the same columns use atomics.
__global__ void column_sums(const float* in, float* sums, unsigned width, unsigned rows_per_block) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * rows_per_block;
  float sum = 0;
  for (unsigned r = 0; r < rows_per_block; ++r) sum += in[(first + r) * width + column];
  atomicAdd(&sums[column], sum);
}

cudaTextureObject_t texture_of(float* d, unsigned width) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = d;
  resource.res.pitch2D.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  resource.res.pitch2D.width = resource.res.pitch2D.height = width;
  resource.res.pitch2D.pitchInBytes = width * sizeof(float);
  cudaTextureDesc how{};
  how.filterMode = cudaFilterModeLinear;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture = 0;
  must(cudaCreateTextureObject(&texture, &resource, &how, nullptr), "cudaCreateTextureObject");
  return texture;
}

}  // namespace

void add_patterns(const Memory& m, std::vector<Case>& cases) {
  const auto add = [&](const char* name, std::function<void()> run) {
    cases.push_back({name, std::move(run), {}});
  };
  const auto zeroed = [&](const char* name, std::size_t n_bytes, std::function<void()> run) {
    cases.push_back({name, std::move(run), [=] { must(cudaMemset(m.out, 0, n_bytes), "cudaMemset"); }});
  };
  const auto unsigneds = [](int* d) { return reinterpret_cast<unsigned*>(d); };
  const unsigned n = 1u << 22;
  zeroed("dot product in doubles", 8,
         [=] { dot_in_doubles<<<528, 256>>>(m.a, m.b, reinterpret_cast<double*>(m.out), n); });
  zeroed("sum with an atomic per warp", 4,
         [=] { sum_with_an_atomic_per_warp<<<n / 256, 256>>>(m.a, reinterpret_cast<float*>(m.out), n); });
  zeroed("filter with coalesced groups", 4, [=] { filter<<<n / 256, 256>>>(m.ints, m.out + 32, m.out, n); });
  zeroed("histogram per warp", 256, [=] { histogram_per_warp<<<528, 256>>>(m.ints, m.out, n); });
  zeroed("histogram by match", 64, [=] { histogram_by_match<<<4096, 256>>>(m.ints, m.out, 1u << 20); });
  add("table in constant memory", [=] { table_in_constant_memory<<<n / 256, 256>>>(m.ints, m.c, n); });
  add("table in shared memory", [=] { table_in_shared_memory<<<1056, 256>>>(m.ints, m.c, n); });
  zeroed("hash table, insert", std::size_t{4} * n,
         [=] { hash_insert<<<4096, 256>>>(m.ints, unsigneds(m.out), n - 1, 1u << 20); });
  add("hash table, look up",
      [=] { hash_look_up<<<4096, 256>>>(m.ints + n, unsigneds(m.ints), m.out, n - 1, 1u << 20); });
  zeroed("find a string", 4, [=] {
    find_string<<<1056, 256>>>(reinterpret_cast<const unsigned char*>(m.ints), m.out, 1u << 24);
  });
  add("FNV of records", [=] {
    fnv_of_records<<<1024, 256>>>(reinterpret_cast<const uint4*>(m.ints), unsigneds(m.out), 1u << 18);
  });
  add("Box-Muller", [=] { box_muller<<<4096, 256>>>(reinterpret_cast<float2*>(m.c), 1u << 20); });
  add("Hillis-Steele scan", [=] { hillis_steele<<<2048, 1024>>>(m.ints, m.out); });
  add("Blelloch scan", [=] { blelloch<<<2048, 512>>>(m.ints, m.out); });
  add("warp sort", [=] { warp_sort<<<8192, 256>>>(m.ints, m.out); });
  cases.push_back(
      {"bitonic steps",
       [=] {
         for (unsigned stride = 1u << 16; stride >= 1u << 13; stride /= 2)
           bitonic_step<<<8192, 256>>>(m.out, stride, 1u << 17);
       },
       [=] { must(cudaMemcpy(m.out, m.ints, 16 << 20, cudaMemcpyDeviceToDevice), "cudaMemcpy"); }});
  add("pipelined sums", [=] { pipelined_sums<<<1024, 256>>>(m.a, m.c, 8); });
  zeroed("queue of tiles", 4, [=] { queue_of_tiles<<<528, 256>>>(m.a, m.c, unsigneds(m.out), 8192); });
  const cudaTextureObject_t image = m.b == nullptr ? 0 : texture_of(m.b, 1024);
  add("rotated texture", [=] { rotate_image<<<dim3(32, 128), dim3(32, 8)>>>(image, m.c, 1024); });
  cases.push_back({"breadth-first search, 4 steps",
                   [=] {
                     for (int step = 1; step <= 4; ++step)
                       bfs_step<<<4096, 256>>>(m.ints, m.out, kFirstLevel + step, 1u << 20);
                   },
                   [=] {
                     must(cudaMemset(m.out, 0, 4 << 20), "cudaMemset");
                     must(cudaMemset(m.out, 1, 1 << 12), "cudaMemset");  // 1024 nodes of kFirstLevel
                   }});
  add("Collatz", [=] { collatz<<<4096, 256>>>(m.out, 1u << 20); });
  add("power modulo a prime", [=] { power_modulo<<<4096, 256>>>(m.ints, unsigneds(m.out), 1u << 20); });
  zeroed("column sums with atomics", 1 << 13,
         [=] { column_sums<<<dim3(8, 128), 256>>>(m.a, reinterpret_cast<float*>(m.out), 2048, 16); });
}

}  // namespace course::foreign
