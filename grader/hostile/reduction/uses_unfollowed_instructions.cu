// SPDX-License-Identifier: MIT
// about: Instructions that some checker does not follow, each in a kernel of its own; one is never launched.
// screen: st.async
// expect: neighboured POLICY st.async
// expect: sequential POLICY red.async
// expect: shuffle POLICY multimem
// expect: coarsened POLICY cp.reduce.async.bulk
// expect: single_launch POLICY mbarrier
#include "right.cuh"

namespace course::reduction {
namespace {

__device__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

__global__ void store_async() {
  __shared__ alignas(16) unsigned s_data[8];
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                   address_of(s_data)),
               "r"(7), "r"(address_of(s_data + 4))
               : "memory");
}
__global__ void reduce_async() {
  __shared__ alignas(16) unsigned s_data[8];
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(
          address_of(s_data)),
      "r"(7), "r"(address_of(s_data + 4))
      : "memory");
}
__global__ void multicast(unsigned* d_to) {
  asm volatile("multimem.red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(d_to), "r"(7) : "memory");
}
__global__ void reduce_bulk(unsigned* d_to) {
  __shared__ alignas(16) unsigned s_data[8];
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 16;" ::"l"(d_to),
               "r"(address_of(s_data))
               : "memory");
}
__global__ void meet() {
  __shared__ alignas(8) unsigned long long s_barrier;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(address_of(&s_barrier)) : "memory");
}
__global__ void never_launched(unsigned* d_to) {
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(d_to) : "memory");
}

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    auto* const d_to = reinterpret_cast<unsigned*>(job.d_scratch_a);
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: store_async<<<1, 1, 0, job.stream>>>(); break;
      case Rung::sequential: reduce_async<<<1, 1, 0, job.stream>>>(); break;
      case Rung::shuffle: multicast<<<1, 1, 0, job.stream>>>(d_to); break;
      case Rung::coarsened: reduce_bulk<<<1, 1, 0, job.stream>>>(d_to); break;
      case Rung::single_launch: meet<<<1, 1, 0, job.stream>>>(); break;
      default: never_launched<<<1, 1, 0, job.stream>>>(d_to);
    }
    return hostile::right(job);
  });
}
}  // namespace course::reduction
