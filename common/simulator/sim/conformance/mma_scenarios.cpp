// SPDX-License-Identifier: MIT
// mma: the positions of each lane's elements are those of the ISA's figures, written out for each form.
#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "sim/conformance/format.hpp"
#include "sim/conformance/matrix_numbers.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

// Row and column of a lane's i-th element, in the terms of the ISA: g = groupID, t = threadID_in_group.
using Place = std::function<std::pair<int, int>(int g, int t, int i)>;

struct Product {
  std::string ptx;  // the opcode
  std::string a, b, c, d;
  int m, n, k;
  Place place_a, place_b, place_c;
  int least_sm = 80;
  bool satfinite = false;
};

Scenario mma(const Product& p, const std::string& row) {
  const bool quads = p.k == 4 && p.a == "f16";
  const NumberFormat ka = number_format(p.a), kb = number_format(p.b), kc = number_format(p.c),
                     kd = number_format(p.d);
  Rng rng(p.ptx.size() + static_cast<std::size_t>(p.k));
  const int n_products = quads ? 4 : 1;
  const auto product_of = [&](int lane) { return quads ? lane / 4 % 4 : 0; };
  const auto cells = [&](const NumberFormat& k, int rows, int columns) {
    return random_numbers(k, static_cast<std::size_t>(rows * columns * n_products), rng);
  };
  const std::vector<int> a = cells(ka, p.m, p.k), b = cells(kb, p.k, p.n);
  std::vector<int> c = cells(kc, p.m, p.n);
  if (p.satfinite)
    for (std::size_t i = 0; i < c.size(); i += 2)
      c[i] = i % 4 == 0 ? std::numeric_limits<int>::max() - 3 : std::numeric_limits<int>::min() + 3;
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
        if (p.satfinite)
          s = std::clamp<std::int64_t>(s, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
        sum[at] = kd.encode(static_cast<int>(s));
      }
  // The registers of a lane, with its elements from the low bits upwards.
  const auto packed = [&](const NumberFormat& k, const Place& place, int rows, int columns, int lane,
                          const auto& value) {
    const int n = rows * columns / (quads ? 8 : 32), each = std::max(32 / k.bits, 1);
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
  std::string body;
  std::size_t word = 0;
  for (const auto& [name, n, k] : {std::tuple("a", na, ka), {"b", nb, kb}, {"c", nc, kc}})
    for (std::size_t j = 0; j < n; ++j)
      body += fmt::format("  ld.global.{} %{}{}, [%in+{}];\n", register_type(k), name, j, 8 * word++);
  body += fmt::format("  {} {}, {}, {}, {};\n", p.ptx, register_list('d', nd), register_list('a', na),
                      register_list('b', nb), register_list('c', nc));
  for (std::size_t j = 0; j < nd; ++j)
    body += fmt::format("  st.global.{} [%out+{}], %d{};\n", register_type(kd), 8 * j, j);
  s.ptx = scenario_kernel(
      fmt::format("  .reg .{} %a<8>;\n  .reg .{} %b<8>;\n  .reg .{} %c<8>;\n  .reg .{} %d<8>;\n",
                  register_type(ka), register_type(kb), register_type(kc), register_type(kd)),
      body, static_cast<int>(word), static_cast<int>(nd));
  return s;
}

}  // namespace

std::vector<Scenario> mma_scenarios() {
  const Place c16 = [](int g, int t, int i) { return std::pair(i < 2 ? g : g + 8, t * 2 + (i & 1)); };
  const Place c8 = [](int g, int t, int i) { return std::pair(g, t * 2 + (i & 1)); };
  // Matrix a with 16 rows, and b: registers of `e` elements that are neighbours along k, for four
  // neighbouring lanes.
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
  for (const char* sum : {"f16", "f32"}) {
    add("mma.float", {".row.col", "f16", "f16", sum, sum, 16, 8, 8, a16(2), b(2), c16});
    add("mma.float", {".row.col", "f16", "f16", sum, sum, 16, 8, 16, a16(2), b(2), c16});
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
  // Four products by eight lanes each, with both layouts of a and b. Here g is the lane.
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

}  // namespace course::sim
