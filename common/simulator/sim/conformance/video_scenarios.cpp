// SPDX-License-Identifier: MIT
// Video instructions, each on random and extreme operands.
#include "sim/conformance/format.hpp"

#include <algorithm>
#include <functional>

#include "base/rng.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

using Word = std::uint64_t;
using U = std::uint32_t;
using S = std::int32_t;
using Wide = std::int64_t;

constexpr U kThreads = 128;

struct Video {
  const char* row;
  const char* ptx;  // reads %a, %b, %c, writes %d, which is 77 before
  std::function<U(U a, U b, U c)> expected;
  // Newer GPUs do not have the instruction. The replacement that ptxas 13.0 generates for sm_90 ignores the
  // ISA's wider intermediate results: a sum of operands with different signedness is clamped only below, .h1
  // uses the upper half of the sum, vmad truncates the sum to 32 bits before .sat, and .max treats a negative
  // difference as less than any number.
  bool sm90_departs = false;
};

Scenario scenario(const Video& v) {
  Scenario s;
  s.name = v.ptx;
  s.rows = {v.row};
  s.sm90_departs = v.sm90_departs;
  s.threads = kThreads;
  s.ptx = scenario_kernel(
      "  .reg .b32 %a, %b, %c, %d;\n",
      fmt::format("  ld.global.u32 %a, [%in];\n  ld.global.u32 %b, [%in+8];\n  ld.global.u32 %c, "
                  "[%in+16];\n  mov.u32 %d, 77;\n  {};\n  st.global.u32 [%out], %d;\n",
                  v.ptx),
      3, 1);
  constexpr U kEdges[] = {0, 1, ~0u, 0x80000000, 0x7fffffff, 0x80808080, 0x7f7f7f7f, 0x80007fff, 0x00ff00ff};
  Rng rng(std::string_view(v.ptx).size());
  for (U i = 0; i < kThreads; ++i) {
    U x[3];
    for (U& w : x) w = rng.below(3) == 0 ? kEdges[rng.below(std::size(kEdges))] : static_cast<U>(rng());
    if (rng.below(3) == 0) x[1] = static_cast<U>(rng.below(70));
    if (rng.below(4) == 0) x[1] = x[0];
    for (const U w : x) s.in.push_back(w);
    s.out.push_back(v.expected(x[0], x[1], x[2]));
  }
  return s;
}

Wide ub(U x, int k) {
  return static_cast<std::uint8_t>(x >> 8 * k);
}
Wide sb(U x, int k) {
  return static_cast<std::int8_t>(x >> 8 * k);
}
Wide uh(U x, int k) {
  return static_cast<std::uint16_t>(x >> 16 * k);
}
Wide sh(U x, int k) {
  return static_cast<std::int16_t>(x >> 16 * k);
}
U within(Wide v, Wide least, Wide most) {
  return static_cast<U>(v < least ? least : v > most ? most : v);
}
constexpr Wide kMaxS = 0x7fffffff, kMinS = -kMaxS - 1, kMaxU = 0xffffffff;

// Applies a function to each byte; the next one to each half.
U bytes(const std::function<U(int)>& f) {
  U r = 0;
  for (int k = 0; k < 4; ++k) r |= (f(k) & 0xff) << 8 * k;
  return r;
}
U halves(const std::function<U(int)>& f) {
  return (f(0) & 0xffff) | f(1) << 16;
}

