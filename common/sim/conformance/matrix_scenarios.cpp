// SPDX-License-Identifier: MIT
// Matrices in the registers of a warp. mma: each lane's elements stand where the ISA's figures put them, written out here form by
// form. wmma: from memory to memory, so that the layout, which is open, does not matter. Values are small whole numbers, whose
// sums every chip gets exactly.
#include "sim/conformance/format.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "base/rng.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

using Word = std::uint64_t;

// --- small whole numbers in every format --------------------------------------------------------------------------

// Sign, exponent, fraction of a whole number |v| < 2^(fraction + 1).
Word encoded(int v, int exponent_bits, int fraction_bits) {
  if (v == 0) return 0;
  const auto magnitude = static_cast<unsigned>(v < 0 ? -v : v);
  const int top = static_cast<int>(std::bit_width(magnitude)) - 1, bias = (1 << (exponent_bits - 1)) - 1;
  const Word fraction = (Word{magnitude} << fraction_bits >> top) & ((Word{1} << fraction_bits) - 1);
  return Word{v < 0} << (exponent_bits + fraction_bits) | static_cast<Word>(top + bias) << fraction_bits |
         fraction;
}

struct Kind {
  std::string name;
  int bits, least, most;
  Word encode(int v) const {
    if (name == "f16") return encoded(v, 5, 10);
    if (name == "bf16") return encoded(v, 8, 7);
    if (name == "f32" || name == "tf32") return encoded(v, 8, 23);
    if (name == "f64") return encoded(v, 11, 52);
    if (name == "e4m3") return encoded(v, 4, 3);
    if (name == "e5m2") return encoded(v, 5, 2);
    return static_cast<Word>(v) & ((Word{1} << bits) - 1);
  }
};
Kind kind(const std::string& name) {
  static const std::vector<Kind> kAll = {{"f16", 16, -7, 7},   {"bf16", 16, -7, 7}, {"tf32", 32, -9, 9},
                                         {"f32", 32, -40, 40}, {"f64", 64, -9, 9},  {"s32", 32, -900, 900},
                                         {"s8", 8, -128, 127}, {"u8", 8, 0, 255},   {"s4", 4, -8, 7},
                                         {"u4", 4, 0, 15},     {"b1", 1, 0, 1},     {"e4m3", 8, -7, 7},
                                         {"e5m2", 8, -3, 3}};
  return *std::find_if(kAll.begin(), kAll.end(), [&](const Kind& k) { return k.name == name; });
}

// --- mma ----------------------------------------------------------------------------------------------------------

// Row and column of a lane's i-th element, in the words of the ISA: g = groupID, t = threadID_in_group.
using Place = std::function<std::pair<int, int>(int g, int t, int i)>;

struct Product {
  std::string ptx;  // the opcode
  std::string a, b, c, d;
  int m, n, k;
  Place place_a, place_b, place_c;
  int least_sm = 80;
  bool satfinite = false;
};

int elements(int cells, bool quads) {
  return cells / (quads ? 8 : 32);
}

