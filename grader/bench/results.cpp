// SPDX-License-Identifier: MIT
#include "bench/results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "bar.hpp"
#include "bench/scaling.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using Json = nlohmann::json;

// Work that moves little more than one read of n items of 4 bytes writes almost nothing; it is compared with
// the rate of plain reads.
bool reads_only(double ideal_bytes, std::uint64_t n) {
  return ideal_bytes < 5.0 * static_cast<double>(n);
}
double ceiling_of(const Json& size, bool reads_only) {
  return size.at("ceilings").at(reads_only ? "read" : "copy").at("gb_per_s").get<double>();
}

BenchTable& table_named(BenchLab& lab, const std::string& work, std::size_t nth) {
  std::size_t seen = 0;
  for (BenchTable& t : lab.tables)
    if (t.work == work && seen++ == nth) return t;
  return lab.tables.emplace_back(BenchTable{work, {}});
}

BenchRow& row_named(BenchTable& table, const std::string& name, const std::string& kind) {
  for (BenchRow& row : table.rows)
    if (row.name == name && row.kind == kind) return row;
  return table.rows.emplace_back(BenchRow{name, kind, {}});
}

double clock_of(const Json& lab) {
  const auto clocks = lab.find("clocks");
  return clocks == lab.end() ? 0 : clocks->value("while_measuring_mhz", 0.0);
}

// The time of the fastest library; 0 if there is none with such a time.
double best_peer_of(const Json& rows, const char* time) {
  double best = 0;
  for (const Json& r : rows)
    if (r.at("kind") == "peer" && r.contains(time) && (best == 0 || r.at(time) < best)) best = r.at(time);
  return best;
}

BenchLab lab_of(const Json& j) {
  BenchLab lab{j.at("lab"), j.at("title"), {}, {}};
  lab.gpus = j.value("gpus", 0u);
  for (const Json& size : j.at("sizes")) {
    const auto n = size.at("n").get<std::uint64_t>();
    lab.sizes.push_back(n);
    for (const Json& c : size.value("nccl", Json::array()))
      lab.collectives.push_back({c.at("name"), n, c.at("median_us"), c.at("bus_gb_per_s")});
    std::map<std::string, std::size_t> seen;
    for (const Json& t : size.at("tables")) {
      const std::string work = work_of(t.at("case"));
      BenchTable& table = table_named(lab, work, seen[work]++);
      const double bytes = t.at("ideal_bytes");
      const double ceiling = ceiling_of(size, reads_only(bytes, t.at("n")));
      const double best_peer = best_peer_of(t.at("rows"), "median_us");
      const double best_peer_launched = best_peer_of(t.at("rows"), "launched_us");
      for (const Json& r : t.at("rows")) {
        BenchCell cell;
        cell.median_us = r.at("median_us");
        if (const auto launched = r.find("launched_us"); launched != r.end()) cell.launched_us = *launched;
        cell.min_us = r.at("min_us");
        cell.max_us = r.at("max_us");
        cell.right = r.value("right", true);
        cell.gb_per_s = cell.median_us > 0 ? 1e-3 * bytes / cell.median_us : 0;
        cell.of_ceiling = ceiling > 0 ? cell.gb_per_s / ceiling : 0;
        if (best_peer > 0 && r.at("kind") != "cpu" && cell.median_us > 0)
          cell.over_peer = best_peer / cell.median_us;
        if (best_peer_launched > 0 && cell.launched_us && *cell.launched_us > 0)
          cell.over_peer_launched = best_peer_launched / *cell.launched_us;
        row_named(table, r.at("name"), r.at("kind")).cells[n] = cell;
      }
    }
  }
  return lab;
}

}  // namespace

std::string time_text(double us) {
  if (us < 1000) return fmt::format("{:.1f} µs", us);
  return us < 1e6 ? fmt::format("{:.2f} ms", us / 1000) : fmt::format("{:.2f} s", us / 1e6);
}

std::string size_text(std::uint64_t n) {
  const double power = std::log2(static_cast<double>(n));
  return power == std::floor(power) ? fmt::format("2^{:.0f}", power) : std::to_string(n);
}

std::string name_of(const BenchRow& row) {
  return row.kind == "yours" ? "yours: " + row.name : row.name;
}

namespace {
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}
}  // namespace

std::string bench_where(const BenchResults& r) {
  std::string text = r.device + (r.modelled ? " (modelled)" : "");
  if (!r.modelled)
    text += fmt::format(", driver for CUDA {}, toolkit {}", version_text(r.driver), version_text(r.runtime));
  if (!r.cccl.empty()) text += fmt::format(", CUB {}", fmt::join(r.cccl, " and "));
  if (!r.modelled && r.clock_mhz > 0) text += fmt::format(", {} MHz", r.clock_mhz);
  return r.date.empty() ? text : text + ", " + r.date;
}

std::string work_of(const std::string& case_name) {
  static const std::regex kSizes("_bench[0-9]+$|_n[0-9]+|_[0-9]+x[0-9]+|_d[0-9]+_even");
  return std::regex_replace(case_name, kSizes, "");
}

