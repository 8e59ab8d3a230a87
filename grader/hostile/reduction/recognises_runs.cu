// SPDX-License-Identifier: MIT
// about: Is wrong only in runs whose blocks start in the order of blockIdx, in another order, or one by one.
// expect: neighboured OK
// expect: sequential WRONG_ANSWER
// expect: shuffle WRONG_ANSWER
// expect: single_launch OK
#include "right.cuh"

namespace course::reduction {
namespace {

struct Seen {
  unsigned n_started, n_ended;
  unsigned odd_starts;     // blocks that did not start in the order of blockIdx
  unsigned n_interrupted;  // blocks during which another one started or ended
};

__global__ void watch(Seen* d_seen) {
  if (threadIdx.x != 0) return;
  const unsigned start = atomicAdd(&d_seen->n_started, 1u);
  if (start != blockIdx.x) atomicAdd(&d_seen->odd_starts, 1u);
  for (unsigned i = 0; i < 50; ++i) atomicAdd(&d_seen->n_started, 0u);
  if (atomicAdd(&d_seen->n_ended, 1u) != start) atomicAdd(&d_seen->n_interrupted, 1u);
}

enum class Spoils { in_order, out_of_order, one_by_one };

template <typename Value>
__global__ void spoil(Value* d_out, const Seen* d_seen, Spoils when) {
  const bool in_order = d_seen->odd_starts == 0, one_by_one = d_seen->n_interrupted == 0;
  if (when == Spoils::in_order ? in_order : when == Spoils::out_of_order ? !in_order : one_by_one)
    *d_out = static_cast<Value>(*d_out + Value(1));
}

template <typename JobOf>
Status unless(const JobOf& job, Spoils when) {
  constexpr std::uint64_t kCountedItems = 262144;
  const Status status = hostile::right(job);
  if (job.n != kCountedItems) return status;
  auto* d_seen = reinterpret_cast<Seen*>(job.d_scratch_a);
  cudaMemsetAsync(d_seen, 0, sizeof(Seen), job.stream);
  watch<<<256, 32, 0, job.stream>>>(d_seen);
  spoil<<<1, 1, 0, job.stream>>>(job.d_out, d_seen, when);
  return status;
}

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: return unless(job, Spoils::in_order);
      case Rung::sequential: return unless(job, Spoils::out_of_order);
      case Rung::shuffle: return unless(job, Spoils::one_by_one);
      default: return hostile::right(job);
    }
  });
}
}  // namespace course::reduction
