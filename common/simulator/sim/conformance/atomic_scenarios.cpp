// SPDX-License-Identifier: MIT
// Atomics and reductions with every memory space, operation and type, with several lanes on one cell.
#include <cstring>
#include <functional>
#include <utility>

#include "base/rng.hpp"
#include "sim/conformance/exact.hpp"
#include "sim/conformance/format.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

using Word = std::uint64_t;

constexpr std::uint32_t kLanes = 29;  // lanes of one warp; they execute in ascending order

struct Atomic {
  const char* op;
  const char* type;
  const char* modifiers;  // between op and type
  int bits;
  std::function<Word(Word old, Word b, Word c)> next;
  int n_values = 1;
  int least_sm = 80;
  // f32 operands around the smallest normal number: in global memory subnormals are flushed
  bool tiny = false;
};

std::int64_t as_signed(Word v, int bits) {
  return bits == 32 ? static_cast<std::int32_t>(v) : static_cast<std::int64_t>(v);
}

Word half_by_half(const exact::Format& f, Word a, Word b, int n,
                  const std::function<exact::Real(exact::Real, exact::Real)>& op) {
  Word r = 0;
  for (int k = 0; k < n; ++k)
    r |=
        exact::round_to(f, op(exact::number(f, a >> 16 * k & 0xffff), exact::number(f, b >> 16 * k & 0xffff)),
                        exact::Mode::nearest_even)
        << 16 * k;
  return r;
}

std::vector<Atomic> atomics() {
  std::vector<Atomic> all;
  const auto mask = [](int bits) { return bits == 64 ? ~Word{0} : (Word{1} << bits) - 1; };
  for (const auto& [type, bits] :
       {std::pair("u32", 32), std::pair("s32", 32), std::pair("u64", 64), std::pair("s64", 64)}) {
    const bool is_signed = type[0] == 's';
    const auto less = [=, b = bits](Word x, Word y) {
      return is_signed ? as_signed(x, b) < as_signed(y, b) : x < y;
    };
    all.push_back({"add", type, "", bits, [=, b = bits](Word o, Word x, Word) { return (o + x) & mask(b); }});
    all.push_back({"min", type, "", bits, [=](Word o, Word x, Word) { return less(x, o) ? x : o; }});
    all.push_back({"max", type, "", bits, [=](Word o, Word x, Word) { return less(o, x) ? x : o; }});
  }
  for (const auto& [type, bits] : {std::pair("b32", 32), std::pair("b64", 64)}) {
    all.push_back({"and", type, "", bits, [](Word o, Word x, Word) { return o & x; }});
    all.push_back({"or", type, "", bits, [](Word o, Word x, Word) { return o | x; }});
    all.push_back({"xor", type, "", bits, [](Word o, Word x, Word) { return o ^ x; }});
    all.push_back({"exch", type, "", bits, [](Word, Word x, Word) { return x; }});
  }
  for (const auto& [type, bits] : {std::pair("b16", 16), std::pair("b32", 32), std::pair("b64", 64)})
    all.push_back({"cas", type, "", bits, [](Word o, Word x, Word y) { return o == x ? y : o; }, 2,
                   bits == 16 ? 70 : 60});
  all.push_back({"inc", "u32", "", 32, [](Word o, Word x, Word) { return o >= x ? 0 : o + 1; }});
  all.push_back({"dec", "u32", "", 32, [](Word o, Word x, Word) { return o == 0 || o > x ? x : o - 1; }});
  // `n_halves`: for 16-bit formats the number of elements in a word; 0 for wider formats.
  const auto sum = [](const exact::Format& f, int n_halves) {
    return [&f, n_halves](Word o, Word x, Word) {
      if (n_halves > 0)
        return half_by_half(f, o, x, n_halves, [](exact::Real a, exact::Real b) {
          return exact::add(a, b, exact::Mode::nearest_even);
        });
      return exact::round_to(f,
                             exact::add(exact::number(f, o), exact::number(f, x), exact::Mode::nearest_even),
                             exact::Mode::nearest_even);
    };
  };
  all.push_back({"add", "f32", "", 32, sum(exact::kF32, 0)});
  all.push_back({"add", "f32", "", 32, sum(exact::kF32, 0), 1, 80, true});
  all.push_back({"add", "f64", "", 64, sum(exact::kF64, 0)});
  all.push_back({"add", "f16", ".noftz", 16, sum(exact::kF16, 1)});
  all.push_back({"add", "f16x2", ".noftz", 32, sum(exact::kF16, 2)});
  all.push_back({"add", "bf16", ".noftz", 16, sum(exact::kBF16, 1), 1, 90});
  all.push_back({"add", "bf16x2", ".noftz", 32, sum(exact::kBF16, 2), 1, 90});
  return all;
}