Result<BenchResults> read_bench(std::string_view json) {
  try {
    const Json j = Json::parse(json);
    BenchResults results;
    results.date = j.value("date", "");
    for (const Json& lab : j.at("labs")) {
      results.device = lab.at("device");
      if (results.cccl.empty()) results.cccl = lab.value("cccl", results.cccl);
      results.modelled = lab.at("modelled");
      results.driver = lab.at("driver");
      results.runtime = lab.at("runtime");
      results.clock_mhz = std::max(results.clock_mhz, static_cast<int>(std::lround(clock_of(lab))));
      results.labs.push_back(lab_of(lab));
    }
    return results;
  } catch (const Json::exception& error) {
    return Error{fmt::format("these are no results of ./lab bench: {}", error.what())};
  }
}

Result<std::string> merge_bench(const std::vector<std::string>& solutions,
                                const std::vector<std::string>& yours, const std::string& date) {
  try {
    Json merged = {{"schema", 1}, {"date", date}, {"labs", Json::array()}};
    for (const std::string& text : solutions) merged["labs"].push_back(Json::parse(text));
    for (const std::string& text : yours) {
      const Json mine = Json::parse(text);
      for (Json& lab : merged["labs"]) {
        if (lab.at("lab") != mine.at("lab") || lab.value("gpus", 0) != mine.value("gpus", 0)) continue;
        for (std::size_t s = 0; s < lab.at("sizes").size() && s < mine.at("sizes").size(); ++s) {
          for (Json& table : lab["sizes"][s]["tables"]) {
            for (const Json& t : mine["sizes"][s]["tables"]) {
              if (t.at("case") != table.at("case")) continue;
              for (Json row : t.at("rows")) {
                if (row.at("kind") != "rung") continue;
                row["kind"] = "yours";
                table["rows"].push_back(std::move(row));
              }
            }
          }
        }
      }
    }
    return merged.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  } catch (const Json::exception& error) {
    return Error{fmt::format("a bench program wrote something else than results: {}", error.what())};
  }
}

namespace {
// A line of at most 80 columns. `most`: the highest rate, which has the longest bar.
std::string text_of(const BenchRow& row, const BenchCell& c, double most) {
  const auto ratio = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.2f}", *value) : std::string();
  };
  return "    " + fit_left(name_of(row), 22) + fit_right(c.right ? time_text(c.median_us) : "WRONG", 11) +
         fit_right(ratio(c.over_peer), 7) + fit_right(c.launched_us ? time_text(*c.launched_us) : "", 11) +
         fit_right(ratio(c.over_peer_launched), 7) + fit_right(fmt::format("{:.0f}", c.gb_per_s), 7) + " " +
         bar(most > 0 ? c.gb_per_s / most : 0, 10) + "\n";
}
}  // namespace

std::string bench_text(const BenchResults& results) {
  constexpr std::size_t kColumns = 80;  // of the rows, too
  std::string out = wrap(bench_where(results), kColumns) + "\n";
  std::set<std::string> scaled;
  for (const BenchLab& lab : results.labs) {
    if (lab.gpus > 0) {
      if (scaled.insert(lab.id).second) out += "\n" + lab.title + "\n" + scaling_text(results, lab.id);
      continue;
    }
    for (const BenchTable& table : lab.tables) {
      out += fmt::format("\n{}: {}\n", lab.title, table.work);
      for (const std::uint64_t n : lab.sizes) {
        out += "  " + fit_left(size_text(n), 24) + fit_right("GPU", 11) + fit_right("× lib", 7) +
               fit_right("+ launch", 11) + fit_right("× lib", 7) + fit_right("GB/s", 7) + "\n";
        double most = 0;
        for (const BenchRow& row : table.rows)
          if (const auto cell = row.cells.find(n); cell != row.cells.end())
            most = std::max(most, cell->second.gb_per_s);
        for (const BenchRow& row : table.rows)
          if (const auto cell = row.cells.find(n); cell != row.cells.end())
            out += text_of(row, cell->second, most);
      }
    }
  }
  return out;
}

std::string bench_csv(const BenchResults& results) {
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : std::string();
  };
  std::string out =
      "lab,work,name,kind,n,median_us,min_us,max_us,gb_per_s,of_ceiling,over_peer,right,gpus,launched_us,"
      "over_peer_launched\n";
  for (const BenchLab& lab : results.labs)
    for (const BenchTable& table : lab.tables)
      for (const BenchRow& row : table.rows)
        for (const auto& [n, c] : row.cells)
          out += fmt::format("{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.1f},{:.4f},{},{},{},{},{}\n", lab.id,
                             table.work, row.name, row.kind, n, c.median_us, c.min_us, c.max_us, c.gb_per_s,
                             c.of_ceiling, number(c.over_peer), c.right ? "yes" : "no",
                             std::max(lab.gpus, 1u), number(c.launched_us), number(c.over_peer_launched));
  return out;
}

}  // namespace course::grader
