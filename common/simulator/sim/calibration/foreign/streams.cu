// SPDX-License-Identifier: MIT
// Global memory: streams by loads per thread, block size, occupancy and type; strides, gathers, chains.
#include "foreign.hpp"

namespace course::foreign {
namespace {

// c = a + b, kEach items per thread, a block's items together.
template <int kEach>
__global__ void vector_add(const float* a, const float* b, float* c, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x * kEach + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const unsigned i = first + k * blockDim.x;
    if (i < n) c[i] = a[i] + b[i];
  }
}

__global__ void vector_add4(const float4* a, const float4* b, float4* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 x = a[i], y = b[i];
  c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

// All loads come before the first use.
template <int kEach>
__global__ void read_many(const float* a, float* c) {
  const unsigned first = blockIdx.x * blockDim.x * kEach + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kEach; ++k) sum += a[first + k * blockDim.x];
  c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <typename T>
__global__ void copy(const T* a, T* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i];
}

template <typename T>
__global__ void copy_shared(const T* a, T* c, unsigned n) {  // with unused shared memory
  extern __shared__ char s[];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n == 0) c[0] = s[i];
  if (i < n) c[i] = a[i];
}

__global__ void saxpy(const float* x, float* y, unsigned n, float f) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = f * x[i] + y[i];
}

__global__ void fill(int* out, int value, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}

__global__ void strided_read(const float* a, float* c, unsigned stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i * stride];
}

__global__ void offset_copy(const float* a, float* c, unsigned n, unsigned offset) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x + offset;
  if (i < n) c[i] = a[i];
}

template <int kEach>
__global__ void gather(const int* at, const float* a, float* c, unsigned mask) {
  const unsigned first = blockIdx.x * blockDim.x * kEach + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const unsigned i = first + k * blockDim.x;
    c[i] = a[static_cast<unsigned>(at[i]) & mask];
  }
}

__global__ void scatter(const int* at, float* c, unsigned mask) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  c[static_cast<unsigned>(at[i]) & mask] = static_cast<float>(i);
}

// Each load gives the address of the next one.
__global__ void chase(const int* at, int* out, unsigned mask, unsigned length) {
  unsigned p = (blockIdx.x * blockDim.x + threadIdx.x) * 977u;
  for (unsigned k = 0; k < length; ++k) p = (static_cast<unsigned>(at[p & mask]) >> 3) + p;
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(p);
}

// Structures of four floats whose members are read one by one.
__global__ void structures(const float* a, float* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[4 * i] + a[4 * i + 1] + a[4 * i + 2] + a[4 * i + 3];
}

// A search in a sorted list, the indices themselves: a chain of dependent loads.
__global__ void binary_search(const int* keys, const float* sorted, int* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float key = static_cast<float>(keys[i] & 0xffff);
  unsigned low = 0, high = n;
  while (low < high) {
    const unsigned middle = low + (high - low) / 2;
    if (sorted[middle] * 65536.f < key)
      low = middle + 1;
    else
      high = middle;
  }
  out[i] = static_cast<int>(low);
}

// Sparse matrix by rows of eight random columns.
__global__ void spmv(const int* columns, const float* values, const float* x, float* y, unsigned rows) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (unsigned k = 0; k < 8; ++k) {
    const unsigned at = row * 8 + k;
    sum += values[at] * x[static_cast<unsigned>(columns[at]) & 0xfffff];
  }
  y[row] = sum;
}

}  // namespace

