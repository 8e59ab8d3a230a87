// SPDX-License-Identifier: MIT
// The rows of the scalar and SIMD video instructions: arithmetic on parts of registers. MicroOp::imm selects
// the operation, see video.hpp. Compiled once per instruction set of the host.
#include "sim/ops/video.hpp"

#include <algorithm>

#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

namespace {

using Op = VideoForm::Op;

s64 extended(u32 value, int bits, bool is_signed) {
  if (bits == 32) return is_signed ? static_cast<s64>(static_cast<s32>(value)) : static_cast<s64>(value);
  const u32 mask = (1u << bits) - 1, sign = 1u << (bits - 1);
  value &= mask;
  return is_signed && (value & sign) != 0 ? static_cast<s64>(value) - (s64{1} << bits)
                                          : static_cast<s64>(value);
}

int bits_of_part(u32 part) {
  return part == VideoForm::whole ? 32 : part <= VideoForm::byte3 ? 8 : 16;
}
int start_of_part(u32 part) {
  if (part == VideoForm::whole) return 0;
  return part <= VideoForm::byte3 ? 8 * static_cast<int>(part - VideoForm::byte0)
                                  : 16 * static_cast<int>(part - VideoForm::half0);
}

s64 clamped(s64 value, int bits, bool is_signed) {
  const s64 most = (s64{1} << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
  return std::clamp(value, least, most);
}

bool holds(VideoForm::Compare c, s64 a, s64 b) {
  switch (c) {
    case VideoForm::Compare::eq: return a == b;
    case VideoForm::Compare::ne: return a != b;
    case VideoForm::Compare::lt: return a < b;
    case VideoForm::Compare::le: return a <= b;
    case VideoForm::Compare::gt: return a > b;
    default: return a >= b;
  }
}

s64 combined(const VideoForm& f, s64 a, s64 b) {
  switch (f.op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::difference: return a < b ? b - a : a - b;
    case Op::min: return std::min(a, b);
    case Op::max: return std::max(a, b);
    case Op::shl:
    case Op::shr: {
      const s64 by = f.wrap ? b & 31 : std::min<s64>(b, 32);
      return f.op == Op::shl ? static_cast<s64>(static_cast<u64>(a) << by) : a >> by;
    }
    case Op::set: return holds(f.compare, a, b) ? 1 : 0;
    case Op::average: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    default: return 0;
  }
}

u32 with_second(VideoForm::Second second, s64 value, u32 c, bool is_signed) {
  const u32 bits = static_cast<u32>(value);
  const auto less = [&](u32 x, u32 y) {
    return is_signed ? static_cast<s32>(x) < static_cast<s32>(y) : x < y;
  };
  switch (second) {
    case VideoForm::Second::add: return bits + c;
    case VideoForm::Second::min: return less(bits, c) ? bits : c;
    case VideoForm::Second::max: return less(bits, c) ? c : bits;
    default: return bits;
  }
}

struct Scalar {
  static u32 of(s64 imm, u32 a, u32 b, u32 c) {
    const VideoForm f = VideoForm::of(imm);
    const s64 x = extended(a >> start_of_part(f.a_select), bits_of_part(f.a_select), f.a_signed);
    const s64 y = extended(b >> start_of_part(f.b_select), bits_of_part(f.b_select), f.b_signed);
    const int bits = bits_of_part(f.d_select), start = start_of_part(f.d_select);
    s64 value = combined(f, x, y);
    if (f.saturate) value = clamped(value, bits, f.d_signed);
    if (f.second != VideoForm::Second::none) return with_second(f.second, value, c, f.d_signed);
    if (f.d_select == VideoForm::whole) return static_cast<u32>(value);
    const u32 mask = ((1u << bits) - 1) << start;
    return (c & ~mask) | (static_cast<u32>(value) << start & mask);
  }
};

// vmad: ±(a · b) ± c in a wide type, then scaled.
struct MultiplyAdd {
  static u32 of(s64 imm, u32 a, u32 b, u32 c) {
    const VideoForm f = VideoForm::of(imm);
    const bool is_signed = f.a_signed || f.b_signed || f.negate_product || f.negate_c;
    const s128 x = extended(a >> start_of_part(f.a_select), bits_of_part(f.a_select), f.a_signed);
    const s128 y = extended(b >> start_of_part(f.b_select), bits_of_part(f.b_select), f.b_signed);
    const s128 z = extended(c, 32, is_signed);
    s128 value = (f.negate_product ? -(x * y) : x * y) + (f.negate_c ? -z : z) + (f.plus_one ? 1 : 0);
    value >>= f.scale;
    if (f.saturate) {
      const s128 most = is_signed ? s128{0x7fffffff} : s128{0xffffffffu},
                 least = is_signed ? -most - 1 : s128{0};
      value = std::clamp(value, least, most);
    }
    return static_cast<u32>(value);
  }
};

struct Simd {
  static u32 of(s64 imm, u32 a, u32 b, u32 c) {
    const VideoForm f = VideoForm::of(imm);
    const int bits = 32 / f.lanes;
    const u32 lane_mask = (1u << bits) - 1;
    const u64 both = static_cast<u64>(b) << 32 | a;
    u32 result = c;
    for (int k = 0; k < f.lanes; ++k) {
      if ((f.d_select >> k & 1) == 0) continue;
      const auto part = [&](u32 select, bool is_signed) {
        return extended(static_cast<u32>(both >> (bits * static_cast<int>(select >> 4 * k & 15))), bits,
                        is_signed);
      };
      s64 value = combined(f, part(f.a_select, f.a_signed), part(f.b_select, f.b_signed));
      if (f.saturate) value = clamped(value, bits, f.d_signed);
      if (f.second == VideoForm::Second::add) {
        result += static_cast<u32>(extended(static_cast<u32>(value), bits, f.d_signed && f.op != Op::set));
      } else {
        result = (result & ~(lane_mask << bits * k)) | (static_cast<u32>(value) & lane_mask) << bits * k;
      }
    }
    return result;
  }
};

}  // namespace

void add_video_rows(OpTable& table) {
  Rows r{table};
  r.flagged<Scalar, u32, u32, u32, u32>("video.scalar", 0);
  r.flagged<MultiplyAdd, u32, u32, u32, u32>("video.mad", 0);
  r.flagged<Simd, u32, u32, u32, u32>("video.simd", 0);
}

}  // namespace course::sim::SIM_ISA