bool is_float(const Atomic& a) {
  return std::strchr(a.type, 'f') != nullptr;
}

// Finite numbers; for floats, small numbers whose sums must be rounded.
Word operand(const Atomic& a, Rng& rng) {
  const std::string type = a.type;
  if (a.tiny) return rng.below(2) << 31 | rng.below(5) << 22 | rng.below(1 << 22);
  const auto one = [&](const exact::Format& f) {
    const Word sign = rng.below(2) << (f.bits - 1);
    return sign | (static_cast<Word>(f.bias()) + rng.below(4)) << (f.precision - 1) |
           rng() % (Word{1} << (f.precision - 1));
  };
  if (type == "f32") return one(exact::kF32);
  if (type == "f64") return one(exact::kF64);
  if (is_float(a)) {
    const exact::Format& f = type[0] == 'f' ? exact::kF16 : exact::kBF16;
    return a.bits == 16 ? one(f) : one(f) << 16 | one(f);
  }
  const Word v = a.n_values == 2 ? rng.below(3) : rng();
  if (std::strcmp(a.op, "inc") == 0 || std::strcmp(a.op, "dec") == 0) return rng.below(12);
  return a.bits == 64 ? v : v & ((Word{1} << a.bits) - 1);
}

// kLanes threads access five cells at distances of 8 bytes.
Scenario atomic(const Atomic& a, const std::string& place) {
  constexpr std::uint32_t kCells = 5;
  Scenario s;
  std::string type = a.type;
  const std::string row_type = type[0] == 'b' && !is_float(a) ? "u" + type.substr(1) : type;
  s.name = fmt::format("atom.{}.{}.{}", place, a.op, row_type);
  s.rows = {s.name};
  if (a.tiny) s.name += ", tiny numbers";
  s.threads = kLanes;
  s.any_order = false;
  s.least_sm = a.least_sm;
  const std::string space = place == "generic" ? "" : "." + place;
  const int bits = a.bits;
  Rng rng(1234 + s.name.size());
  std::vector<Word> cells(kCells);
  for (Word& c : cells) c = operand(a, rng);
  // Input: the cells, then b and c of each thread.
  s.in = cells;
  for (std::uint32_t i = 0; i < 2 * kLanes; ++i) s.in.push_back(operand(a, rng));
  std::string registers = fmt::format(
      "  .reg .b{} %b, %c, %d;\n  .reg .b32 %k;\n  .reg .b64 %p, %q, %x;\n  .reg .pred %z, %guard;\n"
      "  .shared .align 16 .b8 cells[{}];\n",
      bits, 8 * kCells);
  std::string body;
  if (place == "shared") {
    body += "  mov.u64 %p, cells;\n";
  } else if (place == "generic") {
    body += "  cvta.shared.u64 %p, cells;\n";
  } else {
    body += "  mov.b64 %p, %base;\n";
  }
  if (place != "global")
    body += fmt::format(
        "  setp.lt.u32 %z, %i, {};\n  mul.wide.u32 %q, %i, 8;\n  add.u64 %x, %base, %q;\n  @%z ld.global.u64 "
        "%x, [%x];\n"
        "  add.u64 %q, %q, %p;\n  @%z st{}.u64 [%q], %x;\n  bar.sync 0;\n",
        kCells, space);
  body += fmt::format(
      "  mul.wide.u32 %q, %i, 16;\n  add.u64 %q, %q, %base;\n  ld.global.b{0} %b, [%q+{1}];\n  "
      "ld.global.b{0} %c, [%q+{2}];\n"
      "  rem.u32 %k, %i, {3};\n  mul.wide.u32 %q, %k, 8;\n  add.u64 %p, %p, %q;\n",
      bits, 8 * kCells, 8 * kCells + 8, kCells);
  const std::string values = a.n_values == 2 ? "%b, %c" : "%b";
  body += fmt::format("  atom{}.{}{}.{} %d, [%p], {};\n", space, a.op, a.modifiers, a.type, values);
  body += fmt::format("  st.global.b{} [%out], %d;\n", bits);
  // Again without the old value, for odd threads only.
  body += "  and.b32 %k, %i, 1;\n  setp.eq.u32 %guard, %k, 1;\n  bar.sync 0;\n";
  const bool has_red = a.n_values == 1 && std::strcmp(a.op, "exch") != 0;
  body += fmt::format("  @%guard {}{}.{}{}.{} {}[%p], {};\n  bar.sync 0;\n", has_red ? "red" : "atom", space,
                      a.op, a.modifiers, a.type, has_red ? "" : "_, ", values);
  body += fmt::format("  ld{}.b{} %d, [%p];\n  st.global.b{} [%out+8], %d;\n", space, bits, bits);
  // PTX ISA, atom: an f32 sum in global memory flushes subnormal operands and results, one in shared memory
  // does not.
  const auto kept = [&](Word v) {
    return a.tiny && place == "global" && (v & 0x7fffffff) < 0x800000 ? v & 0x80000000 : v;
  };
  const auto next = [&](Word cell, std::uint32_t i) {
    return kept(a.next(kept(cell), kept(s.in[kCells + 2 * i]), s.in[kCells + 2 * i + 1]));
  };
  std::vector<Word> state = cells;
  s.out.assign(2 * kLanes, 0);
  for (std::uint32_t i = 0; i < kLanes; ++i) {
    Word& cell = state[i % kCells];
    s.out[2 * i] = cell;
    cell = next(cell, i);
  }
  for (std::uint32_t i = 1; i < kLanes; i += 2) {
    Word& cell = state[i % kCells];
    cell = next(cell, i);
  }
  for (std::uint32_t i = 0; i < kLanes; ++i) s.out[2 * i + 1] = state[i % kCells];
  s.ptx = scenario_kernel(registers, body, 0, 2);
  return s;
}

