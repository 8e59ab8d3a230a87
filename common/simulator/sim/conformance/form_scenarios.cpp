// SPDX-License-Identifier: MIT
// Carry chains, and spellings that the decoder splits into several rows: comparisons with a second predicate,
// set, packing and unpacking, lop3 with a predicate, address spaces, immediates, special registers.
#include "sim/conformance/format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "base/rng.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

using Word = std::uint64_t;
__extension__ using UWide = unsigned __int128;

constexpr std::uint32_t kThreads = 96;

// `lines` reads the thread's operands %a, %b, %c (b32) or %A, %B, %C (b64) and writes %d0 … (b32) and %D0 …
// (b64).
struct Form {
  std::string name;
  std::string lines = {};
  int n_out;  // results, %d0 …
  std::function<std::vector<Word>(Word a, Word b, Word c)> expected = {};
  bool wide_out = false;  // %D0 …
  std::vector<std::string> rows = {};
  int least_sm = 80;
};

std::uint32_t low(Word w) {
  return static_cast<std::uint32_t>(w);
}

Scenario scenario(const Form& f) {
  Scenario s{.name = f.name, .rows = f.rows, .threads = kThreads, .least_sm = f.least_sm};
  std::string registers =
      "  .reg .b32 %a, %b, %c, %t<4>;\n  .reg .b64 %A, %B, %C, %T<4>;\n  .reg .b16 %h<8>;\n"
      "  .reg .pred %p, %q, %r, %s;\n";
  std::string body =
      "  ld.global.u64 %A, [%in];\n  ld.global.u64 %B, [%in+8];\n  ld.global.u64 %C, [%in+16];\n"
      "  cvt.u32.u64 %a, %A;\n  cvt.u32.u64 %b, %B;\n  cvt.u32.u64 %c, %C;\n  and.b32 %t0, %c, 1;\n"
      "  setp.eq.u32 %r, %t0, 1;\n";
  for (int k = 0; k < f.n_out; ++k)
    registers += fmt::format("  .reg .b{} %{}{};\n", f.wide_out ? 64 : 32, f.wide_out ? "D" : "d", k);
  body += f.lines;
  for (int k = 0; k < f.n_out; ++k)
    body += fmt::format("  st.global.b{} [%out+{}], %{}{};\n", f.wide_out ? 64 : 32, 8 * k,
                        f.wide_out ? "D" : "d", k);
  s.ptx = scenario_kernel(registers, body, 3, f.n_out);
  Rng rng(f.lines.size());
  constexpr Word kEdges[] = {
      0,          1,          ~Word{0},          0xffffffff, 0x80000000, 0x7fffffff, Word{1} << 63,
      0x3f800000, 0x7fc00000, 0x8000000080000000};
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    Word x[3];
    for (Word& w : x)
      w = rng.below(3) == 0   ? kEdges[rng.below(std::size(kEdges))]
          : rng.below(3) == 0 ? rng.below(16)
                              : rng();
    s.in.insert(s.in.end(), x, x + 3);
    for (const Word w : f.expected(x[0], x[1], x[2])) s.out.push_back(f.wide_out ? w : w & 0xffffffff);
  }
  return s;
}

// --- carries -----------------------------------------------------------------------------------------------

