// SPDX-License-Identifier: MIT
// Products of small matrices in a warp's registers (the tensor cores), and a transposition. Floats: products
// are exact, their sum is computed in f64 and rounded once; a GPU keeps fewer bits. f64: a chain of fma in
// the order of k.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.15.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/ops/fragment.hpp"
#include "sim/ops/narrow.hpp"
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

namespace {

constexpr int kMaxCells = 1024;  // of a matrix

// FP8: sign, exponent, fraction. e4m3 has no infinity; e5m2 is the high half of an f16.
f32 from_e4m3(u32 bits) {
  const u32 magnitude = bits & 0x7f;
  if (magnitude == 0x7f) return std::numeric_limits<f32>::quiet_NaN();
  const s32 field = static_cast<s32>(magnitude >> 3), fraction = static_cast<s32>(magnitude & 7);
  const f32 value =
      std::ldexp(static_cast<f32>(field == 0 ? fraction : fraction + 8), std::max(field, 1) - 10);
  return (bits & 0x80) != 0 ? -value : value;
}

f32 to_float(u32 word, int j, Element e) {
  switch (e) {
    case Element::f16: return F16::widen(static_cast<u16>(word >> 16 * j));
    case Element::bf16: return BF16::widen(static_cast<u16>(word >> 16 * j));
    case Element::tf32: return std::bit_cast<f32>(word & 0xffffe000);  // the other bits are ignored
    case Element::e4m3: return from_e4m3(word >> 8 * j);
    case Element::e5m2: return F16::widen(static_cast<u16>((word >> 8 * j & 0xff) << 8));
    default: return std::bit_cast<f32>(word);
  }
}

s32 to_integer(u32 word, int j, Element e) {
  switch (e) {
    case Element::s8: return static_cast<s8>(word >> 8 * j);
    case Element::u8: return static_cast<u8>(word >> 8 * j);
    default: return static_cast<s32>(word);
  }
}

// Calls `each(cell, word, j)` for the elements in the registers from `slot` on.
template <typename Word, typename Each>
inline void for_cells(Warp& w, u32 slot, const Fragment& f, const Each& each) {
  const int registers = f.registers(), elements = f.in_register();
  for (int r = 0; r < registers; ++r) {
    Word* words = w.slot<Word>(slot + static_cast<u32>(r) * kLanes * static_cast<u32>(sizeof(Word)));
    for (int lane = 0; lane < kLanes; ++lane)
      for (int j = 0; j < elements; ++j) each(f.cell(lane, r, j), words[lane], j);
  }
}

// src: a, b, c, members. Each is the first of consecutive registers, and so is dst[0].
template <typename Term, typename Sum, typename Read, typename Write>
inline void multiply(Warp& w, const MicroOp& op, const Read& read, const Write& write) {
  const MatrixForm form = MatrixForm::from_packed(op.imm);
  alignas(64) Term a[kMaxCells], b[kMaxCells];
  alignas(64) Sum sum[kMaxCells];
  const auto n = static_cast<std::size_t>(form.n), k = static_cast<std::size_t>(form.k);
  const auto at = [](Cell c, std::size_t columns) {
    return static_cast<std::size_t>(c.row) * columns + static_cast<std::size_t>(c.column);
  };
  for_cells<u32>(w, op.src[0], {form, Part::a, form.a},
                 [&](Cell c, u32 word, int j) { a[at(c, k)] = static_cast<Term>(read(word, j, form.a)); });
  for_cells<u32>(w, op.src[1], {form, Part::b, form.b},
                 [&](Cell c, u32 word, int j) { b[at(c, n)] = static_cast<Term>(read(word, j, form.b)); });
  for_cells<u32>(w, op.src[2], {form, Part::c, form.c},
                 [&](Cell c, u32 word, int j) { sum[at(c, n)] = static_cast<Sum>(read(word, j, form.c)); });
  for (std::size_t row = 0; row < static_cast<std::size_t>(form.m); ++row)
    for (std::size_t i = 0; i < k; ++i) {
      const Sum factor = a[row * k + i];
      Sum* const out = sum + row * n;
      for (std::size_t column = 0; column < n; ++column)
        out[column] += factor * static_cast<Sum>(b[i * n + column]);
    }
  for_cells<u32>(w, op.dst[0], {form, Part::c, form.d},
                 [&](Cell c, u32& word, int j) { write(form, sum[at(c, n)], word, j); });
}

void multiply_floats(Warp& w, const MicroOp& op) {
  multiply<f32, f64>(w, op, to_float, [](const MatrixForm& form, f64 value, u32& word, int j) {
    if (form.d == Element::f32) {
      word = std::bit_cast<u32>(canonical(static_cast<f32>(value)));
      return;
    }
    const u32 half = narrow<F16>(value);
    word = (word & ~(0xffffu << 16 * j)) | half << 16 * j;
  });
}

void multiply_integers(Warp& w, const MicroOp& op) {
  multiply<s32, s64>(w, op, to_integer, [](const MatrixForm& form, s64 value, u32& word, int) {
    if (form.satfinite)
      value = std::clamp<s64>(value, std::numeric_limits<s32>::min(), std::numeric_limits<s32>::max());
    word = static_cast<u32>(value);
  });
}

void multiply_doubles(Warp& w, const MicroOp& op) {
  const MatrixForm form = MatrixForm::from_packed(op.imm);
  f64 a[16][16], b[16][8], sum[16][8];
  for_cells<u64>(w, op.src[0], {form, Part::a, form.a},
                 [&](Cell c, u64 word, int) { a[c.row][c.column] = std::bit_cast<f64>(word); });
  for_cells<u64>(w, op.src[1], {form, Part::b, form.b},
                 [&](Cell c, u64 word, int) { b[c.row][c.column] = std::bit_cast<f64>(word); });
  for_cells<u64>(w, op.src[2], {form, Part::c, form.c},
                 [&](Cell c, u64 word, int) { sum[c.row][c.column] = std::bit_cast<f64>(word); });
  for (int row = 0; row < form.m; ++row)
    for (int column = 0; column < form.n; ++column)
      for (int i = 0; i < form.k; ++i) sum[row][column] = std::fma(a[row][i], b[i][column], sum[row][column]);
  for_cells<u64>(w, op.dst[0], {form, Part::c, form.d},
                 [&](Cell c, u64& word, int) { word = std::bit_cast<u64>(sum[c.row][c.column]); });
}

// movmatrix: each lane has two neighbours of a row of an 8 × 8 matrix before it and of a column after it.
void transpose(Warp& w, const MicroOp& op) {
  const u32* in = w.slot<u32>(op.src[0]);
  alignas(64) u32 result[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const int row = i / 4, column = i % 4 * 2;
    const auto element = [&](int r, int c) { return in[r * 4 + c / 2] >> 16 * (c % 2) & 0xffff; };
    result[i] = element(column, row) | element(column + 1, row) << 16;
  }
  write_lanes<u32>(w, op.dst[0], [&](int i) { return result[i]; });
}

}  // namespace

void add_matrix_rows(OpTable& table) {
  const auto row = [&](std::string key, Handler fn, SlotKind kind) {
    table.add(OpRow{std::move(key), fn, OpKind::other, {kind, kind, kind}, {kind}});
  };
  row("mma.float", &multiply_floats, SlotKind::narrow);
  row("mma.integer", &multiply_integers, SlotKind::narrow);
  row("mma.double", &multiply_doubles, SlotKind::wide);
  table.add(OpRow{"movmatrix", &transpose, OpKind::other, {SlotKind::narrow}, {SlotKind::narrow}});
}

}  // namespace course::sim::SIM_ISA
