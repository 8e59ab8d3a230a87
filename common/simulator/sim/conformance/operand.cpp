// SPDX-License-Identifier: MIT
// Operands that are likely to reveal errors, and kernels that apply one instruction to them.
#include "sim/conformance/format.hpp"

#include <algorithm>

#include "base/rng.hpp"
#include "sim/conformance/exact.hpp"
#include "sim/conformance/operation.hpp"

namespace course::sim {

const exact::Format* format_of(ptx::Type t) {
  switch (t) {
    case ptx::Type::f16: return &exact::kF16;
    case ptx::Type::bf16: return &exact::kBF16;
    case ptx::Type::f32: return &exact::kF32;
    case ptx::Type::f64: return &exact::kF64;
    default: return nullptr;
  }
}
bool has_sign(ptx::Type t) {
  using enum ptx::Type;
  return t == s8 || t == s16 || t == s32 || t == s64;
}

namespace {

using ptx::Type;

Bits low_bits(Bits value, int bits) {
  return bits >= 64 ? value : value & ((Bits{1} << bits) - 1);
}

template <typename... T>
std::vector<Bits> bits_in(T... values) {
  return {static_cast<Bits>(values)...};
}

std::vector<Bits> float_edges(const exact::Format& f) {
  const Bits unit = Bits{1} << (f.precision - 1);
  const Bits inf = f.infinity(), one = static_cast<Bits>(f.bias()) * unit;
  const auto power = [&](int e) { return static_cast<Bits>(e + f.bias()) * unit; };
  std::vector<Bits> edges =
      bits_in(0, 1, 2, unit - 1, unit, unit + 1, power(-1), power(-1) + unit / 2, one - 1, one, one + 1,
              one + unit / 2, power(1), power(1) + unit / 4, power(1) + unit / 2, power(f.precision - 2) + 1,
              power(f.precision - 1), power(f.precision) + 1, inf - 1, inf - 2, inf - unit, inf, inf + 1,
              inf + unit / 2, inf + unit / 2 + 3);
  // Just below the smallest normal number of a narrower format.
  for (const exact::Format& narrow : {exact::kF32, exact::kF16})
    if (narrow.bits < f.bits)
      for (const int lost : {0, 1, 2}) {
        const Bits least = power(narrow.min_exponent());
        edges.push_back(least - (unit >> (narrow.precision - 1 + lost)));
      }
  for (const int e : {7, 8, 15, 16, 31, 32, 63, 64})
    if (e < f.bias()) {
      edges.push_back(power(e));
      edges.push_back(power(e) - 1);
      edges.push_back(power(e) + 1);
    }
  const std::size_t n = edges.size();
  for (std::size_t k = 0; k < n; ++k) edges.push_back(edges[k] | Bits{1} << (f.bits - 1));
  return edges;
}

std::vector<Bits> edges_of(Type t) {
  if (t == Type::pred) return {0, 1};
  if (const exact::Format* f = format_of(t)) return float_edges(*f);
  const int bits = ptx::bits_of(t);
  if (t == Type::f16x2 || t == Type::bf16x2) {
    const auto halves = float_edges(t == Type::f16x2 ? exact::kF16 : exact::kBF16);
    std::vector<Bits> edges;
    for (std::size_t k = 0; k < halves.size(); ++k)
      edges.push_back(halves[k] << 16 | halves[(k * 7 + 3) % halves.size()]);
    return edges;
  }
  const Bits top = Bits{1} << (bits - 1);
  std::vector<Bits> edges =
      bits_in(0, 1, 2, 3, 5, 7, 8, 15, 16, 23, 24, 31, 32, 33, 63, 64, 65, 0x7f, 0x80, 0x81, 0xff, 0x100, top,
              top - 1, top + 1, top - 2, ~Bits{0}, ~Bits{0} - 1, ~Bits{0} - 31, top >> 1, (top >> 1) - 1,
              0x5555555555555555, 0xaaaaaaaaaaaaaaaa);
  for (const int k : {15, 16, 31, 32, 47})
    if (k < bits) edges.insert(edges.end(), {Bits{1} << k, (Bits{1} << k) - 1, (Bits{1} << k) + 1});
  for (Bits& e : edges) e = low_bits(e, bits);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// A random float, with an exponent near `around` or any exponent.
Bits random_float(const exact::Format& f, Rng& rng, int around) {
  const Bits random = rng();
  if (rng.below(4) == 0) return low_bits(random, f.bits);
  const int spread = f.precision + 3;
  int exponent = around + static_cast<int>(rng.below(static_cast<std::uint64_t>(2 * spread + 1))) - spread;
  exponent = std::clamp(exponent, 0, 2 * f.bias());
  // Few significant bits, so that ties in rounding are likely.
  Bits fraction = random % (Bits{1} << (f.precision - 1));
  if (rng.below(2) == 0) fraction &= ~((Bits{1} << rng.below(static_cast<std::uint64_t>(f.precision))) - 1);
  return (random >> 63) << (f.bits - 1) | static_cast<Bits>(exponent) << (f.precision - 1) | fraction;
}

Bits random_operand(Type t, Rng& rng, int around) {
  const int bits = ptx::bits_of(t);
  if (const exact::Format* f = format_of(t)) return random_float(*f, rng, around * 2 * f->bias() / 2046);
  if (t == Type::f16x2 || t == Type::bf16x2) {
    const exact::Format& f = t == Type::f16x2 ? exact::kF16 : exact::kBF16;
    const int center = around * 2 * f.bias() / 2046;
    const Bits high = random_float(f, rng, center);
    return high << 16 | random_float(f, rng, center);
  }
  const Bits random = rng();
  return low_bits(rng.below(2) == 0 ? random : random >> rng.below(64), bits);
}

std::string register_type(Type t) {
  if (t == Type::pred) return "pred";
  return fmt::format("b{}", std::max(ptx::bits_of(t), 16));
}

int register_bits(const Operation& o) {
  return o.result_register_bits != 0 ? o.result_register_bits : std::max(ptx::bits_of(o.result), 16);
}

}  // namespace

std::vector<Bits> operands_for(const Operation& o, std::size_t n, std::uint64_t seed) {
  const std::size_t k = o.sources.size();
  std::vector<std::vector<Bits>> edges;
  std::size_t combinations = 1;
  for (const Type t : o.sources) {
    edges.push_back(edges_of(t));
    combinations *= edges.back().size();
  }
  std::vector<Bits> all;
  all.reserve(n * k);
  Rng rng(0x9e3779b97f4a7c15u + o.row.size() + (seed << 8));
  const std::size_t n_edges = seed == 0 ? std::min(combinations, n / 2) : 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i < n_edges) {
      // All combinations if they fit, else random ones.
      std::size_t which = combinations <= n / 2 ? i : rng.below(combinations);
      for (std::size_t s = 0; s < k; ++s) {
        all.push_back(edges[s][which % edges[s].size()]);
        which /= edges[s].size();
      }
      continue;
    }
    const int around = static_cast<int>(rng.below(2047));
    for (std::size_t s = 0; s < k; ++s) {
      const bool edge = rng.below(6) == 0;
      all.push_back(edge ? edges[s][rng.below(edges[s].size())] : random_operand(o.sources[s], rng, around));
    }
  }
  return all;
}

