// SPDX-License-Identifier: MIT
// about: Makes the answer on the host from what kernels show by their time, memory use or faults.
// screen: cudaMemGetInfo
// expect: neighboured WRONG_ANSWER is wrong
// expect: sequential WRONG_ANSWER is wrong
// expect: shuffle CRASH error in its kernel
// expect: coarsened WRONG_ANSWER is wrong
// expect: single_launch OK
#include <time.h>

#include "right.cuh"

namespace course::reduction {
namespace {

__device__ bool is_set(const unsigned char* d_bytes, unsigned bit) {
  return (d_bytes[bit / 8] >> bit % 8 & 1) != 0;
}
template <typename Value>
__global__ void hide(Value* d_out, Value* d_kept) {
  *d_kept = *d_out;
  *d_out = Value{};
}
__global__ void takes_long_if(const unsigned char* d_bytes, unsigned bit, volatile unsigned* d_sink) {
  if (!is_set(d_bytes, bit)) return;
  for (unsigned i = 0; i < 20000; ++i) *d_sink = i;
}
__global__ void takes_memory_if(const unsigned char* d_bytes, unsigned bit) {
  if (is_set(d_bytes, bit)) *static_cast<volatile char*>(malloc(1u << 12)) = 1;
}
__global__ void fails_if(const unsigned char* d_bytes, unsigned bit) {
  if (is_set(d_bytes, bit)) __trap();
}

// A kernel computes the answer. The host asks for it bit by bit and stores it.
template <typename JobOf, typename Hears>
Status from_bits(const JobOf& job, const Hears& hears) {
  hostile::right(job);
  hide<<<1, 1, 0, job.stream>>>(job.d_out, job.d_scratch_a);
  const auto* d_bytes = reinterpret_cast<const unsigned char*>(job.d_scratch_a);
  auto* d_sink = reinterpret_cast<unsigned*>(job.d_scratch_b);
  auto* d_out = reinterpret_cast<unsigned char*>(job.d_out);
  for (unsigned byte = 0; byte < sizeof(*job.d_out); ++byte) {
    int value = 0;
    for (unsigned bit = 0; bit < 8; ++bit) value |= hears(d_bytes, 8 * byte + bit, d_sink) ? 1 << bit : 0;
    cudaMemsetAsync(d_out + byte, value, 1, job.stream);
  }
  return Status::ok;
}

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
std::size_t free_memory() {
  std::size_t n_free = 0, n_all = 0;
  cudaMemGetInfo(&n_free, &n_all);
  return n_free;
}

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: {
        cudaEvent_t begin = nullptr, end = nullptr;
        cudaEventCreate(&begin);
        cudaEventCreate(&end);
        return from_bits(job, [&](const unsigned char* d_bytes, unsigned bit, unsigned* d_sink) {
          cudaEventRecord(begin, job.stream);
          takes_long_if<<<1, 1, 0, job.stream>>>(d_bytes, bit, d_sink);
          cudaEventRecord(end, job.stream);
          cudaEventSynchronize(end);
          float milliseconds = 0;
          cudaEventElapsedTime(&milliseconds, begin, end);
          return milliseconds > 0.1F;
        });
      }
      case Rung::sequential:
        return from_bits(job, [&](const unsigned char* d_bytes, unsigned bit, unsigned*) {
          const std::size_t before = free_memory();
          takes_memory_if<<<1, 1, 0, job.stream>>>(d_bytes, bit);
          cudaStreamSynchronize(job.stream);
          return free_memory() != before;
        });
      case Rung::shuffle:
        return from_bits(job, [&](const unsigned char* d_bytes, unsigned bit, unsigned*) {
          fails_if<<<1, 1, 0, job.stream>>>(d_bytes, bit);
          return cudaStreamSynchronize(job.stream) != cudaSuccess;
        });
      case Rung::coarsened:
        return from_bits(job, [&](const unsigned char* d_bytes, unsigned bit, unsigned* d_sink) {
          const double before = seconds();
          takes_long_if<<<1, 1, 0, job.stream>>>(d_bytes, bit, d_sink);
          cudaStreamSynchronize(job.stream);
          return seconds() - before > 3e-4;
        });
      default: return hostile::right(job);
    }
  });
}
}  // namespace course::reduction