// One instruction of a chain: computes (result, carry) from the operands and the previous carry.
struct Link {
  std::string op;  // "addc.cc"
  int n_sources;
};
// `type`: u32 … s64. Applies `links` to operands taken in turn from a, b, c and the results so far.
Form chain(const std::string& type, const std::vector<Link>& links) {
  const bool wide = type.ends_with("64"), is_signed = type[0] == 's';
  const int bits = wide ? 64 : 32;
  const Word mask = wide ? ~Word{0} : 0xffffffff;
  Form f{.name = "chain", .n_out = static_cast<int>(links.size()), .wide_out = wide};
  for (std::size_t k = 0; k < links.size(); ++k) {
    const char* names[] = {wide ? "%A" : "%a", wide ? "%B" : "%b", wide ? "%C" : "%c"};
    f.rows.push_back(links[k].op + "." + type);
    f.name += " " + f.rows.back();
    f.lines += fmt::format("  {}.{} %{}{}", links[k].op, type, wide ? "D" : "d", k);
    for (int j = 0; j < links[k].n_sources; ++j)
      f.lines += fmt::format(", {}", names[(static_cast<std::size_t>(j) + k) % 3]);
    f.lines += ";\n";
  }
  f.expected = [=](Word a, Word b, Word c) {
    std::vector<Word> out;
    const Word x[] = {a & mask, b & mask, c & mask};
    Word carry = 0;
    for (std::size_t k = 0; k < links.size(); ++k) {
      const std::string& op = links[k].op;
      const bool in = op.find("c.") == 3 || op == "addc" || op == "subc" || op.starts_with("madc");
      const Word p = x[k % 3], q = x[(k + 1) % 3], r = x[(k + 2) % 3];
      UWide sum = 0;
      if (op.starts_with("add")) {
        sum = static_cast<UWide>(p) + q + (in ? carry : 0);
      } else if (op.starts_with("sub")) {
        // Borrows if the flag is clear; the flag is set if the subtraction does not borrow.
        const UWide taken = static_cast<UWide>(q) + (in && carry == 0 ? 1 : 0);
        sum = (p >= taken ? UWide{1} << bits : 0) + ((p - taken) & mask);
      } else {
        // The bits of the product, by long multiplication of the magnitudes.
        const bool negative = is_signed && ((p >> (bits - 1) & 1) != (q >> (bits - 1) & 1));
        const auto magnitude = [&](Word v) {
          return is_signed && (v >> (bits - 1) & 1) != 0 ? (0 - v) & mask : v;
        };
        UWide product = static_cast<UWide>(magnitude(p)) * magnitude(q);
        if (negative) product = 0 - product;
        const Word half = op.find(".hi") != std::string::npos ? static_cast<Word>(product >> bits) & mask
                                                              : static_cast<Word>(product) & mask;
        sum = static_cast<UWide>(half) + r + (in ? carry : 0);
      }
      out.push_back(static_cast<Word>(sum) & mask);
      if (op.ends_with(".cc")) carry = static_cast<Word>(sum >> bits & 1);
    }
    return out;
  };
  return f;
}

// --- comparisons of halves ---------------------------------------------------------------------------------