std::string kernel_for(const Operation& o, const std::string& name) {
  std::string text = fmt::format(
      ".visible .entry {}(.param .u64 in, .param .u64 out)\n{{\n"
      "  .reg .pred %guard;\n  .reg .b32 %i, %n, %b, %t;\n  .reg .b64 %in, %out, %w;\n",
      name);
  std::string loads, arguments;
  for (std::size_t k = 0; k < o.sources.size(); ++k) {
    const Type t = o.sources[k];
    text += fmt::format("  .reg .{} %a{};\n", register_type(t), k);
    if (t == Type::pred)
      loads += fmt::format("  ld.global.u32 %t, [%in+{}];\n  setp.ne.u32 %a{}, %t, 0;\n", 8 * k, k);
    else if (ptx::bits_of(t) == 8)
      loads += fmt::format("  ld.global.u8 %a{}, [%in+{}];\n", k, 8 * k);
    else
      loads += fmt::format("  ld.global.b{} %a{}, [%in+{}];\n", ptx::bits_of(t), k, 8 * k);
    arguments += fmt::format(", %a{}", k);
  }
  const bool pred = o.result == Type::pred;
  const int bits = register_bits(o);
  const std::string result_type = pred ? "pred" : fmt::format("b{}", bits);
  text += fmt::format("  .reg .{} %r, %g;\n", result_type);
  text += fmt::format(
      "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n"
      "  mov.u32 %i, %tid.x;\n  mov.u32 %b, %ctaid.x;\n  mov.u32 %n, %ntid.x;\n  mad.lo.u32 %i, %b, %n, %i;\n"
      "  mul.wide.u32 %w, %i, {};\n  add.u64 %in, %in, %w;\n  mul.wide.u32 %w, %i, 24;\n  add.u64 %out, "
      "%out, %w;\n"
      "  and.b32 %t, %i, 1;\n  setp.eq.u32 %guard, %t, 1;\n",
      8 * o.sources.size());
  text += loads;
  if (pred)
    text += "  setp.eq.u32 %g, %i, %i;\n";
  else
    text += fmt::format("  mov.b{0} %g, {1};\n", bits,
                        bits == 64   ? "0x5a5a5a5a5a5a5a5a"
                        : bits == 32 ? "0x5a5a5a5a"
                                     : "0x5a5a");
  text += fmt::format("  {} %r{};\n  @%guard {} %g{};\n", o.ptx, arguments, o.ptx, arguments);
  for (int k = 0; k < 2; ++k) {
    const char* reg = k == 0 ? "%r" : "%g";
    if (pred)
      text += fmt::format("  selp.u32 %t, 1, 0, {};\n  st.global.u32 [%out+{}], %t;\n", reg, 8 * k);
    else
      text += fmt::format("  st.global.b{} [%out+{}], {};\n", bits, 8 * k, reg);
  }
  return text + "  ret;\n}\n";
}

Outcome expected_outcome(const Operation& o, Operands operands, bool odd_thread) {
  if (o.result == Type::pred) {
    const Bits r = o.expected(operands);
    return {r, odd_thread ? r : 1};
  }
  const int bits = register_bits(o), type_bits = ptx::bits_of(o.result);
  Bits r = low_bits(o.expected(operands), type_bits);
  if (has_sign(o.result) && bits > type_bits && (r >> (type_bits - 1) & 1) != 0) r |= ~Bits{0} << type_bits;
  r = low_bits(r, bits);
  return {r, odd_thread ? r : low_bits(kUntouched, bits)};
}

std::vector<Operation> all_operations() {
  std::vector<Operation> all;
  for (const auto& family : {integer_operations(), bit_operations(), float_operations(), half_operations(),
                             compare_operations(), move_operations(), convert_operations()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace course::sim
