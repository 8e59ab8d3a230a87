// SPDX-License-Identifier: MIT
// The operation of a video instruction (vadd, vmad, vset4 …), encoded in MicroOp::imm. The decoder writes it,
// ops/video_rows.cpp reads it.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.17 (scalar and SIMD video instructions).
#pragma once

#include <cstdint>
#include <initializer_list>

namespace course::sim {

struct VideoForm {
  enum class Op : std::uint8_t { add, sub, difference, min, max, shl, shr, mad, set, average };
  enum class Second : std::uint8_t { none, add, min, max };  // how the result is combined with operand c
  enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge };
  // The part of a register that a scalar instruction selects.
  enum Part : std::uint8_t { whole, byte0, byte1, byte2, byte3, half0, half1 };

  Op op = Op::add;
  std::uint8_t lanes = 1;  // 2, 4: SIMD
  Second second = Second::none;
  Compare compare = Compare::eq;
  std::uint8_t scale = 0;  // number of bits by which vmad shifts
  bool a_signed = false, b_signed = false, d_signed = false, saturate = false;
  bool wrap = false;                                                // shifts: by b modulo 32, not clamped
  bool negate_product = false, negate_c = false, plus_one = false;  // vmad
  std::uint16_t a_select = 0, b_select = 0;  // a Part; SIMD: four bits per lane, its position in b:a
  std::uint8_t d_select = 0;                 // a Part; SIMD: one bit for each written lane

  std::int64_t packed() const {
    std::uint64_t bits = 0;
    int at = 0;
    const auto put = [&](std::uint64_t value, int n) {
      bits |= value << at;
      at += n;
    };
    put(static_cast<std::uint64_t>(op), 4);
    put(lanes, 3);
    put(static_cast<std::uint64_t>(second), 2);
    put(static_cast<std::uint64_t>(compare), 3);
    put(scale, 4);
    for (const bool flag : {a_signed, b_signed, d_signed, saturate, wrap, negate_product, negate_c, plus_one})
      put(flag ? 1 : 0, 1);
    put(a_select, 16);
    put(b_select, 16);
    put(d_select, 4);
    return static_cast<std::int64_t>(bits);
  }
  static VideoForm of(std::int64_t imm) {
    VideoForm f;
    int at = 0;
    const auto next = [&](int n) {
      const std::uint64_t value = static_cast<std::uint64_t>(imm) >> at & ((std::uint64_t{1} << n) - 1);
      at += n;
      return value;
    };
    f.op = static_cast<Op>(next(4));
    f.lanes = static_cast<std::uint8_t>(next(3));
    f.second = static_cast<Second>(next(2));
    f.compare = static_cast<Compare>(next(3));
    f.scale = static_cast<std::uint8_t>(next(4));
    for (bool* flag : {&f.a_signed, &f.b_signed, &f.d_signed, &f.saturate, &f.wrap, &f.negate_product,
                       &f.negate_c, &f.plus_one})
      *flag = next(1) != 0;
    f.a_select = static_cast<std::uint16_t>(next(16));
    f.b_select = static_cast<std::uint16_t>(next(16));
    f.d_select = static_cast<std::uint8_t>(next(4));
    return f;
  }
};

}  // namespace course::sim