constexpr const char *kScalar = "video.scalar", *kMad = "video.mad", *kSimd = "video.simd";
const std::vector<Video> kVideoInstructions = {
    {kScalar, "vadd.u32.u32.u32 %d, %a, %b", [](U a, U b, U) { return a + b; }},
    {kScalar, "vadd.s32.s32.s32.sat %d, %a, %b",
     [](U a, U b, U) { return within(Wide{S(a)} + S(b), kMinS, kMaxS); }},
    {kScalar, "vadd.u32.u32.s32.sat %d, %a, %b", [](U a, U b, U) { return within(Wide{a} + S(b), 0, kMaxU); },
     true},
    {kScalar, "vadd.u32.u32.u32.add %d, %a.b0, %b.h1, %c",
     [](U a, U b, U c) { return U(ub(a, 0) + uh(b, 1)) + c; }},
    {kScalar, "vsub.s32.s32.s32.min %d, %a.b3, %b.h0, %c",
     [](U a, U b, U c) {
       const Wide v = sb(a, 3) - sh(b, 0);
       return U(v < S(c) ? v : S(c));
     }},
    {kScalar, "vsub.u32.u32.u32.max %d, %a.h0, %b.b1, %c",
     [](U a, U b, U c) {
       const U v = U(uh(a, 0) - ub(b, 1));
       return v > c ? v : c;
     },
     true},
    {kScalar, "vadd.s32.s32.u32.sat %d.b2, %a, %b, %c",
     [](U a, U b, U c) { return (c & 0xff00ffffu) | (within(Wide{S(a)} + b, -128, 127) & 0xff) << 16; },
     true},
    {kScalar, "vadd.u32.u32.u32 %d.h1, %a, %b, %c",
     [](U a, U b, U c) { return (c & 0xffff) | (a + b) << 16; }, true},
    {kScalar, "vabsdiff.s32.s32.s32 %d, %a, %b",
     [](U a, U b, U) {
       const Wide v = Wide{S(a)} - S(b);
       return U(v < 0 ? -v : v);
     }},
    {kScalar, "vabsdiff.u32.u32.u32.sat.add %d, %a.h1, %b.h0, %c",
     [](U a, U b, U c) {
       const Wide v = uh(a, 1) - uh(b, 0);
       return U(v < 0 ? -v : v) + c;
     }},
    {kScalar, "vmin.s32.s32.u32 %d, %a, %b", [](U a, U b, U) { return Wide{S(a)} < Wide{b} ? a : b; }},
    {kScalar, "vmax.u32.u32.u32 %d, %a.b1, %b.b2",
     [](U a, U b, U) { return U(std::max(ub(a, 1), ub(b, 2))); }},
    {kScalar, "vshl.u32.u32.u32.clamp %d, %a, %b", [](U a, U b, U) { return b >= 32 ? 0 : a << b; }},
    {kScalar, "vshl.u32.u32.u32.wrap.add %d, %a, %b, %c", [](U a, U b, U c) { return (a << (b & 31)) + c; }},
    {kScalar, "vshr.s32.s32.u32.clamp %d, %a, %b", [](U a, U b, U) { return U(S(a) >> (b >= 32 ? 31 : b)); }},
    {kScalar, "vshr.u32.u32.u32.wrap %d, %a, %b", [](U a, U b, U) { return a >> (b & 31); }},
    {kScalar, "vset.u32.u32.lt %d, %a, %b", [](U a, U b, U) { return U(a < b); }},
    {kScalar, "vset.s32.u32.ge.add %d, %a.b1, %b.b0, %c",
     [](U a, U b, U c) { return U(sb(a, 1) >= ub(b, 0)) + c; }},
    {kScalar, "vset.s32.s32.eq %d.b3, %a, %b, %c",
     [](U a, U b, U c) { return (c & 0xffffff) | U(a == b) << 24; }},
    {kMad, "vmad.u32.u32.u32 %d, %a, %b, %c", [](U a, U b, U c) { return a * b + c; }},
    {kMad, "vmad.s32.s32.s32.shr7 %d, %a.h0, %b.h1, %c",
     [](U a, U b, U c) { return U((sh(a, 0) * sh(b, 1) + S(c)) >> 7); }},
    {kMad, "vmad.u32.u32.u32.sat.shr15 %d, %a.h1, %b, %c",
     [](U a, U b, U c) { return within((uh(a, 1) * Wide{b} + c) >> 15, 0, kMaxU); }, true},
    {kMad, "vmad.s32.s32.u32.sat %d, %a.b0, -%b.h0, %c",
     [](U a, U b, U c) { return within(-(sb(a, 0) * uh(b, 0)) + S(c), kMinS, kMaxS); }},
    {kMad, "vmad.s32.s32.s32 %d, %a, %b.b1, -%c", [](U a, U b, U c) { return a * U(sb(b, 1)) - c; }},
    {kMad, "vmad.s32.u32.u32.po %d, %a.b2, %b.b1, %c",
     [](U a, U b, U c) { return U(ub(a, 2) * ub(b, 1)) + c + 1; }},
    {kSimd, "vadd2.u32.u32.u32 %d, %a, %b, %c",
     [](U a, U b, U) { return halves([&](int k) { return U(uh(a, k) + uh(b, k)); }); }},
    {kSimd, "vadd4.u32.u32.u32.sat %d, %a, %b, %c",
     [](U a, U b, U) { return bytes([&](int k) { return within(ub(a, k) + ub(b, k), 0, 255); }); }},
    {kSimd, "vsub4.s32.s32.s32.sat %d, %a, %b, %c",
     [](U a, U b, U) { return bytes([&](int k) { return within(sb(a, k) - sb(b, k), -128, 127); }); }},
    {kSimd, "vsub2.s32.u32.u32.sat %d.h1, %a, %b, %c",
     [](U a, U b, U c) { return (c & 0xffff) | within(uh(a, 1) - uh(b, 1), -32768, 32767) << 16; }},
    {kSimd, "vabsdiff4.u32.u32.u32.add %d, %a, %b, %c",
     [](U a, U b, U c) {
       for (int k = 0; k < 4; ++k) c += U(ub(a, k) < ub(b, k) ? ub(b, k) - ub(a, k) : ub(a, k) - ub(b, k));
       return c;
     }},
    {kSimd, "vabsdiff2.s32.s32.s32.sat %d, %a, %b, %c",
     [](U a, U b, U) {
       return halves([&](int k) {
         const Wide v = sh(a, k) - sh(b, k);
         return within(v < 0 ? -v : v, -32768, 32767);
       });
     }},
    {kSimd, "vavrg4.u32.u32.u32 %d, %a, %b, %c",
     [](U a, U b, U) { return bytes([&](int k) { return U((ub(a, k) + ub(b, k) + 1) / 2); }); }},
    {kSimd, "vavrg2.s32.s32.s32 %d, %a, %b, %c",
     [](U a, U b, U) {
       return halves([&](int k) {  // ties are rounded away from zero
         const Wide v = sh(a, k) + sh(b, k);
         return U(v >= 0 ? (v + 1) / 2 : -((-v + 1) / 2));
       });
     }},
    {kSimd, "vmin4.s32.s32.s32 %d, %a, %b, %c",
     [](U a, U b, U) { return bytes([&](int k) { return U(std::min(sb(a, k), sb(b, k))); }); }},
    {kSimd, "vmax2.u32.u32.u32.add %d, %a, %b, %c",
     [](U a, U b, U c) { return U(std::max(uh(a, 0), uh(b, 0)) + std::max(uh(a, 1), uh(b, 1))) + c; }},
    {kSimd, "vset4.u32.u32.ne %d, %a, %b, %c",
     [](U a, U b, U) { return bytes([&](int k) { return U(ub(a, k) != ub(b, k)); }); }},
    {kSimd, "vset2.s32.s32.lt.add %d, %a, %b, %c",
     [](U a, U b, U c) { return c + U(sh(a, 0) < sh(b, 0)) + U(sh(a, 1) < sh(b, 1)); }},
    {kSimd, "vadd4.u32.u32.u32 %d.b20, %a.b0123, %b.b7610, %c",
     [](U a, U b, U c) {  // positions 0 to 3 are bytes of a, 4 to 7 bytes of b
       const U low = U(ub(a, 3) + ub(a, 0)) & 0xff, high = U(ub(a, 1) + ub(b, 2)) & 0xff;
       return (c & 0xff00ff00u) | low | high << 16;
     }},
    {kSimd, "vadd2.u32.u32.u32 %d, %a.h23, %b.h01, %c",
     [](U a, U b, U) { return (U(uh(b, 1) + uh(a, 1)) & 0xffff) | U(uh(b, 0) + uh(a, 0)) << 16; }},
};

}  // namespace

std::vector<Scenario> video_scenarios() {
  std::vector<Scenario> all;
  for (const Video& v : kVideoInstructions) all.push_back(scenario(v));
  return all;
}

}  // namespace course::sim