// Every comparison of halves and pairs of halves with every type of result, computed for each half with
// numbers of the host.
void add_sets_of_halves(std::vector<Form>& all) {
  const auto number = [](Word h, bool bf16) {
    if (bf16) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(h << 16)));
    const int exponent = static_cast<int>(h >> 10 & 31), fraction = static_cast<int>(h & 1023);
    const double magnitude = exponent == 31  ? (fraction != 0 ? std::nan("") : HUGE_VAL)
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    return (h & 0x8000) != 0 ? -magnitude : magnitude;
  };
  using Holds = bool (*)(double, double);
  const std::pair<const char*, Holds> comparisons[] = {
      {"eq", [](double a, double b) { return a == b; }},
      {"ne", [](double a, double b) { return a < b || a > b; }},
      {"lt", [](double a, double b) { return a < b; }},
      {"ge", [](double a, double b) { return a >= b; }},
      {"neu", [](double a, double b) { return !(a == b); }},
      {"gtu", [](double a, double b) { return !(a <= b); }},
      {"leu", [](double a, double b) { return !(a > b); }},
      {"num", [](double a, double b) { return a == a && b == b; }},
      {"nan", [](double a, double b) { return a != a || b != b; }}};
  for (const bool bf16 : {false, true}) {
    const std::string half = bf16 ? "bf16" : "f16";
    for (const auto& [name, holds_] : comparisons) {
      const Holds holds = holds_;
      const auto compare = [=](Word a, Word b, int shift) {
        return holds(number(a >> shift & 0xffff, bf16), number(b >> shift & 0xffff, bf16));
      };
      const Word one = bf16 ? 0x3f80 : 0x3c00;
      // The result registers have 32 bits, to show how a 16-bit result is extended. (Except the last one:
      // ptxas 13.0 drops a cvt.u32.u16 after a comparison with a half result, so the upper half of the
      // register is visible.)
      Form f;
      f.name = fmt::format("set.{} of {}", name, half);
      f.lines = fmt::format(
          "  cvt.u16.u32 %h0, %a;\n  cvt.u16.u32 %h1, %b;\n  set.{0}.u32.{1}x2 %d0, %a, %b;\n"
          "  set.{0}.s32.{1}x2 %d1, %b, %a;\n  set.{0}.and.u32.{1}x2 %d2, %a, %b, %r;\n"
          "  set.{0}.xor.{1}x2.{1}x2 %d3, %a, %b, !%r;\n  set.{0}.u32.{1} %d4, %h0, %h1;\n"
          "  set.{0}.or.s32.{1} %d5, %h0, %h1, %r;\n  set.{0}.u16.{1} %h2, %h0, %h1;\n"
          "  cvt.u32.u16 %d6, %h2;\n  set.{0}.s16.{1} %h2, %h0, %h1;\n  cvt.s32.s16 %d7, %h2;\n"
          "  set.{0}.{1}.{1} %h2, %h0, %h1;\n  mov.u16 %h3, 0;\n  mov.b32 %d8, {{%h2, %h3}};\n",
          name, half);
      f.n_out = 9;
      f.wide_out = false;
      f.least_sm = 90;
      f.expected = [=](Word a, Word b, Word c) {
        const bool r = (c & 1) != 0, low_holds = compare(a, b, 0), high_holds = compare(a, b, 16);
        const auto masks = [](bool x, bool y) { return (x ? 0xffffu : 0u) | (y ? 0xffff0000u : 0u); };
        const auto ones = [](bool x) { return Word{x ? 0xffffffffu : 0u}; };
        return std::vector<Word>{masks(low_holds, high_holds),
                                 masks(compare(b, a, 0), compare(b, a, 16)),
                                 masks(low_holds && r, high_holds && r),
                                 (low_holds == r ? one : 0) | (high_holds == r ? one << 16 : 0),
                                 ones(low_holds),
                                 ones(low_holds || r),
                                 Word{low_holds ? 0xffffu : 0u},
                                 ones(low_holds),
                                 low_holds ? one : 0};
      };
      all.push_back(std::move(f));
    }
  }
}

// --- forms -------------------------------------------------------------------------------------------------

void add_comparisons(std::vector<Form>& all) {
  const auto add = [&](Form f) { all.push_back(std::move(f)); };
  const auto two = [](bool p, bool q) { return std::vector<Word>{p, q}; };
  const std::string kPQ = "  selp.u32 %d0, 1, 0, %p;\n  selp.u32 %d1, 1, 0, %q;\n";
  add({"setp with two results", "  setp.lt.u32 %p|%q, %a, %b;\n" + kPQ, 2,
       [=](Word a, Word b, Word) { return two(low(a) < low(b), low(a) >= low(b)); }});
  for (const char* op : {"and", "or", "xor"}) {
    const auto combine = [o = std::string(op)](bool x, bool y) {
      return o == "and" ? x && y : o == "or" ? x || y : x != y;
    };
    add({fmt::format("setp.{}", op), fmt::format("  setp.ge.{}.s32 %p|%q, %a, %b, %r;\n", op) + kPQ, 2,
         [=](Word a, Word b, Word c) {
           const bool ge = static_cast<std::int32_t>(a) >= static_cast<std::int32_t>(b), r = (c & 1) != 0;
           return two(combine(ge, r), combine(!ge, r));
         }});
    add({fmt::format("setp.{} negated", op),
         fmt::format("  mov.pred %p, %r;\n  mov.pred %q, %r;\n  setp.eq.{}.u64 %p|%q, %A, %B, !%p;\n", op) +
             kPQ,
         2, [=](Word a, Word b, Word c) {
           return two(combine(a == b, (c & 1) == 0), combine(a != b, (c & 1) == 0));
         }});
  }
  add({"set to integers",
       "  set.lt.u32.u32 %d0, %a, %b;\n  set.ge.s32.f32 %d1, %a, %b;\n"
       "  set.ne.and.u32.u64 %d2, %A, %B, %r;\n",
       3, [](Word a, Word b, Word c) {
         const float x = std::bit_cast<float>(low(a)), y = std::bit_cast<float>(low(b));
         const auto ones = [](bool holds) { return holds ? Word{0xffffffff} : Word{0}; };
         return std::vector<Word>{ones(low(a) < low(b)), ones(x >= y), ones(a != b && (c & 1) != 0)};
       }});
  add({"set to floats", "  set.gt.f32.s32 %d0, %a, %b;\n  set.ltu.xor.f32.f32 %d1, %a, %b, !%r;\n", 2,
       [](Word a, Word b, Word c) {
         const float x = std::bit_cast<float>(low(a)), y = std::bit_cast<float>(low(b));
         const auto one = [](bool holds) { return holds ? Word{0x3f800000} : Word{0}; };
         return std::vector<Word>{one(static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b)),
                                  one(!(x >= y) != ((c & 1) == 0))};
       }});
  add({"setp of two halves", "  setp.lt.f16x2 %p|%q, %a, %b;\n" + kPQ, 2, [=](Word a, Word b, Word) {
         const auto less = [](Word x, Word y) {  // maps floats to integers of the same order
           if ((x & 0x7fff) > 0x7c00 || (y & 0x7fff) > 0x7c00) return false;
           const auto rank = [](Word h) {
             return (h & 0x8000) != 0 ? -static_cast<int>(h & 0x7fff) : static_cast<int>(h & 0x7fff);
           };
           return rank(x & 0xffff) < rank(y & 0xffff);
         };
         return two(less(a & 0xffff, b & 0xffff), less(a >> 16 & 0xffff, b >> 16 & 0xffff));
       }});
}

