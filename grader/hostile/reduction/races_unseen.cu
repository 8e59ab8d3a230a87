// SPDX-License-Identifier: MIT
// about: Omits barriers in shared memory that the system reserves, and in a kernel with a library's name.
// screen: cub::fold_words
// expect: neighboured WRONG_ANSWER
// expect: shuffle POLICY cub::fold_words
#include <type_traits>

#include "right.cuh"

namespace course::reduction::hostile {

// The tree of right.cuh without barriers, in `s_data`.
template <typename Value>
__device__ void fold_without_barriers(Value* s_data, Value value) {
  s_data[threadIdx.x] = value;
  for (unsigned stride = kBlock / 2; stride > 0; stride /= 2)
    if (threadIdx.x < stride)
      s_data[threadIdx.x] += static_cast<volatile Value*>(s_data)[threadIdx.x + stride];
}

__global__ void fold_reserved(const int* d_in, std::uint64_t n, int* d_out) {
  unsigned reserved;
  asm("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(reserved));
  int* const s_data = static_cast<int*>(__cvta_shared_to_generic(reserved));
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  fold_without_barriers(s_data, gid < n ? d_in[gid] : 0);
  if (threadIdx.x == 0) d_out[blockIdx.x] = s_data[0];
}

}  // namespace course::reduction::hostile

// cub::fold_words(int const*) const, if it is demangled.
extern "C" __global__ void _ZNK3cub10fold_wordsEPKi(const int* d_in, std::uint64_t n, int* d_out) {
  using course::reduction::hostile::kBlock;
  __shared__ int s_data[kBlock];
  const std::uint64_t gid = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  course::reduction::hostile::fold_without_barriers(s_data, gid < n ? d_in[gid] : 0);
  if (threadIdx.x == 0) d_out[blockIdx.x] = s_data[0];
}

namespace course::reduction {

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    using Given = std::remove_cvref_t<decltype(job)>;
    if constexpr (std::is_same_v<decltype(Given::op), Sum<std::int32_t>> &&
                  std::is_same_v<std::remove_cvref_t<decltype(*job.d_in)>, std::int32_t>) {
      const bool named = static_cast<Rung>(request.task) == Rung::shuffle;
      const auto kernel = named ? _ZNK3cub10fold_wordsEPKi : hostile::fold_reserved;
      return hostile::by_levels(job, [&](const auto* d_from, std::uint64_t n, auto* d_to, unsigned n_blocks) {
        kernel<<<n_blocks, hostile::kBlock, 0, job.stream>>>(d_from, n, d_to);
      });
    } else {
      return hostile::right(job);
    }
  });
}

}  // namespace course::reduction
