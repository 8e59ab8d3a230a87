// SPDX-License-Identifier: MIT
#include "bench/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "bar.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using Json = nlohmann::json;

std::string time_text(double us) {
  if (us < 1000) return fmt::format("{:.1f} µs", us);
  return us < 1e6 ? fmt::format("{:.2f} ms", us / 1000) : fmt::format("{:.2f} s", us / 1e6);
}

std::string name_of(const Json& row) {
  const auto name = row.at("name").get<std::string>();
  return row.at("kind") == "yours" ? "yours: " + name : name;
}

// The name of a table's case without its size and number of devices: what all its sizes have in common.
std::string work_of(const Json& table) {
  static const std::regex kSizes("_bench[0-9]+$|_n[0-9]+|_[0-9]+x[0-9]+|_d[0-9]+_even");
  return std::regex_replace(table.at("case").get<std::string>(), kSizes, "");
}

// "NVIDIA H200, driver for CUDA 13.0, toolkit 13.0, 1980 MHz, 2026-01-02", or that it is modelled.
std::string bench_where(const Json& results) {
  const auto version = [](int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); };
  const Json& labs = results.at("labs");
  if (labs.empty()) return results.value("date", "");
  const Json& lab = labs.back();
  const bool modelled = lab.at("modelled");
  auto text = lab.at("device").get<std::string>() + (modelled ? " (modelled)" : "");
  if (!modelled)
    text += fmt::format(", driver for CUDA {}, toolkit {}", version(lab.at("driver")),
                        version(lab.at("runtime")));
  if (const auto cccl = lab.value("cccl", std::vector<std::string>()); !cccl.empty())
    text += fmt::format(", CUB {}", fmt::join(cccl, " and "));
  double mhz = 0;
  for (const Json& l : labs)
    if (const auto clocks = l.find("clocks"); clocks != l.end())
      mhz = std::max(mhz, clocks->value("while_measuring_mhz", 0.0));
  if (!modelled && mhz > 0) text += fmt::format(", {} MHz", std::lround(mhz));
  const std::string date = results.value("date", "");
  return date.empty() ? text : text + ", " + date;
}

// The table of one size. A library's fastest time is that with which the rungs are compared.
std::string table_of(const Json& table, std::uint64_t n) {
  std::string out = "  " + fit_left(size_text(n), 24) + fit_right("GPU", 11) + fit_right("× lib", 7) +
                    fit_right("+ launch", 11) + fit_right("× lib", 7) + fit_right("GB/s", 7) + "\n";
  double fastest = 0;
  std::map<std::string, double> peer;  // "median_us" is the GPU's time, "launched_us" that of its caller
  for (const Json& row : table.at("rows")) {
    const double us = row.at("median_us");
    if (us > 0 && (fastest == 0 || us < fastest)) fastest = us;
    for (const char* time : {"median_us", "launched_us"})
      if (row.at("kind") == "peer" && row.contains(time))
        peer[time] =
            peer.contains(time) ? std::min<double>(peer[time], row.at(time)) : row.at(time).get<double>();
  }
  for (const Json& row : table.at("rows")) {
    const auto ratio = [&](const char* time) {
      const double us = row.value(time, 0.0);
      return us > 0 && peer[time] > 0 && row.at("kind") != "cpu" ? fmt::format("{:.2f}", peer[time] / us)
                                                                 : "";
    };
    const double us = row.at("median_us");
    const double rate = us > 0 ? 1e-3 * table.at("ideal_bytes").get<double>() / us : 0;
    out += "    " + fit_left(name_of(row), 22) +
           fit_right(row.value("right", true) ? time_text(us) : "WRONG", 11) +
           fit_right(ratio("median_us"), 7) +
           fit_right(row.contains("launched_us") ? time_text(row.at("launched_us")) : "", 11) +
           fit_right(ratio("launched_us"), 7) + fit_right(fmt::format("{:.0f}", rate), 7) + " " +
           bar(us > 0 ? fastest / us : 0, 10) + "\n";
  }
  return out;
}

// A lab on one device: the sizes of one kind of work below each other.
std::string tables_of(const Json& lab) {
  std::string out;
  std::vector<std::string> works;
  for (const Json& size : lab.at("sizes"))
    for (const Json& table : size.at("tables"))
      if (std::ranges::find(works, work_of(table)) == works.end()) works.push_back(work_of(table));
  for (const std::string& work : works) {
    out += fmt::format("\n{}: {}\n", lab.at("title").get<std::string>(), work);
    for (const Json& size : lab.at("sizes"))
      for (const Json& table : size.at("tables"))
        if (work_of(table) == work) out += table_of(table, size.at("n"));
  }
  return out;
}

constexpr const char* kCollectives = "NCCL alone, 4 bytes an item";

// The runs of a lab for several devices, by their number of GPUs. The operations of NCCL by themselves, which
// a run has for each size, become one more table.
std::map<unsigned, Json> runs_of(const Json& results, const Json& id) {
  std::map<unsigned, Json> runs;
  for (const Json& lab : results.at("labs")) {
    if (lab.at("lab") != id || lab.value("gpus", 0u) == 0) continue;
    Json& run = runs[lab.at("gpus")] = lab;
    for (Json& size : run.at("sizes")) {
      Json rows = size.value("nccl", Json::array());
      for (Json& row : rows) row["kind"] = "nccl";
      size.at("tables").push_back({{"case", kCollectives}, {"rows", std::move(rows)}});
    }
  }
  return runs;
}

