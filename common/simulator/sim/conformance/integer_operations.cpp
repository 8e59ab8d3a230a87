// SPDX-License-Identifier: MIT
// The expected results of integer arithmetic and bit manipulation, computed with 128-bit integers and
// bit-by-bit loops.
#include "sim/conformance/format.hpp"

#include <algorithm>

#include "sim/conformance/operation.hpp"

namespace course::sim {
namespace {

using ptx::Type;
__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;

constexpr Type kIntegers[] = {Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64};

// The number that the bits represent.
Wide value(Type t, Bits bits) {
  const int n = ptx::bits_of(t);
  Wide v = static_cast<Wide>(n == 64 ? bits : bits & ((Bits{1} << n) - 1));
  if (has_sign(t) && (bits >> (n - 1) & 1) != 0) v -= static_cast<Wide>(1) << n;
  return v;
}
Bits bits_of(Wide v) {
  return static_cast<Bits>(static_cast<UWide>(v));
}
Wide least(Type t) {
  return has_sign(t) ? -(static_cast<Wide>(1) << (ptx::bits_of(t) - 1)) : 0;
}
Wide greatest(Type t) {
  return (static_cast<Wide>(1) << (ptx::bits_of(t) - (has_sign(t) ? 1 : 0))) - 1;
}
Wide clamped(Type t, Wide v) {
  return std::clamp(v, least(t), greatest(t));
}
Type wider(Type t) {
  switch (t) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    default: return Type::s64;
  }
}

struct List {
  std::vector<Operation> all;

  void add(const std::string& ptx, Type result, std::vector<Type> sources,
           std::function<Bits(Operands)> expected) {
    all.push_back({ptx, ptx, result, std::move(sources), std::move(expected)});
  }

  // Adds one operation per type, defined on numbers.
  template <typename F>
  void numbers(const std::string& name, std::initializer_list<Type> types, int n_sources, const F& f) {
    for (const Type t : types)
      add(name + "." + ptx::spelling(t), t, std::vector<Type>(static_cast<std::size_t>(n_sources), t),
          [=](Operands o) {
            const Wide a = value(t, o[0]), b = n_sources > 1 ? value(t, o[1]) : 0,
                       c = n_sources > 2 ? value(t, o[2]) : 0;
            return bits_of(f(t, a, b, c));
          });
  }
};

constexpr std::initializer_list<Type> kAll = {Type::u16, Type::s16, Type::u32,
                                              Type::s32, Type::u64, Type::s64};
constexpr std::initializer_list<Type> kSigned = {Type::s16, Type::s32, Type::s64};
constexpr std::initializer_list<Type> kWords = {Type::u32, Type::s32};

Wide high_half(Type t, Wide a, Wide b) {
  // A product of two 64-bit numbers fits 128 bits; >> keeps the sign.
  if (has_sign(t)) return a * b >> ptx::bits_of(t);
  return static_cast<Wide>(static_cast<UWide>(a) * static_cast<UWide>(b) >> ptx::bits_of(t));
}
// The low 24 bits as a number.
Wide low24(Type t, Wide a) {
  Wide v = a & 0xffffff;
  if (has_sign(t) && (v & 0x800000) != 0) v -= 0x1000000;
  return v;
}

void add_halves(List& list, const std::string& name, Type half, const std::function<Wide(Wide, Wide)>& f) {
  const std::string type = std::string(ptx::spelling(half)) + "x2";
  list.add(name + "." + type, Type::b32, {Type::b32, Type::b32}, [=](Operands o) {
    Bits r = 0;
    for (const int shift : {0, 16})
      r |= (bits_of(f(value(half, o[0] >> shift), value(half, o[1] >> shift))) & 0xffff) << shift;
    return r;
  });
  list.all.back().least_sm = 90;
}

void add_dot_products(List& list) {
  for (const Type a : kWords)
    for (const Type b : kWords) {
      const Type result = has_sign(a) || has_sign(b) ? Type::s32 : Type::u32;
      const std::string types = fmt::format("{}.{}", ptx::spelling(a), ptx::spelling(b));
      const auto byte = [](Type t) { return has_sign(t) ? Type::s8 : Type::u8; };
      const auto half = [](Type t) { return has_sign(t) ? Type::s16 : Type::u16; };
      list.add("dp4a." + types, result, {Type::b32, Type::b32, result}, [=](Operands o) {
        Wide sum = value(result, o[2]);
        for (int k = 0; k < 4; ++k) sum += value(byte(a), o[0] >> 8 * k) * value(byte(b), o[1] >> 8 * k);
        return bits_of(sum);
      });
      for (const int high : {0, 1})
        list.add(std::string("dp2a.") + (high != 0 ? "hi." : "lo.") + types, result,
                 {Type::b32, Type::b32, result}, [=](Operands o) {
                   Wide sum = value(result, o[2]);
                   for (int k = 0; k < 2; ++k)
                     sum += value(half(a), o[0] >> 16 * k) * value(byte(b), o[1] >> (16 * high + 8 * k));
                   return bits_of(sum);
                 });
    }
}

void add_absolute_differences(List& list) {
  for (const int lanes : {2, 4}) {
    const auto lane = [=](Bits word, int k) {
      return word >> (32 / lanes * k) & (lanes == 2 ? 0xffff : 0xff);
    };
    const std::string name = fmt::format("vabsdiff{}.u32.u32.u32", lanes);
    for (const bool adds : {false, true})
      list.add(adds ? name + ".add" : name, Type::u32, {Type::u32, Type::u32, Type::u32}, [=](Operands o) {
        Bits sum = o[2], packed = 0;
        for (int k = 0; k < lanes; ++k) {
          const Bits a = lane(o[0], k), b = lane(o[1], k);
          sum += std::max(a, b) - std::min(a, b);
          packed |= (std::max(a, b) - std::min(a, b)) << (32 / lanes * k);
        }
        return adds ? sum & 0xffffffff : packed;
      });
  }
}

}  // namespace

