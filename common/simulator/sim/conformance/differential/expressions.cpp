// SPDX-License-Identifier: MIT
// Random expressions for the contraction of products (decode/contract.cpp). The code is in the form that nvcc
// writes: each register is written once, except where branches join, and no result is computed twice.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "base/rng.hpp"
#include "sim/conformance/differential/generate.hpp"

namespace course::sim::differential {
namespace {

struct Number {
  const char* type;
  const char* bits;        // type of its registers
  std::uint64_t mantissa;  // mask of the bits that are random in inputs; the exponents are near 0
  std::uint64_t exponent;  // of numbers in [0.5, 4): the lowest bit of the exponent, added 0 to 2 times …
  std::uint64_t least;     // … to this
  int halves;              // numbers in a register
};
constexpr Number kNumbers[] = {
    {"f32", "b32", 0x807fffff, 0x800000, 0x3f000000, 1},
    {"f64", "b64", 0x800fffffffffffff, 0x10000000000000, 0x3fe0000000000000, 1},
    {"f16", "b16", 0x83ff, 0x400, 0x3800, 1},
    {"f16x2", "b32", 0x83ff, 0x400, 0x3800, 2},
    {"bf16", "b16", 0x807f, 0x80, 0x3f00, 1},
    {"bf16x2", "b32", 0x807f, 0x80, 0x3f00, 2},
};

const Number& number_of(std::uint64_t seed) {
  constexpr std::size_t kOrder[] = {0, 1, 0, 2, 0, 3, 1, 4, 0, 5};  // mostly f32 and f64
  return kNumbers[kOrder[seed % std::size(kOrder)]];
}

class Expressions {
 public:
  Expressions(std::uint64_t seed, std::string name)
      : rng_(seed_for(seed, "expressions")), number_(number_of(seed)), name_(std::move(name)) {
    const bool is_f32 = number_.type == std::string_view("f32");
    all_rounded_ = rng_.below(12) == 0;
    if ((is_f32 || number_.type[0] == 'f') && number_.type != std::string_view("f64")) {
      if (is_f32 && rng_.below(5) == 0) flush_ = ".ftz";
      saturates_ = true;
    }
  }

  std::string kernel() {
    for (std::size_t k = 0; k < kWordsIn; ++k) values_.push_back(fmt::format("%i{}", k));
    const std::uint64_t n_sections = 1 + rng_.below(3);
    for (std::uint64_t s = 0; s < n_sections; ++s) {
      section();
      if (s + 1 < n_sections) boundary();
    }
    return fmt::format(
               ".visible .entry {}(.param .u64 in, .param .u64 out) {{\n  .reg .{} %i<{}>, %v<{}>;\n"
               "  .reg .pred %p<4>;\n  .reg .b64 %in, %out, %w;\n  .reg .b32 %t<4>;\n"
               "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n"
               "  mov.u32 %t0, %ctaid.x;\n  mov.u32 %t1, %tid.x;\n  mad.lo.u32 %t0, %t0, {}, %t1;\n"
               "  mul.wide.u32 %w, %t0, {};\n  add.u64 %in, %in, %w;\n"
               "  mul.wide.u32 %w, %t0, {};\n  add.u64 %out, %out, %w;\n"
               "  and.b32 %t2, %t0, 1;\n  setp.ne.u32 %p0, %t2, 0;\n"
               "  and.b32 %t2, %t0, 2;\n  setp.ne.u32 %p1, %t2, 0;\n",
               name_, number_.bits, kWordsIn, n_, kThreads, 8 * kWordsIn, 8 * kWordsOut) +
           loads() + text_ + stores() + "  ret;\n}\n";
  }

 private:
  std::uint64_t below(std::uint64_t n) { return rng_.below(n); }
  void line(std::string_view text) { text_ += fmt::format("  {};\n", text); }

  std::string loads() const {
    std::string text;
    for (std::size_t k = 0; k < kWordsIn; ++k)
      text += fmt::format("  ld.global.{} %i{}, [%in+{}];\n", number_.bits, k, 8 * k);
    return text;
  }

  // Stores what nothing else uses, and some of the other results.
  std::string stores() {
    std::vector<std::string> kept;
    for (const std::string& v : results_)
      if (!used_.contains(v) || below(12) == 0) kept.push_back(v);
    std::string text;
    while (kept.size() >= kWordsOut) {
      text += fmt::format("  fma.rn.{0} {1}, {1}, {1}, {2};\n", number_.type, kept[0], kept.back());
      kept.pop_back();
    }
    for (std::size_t k = 0; k < kept.size(); ++k)
      text += fmt::format("  st.global.{} [%out+{}], {};\n", number_.bits, 8 * k, kept[k]);
    return text;
  }

  std::string fresh() { return fmt::format("%v{}", n_++); }

  std::string any_value() {
    const std::size_t n = values_.size(), recent = std::min<std::size_t>(n, 7);
    return below(3) != 0 ? values_[n - 1 - below(recent)] : values_[below(n)];
  }

