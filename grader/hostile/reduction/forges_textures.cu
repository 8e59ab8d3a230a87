// SPDX-License-Identifier: MIT
// about: Writes a texture descriptor to its workspace and reads the items through it, uncounted.
// screen: suld.b.1d.b32.trap
// expect: neighboured POLICY tex.1d.v4.s32.s32
// expect: sequential POLICY suld.b.1d.b32.trap
// expect: single_launch OK
#include "right.cuh"

namespace course::reduction {
namespace {

// The simulator's own layout (sim/memory/texture.hpp).
struct Descriptor {
  std::uint64_t mark, base, row_bytes, slice_bytes;
  std::uint32_t width, height, slices, channels, channel_bits;
  std::uint8_t kind, modes[3], filters, normalised, fractions, srgb, memory;
  float border[4];
};
constexpr std::uint64_t kTexture = 0x7e87063e0b1ec701, kSurface = 0x7e87063e0b1ec702;

__global__ void forge(Descriptor* d_forged, const void* d_in, std::uint32_t n, std::uint64_t mark) {
  Descriptor d{};
  d.mark = mark;
  d.base = reinterpret_cast<std::uint64_t>(d_in);
  d.width = n;
  d.height = d.slices = d.channels = 1;
  d.channel_bits = 32;
  d.modes[0] = d.modes[1] = d.modes[2] = 1;
  *d_forged = d;
}

template <bool kOfSurface, typename T, typename Op>
__global__ void fold_unseen(const Descriptor* d_forged, std::uint32_t n, typename Op::Value* d_out, Op op) {
  auto total = op.identity();
  for (std::uint32_t i = 0; i < n; ++i) {
    int word = 0, unused[3];
    if constexpr (kOfSurface) {
      asm volatile("suld.b.1d.b32.trap {%0}, [%1, {%2}];" : "=r"(word) : "l"(d_forged), "r"(4 * i));
    } else {
      asm volatile("tex.1d.v4.s32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
                   : "=r"(word), "=r"(unused[0]), "=r"(unused[1]), "=r"(unused[2])
                   : "l"(d_forged), "r"(i));
    }
    T item;
    memcpy(&item, &word, sizeof(T) < 4 ? sizeof(T) : 4);
    total = op(total, static_cast<typename Op::Value>(item));
  }
  *d_out = op.finish(total);
}

template <bool kOfSurface, typename T, typename Op>
Status unseen(const Job<T, Op>& job) {
  if (sizeof(T) != 4 || job.n == 0) return hostile::right(job);
  auto* const d_forged = reinterpret_cast<Descriptor*>(job.d_scratch_a);
  const auto n = static_cast<std::uint32_t>(job.n);
  forge<<<1, 1, 0, job.stream>>>(d_forged, job.d_in, n, kOfSurface ? kSurface : kTexture);
  fold_unseen<kOfSurface, T><<<1, 1, 0, job.stream>>>(d_forged, n, job.d_out, job.op);
  return Status::ok;
}

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured: return unseen<false>(job);
      case Rung::sequential: return unseen<true>(job);
      default: return hostile::right(job);
    }
  });
}
}  // namespace course::reduction