Scenario mma(const Product& p, const std::string& row) {
  const bool quads = p.k == 4 && p.a == "f16";
  const Kind ka = kind(p.a), kb = kind(p.b), kc = kind(p.c), kd = kind(p.d);
  Rng rng(p.ptx.size() + static_cast<std::size_t>(p.k));
  const int n_products = quads ? 4 : 1;
  const auto product_of = [&](int lane) { return quads ? lane / 4 % 4 : 0; };
  const auto cells = [&](const Kind& k, int rows, int columns) {
    std::vector<int> v(static_cast<std::size_t>(rows * columns * n_products));
    for (int& x : v) x = k.least + static_cast<int>(rng.below(static_cast<Word>(k.most - k.least + 1)));
    return v;
  };
  const std::vector<int> a = cells(ka, p.m, p.k), b = cells(kb, p.k, p.n);
  std::vector<int> c = cells(kc, p.m, p.n);
  if (p.satfinite)
    for (std::size_t i = 0; i < c.size(); i += 2) c[i] = std::numeric_limits<int>::max() - 3;
  std::vector<Word> sum(c.size());
  for (int q = 0; q < n_products; ++q)
    for (int row_i = 0; row_i < p.m; ++row_i)
      for (int column = 0; column < p.n; ++column) {
        const auto at = static_cast<std::size_t>((q * p.m + row_i) * p.n + column);
        std::int64_t s = c[at];
        for (int i = 0; i < p.k; ++i) {
          const int x = a[static_cast<std::size_t>((q * p.m + row_i) * p.k + i)];
          const int y = b[static_cast<std::size_t>((q * p.k + i) * p.n + column)];
          s += p.a != "b1" ? x * y : p.ptx.find(".and") != std::string::npos ? (x & y) : (x ^ y);
        }
        if (p.satfinite) s = std::min<std::int64_t>(s, std::numeric_limits<int>::max());
        sum[at] = kd.encode(static_cast<int>(s));
      }
  // Registers: of a lane, its elements from the low bits on.
  const auto packed = [&](const Kind& k, const Place& place, int rows, int columns, int lane,
                          const auto& value) {
    const int n = elements(rows * columns, quads), each = std::max(32 / k.bits, 1);
    std::vector<Word> words(static_cast<std::size_t>(n / each), 0);
    for (int i = 0; i < n; ++i) {
      const int g = quads ? lane : lane / 4, t = lane % 4;
      const auto [r, col] = place(g, t, i);
      words[static_cast<std::size_t>(i / each)] |=
          value(static_cast<std::size_t>((product_of(lane) * rows + r) * columns + col))
          << (i % each * k.bits);
    }
    return words;
  };
  Scenario s;
  s.name = p.ptx;
  s.rows = {row};
  s.least_sm = p.least_sm;
  std::size_t na = 0, nb = 0, nc = 0;
  for (int lane = 0; lane < 32; ++lane) {
    const auto wa = packed(ka, p.place_a, p.m, p.k, lane, [&](std::size_t at) { return ka.encode(a[at]); });
    const auto wb = packed(kb, p.place_b, p.k, p.n, lane, [&](std::size_t at) { return kb.encode(b[at]); });
    const auto wc = packed(kc, p.place_c, p.m, p.n, lane, [&](std::size_t at) { return kc.encode(c[at]); });
    na = wa.size(), nb = wb.size(), nc = wc.size();
    for (const auto& words : {wa, wb, wc}) s.in.insert(s.in.end(), words.begin(), words.end());
    const auto wd = packed(kd, p.place_c, p.m, p.n, lane, [&](std::size_t at) { return sum[at]; });
    s.out.insert(s.out.end(), wd.begin(), wd.end());
  }
  const std::size_t nd = s.out.size() / 32;
  const auto list = [](const std::string& name, std::size_t n) {
    std::string text = "{";
    for (std::size_t k = 0; k < n; ++k) text += fmt::format("{}%{}{}", k == 0 ? "" : ", ", name, k);
    return text + "}";
  };
  const auto type = [](const Kind& k) { return k.bits == 64 ? "f64" : k.name == "f32" ? "f32" : "b32"; };
  std::string body;
  std::size_t word = 0;
  for (const auto& [name, n, k] : {std::tuple("a", na, ka), {"b", nb, kb}, {"c", nc, kc}})
    for (std::size_t j = 0; j < n; ++j)
      body += fmt::format("  ld.global.{} %{}{}, [%in+{}];\n", type(k), name, j, 8 * word++);
  body += fmt::format("  {} {}, {}, {}, {};\n", p.ptx, list("d", nd), list("a", na), list("b", nb),
                      list("c", nc));
  for (std::size_t j = 0; j < nd; ++j)
    body += fmt::format("  st.global.{} [%out+{}], %d{};\n", type(kd), 8 * j, j);
  s.ptx = scenario_kernel(
      fmt::format("  .reg .{} %a<8>;\n  .reg .{} %b<8>;\n  .reg .{} %c<8>;\n  .reg .{} %d<8>;\n", type(ka),
                  type(kb), type(kc), type(kd)),
      body, static_cast<int>(word), static_cast<int>(nd));
  return s;
}