// A run's row of this name and kind for n items; null if it has none.
Json find_row(const Json& run, const std::string& work, const Json& like, std::uint64_t n) {
  for (const Json& size : run.at("sizes"))
    for (const Json& table : size.at("tables"))
      for (const Json& row : table.at("rows"))
        if (size.at("n") == n && work_of(table) == work && row.at("name") == like.at("name") &&
            row.at("kind") == like.at("kind"))
          return row;
  return nullptr;
}

// Time, rate and parallel efficiency. `ideal`: the time at full efficiency; 0: nothing to compare with.
std::string scaled_text(const Json& row, std::uint64_t n, double ideal) {
  const double us = row.is_null() ? 0 : row.at("median_us").get<double>();
  if (!(us > 0)) return fit_right("", 28);
  const double rate = row.value("bus_gb_per_s", 1e-3 * static_cast<double>(n) / us);
  return fit_right(row.value("right", true) ? time_text(us) : "WRONG", 10) +
         fit_right(fmt::format("{:.{}f}", rate, rate < 100 ? 2 : 0), 9) +
         fit_right(ideal > 0 ? fmt::format("{:.0f} %", 100 * ideal / us) : "", 9);
}

// The rows like `like`, one for each number of GPUs. Strong scaling halves the ideal time with twice the
// GPUs, weak scaling keeps it.
std::string scaled_rows(const std::map<unsigned, Json>& runs, const std::string& work, const Json& like,
                        std::uint64_t n) {
  std::string out;
  const bool cpu = like.at("kind") == "cpu";
  const Json alone = cpu || !runs.contains(1) ? Json() : find_row(runs.at(1), work, like, n);
  const double us = alone.is_null() ? 0 : alone.at("median_us").get<double>();
  for (const auto& [gpus, run] : runs) {
    const Json strong = find_row(run, work, like, n), weak = find_row(run, work, like, n * gpus);
    if ((cpu && gpus != 1) || (strong.is_null() && weak.is_null())) continue;
    out += "  " + fit_left(out.empty() ? name_of(like) : "", 21) +
           fit_right(cpu ? "CPU" : std::to_string(gpus), 4) + scaled_text(strong, n, us / gpus) +
           scaled_text(weak, n * gpus, us) + "\n";
  }
  return out;
}

std::string scaling_of(const std::map<unsigned, Json>& runs) {
  std::vector<std::pair<std::string, std::vector<Json>>> works;  // with one row of each name and kind
  for (const auto& [gpus, run] : runs)
    for (const Json& size : run.at("sizes"))
      for (const Json& table : size.at("tables"))
        for (const Json& row : table.at("rows")) {
          auto work = std::ranges::find(works, work_of(table), [](const auto& w) { return w.first; });
          if (work == works.end()) work = works.insert(works.end(), {work_of(table), {}});
          const Json key = {{"name", row.at("name")}, {"kind", row.at("kind")}};
          if (std::ranges::find(work->second, key) == work->second.end()) work->second.push_back(key);
        }
  std::string out;
  for (const Json& size : runs.begin()->second.at("sizes")) {
    const std::uint64_t n = size.at("n");
    for (const auto& [work, rows] : works) {
      std::string lines;
      for (const Json& row : rows) lines += scaled_rows(runs, work, row, n);
      if (lines.empty()) continue;
      out += fmt::format("\n{}\n  {}{}{}\n  {}{}", work, fit_left("", 25),
                         fit_right(size_text(n) + " items on all GPUs", 28),
                         fit_right(size_text(n) + " items on each GPU", 28), fit_left("", 21),
                         fit_right("GPUs", 4));
      for (int k = 0; k < 2; ++k)
        out += fit_right("time", 10) + fit_right(work == kCollectives ? "bus GB/s" : "Gitems/s", 9) +
               fit_right("effic.", 9);
      out += "\n" + lines;
    }
  }
  return out +
         "\neffic.: parallel efficiency against one GPU in the same run. bus GB/s: bytes\n"
         "that a GPU must send, divided by the time.\n";
}

}  // namespace

std::string size_text(std::uint64_t n) {
  if (!std::has_single_bit(n)) return std::to_string(n);
  constexpr std::array kRaised = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const auto power = static_cast<unsigned>(std::countr_zero(n));
  return fmt::format("2{}{}", power < 10 ? "" : kRaised[power / 10], kRaised[power % 10]);
}

std::vector<std::uint64_t> sizes_on(unsigned gpus, const std::vector<std::uint64_t>& sizes) {
  std::vector<std::uint64_t> all = sizes;
  for (const std::uint64_t n : sizes) all.push_back(n * gpus);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
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

Result<std::string> bench_text(std::string_view json) {
  try {
    const Json results = Json::parse(json);
    std::string out = wrap(bench_where(results), 80) + "\n";
    std::vector<Json> scaled;
    for (const Json& lab : results.at("labs")) {
      if (lab.value("gpus", 0u) == 0) {
        out += tables_of(lab);
      } else if (std::ranges::find(scaled, lab.at("lab")) == scaled.end()) {
        scaled.push_back(lab.at("lab"));
        out += "\n" + lab.at("title").get<std::string>() + "\n" + scaling_of(runs_of(results, lab.at("lab")));
      }
    }
    return out;
  } catch (const Json::exception& error) {
    return Error{fmt::format("these are no results of ./lab bench: {}", error.what())};
  }
}

}  // namespace course::grader