std::vector<Operation> integer_operations() {
  List list;
  list.numbers("add", kAll, 2, [](Type, Wide a, Wide b, Wide) { return a + b; });
  list.numbers("sub", kAll, 2, [](Type, Wide a, Wide b, Wide) { return a - b; });
  list.numbers("add.sat", {Type::s32}, 2, [](Type t, Wide a, Wide b, Wide) { return clamped(t, a + b); });
  list.numbers("sub.sat", {Type::s32}, 2, [](Type t, Wide a, Wide b, Wide) { return clamped(t, a - b); });
  const auto low_product = [](Wide a, Wide b) {
    return static_cast<Wide>(static_cast<UWide>(a) * static_cast<UWide>(b));
  };
  list.numbers("mul.lo", kAll, 2, [=](Type, Wide a, Wide b, Wide) { return low_product(a, b); });
  list.numbers("mul.hi", kAll, 2, [](Type t, Wide a, Wide b, Wide) { return high_half(t, a, b); });
  list.numbers("mad.lo", kAll, 3, [=](Type, Wide a, Wide b, Wide c) {
    return static_cast<Wide>(static_cast<UWide>(low_product(a, b)) + static_cast<UWide>(c));
  });
  list.numbers("mad.hi", kAll, 3, [](Type t, Wide a, Wide b, Wide c) { return high_half(t, a, b) + c; });
  for (const Type t : {Type::u16, Type::s16, Type::u32, Type::s32}) {
    const std::string type = ptx::spelling(t);
    list.add("mul.wide." + type, wider(t), {t, t},
             [=](Operands o) { return bits_of(value(t, o[0]) * value(t, o[1])); });
    list.add("mad.wide." + type, wider(t), {t, t, wider(t)},
             [=](Operands o) { return bits_of(value(t, o[0]) * value(t, o[1]) + value(wider(t), o[2])); });
  }
  list.numbers("mul24.lo", kWords, 2, [](Type t, Wide a, Wide b, Wide) { return low24(t, a) * low24(t, b); });
  list.numbers("sad", kAll, 3, [](Type, Wide a, Wide b, Wide c) { return c + (a < b ? b - a : a - b); });
  list.numbers("div", kAll, 2, [](Type, Wide a, Wide b, Wide) { return b == 0 ? Wide{-1} : a / b; });
  list.numbers("rem", kAll, 2, [](Type, Wide a, Wide b, Wide) { return b == 0 ? Wide{-1} : a % b; });
  list.numbers("neg", kSigned, 1, [](Type, Wide a, Wide, Wide) { return -a; });
  list.numbers("abs", kSigned, 1, [](Type, Wide a, Wide, Wide) { return a < 0 ? -a : a; });
  list.numbers("min", kAll, 2, [](Type, Wide a, Wide b, Wide) { return std::min(a, b); });
  list.numbers("max", kAll, 2, [](Type, Wide a, Wide b, Wide) { return std::max(a, b); });
  list.numbers("min.relu", {Type::s32}, 2,
               [](Type, Wide a, Wide b, Wide) { return std::max<Wide>(std::min(a, b), 0); });
  list.numbers("max.relu", {Type::s32}, 2, [](Type, Wide a, Wide b, Wide) {
    return std::max({a, b, Wide{0}});
  });
  for (auto& o : list.all)
    if (o.row.find(".relu") != std::string::npos) o.least_sm = 90;
  const auto low = [](Wide a, Wide b) { return std::min(a, b); };
  const auto high = [](Wide a, Wide b) { return std::max(a, b); };
  const auto relu_low = [](Wide a, Wide b) { return std::max<Wide>(std::min(a, b), 0); };
  const auto relu_high = [](Wide a, Wide b) { return std::max({a, b, Wide{0}}); };
  const auto sum = [](Wide a, Wide b) { return a + b; };
  add_halves(list, "add", Type::u16, sum);
  add_halves(list, "add", Type::s16, sum);
  add_halves(list, "min", Type::u16, low);
  add_halves(list, "min", Type::s16, low);
  add_halves(list, "max", Type::u16, high);
  add_halves(list, "max", Type::s16, high);
  add_halves(list, "min.relu", Type::s16, relu_low);
  add_halves(list, "max.relu", Type::s16, relu_high);
  add_dot_products(list);
  add_absolute_differences(list);
  return std::move(list.all);
}