std::vector<Scenario> products() {
  const Place c16 = [](int g, int t, int i) { return std::pair(i < 2 ? g : g + 8, t * 2 + (i & 1)); };
  const Place c8 = [](int g, int t, int i) { return std::pair(g, t * 2 + (i & 1)); };
  // a of 16 rows, b: registers of `e` elements, that neighbour each other along k; four lanes side by side.
  const auto a16 = [](int e) {
    return Place([e](int g, int t, int i) {
      return std::pair(i / e % 2 == 0 ? g : g + 8, t * e + i % e + (i / (2 * e)) * 4 * e);
    });
  };
  const auto a8 = [](int e) {
    return Place([e](int g, int t, int i) { return std::pair(g, t * e + i % e); });
  };
  const auto b = [](int e) {
    return Place([e](int g, int t, int i) { return std::pair(t * e + i % e + i / e * 4 * e, g); });
  };
  std::vector<Scenario> all;
  const auto add = [&](const std::string& row, Product p, const std::string& tail = "") {
    p.ptx = fmt::format("mma.sync.aligned.m{}n{}k{}{}", p.m, p.n, p.k, p.ptx) +
            fmt::format(".{}.{}.{}.{}{}", p.d, p.a, p.b, p.c, tail);
    all.push_back(mma(p, row));
  };
  for (const char* d : {"f16", "f32"})
    for (const char* c : {"f16", "f32"}) {
      if (std::string(c) == d || std::string(d) == "f32") {
        if (std::string(c) == d)
          add("mma.float", {".row.col", "f16", "f16", c, d, 16, 8, 8, a16(2), b(2), c16});
        if (std::string(c) == d)
          add("mma.float", {".row.col", "f16", "f16", c, d, 16, 8, 16, a16(2), b(2), c16});
      }
    }
  add("mma.float", {".row.col", "bf16", "bf16", "f32", "f32", 16, 8, 8, a16(2), b(2), c16});
  add("mma.float", {".row.col", "bf16", "bf16", "f32", "f32", 16, 8, 16, a16(2), b(2), c16});
  add("mma.float", {".row.col", "tf32", "tf32", "f32", "f32", 16, 8, 4, a16(1), b(1), c16});
  add("mma.float", {".row.col", "tf32", "tf32", "f32", "f32", 16, 8, 8, a16(1), b(1), c16});
  for (const char* x : {"e4m3", "e5m2"})
    for (const char* y : {"e4m3", "e5m2"})
      add("mma.float", {".row.col", x, y, "f32", "f32", 16, 8, 32, a16(4), b(4), c16, 89});
  add("mma.double", {".row.col", "f64", "f64", "f64", "f64", 8, 8, 4, a8(1), b(1), c8});
  for (const int k : {4, 8, 16})
    add("mma.double", {".row.col", "f64", "f64", "f64", "f64", 16, 8, k, a16(1), b(1), c16, 90});
  for (const char* x : {"s8", "u8"})
    for (const char* y : {"s8", "u8"}) {
      add("mma.integer", {".row.col", x, y, "s32", "s32", 8, 8, 16, a8(4), b(4), c8});
      add("mma.integer", {".row.col", x, y, "s32", "s32", 16, 8, 16, a16(4), b(4), c16});
      add("mma.integer", {".row.col.satfinite", x, y, "s32", "s32", 16, 8, 32, a16(4), b(4), c16, 80, true});
    }
  for (const char* x : {"s4", "u4"})
    for (const char* y : {"s4", "u4"}) {
      add("mma.integer", {".row.col", x, y, "s32", "s32", 8, 8, 32, a8(8), b(8), c8});
      add("mma.integer", {".row.col", x, y, "s32", "s32", 16, 8, 32, a16(8), b(8), c16});
      add("mma.integer", {".row.col", x, y, "s32", "s32", 16, 8, 64, a16(8), b(8), c16});
    }
  for (const char* how : {".xor.popc", ".and.popc"}) {
    add("mma.bits", {".row.col", "b1", "b1", "s32", "s32", 8, 8, 128, a8(32), b(32), c8}, how);
    add("mma.bits", {".row.col", "b1", "b1", "s32", "s32", 16, 8, 128, a16(32), b(32), c16}, how);
    add("mma.bits", {".row.col", "b1", "b1", "s32", "s32", 16, 8, 256, a16(32), b(32), c16}, how);
  }
  // Four products by eight lanes each, in both orders of a and b. Here g is the lane.
  const auto low_lane = [](int lane) { return lane < 16 ? lane % 4 : lane % 4 + 4; };
  for (const bool a_rows : {true, false})
    for (const bool b_rows : {true, false})
      for (const char* sum : {"f16", "f32"}) {
        const Place pa = [=](int lane, int, int i) {
          return a_rows ? std::pair(low_lane(lane), i) : std::pair(lane < 16 ? i : i + 4, lane % 4);
        };
        const Place pb = [=](int lane, int, int i) {
          return b_rows ? std::pair(lane % 4, lane < 16 ? i : i + 4) : std::pair(i, low_lane(lane));
        };
        const Place pc = [=, wide = std::string(sum) == "f32"](int lane, int, int i) {
          const int x = (lane & 1) + (i & 2);
          return wide ? std::pair(lane < 16 ? x : x + 4, (i & 4) + (lane & 2) + (i & 1))
                      : std::pair(low_lane(lane), i);
        };
        add("mma.float", {fmt::format(".{}.{}", a_rows ? "row" : "col", b_rows ? "row" : "col"), "f16", "f16",
                          sum, sum, 8, 8, 4, pa, pb, pc});
      }
  return all;
}