void add_lop3(std::vector<Form>& all) {
  const auto add = [&](Form f) { all.push_back(std::move(f)); };
  for (const int table : {0x00, 0x80, 0xe8, 0x96, 0xf0, 0x1b, 0xff, 0x5a}) {
    add({fmt::format("lop3 {:#x}", table),
         fmt::format("  lop3.b32 %d0, %a, %b, %c, {};\n", table),
         1,
         [=](Word a, Word b, Word c) {
           Word r = 0;
           for (int k = 0; k < 32; ++k) {
             const Word index = (a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1);
             r |= static_cast<Word>(table >> index & 1) << k;
           }
           return std::vector<Word>{r};
         },
         false,
         {"lop3.b32"}});
  }
  add({"lop3 with a predicate",
       "  lop3.or.b32 %d0|%p, %a, %b, %c, 0x80, %r;\n  lop3.and.b32 %d1|%q, %a, %b, %c, 0x96, !%r;\n"
       "  selp.u32 %d2, 1, 0, %p;\n  selp.u32 %d3, 1, 0, %q;\n",
       4, [](Word a, Word b, Word c) {
         const Word x = low(a & b & c), y = low(a ^ b ^ c);
         return std::vector<Word>{x, y, x != 0 || (c & 1) != 0, y != 0 && (c & 1) == 0};
       }});
}

