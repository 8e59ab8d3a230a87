// SPDX-License-Identifier: MIT
// The expected results of comparisons, selections and copies; numbers are compared in exact arithmetic.
#include "sim/conformance/format.hpp"

#include "sim/conformance/exact.hpp"
#include "sim/conformance/operation.hpp"

namespace course::sim {
namespace {

using exact::Format;
using ptx::Type;

// −1, 0 or 1; std::nullopt if unordered.
std::optional<int> order(Type t, Bits a, Bits b, bool ftz) {
  if (const Format* f = format_of(t)) {
    const auto seen = [&](Bits x) {
      const Bits sign = Bits{1} << (f->bits - 1);
      return ftz && (x & (sign - 1)) < Bits{1} << (f->precision - 1) ? x & sign : x;
    };
    return exact::compare(exact::number(*f, seen(a)), exact::number(*f, seen(b)));
  }
  if (has_sign(t)) {  // maps the smallest number to 0
    const Bits top = Bits{1} << (ptx::bits_of(t) - 1);
    a ^= top;
    b ^= top;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

struct Comparison {
  const char* name;
  bool (*holds)(std::optional<int>);
};
// clang-format off
constexpr Comparison kOrdered[] = {
    {"eq", [](std::optional<int> o) { return o && *o == 0; }},
    {"ne", [](std::optional<int> o) { return o && *o != 0; }},
    {"lt", [](std::optional<int> o) { return o && *o < 0; }},
    {"le", [](std::optional<int> o) { return o && *o <= 0; }},
    {"gt", [](std::optional<int> o) { return o && *o > 0; }},
    {"ge", [](std::optional<int> o) { return o && *o >= 0; }}};
constexpr Comparison kUnsigned[] = {
    {"lo", [](std::optional<int> o) { return *o < 0; }},
    {"ls", [](std::optional<int> o) { return *o <= 0; }},
    {"hi", [](std::optional<int> o) { return *o > 0; }},
    {"hs", [](std::optional<int> o) { return *o >= 0; }}};
constexpr Comparison kFloat[] = {
    {"equ", [](std::optional<int> o) { return !o || *o == 0; }},
    {"neu", [](std::optional<int> o) { return !o || *o != 0; }},
    {"ltu", [](std::optional<int> o) { return !o || *o < 0; }},
    {"leu", [](std::optional<int> o) { return !o || *o <= 0; }},
    {"gtu", [](std::optional<int> o) { return !o || *o > 0; }},
    {"geu", [](std::optional<int> o) { return !o || *o >= 0; }},
    {"num", [](std::optional<int> o) { return o.has_value(); }},
    {"nan", [](std::optional<int> o) { return !o; }}};
// clang-format on

void add(std::vector<Operation>& all, const std::string& ptx, Type result, std::vector<Type> sources,
         std::function<Bits(Operands)> expected, int least_sm = 80) {
  all.push_back({ptx, ptx, result, std::move(sources), std::move(expected)});
  all.back().least_sm = least_sm;
}

void compare(std::vector<Operation>& all, const Comparison& c, Type t) {
  const int sm = t == Type::bf16 ? 90 : 80;
  add(
      all, fmt::format("setp.{}.{}", c.name, ptx::spelling(t)), Type::pred, {t, t},
      [=](Operands o) { return Bits{c.holds(order(t, o[0], o[1], false))}; }, sm);
  if (t == Type::f32 || t == Type::f16)
    add(all, fmt::format("setp.{}.ftz.{}", c.name, ptx::spelling(t)), Type::pred, {t, t},
        [=](Operands o) { return Bits{c.holds(order(t, o[0], o[1], true))}; });
}

}  // namespace

std::vector<Operation> compare_operations() {
  std::vector<Operation> all;
  constexpr Type kFloats[] = {Type::f16, Type::bf16, Type::f32, Type::f64};
  for (const Comparison& c : kOrdered) {
    for (const Type t : {Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64})
      compare(all, c, t);
    for (const Type t : kFloats) compare(all, c, t);
  }
  for (const Comparison& c : {kOrdered[0], kOrdered[1]})
    for (const Type t : {Type::b16, Type::b32, Type::b64}) compare(all, c, t);
  for (const Comparison& c : kUnsigned)
    for (const Type t : {Type::u16, Type::u32, Type::u64}) compare(all, c, t);
  for (const Comparison& c : kFloat)
    for (const Type t : kFloats) compare(all, c, t);
  return all;
}

std::vector<Operation> move_operations() {
  std::vector<Operation> all;
  const std::initializer_list<Type> kTypes = {Type::b16, Type::u16, Type::s16, Type::b32,
                                              Type::u32, Type::s32, Type::f32, Type::b64,
                                              Type::u64, Type::s64, Type::f64};
  for (const Type t : kTypes) {
    const std::string type = ptx::spelling(t);
    add(all, "selp." + type, t, {t, t, Type::pred}, [](Operands o) { return o[2] != 0 ? o[0] : o[1]; });
    add(all, "slct." + type + ".s32", t, {t, t, Type::s32},
        [](Operands o) { return (o[2] & 0x80000000u) == 0 ? o[0] : o[1]; });
    for (const bool ftz : {false, true})
      add(all, std::string("slct.") + (ftz ? "ftz." : "") + type + ".f32", t, {t, t, Type::f32},
          [=](Operands o) {
            const auto c = order(Type::f32, o[2], 0, ftz);
            return c && *c >= 0 ? o[0] : o[1];
          });
  }
  for (const auto& [ptx, row, t] :
       {std::tuple("mov.b32", "mov.narrow", Type::b32), std::tuple("mov.b64", "mov.wide", Type::b64),
        std::tuple("mov.pred", "mov.pred", Type::pred)}) {
    add(all, ptx, t, {t}, [](Operands o) { return o[0]; });
    all.back().row = row;
  }
  return all;
}

}  // namespace course::sim