void add_streams(const Memory& m, std::vector<Case>& cases) {
  constexpr unsigned n = Memory::kItems, half = n / 2;
  const auto add = [&](const std::string& name, std::function<void()> run) {
    cases.push_back({name, std::move(run), {}});
  };
  add("vector add, 1 each", [=] { vector_add<1><<<half / 256, 256>>>(m.a, m.b, m.c, half); });
  add("vector add, 2 each", [=] { vector_add<2><<<half / 512, 256>>>(m.a, m.b, m.c, half); });
  add("vector add, 4 each", [=] { vector_add<4><<<half / 1024, 256>>>(m.a, m.b, m.c, half); });
  add("vector add, 8 each", [=] { vector_add<8><<<half / 2048, 256>>>(m.a, m.b, m.c, half); });
  const auto *a4 = reinterpret_cast<const float4*>(m.a), *b4 = reinterpret_cast<const float4*>(m.b);
  auto* c4 = reinterpret_cast<float4*>(m.c);
  add("vector add, float4", [=] { vector_add4<<<half / 1024, 256>>>(a4, b4, c4, half / 4); });
  add("vector add, small", [=] { vector_add<1><<<256, 256>>>(m.a, m.b, m.c, 65536); });
  add("read 1", [=] { read_many<1><<<half / 256, 256>>>(m.a, m.c); });
  add("read 2", [=] { read_many<2><<<half / 512, 256>>>(m.a, m.c); });
  add("read 4", [=] { read_many<4><<<half / 1024, 256>>>(m.a, m.c); });
  add("read 8", [=] { read_many<8><<<half / 2048, 256>>>(m.a, m.c); });
  add("read 16", [=] { read_many<16><<<half / 4096, 256>>>(m.a, m.c); });
  for (const unsigned threads : {32u, 64u, 128u, 256u, 512u, 1024u})
    add("copy, " + std::to_string(threads) + " threads",
        [=] { copy<float><<<half / threads, threads>>>(m.a, m.c, half); });
  add("copy, float4", [=] { copy<float4><<<half / 1024, 256>>>(a4, c4, half / 4); });
  add("copy, bytes", [=] {
    copy<char><<<half / 256, 256>>>(reinterpret_cast<const char*>(m.a), reinterpret_cast<char*>(m.c), half);
  });
  add("copy, doubles", [=] {
    copy<double>
        <<<half / 512, 256>>>(reinterpret_cast<const double*>(m.a), reinterpret_cast<double*>(m.c), half / 2);
  });
  for (const unsigned kib : {16u, 64u, 200u})
    add("copy, " + std::to_string(kib) + " KiB of shared memory", [=] {
      must(cudaFuncSetAttribute(copy_shared<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10),
           "attribute");
      copy_shared<float><<<half / 256, 256, kib << 10>>>(m.a, m.c, half);
    });
  for (const unsigned blocks : {32u, 132u, 528u, 1056u})
    add("saxpy, " + std::to_string(blocks) + " blocks", [=] { saxpy<<<blocks, 256>>>(m.a, m.c, half, 2.f); });
  add("fill", [=] { fill<<<n / 256, 256>>>(m.out, 7, n); });
  for (const unsigned stride : {2u, 4u, 8u, 32u})
    add("stride " + std::to_string(stride), [=] { strided_read<<<2048, 256>>>(m.a, m.c, stride); });
  add("copy with offset 1", [=] { offset_copy<<<half / 256, 256>>>(m.a, m.c, half, 1); });
  add("copy with offset 17", [=] { offset_copy<<<half / 256, 256>>>(m.a, m.c, half, 17); });
  const unsigned few = 1u << 21;
  add("gather from 16 KiB", [=] { gather<1><<<few / 256, 256>>>(m.ints, m.a, m.c, 0xfff); });
  add("gather from 1 MiB", [=] { gather<1><<<few / 256, 256>>>(m.ints, m.a, m.c, 0x3ffff); });
  add("gather from 64 MiB", [=] { gather<1><<<few / 256, 256>>>(m.ints, m.a, m.c, 0xffffff); });
  add("gather from 1 MiB, 4 each", [=] { gather<4><<<few / 1024, 256>>>(m.ints, m.a, m.c, 0x3ffff); });
  add("gather from 64 MiB, 4 each", [=] { gather<4><<<few / 1024, 256>>>(m.ints, m.a, m.c, 0xffffff); });
  add("scatter to 1 MiB", [=] { scatter<<<few / 256, 256>>>(m.ints, m.c, 0x3ffff); });
  add("scatter to 64 MiB", [=] { scatter<<<few / 256, 256>>>(m.ints, m.c, 0xffffff); });
  add("chase in 8 KiB, one thread", [=] { chase<<<1, 1>>>(m.ints, m.out, 0x7ff, 1000); });
  add("chase in 2 MiB, one warp each", [=] { chase<<<132, 32>>>(m.ints, m.out, 0x7ffff, 200); });
  add("chase in 64 MiB, one warp", [=] { chase<<<1, 32>>>(m.ints, m.out, 0xffffff, 200); });
  add("chase in 64 MiB, many warps", [=] { chase<<<528, 256>>>(m.ints, m.out, 0xffffff, 8); });
  add("structures of four floats", [=] { structures<<<half / 1024, 256>>>(m.a, m.c, half / 4); });
  add("binary search", [=] { binary_search<<<1024, 256>>>(m.ints, m.a, m.out, 1u << 20); });
  add("sparse matrix", [=] { spmv<<<1024, 256>>>(m.ints, m.a, m.b, m.c, 262144); });
}

}  // namespace course::foreign