// --- wmma ---------------------------------------------------------------------------------------------------------

struct WarpProduct {
  std::string a, c;  // types; b is as a, d as c
  int m, n, k;
  int n_a, n_b, n_c;  // registers of a lane
  bool a_rows, b_rows, c_rows;
  std::string how = "";  // of b1
};

// The matrices lie in global memory one after the other, each line in as many bytes as it takes rounded up to 32.
Scenario wmma(const WarpProduct& p, const std::string& row) {
  const Kind ka = kind(p.a), kc = kind(p.c);
  Rng rng(static_cast<std::size_t>(p.m * 64 + p.n) + p.a.size() + 2 * p.a_rows + 4 * p.b_rows + 8 * p.c_rows);
  struct Matrix {
    Kind kind;
    int rows, columns;
    bool by_rows;
    std::vector<int> cells;
    int stride() const { return ((by_rows ? columns : rows) * kind.bits + 255) / 256 * 256 / kind.bits; }
    std::size_t bytes() const {
      return static_cast<std::size_t>((by_rows ? rows : columns) * stride() * kind.bits / 8);
    }
    int& at(int r, int c) { return cells[static_cast<std::size_t>(r * columns + c)]; }
    std::vector<Word> words() {
      std::vector<Word> v(bytes() / 8, 0);
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) {
          const int bit = (by_rows ? r * stride() + c : c * stride() + r) * kind.bits;
          v[static_cast<std::size_t>(bit / 64)] |= kind.encode(at(r, c)) << (bit % 64);
        }
      return v;
    }
  };
  const auto matrix = [&](const Kind& k, int rows, int columns, bool by_rows) {
    Matrix m{k, rows, columns, by_rows, std::vector<int>(static_cast<std::size_t>(rows * columns))};
    for (int& x : m.cells) x = k.least + static_cast<int>(rng.below(static_cast<Word>(k.most - k.least + 1)));
    return m;
  };
  Matrix a = matrix(ka, p.m, p.k, p.a_rows), b = matrix(ka, p.k, p.n, p.b_rows),
         c = matrix(kc, p.m, p.n, p.c_rows);
  Matrix d = c;
  for (int r = 0; r < p.m; ++r)
    for (int col = 0; col < p.n; ++col)
      for (int i = 0; i < p.k; ++i) {
        const int x = a.at(r, i), y = b.at(i, col);
        d.at(r, col) += p.how.empty() ? x * y : p.how == ".and" ? (x & y) : (x ^ y);
      }
  Scenario s;
  s.rows = {row};
  for (Matrix* m : {&a, &b, &c}) {
    const auto words = m->words();
    s.in.insert(s.in.end(), words.begin(), words.end());
  }
  s.out = d.words();
  while (s.out.size() % 32 != 0) s.out.push_back(0);  // words for each thread
  const std::string shape = fmt::format("m{}n{}k{}", p.m, p.n, p.k);
  const auto order = [](bool by_rows) { return by_rows ? "row" : "col"; };
  const auto list = [](char name, int n) {
    std::string text = "{";
    for (int k = 0; k < n; ++k) text += fmt::format("{}%{}{}", k == 0 ? "" : ", ", name, k);
    return text + "}";
  };
  const std::string types =
      p.a == "f16" ? fmt::format("{}.{}", p.c, p.c) : fmt::format("{}.{}.{}.{}", p.c, p.a, p.a, p.c);
  s.name =
      fmt::format("wmma {} {} {} {} {}", shape, types, order(p.a_rows), order(p.b_rows), order(p.c_rows));
  std::string body = "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n";
  body += fmt::format("  mov.u32 %stride, {};\n", a.stride());
  body += fmt::format("  wmma.load.a.sync.aligned.{}.{}.global.{} {}, [%in], %stride;\n", order(p.a_rows),
                      shape, p.a, list('a', p.n_a));
  body += fmt::format("  add.u64 %at, %in, {};\n", a.bytes());  // a generic address
  body += fmt::format("  wmma.load.b.sync.aligned.{}.{}.{} {}, [%at], {};\n", order(p.b_rows), shape, p.a,
                      list('b', p.n_b), b.stride());
  body += fmt::format("  wmma.load.c.sync.aligned.{}.{}.global.{} {}, [%in+{}], {};\n", order(p.c_rows),
                      shape, p.c, list('c', p.n_c), a.bytes() + b.bytes(), c.stride());
  body += fmt::format("  wmma.mma{}.sync.aligned.{}.{}.{}.{} {}, {}, {}, {};\n",
                      p.how.empty() ? "" : p.how + ".popc", order(p.a_rows), order(p.b_rows), shape, types,
                      list('d', p.n_c), list('a', p.n_a), list('b', p.n_b), list('c', p.n_c));
  body += fmt::format("  wmma.store.d.sync.aligned.{}.{}.global.{} [%out], {}, {};\n", order(p.c_rows), shape,
                      p.c, list('d', p.n_c), d.stride());
  const auto type = [](const Kind& k) { return k.bits == 64 ? "f64" : k.name == "f32" ? "f32" : "b32"; };
  s.ptx = scenario_kernel(
      fmt::format(
          "  .reg .{} %a<9>;\n  .reg .{} %b<9>;\n  .reg .{} %c<9>;\n  .reg .{} %d<9>;\n  .reg .b32 %stride;\n"
          "  .reg .b64 %at;\n",
          type(ka), type(ka), type(kc), type(kc)),
      body, 1, 1);
  return s;
}