void add_packing_and_variables(std::vector<Form>& all) {
  const auto add = [&](Form f) { all.push_back(std::move(f)); };
  add({"pack and unpack 32 bits",
       "  mov.b64 %D0, {%a, %b};\n  mov.b64 {%t1, %t2}, %A;\n  mov.b64 %D1, {%t2, %t1};\n"
       "  mov.b64 {_, %t3}, %C;\n  cvt.u64.u32 %D2, %t3;\n",
       3,
       [](Word a, Word b, Word c) {
         return std::vector<Word>{(b & 0xffffffff) << 32 | (a & 0xffffffff), a << 32 | a >> 32, c >> 32};
       },
       true,
       {"pack.b64", "high.b64"}});
  add({"pack and unpack 16 and 8 bits",
       "  mov.b32 {%h0, %h1}, %a;\n  mov.b32 %d0, {%h1, %h0};\n  mov.b64 {%h2, %h3, %h4, %h5}, %B;\n"
       "  mov.b64 %T0, {%h5, %h4, %h3, %h2};\n  cvt.u32.u64 %d1, %T0;\n  shr.u64 %T0, %T0, 32;\n"
       "  cvt.u32.u64 %d2, %T0;\n  .reg .b8 %e<4>;\n  mov.b32 {%e0, %e1, %e2, %e3}, %c;\n"
       "  mov.b32 %d3, {%e3, %e1, %e2, %e0};\n",
       4, [](Word a, Word b, Word c) {
         const auto half = [](Word w, int k) { return w >> 16 * k & 0xffff; };
         const auto byte = [](Word w, int k) { return w >> 8 * k & 0xff; };
         return std::vector<Word>{half(a, 0) << 16 | half(a, 1), half(b, 2) << 16 | half(b, 3),
                                  half(b, 0) << 16 | half(b, 1),
                                  byte(c, 0) << 24 | byte(c, 2) << 16 | byte(c, 1) << 8 | byte(c, 3)};
       }});
  add({"vectors of registers",
       "  .reg .v4 .b32 %v, %w;\n  .reg .v2 .b64 %V;\n  mov.v4.u32 %v, {%a, %b, %c, 7};\n"
       "  mov.v4.b32 %w, %v;\n  mov.v4.u32 %w, {%w.w, %w.z, %w.y, %w.x};\n"
       "  mov.v4.u32 {%d0, %d1, %d2, %d3}, %w;\n  mov.v4.u32 {%d4, %d5, %d6, %t0}, %ntid;\n"
       "  mov.v2.b64 %V, {%B, %A};\n  mov.v2.b64 %V, {%V.y, %V.x};\n  mov.b64 {%d7, %d8}, %V.x;\n"
       "  cvt.u16.u32 %h0, %b;\n  mov.b32 %t0, {%h0, _};\n  and.b32 %d9, %t0, 0xffff;\n",
       10, [](Word a, Word b, Word c) {
         return std::vector<Word>{7, c, b, a, kThreads, 1, 1, a, a >> 32, b & 0xffff};
       }});
  add({"128-bit registers as four words",
       "  .reg .b128 %Q, %R;\n  mov.b128 %Q, {%A, %B};\n  mov.b128 {%d0, %d1, %d2, %d3}, %Q;\n"
       "  mov.b128 %R, {%d3, %d2, %d1, %d0};\n  mov.b128 {%T0, %T1}, %R;\n  mov.b64 {%d4, %d5}, %T0;\n"
       "  mov.b64 {%d6, %d7}, %T1;\n",
       8, [](Word a, Word b, Word) {
         return std::vector<Word>{a, a >> 32, b, b >> 32, b >> 32, b, a >> 32, a};
       }});
  add({"variables of a function's body",
       "  .global .align 4 .u32 own[2] = {11, 22};\n  .const .align 4 .u32 fixed = 33;\n"
       "  .global .align 8 .u64 pointer = generic(own) + 4;\n  ld.global.u32 %d0, [own+4];\n"
       "  ld.const.u32 %d1, [fixed];\n  mov.u64 %T0, own;\n  ld.global.u32 %d2, [%T0];\n"
       "  ld.global.u64 %T1, [pointer];\n  ld.u32 %d3, [%T1];\n",
       4, [](Word, Word, Word) {
         return std::vector<Word>{22, 33, 11, 22};
       }});
}

