// SPDX-License-Identifier: MIT
// Reading order: scaling_tables() makes the tables, the last two functions print them.
#include "bench/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "text.hpp"

namespace course::grader {
namespace {

// A rate, and what it is compared with: an efficiency, or nothing.
struct ScaledCell {
  double us = 0, rate = 0;
  std::optional<double> efficiency = {};
  bool right = true;
};
struct ScaledLine {
  std::string name;
  unsigned gpus = 1;
  std::optional<ScaledCell> strong, weak;
};
struct ScalingTable {
  std::string work;
  std::uint64_t n = 0;
  const char* unit = "";  // of the rate
  std::vector<ScaledLine> lines;
};

using ByGpus = std::map<unsigned, const BenchLab*>;

ByGpus runs_by_gpus(const BenchResults& results, const std::string& id) {
  ByGpus runs;
  for (const BenchLab& lab : results.labs)
    if (lab.id == id && lab.gpus > 0) runs[lab.gpus] = &lab;
  return runs;
}

const BenchCell* find_scaled_cell(const BenchLab& lab, const std::string& work, const BenchRow& like,
                                  std::uint64_t n) {
  for (const BenchTable& table : lab.tables) {
    if (table.work != work) continue;
    for (const BenchRow& row : table.rows) {
      if (row.name != like.name || row.kind != like.kind) continue;
      const auto found = row.cells.find(n);
      return found == row.cells.end() ? nullptr : &found->second;
    }
  }
  return nullptr;
}

std::optional<ScaledCell> scaled_cell(const BenchCell* cell, std::uint64_t n) {
  if (cell == nullptr || !(cell->median_us > 0)) return std::nullopt;
  return ScaledCell{cell->median_us, 1e-3 * static_cast<double>(n) / cell->median_us, {}, cell->right};
}

std::vector<ScaledLine> scaled_lines(const ByGpus& runs, const BenchTable& table, std::uint64_t n) {
  std::vector<ScaledLine> lines;
  const auto one = runs.find(1);
  for (const BenchRow& row : table.rows) {
    const BenchCell* const alone =
        one == runs.end() || row.kind == "cpu" ? nullptr : find_scaled_cell(*one->second, table.work, row, n);
    for (const auto& [gpus, lab] : runs) {
      ScaledLine line{name_of(row), gpus, scaled_cell(find_scaled_cell(*lab, table.work, row, n), n),
                      scaled_cell(find_scaled_cell(*lab, table.work, row, n * gpus), n * gpus)};
      if (row.kind == "cpu") {
        if (gpus != 1) continue;
        line.gpus = 0;
      }
      if (alone != nullptr && line.strong)
        line.strong->efficiency = strong_efficiency(alone->median_us, line.strong->us, gpus);
      if (alone != nullptr && line.weak)
        line.weak->efficiency = weak_efficiency(alone->median_us, line.weak->us);
      if (line.strong || line.weak) lines.push_back(std::move(line));
    }
  }
  return lines;
}

// The operations of NCCL by themselves; the rate is the bus bandwidth.
std::vector<ScaledLine> collective_lines(const ByGpus& runs, std::uint64_t n) {
  std::vector<ScaledLine> lines;
  for (const char* name : {"ncclAllReduce", "all to all"}) {
    for (const auto& [gpus, lab] : runs) {
      const auto cell = [&](std::uint64_t items) -> std::optional<ScaledCell> {
        for (const BenchCollective& c : lab->collectives)
          if (c.name == name && c.n == items) return ScaledCell{c.median_us, c.bus_gb_per_s};
        return std::nullopt;
      };
      if (ScaledLine line{name, gpus, cell(n), cell(n * gpus)}; line.strong || line.weak)
        lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::vector<ScalingTable> scaling_tables(const ByGpus& runs) {
  std::vector<ScalingTable> tables;
  if (runs.empty()) return tables;
  const BenchLab& fewest = *runs.begin()->second;
  for (const std::uint64_t n : fewest.sizes) {
    for (const BenchTable& table : fewest.tables)
      if (auto lines = scaled_lines(runs, table, n); !lines.empty())
        tables.push_back({table.work, n, "Gitems/s", std::move(lines)});
    if (auto lines = collective_lines(runs, n); !lines.empty())
      tables.push_back({"NCCL alone, 4 bytes an item", n, "bus GB/s", std::move(lines)});
  }
  return tables;
}

std::string efficiency_text(const std::optional<ScaledCell>& cell) {
  return cell && cell->efficiency ? fmt::format("{:.0f} %", 100 * *cell->efficiency) : "";
}
std::string rate_text(const std::optional<ScaledCell>& cell) {
  return cell ? fmt::format("{:.{}f}", cell->rate, cell->rate < 100 ? 2 : 0) : "";
}
std::string scaled_time(const std::optional<ScaledCell>& cell) {
  return !cell ? "" : cell->right ? time_text(cell->us) : "WRONG";
}
std::string gpus_text(const ScaledLine& line) {
  return line.gpus == 0 ? "CPU" : std::to_string(line.gpus);
}

}  // namespace

std::vector<std::uint64_t> sizes_on(unsigned gpus, const std::vector<std::uint64_t>& sizes) {
  std::vector<std::uint64_t> all = sizes;
  for (const std::uint64_t n : sizes) all.push_back(n * gpus);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

double strong_efficiency(double us_of_one, double us, unsigned gpus) {
  return us_of_one / (us * gpus);
}
double weak_efficiency(double us_of_one, double us) {
  return us_of_one / us;
}

std::string scaling_text(const BenchResults& results, const std::string& id) {
  std::string out;
  for (const ScalingTable& table : scaling_tables(runs_by_gpus(results, id))) {
    const std::string n = size_text(table.n);
    out += fmt::format("\n{}\n  {}{}{}\n", table.work, fit_left("", 25),
                       fit_right(n + " items on all GPUs", 28), fit_right(n + " items on each GPU", 28));
    out += "  " + fit_left("", 21) + fit_right("GPUs", 4);
    for (int k = 0; k < 2; ++k)
      out += fit_right("time", 10) + fit_right(table.unit, 9) + fit_right("effic.", 9);
    out += "\n";
    std::string before;
    for (const ScaledLine& line : table.lines) {
      out += "  " + fit_left(line.name == before ? "" : line.name, 21) + fit_right(gpus_text(line), 4);
      before = line.name;
      for (const auto* cell : {&line.strong, &line.weak})
        out += fit_right(scaled_time(*cell), 10) + fit_right(rate_text(*cell), 9) +
               fit_right(efficiency_text(*cell), 9);
      out += "\n";
    }
  }
  if (!out.empty())
    out +=
        "\neffic.: parallel efficiency against one GPU in the same run. bus GB/s: bytes\n"
        "that a GPU must send, divided by the time.\n";
  return out;
}

}  // namespace course::grader