// The minimum and maximum of 16-bit floats exist only for vectors: atom.global.v2.f16.min etc.
Scenario atomic_vector(const std::string& place, const std::string& op, const std::string& type, int count,
                       int least_sm) {
  Scenario s;
  const bool pair = type.ends_with("x2");
  const int bits = type == "f32" || pair ? 32 : 16;
  const exact::Format& f = type == "f32" ? exact::kF32 : type[0] == 'b' ? exact::kBF16 : exact::kF16;
  s.rows = {fmt::format("atom.{}.{}.{}", place, op, type)};
  s.name = fmt::format("atom.{}.{}.v{}.{}", place, op, count, type);
  s.threads = kLanes;
  s.any_order = false;
  s.least_sm = least_sm;
  Rng rng(99 + s.name.size());
  const int bytes = count * bits / 8;
  constexpr std::uint32_t kCells = 3;
  const auto finite = [&] {
    const auto one = [&] {
      return rng.below(2) << (f.bits - 1) |
             (static_cast<Word>(f.bias()) + rng.below(4)) << (f.precision - 1) |
             rng() % (Word{1} << (f.precision - 1));
    };
    return pair ? one() << 16 | one() : one();
  };
  const auto next = [&](Word old, Word x) {
    const auto one = [&](Word o, Word y) {
      const exact::Real a = exact::number(f, o), b = exact::number(f, y);
      if (op == "add")
        return exact::round_to(f, exact::add(a, b, exact::Mode::nearest_even), exact::Mode::nearest_even);
      return (exact::compare(b, a).value() < 0) == (op == "min") ? y : o;
    };
    return pair ? one(old >> 16, x >> 16) << 16 | one(old & 0xffff, x & 0xffff) : one(old, x);
  };
  // Input: cells of 16 bytes, then 16 bytes of operands per thread.
  std::vector<std::uint8_t> memory(16 * (kCells + kLanes), 0);
  const auto put = [&](std::size_t at, Word v) {
    std::memcpy(memory.data() + at, &v, static_cast<std::size_t>(bits / 8));
  };
  const auto get = [&](const std::vector<std::uint8_t>& m, std::size_t at) {
    Word v = 0;
    std::memcpy(&v, m.data() + at, static_cast<std::size_t>(bits / 8));
    return v;
  };
  for (std::size_t e = 0; e < kCells + kLanes; ++e)
    for (int k = 0; k < count; ++k) put(16 * e + static_cast<std::size_t>(k * bits / 8), finite());
  s.in.resize(memory.size() / 8);
  std::memcpy(s.in.data(), memory.data(), memory.size());
  std::string registers = "  .reg .b32 %k;\n  .reg .b64 %p, %q;\n";
  std::string loads, stores, old_list, new_list;
  for (int k = 0; k < count; ++k) {
    registers += fmt::format("  .reg .b{} %b{}, %d{};\n", bits, k, k);
    loads += fmt::format("  ld.global.b{} %b{}, [%q+{}];\n", bits, k,
                         16 * static_cast<int>(kCells) + k * bits / 8);
    stores += fmt::format("  st.global.b{} [%out+{}], %d{};\n", bits, k * bits / 8, k);
    old_list += fmt::format("{}%d{}", k == 0 ? "" : ", ", k);
    new_list += fmt::format("{}%b{}", k == 0 ? "" : ", ", k);
  }
  std::string body = "  mul.wide.u32 %q, %i, 16;\n  add.u64 %q, %q, %base;\n" + loads;
  body +=
      fmt::format("  rem.u32 %k, %i, {};\n  mul.wide.u32 %p, %k, 16;\n  add.u64 %p, %p, %base;\n", kCells);
  if (place == "generic") body += "  cvta.global.u64 %p, %p;\n";
  body += fmt::format("  atom{}.{}{}.v{}.{} {{{}}}, [%p], {{{}}};\n", place == "generic" ? "" : ".global", op,
                      type == "f32" ? "" : ".noftz", count, type, old_list, new_list);
  body += stores;
  s.out.assign(2 * kLanes, 0);
  auto state = memory;
  for (std::uint32_t i = 0; i < kLanes; ++i)
    for (int k = 0; k < count; ++k) {
      const auto part = static_cast<std::size_t>(k * bits / 8);
      const std::size_t cell = 16 * (i % kCells) + part;
      const Word old = get(state, cell), updated = next(old, get(memory, 16 * (kCells + i) + part));
      std::memcpy(reinterpret_cast<std::uint8_t*>(&s.out[2 * i]) + part, &old,
                  static_cast<std::size_t>(bits / 8));
      std::memcpy(state.data() + cell, &updated, static_cast<std::size_t>(bits / 8));
    }
  static_cast<void>(bytes);
  s.ptx = scenario_kernel(registers, body, 0, 2);
  return s;
}

