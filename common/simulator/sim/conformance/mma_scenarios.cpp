// SPDX-License-Identifier: MIT
// mma: the positions of each lane's elements are those of the ISA's figures, written out for each form.
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

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
  const NumberFormat ka = number_format(p.a), kb = number_format(p.b), kc = number_format(p.c),
                     kd = number_format(p.d);
  Rng rng(p.ptx.size() + static_cast<std::size_t>(p.k));
  const auto cells = [&](const NumberFormat& k, int rows, int columns) {
    return random_numbers(k, static_cast<std::size_t>(rows * columns), rng);
  };
  const std::vector<int> a = cells(ka, p.m, p.k), b = cells(kb, p.k, p.n);
  std::vector<int> c = cells(kc, p.m, p.n);
  if (p.satfinite)
    for (std::size_t i = 0; i < c.size(); i += 2)
      c[i] = i % 4 == 0 ? std::numeric_limits<int>::max() - 3 : std::numeric_limits<int>::min() + 3;
  std::vector<Word> sum(c.size());
  for (int row_i = 0; row_i < p.m; ++row_i)
    for (int column = 0; column < p.n; ++column) {
      const auto at = static_cast<std::size_t>(row_i * p.n + column);
      std::int64_t s = c[at];
      for (int i = 0; i < p.k; ++i)
        s += a[static_cast<std::size_t>(row_i * p.k + i)] * b[static_cast<std::size_t>(i * p.n + column)];
      if (p.satfinite)
        s = std::clamp<std::int64_t>(s, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
      sum[at] = kd.encode(static_cast<int>(s));
    }
  // The registers of a lane, with its elements from the low bits upwards.
  const auto packed = [&](const NumberFormat& k, const Place& place, int rows, int columns, int lane,
                          const auto& value) {
    const int n = rows * columns / 32, each = std::max(32 / k.bits, 1);
    std::vector<Word> words(static_cast<std::size_t>(n / each), 0);
    for (int i = 0; i < n; ++i) {
      const auto [r, col] = place(lane / 4, lane % 4, i);
      words[static_cast<std::size_t>(i / each)] |= value(static_cast<std::size_t>(r * columns + col))
                                                   << (i % each * k.bits);
    }
    return words;
  };
  Scenario s{.name = p.ptx, .rows = {row}, .least_sm = p.least_sm};
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
  const auto add = [&](const std::string& row, Product p) {
    p.ptx = fmt::format("mma.sync.aligned.m{}n{}k{}{}", p.m, p.n, p.k, p.ptx) +
            fmt::format(".{}.{}.{}.{}", p.d, p.a, p.b, p.c);
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
  return all;
}

}  // namespace course::sim
