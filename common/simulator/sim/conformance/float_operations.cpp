// SPDX-License-Identifier: MIT
// The expected results of f32, f64, f16 and bf16 arithmetic, in exact arithmetic with one rounding at the
// end. Approximate instructions are compared with the host's long double functions and the errors that the
// PTX ISA allows.
#include "sim/conformance/format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/conformance/exact.hpp"
#include "sim/conformance/operation.hpp"

namespace course::sim {
namespace {

using exact::Format;
using exact::Mode;
using exact::Real;
using ptx::Type;

Bits sign_bit(const Format& f) {
  return Bits{1} << (f.bits - 1);
}
bool is_negative(const Format& f, Bits a) {
  return (a & sign_bit(f)) != 0;
}
Bits magnitude(const Format& f, Bits a) {
  return a & (sign_bit(f) - 1);
}
bool is_nan(const Format& f, Bits a) {
  return magnitude(f, a) > f.infinity();
}

struct Modifiers {
  bool ftz = false, sat = false, relu = false, nan = false, xorsign = false;

  std::string text() const {
    return std::string(ftz ? ".ftz" : "") + (nan ? ".NaN" : "") + (xorsign ? ".xorsign.abs" : "") +
           (sat ? ".sat" : "") + (relu ? ".relu" : "");
  }
};

Bits flush(const Format& f, Bits a, bool ftz) {
  const bool tiny = magnitude(f, a) < Bits{1} << (f.precision - 1);
  return ftz && tiny ? a & sign_bit(f) : a;
}
Bits finished(const Format& f, Bits r, const Modifiers& m) {
  r = flush(f, r, m.ftz);
  if (m.sat) {
    const Bits one = exact::round_to(f, exact::integer(false, 1), Mode::zero);
    if (is_nan(f, r) || is_negative(f, r)) return 0;
    return std::min(r, one);
  }
  if (m.relu && !is_nan(f, r) && is_negative(f, r)) return 0;
  return r;
}

struct List {
  std::vector<Operation> all;