std::vector<Scenario> warp_products() {
  std::vector<Scenario> all;
  struct Shape {
    int m, n, a16, b16, a8, b8;  // registers of 16-bit elements (not f16, which has 8 always) and of bytes
  };
  for (const Shape& s : {Shape{16, 16, 4, 4, 2, 2}, Shape{32, 8, 8, 2, 4, 1}, Shape{8, 32, 2, 8, 1, 4}})
    for (const bool a : {true, false})
      for (const bool b : {true, false}) {
        const bool c = a == b;
        all.push_back(wmma({"f16", "f32", s.m, s.n, 16, 8, 8, 8, a, b, c}, "mma.float"));
        all.push_back(wmma({"f16", "f16", s.m, s.n, 16, 8, 8, 4, a, b, c}, "mma.float"));
        all.push_back(wmma({"bf16", "f32", s.m, s.n, 16, s.a16, s.b16, 8, a, b, c}, "mma.float"));
        all.push_back(wmma({"s8", "s32", s.m, s.n, 16, s.a8, s.b8, 8, a, b, c}, "mma.integer"));
        all.push_back(wmma({"u8", "s32", s.m, s.n, 16, s.a8, s.b8, 8, a, b, c}, "mma.integer"));
      }
  for (const bool a : {true, false})
    for (const bool b : {true, false}) {
      all.push_back(wmma({"tf32", "f32", 16, 16, 8, 4, 4, 8, a, b, true}, "mma.float"));
      all.push_back(wmma({"f64", "f64", 8, 8, 4, 1, 1, 2, a, b, false}, "mma.double"));
    }
  all.push_back(wmma({"s4", "s32", 8, 8, 32, 1, 1, 2, true, false, true}, "mma.integer"));
  all.push_back(wmma({"u4", "s32", 8, 8, 32, 1, 1, 2, true, false, false}, "mma.integer"));
  all.push_back(wmma({"b1", "s32", 8, 8, 128, 1, 1, 2, true, false, true, ".xor"}, "mma.bits"));
  all.push_back(wmma({"b1", "s32", 8, 8, 128, 1, 1, 2, true, false, true, ".and"}, "mma.bits"));
  return all;
}