void add_operands(std::vector<Form>& all) {
  const auto add = [&](Form f) { all.push_back(std::move(f)); };
  add({"register + constant",
       "  add.u32 %d0, %a + 4, %b + (1 << 30);\n  mul.wide.u32 %T0, %c + 1, 2;\n  mov.b64 %T1, %A + -1;\n"
       "  cvt.u32.u64 %d1, %T0;\n  cvt.u32.u64 %d2, %T1;\n",
       3, [](Word a, Word b, Word c) {
         return std::vector<Word>{low(a + 4 + b + (1 << 30)), low(2 * Word{low(c + 1)}), low(a - 1)};
       }});
  // The word order that nvcc writes for __vimax_s32_relu and the like; the ISA has max.relu.s32.
  for (const bool maximum : {false, true}) {
    const auto relu = [=](std::int64_t a, std::int64_t b) {
      return static_cast<Word>(std::max<std::int64_t>(maximum ? std::max(a, b) : std::min(a, b), 0));
    };
    const char* const op = maximum ? "max" : "min";
    add({fmt::format("{}.type.relu", op),
         fmt::format("  {0}.s32.relu %d0, %a, %b;\n  {0}.s16x2.relu %d1, %a, %b;\n", op),
         2,
         [=](Word a, Word b, Word) {
           const auto word = [](Word w) { return static_cast<std::int32_t>(low(w)); };
           const auto half = [](Word w, int k) { return static_cast<std::int16_t>(w >> (16 * k)); };
           return std::vector<Word>{relu(word(a), word(b)),
                                    relu(half(a, 0), half(b, 0)) | relu(half(a, 1), half(b, 1)) << 16};
         },
         false,
         {fmt::format("{}.relu.s32", op), fmt::format("{}.relu.s16x2", op)},
         90});
  }
  add({"immediates",
       "  add.s32 %d0, %a, -5;\n  add.f32 %d1, %a, 0f3F800000;\n  and.b32 %d2, %b, 0xff00ff00;\n"
       "  sub.u32 %d3, 10, %c;\n",
       4, [](Word a, Word b, Word c) {
         const float x = std::bit_cast<float>(low(a)) + 1.0f;
         return std::vector<Word>{a - 5, x != x ? 0x7fffffffu : std::bit_cast<std::uint32_t>(x),
                                  b & 0xff00ff00, 10 - c};
       }});
  add({"wider registers",
       "  cvt.s8.s32 %t0, %a;\n  mov.b32 %d0, %t0;\n  cvt.u16.u32 %t1, %b;\n  mov.b32 %d1, %t1;\n"
       "  shr.s32 %d2, %a, 3;\n  cvt.s16.u64 %d3, %C;\n",
       4, [](Word a, Word b, Word c) {
         return std::vector<Word>{static_cast<Word>(static_cast<std::int8_t>(a)), b & 0xffff,
                                  static_cast<Word>(static_cast<std::int32_t>(a) >> 3),
                                  static_cast<Word>(static_cast<std::int16_t>(c))};
       }});
  // Each thread has a shared cell of its own: a thread of another warp could store between a store and its
  // load.
  add({"spaces",
       "  .shared .align 8 .b8 s_bytes[1024];\n  .local .align 8 .b8 l_bytes[64];\n"
       "  cvta.shared.u64 %T0, s_bytes;\n  mov.u64 %T1, l_bytes;\n  cvta.local.u64 %T1, %T1;\n"
       "  cvta.to.shared.u64 %T2, %T0;\n  isspacep.shared %p, %T0;\n  selp.u32 %d0, 1, 0, %p;\n"
       "  isspacep.global %p, %T0;\n  selp.u32 %d1, 1, 0, %p;\n  isspacep.local %p, %T1;\n"
       "  selp.u32 %d2, 1, 0, %p;\n  isspacep.global %p, %base;\n  selp.u32 %d3, 1, 0, %p;\n"
       "  isspacep.shared %p, %base;\n  selp.u32 %d4, 1, 0, %p;\n  mul.wide.u32 %T3, %i, 8;\n"
       "  add.u64 %T2, %T2, %T3;\n  add.u64 %T0, %T0, %T3;\n  st.shared.u32 [%T2+8], %a;\n"
       "  ld.u32 %d5, [%T0+8];\n",
       6, [](Word a, Word, Word) { return std::vector<Word>{1, 0, 1, 1, 0, a}; }});
}

std::vector<Form> forms() {
  std::vector<Form> all;
  add_comparisons(all);
  add_sets_of_halves(all);
  add_lop3(all);
  add_packing_and_variables(all);
  add_operands(all);
  return all;
}

