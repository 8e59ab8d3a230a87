// SPDX-License-Identifier: MIT
// about: Stores answers by size or by a fingerprint of the items, or keeps the output of the run before.
// expect: neighboured WRONG_ANSWER second call
// expect: sequential WRONG_ANSWER
// expect: shuffle WRONG_ANSWER
// expect: single_launch OK
#include "right.cuh"

namespace course::reduction {
namespace {

// In device memory, because the program may not copy to the host.
__device__ unsigned char kept_answers[64][16];

template <typename Value>
__global__ void keep(const Value* d_out, unsigned slot) {
  *reinterpret_cast<Value*>(kept_answers[slot]) = *d_out;
}
template <typename Value>
__global__ void recall(Value* d_out, unsigned slot) {
  *d_out = *reinterpret_cast<const Value*>(kept_answers[slot]);
}

// Computes the answer for new items; otherwise writes the old one.
template <typename JobOf>
Status once(const JobOf& job, std::uint64_t key) {
  static std::uint64_t keys[64];
  static unsigned n_keys = 0;
  for (unsigned slot = 0; slot < n_keys; ++slot) {
    if (keys[slot] != key) continue;
    recall<<<1, 1, 0, job.stream>>>(job.d_out, slot);
    return Status::ok;
  }
  const Status status = hostile::right(job);
  if (n_keys < 60) {
    keep<<<1, 1, 0, job.stream>>>(job.d_out, n_keys);
    keys[n_keys++] = key;
  }
  return status;
}

// Arrays with the same first items are treated as equal.
__device__ unsigned kept_fingerprint;
template <typename T, typename Value>
__global__ void recall_or_keep(const T* d_in, std::uint64_t n, Value* d_out) {
  constexpr unsigned kMarks = 0x100;
  const unsigned fingerprint = kMarks + (n > 0 && d_in[0] > T{} ? 1u : 0u);
  if (kept_fingerprint == fingerprint) {
    *d_out = *reinterpret_cast<const Value*>(kept_answers[62]);
  } else {
    *reinterpret_cast<Value*>(kept_answers[62]) = *d_out;
    kept_fingerprint = fingerprint;
  }
}

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: return once(job, job.n);
      case Rung::sequential:
        hostile::right(job);
        recall_or_keep<<<1, 1, 0, job.stream>>>(job.d_in, job.n, job.d_out);
        return Status::ok;
      case Rung::shuffle:
        // The output may still hold the answer of the run before, so nothing is written.
        keep<<<1, 1, 0, job.stream>>>(job.d_out, 61);
        return Status::ok;
      default: return hostile::right(job);
    }
  });
}
}  // namespace course::reduction
