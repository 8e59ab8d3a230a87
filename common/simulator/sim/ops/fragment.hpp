// SPDX-License-Identifier: MIT
// The distribution of a matrix over lanes and registers, for the instructions that multiply matrices. The
// layouts of `mma` are fixed. Those of `wmma` are not defined; here they consist of tiles of mma's layout.
// Source: NVIDIA, "PTX ISA", version 9.0, sections 9.7.15.4 (wmma) and 9.7.15.5 (mma).
#pragma once

#include <algorithm>
#include <cstdint>

namespace course::sim {

enum class Element : std::uint8_t { f16, bf16, tf32, f32, f64, s32, s8, u8, e4m3, e5m2 };

constexpr int element_bits(Element e) {
  switch (e) {
    case Element::f64: return 64;
    case Element::tf32:
    case Element::f32:
    case Element::s32: return 32;
    case Element::f16:
    case Element::bf16: return 16;
    default: return 8;
  }
}

// d (m × n) = a (m × k) · b (k × n) + c (m × n).
struct MatrixForm {
  int m = 0, n = 0, k = 0;
  Element a = Element::f16, b = Element::f16, c = Element::f32, d = Element::f32;
  bool satfinite = false;

  constexpr std::int64_t packed() const {
    const auto e = [](Element x) { return static_cast<std::int64_t>(x); };
    return m | std::int64_t{n} << 6 | std::int64_t{k} << 12 | e(a) << 22 | e(b) << 26 | e(c) << 30 |
           e(d) << 34 | std::int64_t{satfinite} << 38;
  }
  static constexpr MatrixForm from_packed(std::int64_t p) {
    const auto e = [p](int at) { return static_cast<Element>(p >> at & 15); };
    MatrixForm f;
    f.m = static_cast<int>(p & 63), f.n = static_cast<int>(p >> 6 & 63),
    f.k = static_cast<int>(p >> 12 & 1023);
    f.a = e(22), f.b = e(26), f.c = e(30), f.d = e(34);
    f.satfinite = (p >> 38 & 1) != 0;
    return f;
  }
};

enum class Part : std::uint8_t { a, b, c };  // c stands for d, too

struct Cell {
  int row, column;
};

// One of the matrices, distributed over the lanes.
struct Fragment {
  MatrixForm form;
  Part part;
  Element element;

  constexpr int rows() const { return part == Part::b ? form.k : form.m; }
  constexpr int columns() const { return part == Part::a ? form.k : form.n; }
  // Elements per register (of 32 bits; 64 for f64).
  constexpr int in_register() const { return std::max(32 / element_bits(element), 1); }
  // Registers per lane.
  constexpr int registers() const { return rows() * columns() / (32 * in_register()); }

  // The row and column of element `j` in register `r`.
  constexpr Cell cell(int lane, int r, int j) const {
    const int group = lane / 4, turn = lane % 4;  // "groupID" and "threadID_in_group"
    const int e = in_register();
    if (part == Part::c) {
      // Tiles of 8 columns and 16 (or 8) rows; a lane has pairs of neighbours.
      const int i = r * e + j, a_tile = form.m == 8 ? 2 : 4;
      const int tile = i / a_tile, in_tile = i % a_tile, tiles_across = form.n / 8;
      return {group + in_tile / 2 * 8 + tile / tiles_across * 16,
              turn * 2 + in_tile % 2 + tile % tiles_across * 8};
    }
    const int chunks = form.k / (4 * e);  // along k
    if (part == Part::b) return {turn * e + j + r % chunks * 4 * e, group + r / chunks * 8};
    if (form.m == 8) return {group, turn * e + j + r * 4 * e};
    const int tile = r / (2 * chunks), in_tile = r % (2 * chunks);
    return {group + in_tile % 2 * 8 + tile * 16, turn * e + j + in_tile / 2 * 4 * e};
  }
};

}  // namespace course::sim
