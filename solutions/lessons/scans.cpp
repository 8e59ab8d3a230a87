// SPDX-License-Identifier: MIT
// Scans that are not rungs of a lab: by networks that need fewer operations, and with a launch for each level
// of a tree.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "lessons/lessons.cuh"
#include "lessons/measure.hpp"

namespace course::lessons {
namespace {

using Positions = std::vector<std::size_t>;  // of a row, that a network works on
using Operations =
    std::vector<std::pair<std::size_t, std::size_t>>;  // (left, right): right gets left + right

// Each network adds its operations in an order in which they can be executed one after the other, except
// Kogge–Stone's, whose steps are added by kogge_stone_sources.
void add_half_to_half(const Positions& at, Operations& operations) {
  for (std::size_t i = at.size() / 2; i < at.size(); ++i)
    operations.emplace_back(at[at.size() / 2 - 1], at[i]);
}
std::pair<Positions, Positions> halves(const Positions& at) {
  const auto middle = at.begin() + static_cast<std::ptrdiff_t>(at.size() / 2);
  return {{at.begin(), middle}, {middle, at.end()}};
}

void sklansky(const Positions& at, Operations& operations) {
  if (at.size() < 2) return;
  const auto [left, right] = halves(at);
  sklansky(left, operations);
  sklansky(right, operations);
  add_half_to_half(at, operations);
}

// Combines pairs, calls `inner` for their results, and then computes the positions in between.
template <typename Inner>
void pairs_first(const Positions& at, Operations& operations, const Inner& inner) {
  if (at.size() < 2) return;
  Positions results;
  for (std::size_t i = 1; i < at.size(); i += 2) {
    operations.emplace_back(at[i - 1], at[i]);
    results.push_back(at[i]);
  }
  inner(results, operations);
  for (std::size_t i = 2; i < at.size(); i += 2) operations.emplace_back(at[i - 1], at[i]);
}
void brent_kung(const Positions& at, Operations& operations) {
  pairs_first(at, operations, brent_kung);
}
void ladner_fischer(const Positions& at, Operations& operations) {
  if (at.size() < 2) return;
  const auto [left, right] = halves(at);
  pairs_first(left, operations, ladner_fischer);
  ladner_fischer(right, operations);
  add_half_to_half(at, operations);
}

struct Table {
  std::string name;
  unsigned n_steps = 0, n_operations = 0;
  bool two_arrays = false;
  std::vector<short> sources = std::vector<short>(2 * kLogRow * kRow, -1);  // [step][position]
};

// Each operation in the first step in which its operands are there.
Table table_of(const char* name, void (*network)(const Positions&, Operations&)) {
  Positions all(kRow);
  std::iota(all.begin(), all.end(), 0);
  Operations operations;
  network(all, operations);
  Table table{.name = name};
  table.n_operations = static_cast<unsigned>(operations.size());
  std::array<unsigned, kRow> depth{};
  for (const auto& [left, right] : operations) {
    const unsigned step = std::max(depth[left], depth[right]);
    table.sources[step * kRow + right] = static_cast<short>(left);
    depth[right] = step + 1;
    table.n_steps = std::max(table.n_steps, step + 1);
  }
  return table;
}

Table kogge_stone() {
  Table table{.name = "Kogge–Stone"};
  table.n_steps = kLogRow;
  table.two_arrays = true;
  for (unsigned step = 0; step < kLogRow; ++step) {
    for (unsigned i = 1u << step; i < kRow; ++i, ++table.n_operations)
      table.sources[step * kRow + i] = static_cast<short>(i - (1u << step));
  }
  return table;
}

std::vector<int> items_for(std::uint64_t n) {
  return samples_for(n, -1000, 1000, 0);
}

}  // namespace

Json networks(const BenchDevice& device, std::span<const unsigned> logs) {
  Json rows = Json::array();
  for (const unsigned log : logs) {
    const std::uint64_t n = std::uint64_t{1} << log;
    const std::vector<int> items = items_for(n);
    std::vector<int> got(n);
    const DeviceBytes d_in(4 * n), d_out(4 * n);
    copy_to(d_in, items.data(), 4 * n);
    for (const Table& table :
         {kogge_stone(), table_of("Sklansky", sklansky), table_of("Ladner–Fischer", ladner_fischer),
          table_of("Brent–Kung", brent_kung)}) {
      const DeviceBytes d_sources(2 * table.sources.size());
      copy_to(d_sources, table.sources.data(), 2 * table.sources.size());
      // Two blocks of 1,024 threads fill a multiprocessor.
      const auto n_blocks = static_cast<unsigned>(2 * device.properties.multiProcessorCount);
      Json row = timed(device, n, [&](std::size_t) {
        scan_rows(table.n_steps, table.two_arrays, static_cast<const int*>(d_in.data()),
                  static_cast<const short*>(d_sources.data()), static_cast<unsigned>(n / kRow),
                  static_cast<int*>(d_out.data()), n_blocks, device.stream);
        return true;
      });
      copy_from(got.data(), d_out, 4 * n);
      int sum = 0;
      for (std::uint64_t i = 0; i < n; ++i) {
        sum = (i % kRow == 0 ? 0 : sum) + items[i];
        if (sum != got[i]) lab::stop(fmt::format("wrong result {} of {}", i, table.name));
      }
      row.update(
          {{"n", n}, {"network", table.name}, {"steps", table.n_steps}, {"operations", table.n_operations}});
      fmt::print(stderr, "networks: 2^{}, {}: {:.1f} us\n", log, table.name, row["median_us"].get<double>());
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Json levels(const BenchDevice& device, std::span<const unsigned> logs) {
  Json rows = Json::array();
  for (const unsigned log : logs) {
    const std::uint64_t n = std::uint64_t{1} << log;
    const std::vector<int> items = items_for(n);
    std::vector<int> got(n);
    const DeviceBytes d_in(4 * n), d_out(4 * n);
    copy_to(d_in, items.data(), 4 * n);
    unsigned n_launches = 0;
    Json row = timed(device, n, [&](std::size_t) {
      n_launches = scan_by_levels(static_cast<const int*>(d_in.data()), n, static_cast<int*>(d_out.data()),
                                  device.stream);
      return true;
    });
    copy_from(got.data(), d_out, 4 * n);
    unsigned before = 0;
    for (std::uint64_t i = 0; i < n; before += static_cast<unsigned>(items[i++]))
      if (before != static_cast<unsigned>(got[i])) lab::stop(fmt::format("wrong result {} of the levels", i));
    row.update({{"n", n}, {"launches", n_launches}});
    fmt::print(stderr, "levels: 2^{}, {} launches: {:.1f} us\n", log, n_launches,
               row["median_us"].get<double>());
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace course::lessons