// --- rows of 8 × 8 matrices ---------------------------------------------------------------------------------------

// Each lane writes 16 bytes, a row of one of four matrices, and gets its parts of `n` of them; or the other way round.
Scenario rows_of_matrices(bool store, int n, bool across) {
  Scenario s;
  s.rows = {store ? "st.shared.u32" : "ld.shared.u32"};
  if (across) s.rows = {store ? "st.shared.u16" : "ld.shared.u16"};
  s.least_sm = store ? 90 : 80;
  const char* op = store ? "stmatrix" : "ldmatrix";
  std::string list = "{";
  for (int k = 0; k < n; ++k) list += fmt::format("{}%r{}", k == 0 ? "" : ", ", k);
  list += "}";
  const std::string spelling =
      fmt::format("{}.sync.aligned.m8n8.x{}{}.shared.b16", op, n, across ? ".trans" : "");
  s.name = spelling;
  // Matrices 0 and 2 change places: the rows' addresses are the lanes' own business.
  std::string body =
      "  xor.b32 %row, %lane, 16;\n  shl.b32 %at, %row, 4;\n  mov.u32 %cell0, cells;\n  add.u32 %at, %at, "
      "%cell0;\n"
      "  shl.b32 %mine, %lane, 4;\n  add.u32 %mine, %mine, %cell0;\n";
  Rng rng(static_cast<std::size_t>(n));
  std::vector<std::uint16_t> cells(32 * 8);
  for (auto& c : cells) c = static_cast<std::uint16_t>(rng());
  const auto matrix = [&](int k, int row, int column) {  // as the lanes' addresses number them
    return static_cast<std::size_t>(((8 * k + row) ^ 16) * 8 + column);
  };
  const auto part = [&](const std::vector<std::uint16_t>& v, int lane, int k) {
    const int row = lane / 4, column = lane % 4 * 2;
    const Word first = across ? v[matrix(k, column, row)] : v[matrix(k, row, column)];
    const Word second = across ? v[matrix(k, column + 1, row)] : v[matrix(k, row, column + 1)];
    return first | second << 16;
  };
  if (!store) {
    body += "  ld.global.v2.u64 {%x, %y}, [%in];\n  st.shared.v2.u64 [%mine], {%x, %y};\n  bar.sync 0;\n";
    body += fmt::format("  {} {}, [%at];\n", spelling, list);
    for (int k = 0; k < n; ++k) body += fmt::format("  st.global.u32 [%out+{}], %r{};\n", 8 * k, k);
    for (int lane = 0; lane < 32; ++lane) {
      for (int h = 0; h < 2; ++h) {
        Word w = 0;
        for (int j = 0; j < 4; ++j)
          w |= Word{cells[static_cast<std::size_t>(lane * 8 + h * 4 + j)]} << 16 * j;
        s.in.push_back(w);
      }
      for (int k = 0; k < n; ++k) s.out.push_back(part(cells, lane, k));
    }
  } else {
    std::vector<bool> written(cells.size(), false);
    body += "  mov.u64 %x, 0;\n  st.shared.v2.u64 [%mine], {%x, %x};\n  bar.sync 0;\n";
    for (int k = 0; k < n; ++k) body += fmt::format("  ld.global.u32 %r{}, [%in+{}];\n", k, 8 * k);
    body += fmt::format("  {} [%at], {};\n  bar.sync 0;\n", spelling, list);
    body += "  ld.shared.v2.u64 {%x, %y}, [%mine];\n  st.global.v2.u64 [%out], {%x, %y};\n";
    for (int lane = 0; lane < 32; ++lane) {
      for (int k = 0; k < n; ++k) {
        s.in.push_back(part(cells, lane, k));
        const int row = lane / 4, column = lane % 4 * 2;
        for (int j = 0; j < 2; ++j)
          written[across ? matrix(k, column + j, row) : matrix(k, row, column + j)] = true;
      }
    }
    for (int lane = 0; lane < 32; ++lane)
      for (int h = 0; h < 2; ++h) {
        Word w = 0;
        for (int j = 0; j < 4; ++j) {
          const auto at = static_cast<std::size_t>(lane * 8 + h * 4 + j);
          if (written[at]) w |= Word{cells[at]} << 16 * j;
        }
        s.out.push_back(w);
      }
  }
  s.ptx = scenario_kernel(
      "  .reg .b32 %r<4>, %row, %at, %cell0, %mine;\n  .reg .b64 %x, %y;\n  .shared .align 16 .b8 "
      "cells[512];\n",
      body, store ? n : 2, store ? 2 : n);
  return s;
}

Scenario transposition() {
  Scenario s;
  s.name = "movmatrix";
  s.rows = {"movmatrix"};
  s.ptx = scenario_kernel("  .reg .b32 %a;\n",
                          "  ld.global.u32 %a, [%in];\n  movmatrix.sync.aligned.m8n8.trans.b16 %a, %a;\n  "
                          "st.global.u32 [%out], %a;\n",
                          1, 1);
  const auto cell = [](int row, int column) { return static_cast<Word>(row * 100 + column); };
  for (int lane = 0; lane < 32; ++lane) {
    const int row = lane / 4, column = lane % 4 * 2;
    s.in.push_back(cell(row, column) | cell(row, column + 1) << 16);
    s.out.push_back(cell(column, row) | cell(column + 1, row) << 16);
  }
  return s;
}

}  // namespace

std::vector<Scenario> matrix_scenarios() {
  std::vector<Scenario> all = products();
  for (Scenario& s : warp_products()) all.push_back(std::move(s));
  for (const bool store : {false, true})
    for (const int n : {1, 2, 4})
      for (const bool across : {false, true}) all.push_back(rows_of_matrices(store, n, across));
  all.push_back(transposition());
  return all;
}

}  // namespace course::sim