  // A number, where the type has immediates.
  std::string immediate() {
    constexpr double kSome[] = {1.0, -1.0, 2.0, 1.5, -0.7, 5.0};
    const double x = kSome[below(std::size(kSome))];
    if (number_.type == std::string_view("f32"))
      return fmt::format("0f{:08X}", std::bit_cast<std::uint32_t>(static_cast<float>(x)));
    if (number_.type == std::string_view("f64"))
      return fmt::format("0d{:016X}", std::bit_cast<std::uint64_t>(x));
    return any_value();
  }

  void add_result(const std::string& v, std::initializer_list<std::string> sources) {
    used_.insert(sources);
    values_.push_back(v);
    results_.push_back(v);
  }

  // No two of these are equal, because ptxas would compute them once.
  bool is_new(std::string_view op, std::string a, std::string b) {
    if (op != "sub" && b < a) std::swap(a, b);
    return written_.insert(fmt::format("{} {} {}", op, a, b)).second;
  }

  std::string spelling(std::string_view op) {
    const bool rounded = all_rounded_ || below(12) == 0;
    const bool clamps = saturates_ && below(30) == 0;
    return fmt::format("{}{}{}{}.{}", op, rounded ? ".rn" : "", flush_, clamps ? ".sat" : "", number_.type);
  }

  void arithmetic() {
    const auto kind = below(20);
    const std::string_view op = kind < 9 ? "mul" : kind < 14 ? "add" : kind < 19 ? "sub" : "fma";
    const std::string a = any_value();
    const std::string b = op != "fma" && below(12) == 0 ? immediate() : any_value();
    if (op != "mul" && a == b) return;
    if (op == "fma") {
      const std::string c = any_value(), to = fresh();
      line(fmt::format("fma.rn{}.{} {}, {}, {}, {}", flush_, number_.type, to, a, b, c));
      return add_result(to, {a, b, c});
    }
    if (!is_new(op, a, b)) return;
    const std::string to = fresh();
    line(fmt::format("{} {}, {}, {}", spelling(op), to, a, b));
    add_result(to, {a, b});
  }

  void negation() {
    if (number_.type[0] == 'b') return;  // ptxas replaces it by a fused operation
    const std::string a = any_value();
    if (!is_new("neg", a, "")) return;
    const std::string to = fresh();
    line(fmt::format("neg{}.{} {}, {}", flush_, number_.type, to, a));
    add_result(to, {a});
  }

  // The register keeps its old value in some threads.
  void guarded_sum() {
    const std::string a = any_value(), b = any_value(), c = any_value(), to = fresh();
    if (a == b) return;
    line(fmt::format("mov.{} {}, {}", number_.bits, to, c));
    line(fmt::format("@{}%p{} {} {}, {}, {}", below(2) == 0 ? "!" : "", below(2),
                     spelling(below(2) == 0 ? "add" : "sub"), to, a, b));
    add_result(to, {a, b, c});
  }

  void section() {
    for (std::uint64_t k = 3 + below(12); k > 0; --k) {
      const auto kind = below(20);
      if (kind == 0)
        negation();
      else if (kind == 1 && number_.halves == 1)
        guarded_sum();
      else
        arithmetic();
    }
  }

  // What stands between two sections: most of these begin a basic block.
  void boundary() {
    switch (below(6)) {
      case 0: return line("bar.sync 0");
      case 1: return line("membar.cta");
      case 2: return line("@%p0 st.global.b32 [%out+152], %t0");
      case 3: return line("shfl.sync.idx.b32 %t3, %t0, 0, 31, -1");
      default: return branch();
    }
  }

  void branch() {
    const std::string end = fmt::format("${}_{}", name_, n_), to = fresh(), c = any_value();
    line(fmt::format("mov.{} {}, {}", number_.bits, to, c));
    line(fmt::format("@%p{} bra {}", below(2), end));
    const std::size_t before = values_.size();
    section();
    for (std::size_t k = before; k < values_.size(); ++k) {
      if (!used_.contains(values_[k]))
        line(fmt::format("fma.rn.{} {}, {}, %i0, {}", number_.type, to, values_[k], to));
      std::erase(results_, values_[k]);
    }
    values_.resize(before);  // not defined after the join
    text_ += end + ":\n";
    add_result(to, {c});
  }

  Rng rng_;
  const Number& number_;
  std::string name_, text_, flush_;
  std::size_t n_ = 0;
  bool all_rounded_ = false, saturates_ = false;
  std::vector<std::string> values_, results_;
  std::set<std::string> used_, written_;
};

}  // namespace

std::string random_expressions(std::uint64_t seed, const std::string& name) {
  return Expressions(seed, name).kernel();
}

std::vector<std::uint64_t> expression_input(std::uint64_t seed) {
  const Number& number = number_of(seed);
  Rng rng(seed_for(seed, "expression input"));
  std::vector<std::uint64_t> words(kBlocks * kThreads * kWordsIn);
  for (std::uint64_t& w : words) {
    w = 0;
    for (int h = 0; h < number.halves; ++h)
      w = w << 16 | ((rng() & number.mantissa) + number.least + rng.below(3) * number.exponent);
  }
  return words;
}

}  // namespace course::sim::differential