namespace {

int width(Type t) {
  return t == Type::pred ? 1 : ptx::bits_of(t);
}
bool bit(Bits a, int k) {
  return k >= 0 && k < 64 && (a >> k & 1) != 0;
}

template <typename F>
void logic(List& list, const std::string& name, std::initializer_list<Type> types, int n_sources,
           const F& f) {
  for (const Type t : types)
    list.add(name + "." + (t == Type::pred ? "pred" : ptx::spelling(t)), t,
             std::vector<Type>(static_cast<std::size_t>(n_sources), t), [=](Operands o) {
               Bits r = 0;
               for (int k = 0; k < width(t); ++k)
                 r |= static_cast<Bits>(f(bit(o[0], k), n_sources > 1 && bit(o[1], k))) << k;
               return r;
             });
}

Bits extracted(Type t, Bits a, int position, int length) {
  const int n = width(t);
  const bool sign = has_sign(t) && length > 0 && bit(a, std::min(position + length - 1, n - 1));
  Bits r = 0;
  for (int k = 0; k < n; ++k) {
    const bool inside = k < length && position + k < n;
    r |= static_cast<Bits>(inside ? bit(a, position + k) : sign) << k;
  }
  return r;
}

// The byte of {b, a} that a selector chooses; bit 3 replicates the byte's sign.
Bits picked(Bits a, Bits b, Bits selector) {
  const Bits byte = (selector & 4) != 0 ? b >> 8 * (selector & 3) & 0xff : a >> 8 * (selector & 3) & 0xff;
  return (selector & 8) != 0 ? (bit(byte, 7) ? 0xff : 0) : byte;
}
Bits permuted(Bits a, Bits b, std::initializer_list<Bits> selectors_from_low) {
  Bits r = 0;
  int shift = 0;
  for (const Bits s : selectors_from_low) {
    r |= picked(a, b, s) << shift;
    shift += 8;
  }
  return r;
}

void add_permutes(List& list) {
  const std::vector<Type> sources{Type::b32, Type::b32, Type::b32};
  list.add("prmt.b32", Type::b32, sources, [](Operands o) {
    return permuted(o[0], o[1], {o[2] & 15, o[2] >> 4 & 15, o[2] >> 8 & 15, o[2] >> 12 & 15});
  });
  const auto mode = [&](const char* name, const std::function<Bits(Operands, Bits)>& f) {
    list.add(std::string("prmt.b32.") + name, Type::b32, sources, [=](Operands o) { return f(o, o[2] & 3); });
  };
  mode("f4e", [](Operands o, Bits c) { return permuted(o[0], o[1], {c, c + 1, c + 2, c + 3}); });
  mode("b4e", [](Operands o, Bits c) {
    return permuted(o[0], o[1], {c, (c + 7) & 7, (c + 6) & 7, (c + 5) & 7});
  });
  mode("rc8", [](Operands o, Bits c) { return permuted(o[0], o[1], {c, c, c, c}); });
  mode("ecl", [](Operands o, Bits c) {
    return permuted(o[0], o[1],
                    {std::max<Bits>(c, 0), std::max<Bits>(c, 1), std::max<Bits>(c, 2), std::max<Bits>(c, 3)});
  });
  mode("ecr", [](Operands o, Bits c) {
    return permuted(o[0], o[1],
                    {std::min<Bits>(c, 0), std::min<Bits>(c, 1), std::min<Bits>(c, 2), std::min<Bits>(c, 3)});
  });
  mode("rc16", [](Operands o, Bits c) {
    const Bits first = 2 * (c & 1);
    return permuted(o[0], o[1], {first, first + 1, first, first + 1});
  });
}

void add_shifts(List& list) {
  for (const Type t : {Type::b16, Type::b32, Type::b64})
    list.add(std::string("shl.") + ptx::spelling(t), t, {t, Type::u32},
             [=](Operands o) { return o[1] >= static_cast<Bits>(width(t)) ? 0 : o[0] << o[1]; });
  for (const Type t :
       {Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64})
    list.add(std::string("shr.") + ptx::spelling(t), t, {t, Type::u32}, [=](Operands o) {
      Bits r = 0;
      for (int k = 0; k < width(t); ++k) {
        const Bits from = static_cast<Bits>(k) + o[1];
        const bool inside = from < static_cast<Bits>(width(t));
        r |= static_cast<Bits>(inside ? bit(o[0], static_cast<int>(from))
                                      : has_sign(t) && bit(o[0], width(t) - 1))
             << k;
      }
      return r;
    });
  for (const bool left : {true, false})
    for (const bool wrap : {true, false})
      list.add(fmt::format("shf.{}.{}.b32", left ? "l" : "r", wrap ? "wrap" : "clamp"), Type::b32,
               {Type::b32, Type::b32, Type::u32}, [=](Operands o) {
                 const int by = static_cast<int>(wrap ? o[2] % 32 : std::min<Bits>(o[2], 32));
                 Bits r = 0;
                 for (int k = 0; k < 32; ++k) {
                   const int from = left ? 32 + k - by : k + by;  // position in b:a
                   r |= static_cast<Bits>(from < 32 ? bit(o[0], from) : bit(o[1], from - 32)) << k;
                 }
                 return r;
               });
}

void add_counts(List& list) {
  for (const Type t : {Type::b32, Type::b64}) {
    const std::string type = ptx::spelling(t);
    list.add("popc." + type, Type::u32, {t}, [](Operands o) {
      Bits n = 0;
      for (int k = 0; k < 64; ++k) n += bit(o[0], k);
      return n;
    });
    list.add("clz." + type, Type::u32, {t}, [=](Operands o) {
      Bits n = 0;
      for (int k = width(t) - 1; k >= 0 && !bit(o[0], k); --k) ++n;
      return n;
    });
    list.add("brev." + type, t, {t}, [=](Operands o) {
      Bits r = 0;
      for (int k = 0; k < width(t); ++k) r |= static_cast<Bits>(bit(o[0], k)) << (width(t) - 1 - k);
      return r;
    });
  }
  for (const Type t : {Type::u32, Type::s32, Type::u64, Type::s64})
    for (const bool amount : {false, true})
      list.add(fmt::format("bfind{}.{}", amount ? ".shiftamt" : "", ptx::spelling(t)), Type::u32, {t},
               [=](Operands o) {
                 const bool sign = has_sign(t) && bit(o[0], width(t) - 1);
                 for (int k = width(t) - 1; k >= 0; --k)
                   if (bit(o[0], k) != sign) return static_cast<Bits>(amount ? width(t) - 1 - k : k);
                 return Bits{0xffffffff};
               });
  list.add("fns.b32", Type::b32, {Type::b32, Type::b32, Type::s32}, [](Operands o) {
    const Wide n = value(Type::s32, o[2]);
    if (o[2] == 0x80000000) return Bits{0};  // its absolute value does not exist; as in sm_90's machine code
    if (o[1] > 31) return Bits{0xffffffff};
    const int base = static_cast<int>(o[1]);
    if (n == 0) return bit(o[0], base) ? static_cast<Bits>(base) : Bits{0xffffffff};
    Wide seen = 0;
    for (int k = base; k >= 0 && k<32; k += n> 0 ? 1 : -1) {
      seen += bit(o[0], k);
      if (seen == (n > 0 ? n : -n)) return static_cast<Bits>(k);
    }
    return Bits{0xffffffff};
  });
}

Bits inserted(Type t, Bits field, Bits into, int position, int length) {
  for (int k = 0; k < length && position + k < width(t); ++k) {
    const Bits one = Bits{1} << (position + k);
    into = (into & ~one) | (bit(field, k) ? one : 0);
  }
  return into;
}

// Position and length are 0 … 255. For larger values the ISA uses the low byte; so does sm_90 for 32 bits,
// but not for 64.
void add_fields(List& list) {
  const auto low_byte = [](Bits a) { return static_cast<int>(a & 0xff); };
  const auto at_most_255 = [](Bits a) { return static_cast<int>(std::min<Bits>(a, 0xff)); };
  for (const Type t : {Type::u32, Type::s32, Type::u64, Type::s64}) {
    list.add(std::string("bfe.") + ptx::spelling(t), t, {t, Type::u32, Type::u32},
             [=](Operands o) { return extracted(t, o[0], low_byte(o[1]), low_byte(o[2])); });
    if (width(t) == 64)
      list.all.back().on_sm90 = [=](Operands o) {
        return extracted(t, o[0], at_most_255(o[1]), at_most_255(o[2]));
      };
  }
  for (const Type t : {Type::b32, Type::b64}) {
    list.add(std::string("bfi.") + ptx::spelling(t), t, {t, t, Type::u32, Type::u32},
             [=](Operands o) { return inserted(t, o[0], o[1], low_byte(o[2]), low_byte(o[3])); });
    if (width(t) == 64)
      list.all.back().on_sm90 = [=](Operands o) {
        return inserted(t, o[0], o[1], at_most_255(o[2]), at_most_255(o[3]));
      };
  }
  for (const bool wrap : {false, true}) {
    const std::string mode = wrap ? "wrap" : "clamp";
    list.add("bmsk." + mode + ".b32", Type::b32, {Type::b32, Type::b32}, [=](Operands o) {
      const Bits from = wrap ? o[0] & 31 : o[0], n = wrap ? o[1] & 31 : o[1];
      Bits r = 0;
      for (Bits k = 0; k < 32; ++k) r |= static_cast<Bits>(k >= from && k - from < n) << k;
      return r;
    });
  }
}

}  // namespace

std::vector<Operation> bit_operations() {
  List list;
  logic(list, "and", {Type::b16, Type::b32, Type::b64, Type::pred}, 2, [](bool a, bool b) { return a && b; });
  logic(list, "or", {Type::b16, Type::b32, Type::b64, Type::pred}, 2, [](bool a, bool b) { return a || b; });
  logic(list, "xor", {Type::b16, Type::b32, Type::b64, Type::pred}, 2, [](bool a, bool b) { return a != b; });
  logic(list, "not", {Type::b16, Type::b32, Type::b64, Type::pred}, 1, [](bool a, bool) { return !a; });
  add_shifts(list);
  add_counts(list);
  add_fields(list);
  add_permutes(list);
  return std::move(list.all);
}

}  // namespace course::sim