  Operation& add(std::string row, std::string ptx, Type result, std::vector<Type> sources,
                 std::function<Bits(Operands)> expected) {
    all.push_back({std::move(row), std::move(ptx), result, std::move(sources), std::move(expected)});
    return all.back();
  }
};

std::vector<Type> times(Type t, int n) {
  return std::vector<Type>(static_cast<std::size_t>(n), t);
}

// An f64 result that is a NaN may have any payload.
void any_nan(Operation& o) {
  if (o.result != Type::f64) return;
  const auto expected = o.expected;
  o.accepts = [expected](Operands x, Bits got) {
    const Bits want = expected(x);
    return got == want || (is_nan(exact::kF64, got) && is_nan(exact::kF64, want));
  };
}

using Exactly = std::function<Real(const Real*, Mode)>;

struct Arithmetic {
  const char* name;
  int n_sources;
  bool saturates;
  Exactly f;
};
const Arithmetic kArithmetic[] = {
    {"add", 2, true, [](const Real* x, Mode m) { return exact::add(x[0], x[1], m); }},
    {"sub", 2, true, [](const Real* x, Mode m) { return exact::add(x[0], exact::negated(x[1]), m); }},
    {"mul", 2, true, [](const Real* x, Mode) { return exact::multiply(x[0], x[1]); }},
    {"fma", 3, true, [](const Real* x, Mode m) { return exact::add(exact::multiply(x[0], x[1]), x[2], m); }},
    {"mad", 3, true, [](const Real* x, Mode m) { return exact::add(exact::multiply(x[0], x[1]), x[2], m); }},
    {"div", 2, false, [](const Real* x, Mode) { return exact::divide(x[0], x[1]); }},
    {"rcp", 1, false, [](const Real* x, Mode) { return exact::divide(exact::integer(false, 1), x[0]); }},
    {"sqrt", 1, false, [](const Real* x, Mode) { return exact::square_root(x[0]); }},
};

Bits computed(const Format& f, const Arithmetic& a, Operands o, Mode mode, const Modifiers& m) {
  Real x[3];
  for (int k = 0; k < a.n_sources; ++k) x[k] = exact::number(f, flush(f, o[k], m.ftz));
  const Real result = a.f(x, mode);
  const Bits r = exact::round_to(f, result, mode);
  if (m.ftz && exact::is_flushed(f, result, mode)) return finished(f, r & sign_bit(f), m);
  return finished(f, r, m);
}

void add_arithmetic(List& list) {
  constexpr struct {
    const char* name;
    Mode mode;
  } kModes[] = {{"rn", Mode::nearest_even}, {"rz", Mode::zero}, {"rm", Mode::down}, {"rp", Mode::up}};
  for (const Arithmetic& a : kArithmetic)
    for (const auto& mode : kModes)
      for (const Type t : {Type::f32, Type::f64})
        for (const bool ftz : {false, true})
          for (const bool sat : {false, true}) {
            if (t == Type::f64 && (ftz || sat)) continue;
            if (sat && !a.saturates) continue;
            Modifiers m{.ftz = ftz, .sat = sat};
            const std::string end = m.text() + "." + ptx::spelling(t);
            const std::string spelt = fmt::format("{}.{}{}", a.name, mode.name, end);
            const std::string row = mode.mode == Mode::nearest_even ? a.name + end : spelt;
            any_nan(list.add(row, spelt, t, times(t, a.n_sources), [&a, t, m, r = mode.mode](Operands o) {
              return computed(*format_of(t), a, o, r, m);
            }));
          }
}

// --- approximate -------------------------------------------------------------------------------------------

double as_double(const Format& f, Bits a) {
  return exact::to_double(exact::number(f, a));
}

// Whether |got − want| is at most `relative` · |want| + `absolute`.
bool near(const Format& f, Bits got, long double want, double relative, double absolute) {
  const double g = as_double(f, got);
  if (std::isnan(want)) return got == f.nan || (&f == &exact::kF64 && std::isnan(g));
  const double greatest = as_double(f, f.infinity() - 1);
  if (std::isinf(g) || std::isinf(want))
    return std::isinf(g) == std::isinf(want)
               ? std::signbit(g) == std::signbit(want)
               : std::fabs(want) * (1 + relative) >= greatest && std::fabs(g) >= greatest;
  if (want == 0 && g == 0) return std::signbit(g) == std::signbit(want);
  // Plus half of the smallest subnormal, the rounding error in the subnormal range.
  const double least = as_double(f, 1);
  return std::fabs(static_cast<long double>(g) - want) <= std::fabs(want) * relative + absolute + 0.5 * least;
}

using Function = long double (*)(long double, long double);

void add_approximate(List& list, const std::string& row, Type t, int n, Function function, double relative,
                     double absolute, bool ftz, std::function<bool(double)> in_range = {}) {
  const Format& f = *format_of(t);
  const auto exactly = [=, &f](Operands o) {
    long double x[2] = {0, 0};
    for (int k = 0; k < n; ++k) x[k] = as_double(f, flush(f, o[k], ftz));
    return function(x[0], x[1]);
  };
  Operation& o = list.add(row, row, t, times(t, n), [=, &f](Operands x) {
    return flush(
        f,
        exact::round_to(f, exact::number(exact::kF64, std::bit_cast<Bits>(static_cast<double>(exactly(x)))),
                        Mode::nearest_even),
        ftz);
  });
  o.accepts = [=, &f](Operands x, Bits got) {
    if (in_range && !in_range(as_double(f, x[0])) && !is_nan(f, x[0])) return true;
    if (near(f, got, exactly(x), relative, absolute)) return true;
    // A result close to the subnormal range may have been flushed.
    return ftz && magnitude(f, got) == 0 &&
           std::fabs(exactly(x)) <= as_double(f, Bits{1} << (f.precision - 1)) * (1 + relative);
  };
}

void add_approximates(List& list) {
  const auto pair = [&](const std::string& name, int n, Function f, double relative, double absolute = 0,
                        const std::function<bool(double)>& in_range = {}) {
    add_approximate(list, name + ".f32", Type::f32, n, f, relative, absolute, false, in_range);
    add_approximate(list, name + ".ftz.f32", Type::f32, n, f, relative, absolute, true, in_range);
  };
  const Function divide = [](long double a, long double b) { return a / b; };
  const Function divide_by_reciprocal = [](long double a, long double b) {
    const bool vanishes = std::fabs(b) > 0x1p126L && std::isfinite(b);
    return vanishes ? a * std::copysign(0.0L, b) : a / b;
  };
  pair("div.approx", 2, divide_by_reciprocal, 0x1p-22);
  pair("div.full", 2, divide, 0x1p-22);
  pair(
      "rcp.approx", 1, [](long double a, long double) { return 1 / a; }, 0x1p-23);
  pair(
      "sqrt.approx", 1, [](long double a, long double) { return std::sqrt(a); }, 0x1p-23);
  const Function rsqrt = [](long double a, long double) { return 1 / std::sqrt(a); };
  pair("rsqrt.approx", 1, rsqrt, 0x1p-22);
  pair(
      "ex2.approx", 1, [](long double a, long double) { return std::exp2(a); }, 0x1p-22);
  pair(
      "lg2.approx", 1, [](long double a, long double) { return std::log2(a); }, 0x1p-22, 0x1p-22);
  const auto one_turn = [](double a) { return std::fabs(a) <= 3.14159265; };
  pair(
      "sin.approx", 1, [](long double a, long double) { return std::sin(a); }, 0, 0x1p-20, one_turn);
  pair(
      "cos.approx", 1, [](long double a, long double) { return std::cos(a); }, 0, 0x1p-20, one_turn);
  const Function tanh = [](long double a, long double) { return std::tanh(a); };
  add_approximate(list, "tanh.approx.f32", Type::f32, 1, tanh, 0x1p-11, 0, false);
  add_approximate(list, "rsqrt.approx.f64", Type::f64, 1, rsqrt, 0x1p-51, 0, false);
  // The .ftz.f64 forms read and write only the high word.
  const auto coarse = [&](const std::string& row, Function f) {
    Operation& o = list.add(row, row, Type::f64, {Type::f64}, [=](Operands x) {
      return std::bit_cast<Bits>(static_cast<double>(f(std::bit_cast<double>(x[0]), 0))) &
             0xffffffff00000000u;
    });
    o.accepts = [=](Operands x, Bits got) {
      const Bits seen = flush(exact::kF64, x[0], true) & 0xffffffff00000000u;
      const long double want = f(std::bit_cast<double>(seen), 0);
      if ((got & 0xffffffffu) != 0) return false;
      return near(exact::kF64, got, want, 0x1p-19, 0x1p-1022);
    };
  };
  coarse("rcp.approx.ftz.f64", [](long double a, long double) { return 1 / a; });
  coarse("rsqrt.approx.ftz.f64", rsqrt);
}

// --- signs, minimum and maximum, tests ---------------------------------------------------------------------

Bits extreme(const Format& f, bool max, Bits a, Bits b, const Modifiers& m) {
  a = flush(f, a, m.ftz);
  b = flush(f, b, m.ftz);
  const Bits sign = (a ^ b) & sign_bit(f);
  if (is_nan(f, a) && is_nan(f, b)) return f.nan;
  if (m.nan && (is_nan(f, a) || is_nan(f, b))) return f.nan;
  if (m.xorsign) {
    a = magnitude(f, a);
    b = magnitude(f, b);
  }
  Bits r;
  if (is_nan(f, a)) {
    r = b;
  } else if (is_nan(f, b)) {
    r = a;
  } else {
    // Maps floats to integers of the same order, with −0 below +0.
    const auto rank = [&](Bits x) {
      return is_negative(f, x) ? -static_cast<std::int64_t>(magnitude(f, x)) - 1
                               : static_cast<std::int64_t>(x);
    };
    r = (rank(a) < rank(b)) != max ? a : b;
  }
  return m.xorsign ? magnitude(f, r) | sign : r;
}

void add_extremes(List& list) {
  for (const bool max : {false, true})
    for (const Type t : {Type::f32, Type::f64})
      for (int flags = 0; flags < 8; ++flags) {
        if (t == Type::f64 && flags != 0) continue;
        Modifiers m{.ftz = (flags & 1) != 0, .nan = (flags & 2) != 0, .xorsign = (flags & 4) != 0};
        const std::string row = fmt::format("{}{}.{}", max ? "max" : "min", m.text(), ptx::spelling(t));
        Operation& o = list.add(row, row, t, {t, t},
                                [=](Operands x) { return extreme(*format_of(t), max, x[0], x[1], m); });
        if (m.xorsign) o.least_sm = 86;
        any_nan(o);
      }
}

void add_signs(List& list) {
  for (const Type t : {Type::f32, Type::f64}) {
    const Format& f = *format_of(t);
    for (const bool ftz : {false, true}) {
      if (ftz && t == Type::f64) continue;
      const std::string end = std::string(ftz ? ".ftz." : ".") + ptx::spelling(t);
      const auto keep_nan = [=, &f](Bits a, Bits r) { return is_nan(f, a) && t == Type::f32 ? f.nan : r; };
      // "NaN input yields unspecified NaN": sm_90 keeps the bits if neg or abs becomes part of another
      // instruction.
      const bool kept_too = t == Type::f32 && !ftz;
      any_nan(list.add("neg" + end, "neg" + end, t, {t},
                       [=, &f](Operands x) { return keep_nan(x[0], flush(f, x[0], ftz) ^ sign_bit(f)); }));
      if (kept_too) list.all.back().on_sm90 = [&f](Operands x) { return x[0] ^ sign_bit(f); };
      any_nan(list.add("abs" + end, "abs" + end, t, {t},
                       [=, &f](Operands x) { return keep_nan(x[0], magnitude(f, flush(f, x[0], ftz))); }));
      if (kept_too) list.all.back().on_sm90 = [&f](Operands x) { return magnitude(f, x[0]); };
    }
    const std::string name = std::string("copysign.") + ptx::spelling(t);
    list.add(name, name, t, {t, t}, [&f](Operands x) { return magnitude(f, x[1]) | (x[0] & sign_bit(f)); });
    const auto test = [&](const std::string& what, const std::function<bool(Bits)>& holds) {
      const std::string key = "testp." + what + "." + ptx::spelling(t);
      list.add(key, key, Type::pred, {t}, [=, &f](Operands x) { return Bits{holds(magnitude(f, x[0]))}; })
          .sm90_loses_guard = true;
    };
    const Bits inf = f.infinity(), normal = Bits{1} << (f.precision - 1);
    test("finite", [=](Bits a) { return a < inf; });
    test("infinite", [=](Bits a) { return a == inf; });
    test("number", [=](Bits a) { return a <= inf; });
    test("notanumber", [=](Bits a) { return a > inf; });
    test("normal", [=](Bits a) { return a == 0 || (a >= normal && a < inf); });
    test("subnormal", [=](Bits a) { return a > 0 && a < normal; });
  }
}

// --- halves ------------------------------------------------------------------------------------------------

using HalfOp = std::function<Bits(Operands)>;

// Operations on one element, and on two in a word.
void add_half(List& list, const std::string& row, const std::string& spelt, Type t, int n, const HalfOp& f,
              int least_sm) {
  list.add(row, spelt, t, times(t, n), f).least_sm = least_sm;
  const Type two = t == Type::f16 ? Type::f16x2 : Type::bf16x2;
  list.add(row + "x2", spelt + "x2", two, times(two, n),
           [=](Operands x) {
             Bits low[3], high[3];
             for (int k = 0; k < n; ++k) {
               low[k] = x[k] & 0xffff;
               high[k] = x[k] >> 16;
             }
             return f(high) << 16 | f(low);
           })
      .least_sm = least_sm;
}

void add_halves(List& list) {
  for (const Arithmetic& a : kArithmetic) {
    const bool fma = std::string_view(a.name) == "fma";
    if (!a.saturates || std::string_view(a.name) == "mad") continue;
    for (const Type t : {Type::f16, Type::bf16})
      for (int flags = 0; flags < 8; ++flags) {
        Modifiers m{.ftz = (flags & 1) != 0, .sat = (flags & 2) != 0, .relu = (flags & 4) != 0};
        if ((m.sat && m.relu) || (m.relu && !fma) || (t == Type::bf16 && (m.ftz || m.sat))) continue;
        const std::string end = m.text() + "." + ptx::spelling(t);
        add_half(
            list, a.name + end, a.name + std::string(".rn") + end, t, a.n_sources,
            [&a, t, m](Operands x) { return computed(*format_of(t), a, x, Mode::nearest_even, m); },
            t == Type::bf16 && !fma ? 90 : 80);
      }
  }
  for (const Type t : {Type::f16, Type::bf16}) {
    const Format& f = *format_of(t);
    const std::string type = std::string(".") + ptx::spelling(t);
    for (const bool ftz : {false, true}) {
      if (ftz && t == Type::bf16) continue;
      const std::string end = (ftz ? ".ftz" : "") + type;
      add_half(
          list, "neg" + end, "neg" + end, t, 1,
          [=, &f](Operands x) { return is_nan(f, x[0]) ? Bits{0x7fff} : flush(f, x[0], ftz) ^ sign_bit(f); },
          80);
      add_half(
          list, "abs" + end, "abs" + end, t, 1,
          [=, &f](Operands x) { return is_nan(f, x[0]) ? Bits{0x7fff} : magnitude(f, flush(f, x[0], ftz)); },
          80);
    }
    for (const bool max : {false, true})
      for (int flags = 0; flags < 8; ++flags) {
        Modifiers m{.ftz = (flags & 1) != 0, .nan = (flags & 2) != 0, .xorsign = (flags & 4) != 0};
        if (m.ftz && t == Type::bf16) continue;
        const std::string row = (max ? "max" : "min") + m.text() + type;
        add_half(
            list, row, row, t, 2, [=, &f](Operands x) { return extreme(f, max, x[0], x[1], m); },
            m.xorsign ? 86 : 80);
      }
    // Approximate operations on one element; the pair must give the same results.
    const auto approximate = [&](const std::string& row, Function function, double relative, double absolute,
                                 bool ftz) {
      add_approximate(list, row, t, 1, function, relative, absolute, ftz);
      Operation& one = list.all.back();
      one.least_sm = t == Type::bf16 ? 90 : 80;
      const auto accepts = one.accepts;
      const auto expected = one.expected;
      const Type two = t == Type::f16 ? Type::f16x2 : Type::bf16x2;
      Operation& both = list.add(row + "x2", row + "x2", two, {two}, [=](Operands x) {
        const Bits low = x[0] & 0xffff, high = x[0] >> 16;
        return expected(&high) << 16 | expected(&low);
      });
      both.least_sm = one.least_sm;
      both.accepts = [=](Operands x, Bits got) {
        const Bits low = x[0] & 0xffff, high = x[0] >> 16;
        return accepts(&low, got & 0xffff) && accepts(&high, got >> 16);
      };
    };
    const Function exp2 = [](long double a, long double) { return std::exp2(a); };
    const Function tanh = [](long double a, long double) { return std::tanh(a); };
    if (t == Type::f16) {
      approximate("ex2.approx.f16", exp2, 0x1p-9, 0x1p-25,
                  false);  // sm_90 truncates the bits below a subnormal
      approximate("tanh.approx.f16", tanh, 0, 0x1p-10, false);
    } else {
      approximate("ex2.approx.ftz.bf16", exp2, 0x1p-7, 0, true);
      approximate("tanh.approx.bf16", tanh, 0, 0x1.02p-8,
                  false);  // the ISA says 2^-8; sm_90 is 0.5 % over at 0.746
    }
  }
}

}  // namespace

std::vector<Operation> float_operations() {
  List list;
  add_arithmetic(list);
  add_approximates(list);
  add_extremes(list);
  add_signs(list);
  return std::move(list.all);
}

std::vector<Operation> half_operations() {
  List list;
  add_halves(list);
  return std::move(list.all);
}

}  // namespace course::sim