// Parameters and results in registers, immediates as arguments; the first instruction is the target of a
// loop.
Scenario register_parameters() {
  Scenario s{.name = "call with parameters in registers", .rows = {"st.local.u32", "ld.local.u64"}};
  s.ptx = scenario_kernel(
      ".func (.reg .b32 sum, .reg .b64 product) combine(.reg .b32 n, .reg .u64 step, .reg .u16 low)\n{\n"
      "  .reg .pred p;\n  .reg .b32 t;\n  .reg .b64 w;\nagain:\n  sub.u32 n, n, 1;\n  setp.ne.u32 p, n, 0;\n"
      "  @p bra again;\n  cvt.u32.u16 t, low;\n  cvt.u32.u64 sum, step;\n  add.u32 sum, sum, t;\n"
      "  add.u32 sum, sum, n;\n  cvt.u64.u16 w, low;\n  mul.lo.u64 product, step, w;\n"
      "  setp.gt.u32 p, sum, 100;\n  @p ret;\n  add.u32 sum, sum, 1000;\n}\n---  .reg .b32 %n, %sum;\n"
      "  .reg .b64 %step, %product;\n  .reg .u16 %low;\n",
      "  ld.global.u64 %step, [%in];\n  add.u32 %n, %i, 1;\n"
      "  call (%sum, %product), combine, (%n, %step, 7);\n  st.global.u32 [%out], %sum;\n"
      "  st.global.u64 [%out+8], %product;\n",
      1, 2);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const Word step = i * i;
    s.in.push_back(step);
    s.out.push_back(step + 7 > 100 ? step + 7 : step + 1007);
    s.out.push_back(7 * step);
  }
  return s;
}

// Vectors of registers as parameters and results, and two functions with local variables of the same name.
Scenario vector_parameters() {
  Scenario s;
  s.name = "call with vectors in registers";
  s.ptx = scenario_kernel(
      ".func (.reg .v2 .b32 r) swap(.reg .v2 .b32 p, .reg .v4 .b32 q)\n{\n  .global .u32 own = 3;\n"
      "  .reg .b32 t;\n  ld.global.u32 t, [own];\n  add.u32 t, t, q.z;\n  mov.v2.b32 r, {p.y, t};\n  ret;\n"
      "}\n.func (.reg .b32 r) three()\n{\n  .global .u32 own = 30;\n  ld.global.u32 r, [own];\n  ret;\n}\n"
      "---  .reg .v2 .b32 %v, %w;\n  .reg .v4 .b32 %q;\n  .reg .b32 %t;\n",
      "  mov.v2.b32 %v, {%i, %lane};\n  add.u32 %t, %i, 100;\n  mov.v4.b32 %q, {%i, %i, %t, %i};\n"
      "  call (%w), swap, (%v, %q);\n  call (%t), three;\n  st.global.u32 [%out], %w.x;\n"
      "  st.global.u32 [%out+4], %w.y;\n  st.global.u32 [%out+8], %t;\n",
      1, 2);
  for (std::uint32_t i = 0; i < 32; ++i) {
    s.in.push_back(0);
    s.out.push_back(Word{i + 103} << 32 | i);
    s.out.push_back(30);
  }
  return s;
}

}  // namespace

std::vector<Scenario> carry_scenarios() {
  std::vector<Scenario> all;
  for (const char* type : {"u32", "s32", "u64", "s64"}) {
    // All combinations of an instruction that writes the flag, one that reads and writes it, and one that
    // reads it.
    const Link starts[] = {{"add.cc", 2}, {"sub.cc", 2}, {"mad.lo.cc", 3}, {"mad.hi.cc", 3}};
    const Link reads[] = {{"addc", 2}, {"subc", 2}, {"madc.lo", 3}, {"madc.hi", 3}};
    for (const Link& start : starts) {
      std::vector<Link> links;
      for (const Link& middle : reads)
        for (const Link& last : reads)
          links.insert(links.end(), {start, {middle.op + ".cc", middle.n_sources}, last});
      all.push_back(scenario(chain(type, links)));
    }
  }
  return all;
}

std::vector<Scenario> form_scenarios() {
  std::vector<Scenario> all;
  for (const Form& f : forms()) all.push_back(scenario(f));
  all.push_back(register_parameters());
  all.push_back(vector_parameters());
  return all;
}

}  // namespace course::sim
