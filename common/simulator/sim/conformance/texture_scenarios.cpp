// SPDX-License-Identifier: MIT
// Textures and surfaces. An object's handle is the address of a descriptor (memory/texture.hpp), so these run
// only on the simulator. cudart/programs/textures.cu creates objects through the runtime's calls and also
// runs on a GPU.
#include "sim/conformance/format.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "sim/conformance/scenario.hpp"
#include "sim/memory/texture.hpp"

namespace course::sim {
namespace {

using Word = std::uint64_t;

constexpr int kWidth = 5, kHeight = 4, kSlices = 3;

Word bits(float f) {
  return std::bit_cast<std::uint32_t>(f);
}
float texel(int x, int y, int z = 0) {
  return static_cast<float>(100 * z + 10 * y + x * x);
}

struct Case {
  std::string name;
  std::vector<std::string> rows;
  // changes the default: a point-sampled, clamping volume of floats
  std::function<void(TextureDescriptor&)> change;
  // Reads %handle and the thread's index %i (and %f, the index as a float); writes the words %d0 and %d1.
  std::string lines;
  std::function<std::vector<Word>(int i)> expected;
};

Scenario scenario(const Case& c) {
  constexpr std::size_t kTexels =
      (sizeof(TextureDescriptor) + 31) / 32 * 4;  // index of the input word at which the texels start
  TextureDescriptor d;
  d.mark = TextureDescriptor::kTextureMark;
  d.width = kWidth, d.height = kHeight, d.slices = kSlices;
  d.row_bytes = kWidth * 4, d.slice_bytes = kWidth * kHeight * 4;
  c.change(d);
  Scenario s{.name = c.name, .rows = c.rows};
  s.least_sm = 1 << 20;  // a GPU does not accept these handles
  s.in_kind = MemoryKind::texture;
  s.in.resize(kTexels + (kWidth * kHeight * kSlices + 1) / 2, 0);
  std::memcpy(s.in.data(), &d, sizeof d);
  auto* texels = reinterpret_cast<unsigned char*>(s.in.data() + kTexels);
  for (int z = 0; z < kSlices; ++z)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const float value = texel(x, y, z);
        std::memcpy(texels + 4 * ((z * kHeight + y) * kWidth + x), &value, 4);
      }
  // The address of the texels is known only at run time.
  std::string body = fmt::format(
      "  add.u64 %handle, %in, {};\n  st.global.u64 [%in+{}], %handle;\n  mov.u64 %handle, %in;\n"
      "  bar.sync 0;\n  cvt.rn.f32.u32 %f, %i;\n  mov.b32 %d0, 0;\n  mov.b32 %d1, 0;\n",
      8 * kTexels, offsetof(TextureDescriptor, base));
  body += c.lines + "  st.global.u32 [%out], %d0;\n  st.global.u32 [%out+8], %d1;\n";
  s.ptx = scenario_kernel(
      "  .reg .b32 %d0, %d1, %t<6>, %y, %z;\n  .reg .b16 %h<4>;\n  .reg .b64 %handle, %w;\n"
      "  .reg .f32 %f, %g, %x<6>;\n",
      body, 0, 2);
  for (int i = 0; i < 32; ++i)
    for (const Word w : c.expected(i)) s.out.push_back(w);
  return s;
}

int inside(int v, int n) {
  return v < 0 ? 0 : v >= n ? n - 1 : v;
}

// Linear filtering between two texels and two rows, with 8-bit weights and clamped edges.
float filtered(float x, float y) {
  const int x0 = static_cast<int>(std::floor(x - 0.5f)), y0 = static_cast<int>(std::floor(y - 0.5f));
  const float a = std::round((x - 0.5f - static_cast<float>(x0)) * 256) / 256,
              b = std::round((y - 0.5f - static_cast<float>(y0)) * 256) / 256;
  const auto at = [&](int dx, int dy) { return texel(inside(x0 + dx, kWidth), inside(y0 + dy, kHeight)); };
  return (1 - a) * (1 - b) * at(0, 0) + a * (1 - b) * at(1, 0) + (1 - a) * b * at(0, 1) + a * b * at(1, 1);
}

constexpr auto kPlain = [](TextureDescriptor&) {};
const std::string kKeep = "  mov.b32 %d0, %x0;\n  mov.b32 %d1, %x3;\n";

const std::vector<Case> kTextureCases = {
    {"tex.2d beyond the ends",
     {"tex"},
     kPlain,
     "  mul.f32 %f, %f, 0f3F000000;\n  sub.f32 %g, %f, 0f40000000;\n"
     "  tex.2d.v4.f32.f32 {%x0, %x1, %x2, %x3}, [%handle, {%f, %g}];\n" +
         kKeep,
     [](int i) {
       return std::vector<Word>{
           bits(texel(inside(i / 2, kWidth),
                      inside(static_cast<int>(std::floor(static_cast<float>(i) / 2 - 2)), kHeight))),
           bits(1)};
     }},
    {"tex.2d, linear",
     {"tex"},
     [](TextureDescriptor& d) { d.filters = true; },
     "  mul.f32 %f, %f, 0f3E800000;\n  mul.f32 %g, %f, 0f3F000000;\n"
     "  tex.2d.v4.f32.f32 {%x0, %x1, %x2, %x3}, [%handle, {%f, %g}];\n" +
         kKeep,
     [](int i) {
       return std::vector<Word>{bits(filtered(static_cast<float>(i) / 4, static_cast<float>(i) / 8)),
                                bits(1)};
     }},
    {"tex.1d, wrapped",
     {"tex"},
     [](TextureDescriptor& d) {
       d.normalised = true;
       d.modes[0] = AddressMode::wrap;
     },
     "  fma.rn.f32 %f, %f, 0f3F000000, 0f3D4CCCCD;\n"
     "  tex.1d.v4.f32.f32 {%x0, %x1, %x2, %x3}, [%handle, {%f}];\n" +
         kKeep,
     [](int i) {  // (i / 2 + 1 / 20) · 5
       return std::vector<Word>{bits(texel(i % 2 == 0 ? 0 : 2, 0)), bits(1)};
     }},
    {"tex.1d of memory",
     {"tex"},
     [](TextureDescriptor& d) {
       d.is_memory = true;
       d.height = d.slices = 1;
       d.kind = ChannelKind::is_unsigned;
       d.width = 12;
     },
     "  tex.1d.v4.u32.s32 {%d0, %t1, %t2, %d1}, [%handle, {%i}];\n",
     [](int i) {
       return std::vector<Word>{i < 12 ? bits(texel(i % kWidth, i / kWidth)) : 0, i < 12 ? 1u : 0u};
     }},
    {"tex.3d, tex.a2d",
     {"tex"},
     kPlain,
     "  mov.f32 %g, 0f3FC00000;\n  tex.3d.v4.f32.f32 {%x0, %x1, %x2, %x3}, [%handle, {%g, %g, %f, %f}];\n"
     "  tex.a2d.v4.f32.f32 {%x3, %x1, %x2, %x4}, [%handle, {%i, %g, %g, %g}];\n" +
         kKeep,
     [](int i) {
       const Word w = bits(texel(1, 1, inside(i, kSlices)));
       return std::vector<Word>{w, w};
     }},
    {"suld, sust",
     {"suld", "sust"},
     [](TextureDescriptor& d) { d.mark = TextureDescriptor::kSurfaceMark; },
     "  rem.u32 %y, %i, 4;\n  shr.u32 %t0, %i, 2;\n  shl.b32 %t1, %t0, 2;\n"
     "  suld.b.2d.b32.zero {%t2}, [%handle, {%t1, %y}];\n  mov.b32 %x0, %t2;\n  add.f32 %x0, %x0, %x0;\n"
     "  bar.sync 0;\n  sust.b.2d.b32.zero [%handle, {%t1, %y}], {%x0};\n  bar.sync 0;\n  sub.u32 %y, 3, %y;\n"
     "  suld.b.2d.b32.clamp {%d0}, [%handle, {%t1, %y}];\n"
     "  suld.b.a2d.b8.trap {%h0}, [%handle, {2, 7, 1, 1}];\n  cvt.u32.u16 %d1, %h0;\n",
     [](int i) {
       const int x = inside(i / 4, kWidth);
       return std::vector<Word>{bits(2 * texel(x, 3 - i % 4)), bits(texel(1, 1, 2)) >> 24};
     }},
};

}  // namespace

std::vector<Scenario> texture_scenarios() {
  std::vector<Scenario> all;
  for (const Case& c : kTextureCases) all.push_back(scenario(c));
  return all;
}

}  // namespace course::sim
