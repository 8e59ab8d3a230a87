// SPDX-License-Identifier: MIT
// wmma from memory to memory, because the layout in registers is not defined.
#include "sim/conformance/matrix_numbers.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

struct WarpProduct {
  std::string a, c;  // types; b has the type of a, d that of c
  int m, n, k;
  std::size_t n_a, n_b, n_c;  // registers per lane
  bool a_rows, b_rows, c_rows;
};

// The matrices are consecutive in global memory; each line is padded to a multiple of 32 bytes.
Scenario wmma(const WarpProduct& p, const std::string& row) {
  const NumberFormat ka = number_format(p.a), kc = number_format(p.c);
  Rng rng(static_cast<std::size_t>(p.m * 64 + p.n) + p.a.size() + 2 * p.a_rows + 4 * p.b_rows + 8 * p.c_rows);
  struct Matrix {
    NumberFormat format;
    int rows, columns;
    bool by_rows;
    std::vector<int> cells;
    int stride() const { return ((by_rows ? columns : rows) * format.bits + 255) / 256 * 256 / format.bits; }
    std::size_t bytes() const {
      return static_cast<std::size_t>((by_rows ? rows : columns) * stride() * format.bits / 8);
    }
    int& at(int r, int c) { return cells[static_cast<std::size_t>(r * columns + c)]; }
    std::vector<Word> words() {
      std::vector<Word> v(bytes() / 8, 0);
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) {
          const int bit = (by_rows ? r * stride() + c : c * stride() + r) * format.bits;
          v[static_cast<std::size_t>(bit / 64)] |= format.encode(at(r, c)) << (bit % 64);
        }
      return v;
    }
  };
  const auto matrix = [&](const NumberFormat& k, int rows, int columns, bool by_rows) {
    return Matrix{k, rows, columns, by_rows,
                  random_numbers(k, static_cast<std::size_t>(rows * columns), rng)};
  };
  Matrix a = matrix(ka, p.m, p.k, p.a_rows), b = matrix(ka, p.k, p.n, p.b_rows),
         c = matrix(kc, p.m, p.n, p.c_rows);
  Matrix d = c;
  for (int r = 0; r < p.m; ++r)
    for (int col = 0; col < p.n; ++col)
      for (int i = 0; i < p.k; ++i) d.at(r, col) += a.at(r, i) * b.at(i, col);
  Scenario s;
  s.rows = {row};
  for (Matrix* m : {&a, &b, &c}) {
    const auto words = m->words();
    s.in.insert(s.in.end(), words.begin(), words.end());
  }
  s.out = d.words();
  while (s.out.size() % 32 != 0) s.out.push_back(0);  // the same number of words for each thread
  const std::string shape = fmt::format("m{}n{}k{}", p.m, p.n, p.k);
  const auto order = [](bool by_rows) { return by_rows ? "row" : "col"; };
  const std::string types =
      p.a == "f16" ? fmt::format("{}.{}", p.c, p.c) : fmt::format("{}.{}.{}.{}", p.c, p.a, p.a, p.c);
  s.name =
      fmt::format("wmma {} {} {} {} {}", shape, types, order(p.a_rows), order(p.b_rows), order(p.c_rows));
  std::string body = "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n";
  body += fmt::format("  mov.u32 %stride, {};\n", a.stride());
  body += fmt::format("  wmma.load.a.sync.aligned.{}.{}.global.{} {}, [%in], %stride;\n", order(p.a_rows),
                      shape, p.a, register_list('a', p.n_a));
  body += fmt::format("  add.u64 %at, %in, {};\n", a.bytes());  // a generic address
  body += fmt::format("  wmma.load.b.sync.aligned.{}.{}.{} {}, [%at], {};\n", order(p.b_rows), shape, p.a,
                      register_list('b', p.n_b), b.stride());
  body += fmt::format("  wmma.load.c.sync.aligned.{}.{}.global.{} {}, [%in+{}], {};\n", order(p.c_rows),
                      shape, p.c, register_list('c', p.n_c), a.bytes() + b.bytes(), c.stride());
  body += fmt::format("  wmma.mma.sync.aligned.{}.{}.{}.{} {}, {}, {}, {};\n", order(p.a_rows),
                      order(p.b_rows), shape, types, register_list('d', p.n_c), register_list('a', p.n_a),
                      register_list('b', p.n_b), register_list('c', p.n_c));
  body += fmt::format("  wmma.store.d.sync.aligned.{}.{}.global.{} [%out], {}, {};\n", order(p.c_rows), shape,
                      p.c, register_list('d', p.n_c), d.stride());
  s.ptx = scenario_kernel(
      fmt::format(
          "  .reg .{} %a<9>;\n  .reg .{} %b<9>;\n  .reg .{} %c<9>;\n  .reg .{} %d<9>;\n  .reg .b32 %stride;\n"
          "  .reg .b64 %at;\n",
          register_type(ka), register_type(ka), register_type(kc), register_type(kc)),
      body, 1, 1);
  return s;
}

}  // namespace

std::vector<Scenario> wmma_scenarios() {
  std::vector<Scenario> all;
  struct Shape {
    int m, n;
    // registers of 16-bit elements (except f16, which always has 8) and of bytes
    std::size_t a16, b16, a8, b8;
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
  return all;
}

}  // namespace course::sim
