// SPDX-License-Identifier: MIT
// Rows of 8 × 8 matrices: ldmatrix, stmatrix, movmatrix.
#include "sim/conformance/matrix_numbers.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

// Each lane writes 16 bytes, a row of one of four matrices, and gets its elements of `n` of them; or, for
// stores, the reverse.
Scenario rows_of_matrices(bool store, int n, bool across) {
  Scenario s;
  s.rows = {store ? "st.shared.u32" : "ld.shared.u32"};
  if (across) s.rows = {store ? "st.shared.u16" : "ld.shared.u16"};
  s.least_sm = store ? 90 : 80;
  const char* op = store ? "stmatrix" : "ldmatrix";
  const std::string list = register_list('r', static_cast<std::size_t>(n));
  const std::string spelling =
      fmt::format("{}.sync.aligned.m8n8.x{}{}.shared.b16", op, n, across ? ".trans" : "");
  s.name = spelling;
  // The lanes may provide row addresses in any order; here matrices 0 and 2 are exchanged, and 1 and 3.
  std::string body =
      "  xor.b32 %row, %lane, 16;\n  shl.b32 %at, %row, 4;\n  mov.u32 %cell0, cells;\n  add.u32 %at, %at, "
      "%cell0;\n"
      "  shl.b32 %mine, %lane, 4;\n  add.u32 %mine, %mine, %cell0;\n";
  Rng rng(static_cast<std::size_t>(n));
  std::vector<std::uint16_t> cells(32 * 8);
  for (auto& c : cells) c = static_cast<std::uint16_t>(rng());
  const auto matrix = [&](int k, int row, int column) {  // as numbered by the lanes' addresses
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
  Scenario s{.name = "movmatrix", .rows = {"movmatrix"}};
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

std::vector<Scenario> ldmatrix_scenarios() {
  std::vector<Scenario> all;
  for (const bool store : {false, true})
    for (const int n : {1, 2, 4})
      for (const bool across : {false, true}) all.push_back(rows_of_matrices(store, n, across));
  all.push_back(transposition());
  return all;
}

}  // namespace course::sim