// 16 bytes at once in b128 registers: exchange, or compare and swap.
Scenario atomic_b128(const std::string& place, bool compare) {
  Scenario s;
  s.rows = {fmt::format("atom.{}.{}.b128", place, compare ? "cas" : "exch")};
  s.name = s.rows[0];
  s.threads = kLanes;
  s.any_order = false;
  s.least_sm = 90;
  const std::string space = place == "generic" ? "" : "." + place;
  const std::string registers =
      "  .reg .b128 %b, %c, %d;\n  .reg .b64 %b0, %b1, %c0, %c1, %d0, %d1, %p, %q;\n  .reg .b32 %k;\n  .reg "
      ".pred %z;\n"
      "  .shared .align 16 .b8 cell[16];\n";
  std::string body = place == "global"   ? "  mov.b64 %p, %base;\n"
                     : place == "shared" ? "  mov.u64 %p, cell;\n"
                                         : "  cvta.shared.u64 %p, cell;\n";
  if (place != "global")
    body += fmt::format(
        "  setp.eq.u32 %z, %i, 0;\n  mov.b64 %d0, 5;\n  mov.b64 %d1, 6;\n  @%z st{0}.v2.b64 [%p], {{%d0, "
        "%d1}};\n  bar.sync 0;\n",
        space);
  // Of three threads, one finds the expected value, one only the expected low half, one only the expected
  // high half.
  body +=
      "  div.u32 %k, %i, 3;\n  cvt.u64.u32 %c0, %k;\n  add.u64 %c0, %c0, 6;\n  mov.b64 %c1, 6;\n"
      "  rem.u32 %k, %i, 3;\n  sub.u64 %b0, %c0, 1;\n  setp.eq.u32 %z, %k, 1;\n  @%z add.u64 %b0, %b0, 9;\n"
      "  mov.b64 %b1, 6;\n  setp.eq.u32 %z, %k, 0;\n  @%z mov.b64 %b1, 7;\n"
      "  mov.b128 %b, {%b0, %b1};\n  mov.b128 %c, {%c0, %c1};\n";
  body += compare ? fmt::format("  atom{}.cas.b128 %d, [%p], %b, %c;\n", space)
                  : fmt::format("  atom{}.exch.b128 %d, [%p], %b;\n", space);
  body += "  mov.b128 {%d0, %d1}, %d;\n  st.global.b64 [%out], %d0;\n  st.global.b64 [%out+8], %d1;\n";
  s.in = {5, 6};
  s.out.assign(2 * kLanes, 0);
  Word low = 5, high = 6;
  for (Word i = 0; i < kLanes; ++i) {
    s.out[2 * i] = low;
    s.out[2 * i + 1] = high;
    const Word b0 = 5 + i / 3 + (i % 3 == 1 ? 9 : 0), b1 = i % 3 == 0 ? 7 : 6;
    if (compare && (low != b0 || high != b1)) continue;
    low = compare ? 5 + i / 3 + 1 : b0;
    high = compare ? 6 : b1;
  }
  s.ptx = scenario_kernel(registers, body, 0, 2);
  return s;
}

}  // namespace

std::vector<Scenario> atomic_scenarios() {
  std::vector<Scenario> all;
  for (const char* place : {"global", "shared", "generic"}) {
    for (const Atomic& a : atomics()) all.push_back(atomic(a, place));
    all.push_back(atomic_b128(place, false));
    all.push_back(atomic_b128(place, true));
  }
  for (const char* place : {"global", "generic"}) {
    for (const char* type : {"f16", "bf16", "f16x2", "bf16x2"})
      for (const char* op : {"add", "min", "max"})
        all.push_back(atomic_vector(place, op, type, type[std::strlen(type) - 1] == '2' ? 4 : 2, 90));
    all.push_back(atomic_vector(place, "add", "f32", 2, 90));
    all.push_back(atomic_vector(place, "add", "f32", 4, 90));
  }
  return all;
}

}  // namespace course::sim
