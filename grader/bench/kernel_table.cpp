// SPDX-License-Identifier: MIT
#include "bench/kernel_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "text.hpp"

namespace course::grader {
namespace {

using Json = nlohmann::json;

constexpr double kBusy = 50;    // percent of the kernel's time: from here on a unit counts as the limiter
constexpr double kSame = 0.01;  // counts that differ by a smaller ratio count as equal
constexpr double kShortUs = 3;  // shorter kernels consist mainly of the launch

std::array<std::uint64_t, 3> grid_of(const Json& j) {
  return {j.at(0).get<std::uint64_t>(), j.at(1).get<std::uint64_t>(), j.at(2).get<std::uint64_t>()};
}

double ratio(std::uint64_t counted, std::uint64_t seen) {
  return seen == 0 ? (counted == 0 ? 1 : HUGE_VAL) : static_cast<double>(counted) / static_cast<double>(seen);
}

}  // namespace

std::pair<std::string, double> SeenKernel::busiest() const {
  const auto most = std::ranges::max_element(
      busy_percent, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == busy_percent.end()) return {};
  return {most->first, most->second};
}

Result<ProfilerRun> read_profiler_run(const std::string& text) {
  try {
    const Json j = Json::parse(text);
    ProfilerRun run{j.at("device"), j.at("date"), j.at("items"), {}};
    for (const Json& k : j.at("kernels")) {
      run.kernels.try_emplace(KernelKey{k.at("lab"), k.at("kernel"), grid_of(k.at("grid"))},
                              SeenKernel{k.at("us"), k.at("loaded_sectors"), k.at("busy_percent")});
    }
    return run;
  } catch (const Json::exception& error) {
    return Error{fmt::format("not what a profiler run should be: {}", error.what())};
  }
}

void collect_kernels(std::map<KernelKey, CountedKernel>& kernels, const std::string& lab,
                     const std::string& report) {
  const Json parsed = Json::parse(report);
  for (const Json& launch : parsed.at("launches")) {
    kernels.try_emplace(
        KernelKey{lab, short_kernel_name(launch.at("kernel").get<std::string>()), grid_of(launch.at("grid"))},
        CountedKernel{launch.at("modelled_us"), launch.at("counters").at("global_load_sectors"),
                      launch.at("bound_by")});
  }
}

std::string kernels_markdown(const ProfilerRun& seen, const std::map<KernelKey, CountedKernel>& counted) {
  int n = 0, n_same = 0, n_busy = 0, n_named = 0;
  std::string rows;
  for (const auto& [key, real] : seen.kernels) {
    const auto found = counted.find(key);
    if (found == counted.end()) continue;
    const CountedKernel& ours = found->second;
    const double loads = ratio(ours.loaded_sectors, real.loaded_sectors);
    const auto [unit, percent] = real.busiest();
    ++n;
    n_same += std::abs(loads - 1) < kSame;
    n_busy += percent >= kBusy;
    n_named += percent >= kBusy && unit == ours.bound_by;
    if (real.us < kShortUs) continue;
    rows += fmt::format("| {} `{}` | {} | {:.1f} | {:.1f} | {:.2f} | {}, {:.0f} % | {} |\n", key.lab,
                        key.kernel, key.grid[0] * key.grid[1] * key.grid[2], real.us, ours.us, loads, unit,
                        percent, ours.bound_by);
  }
  return fmt::format(
             "{}, {}, {} items. Of {} kernels, {} load as many sectors as the simulator counted (within "
             "{:.0f} %). One unit was busy for at least {:.0f} % of the time in {} of the kernels; in {} of "
             "these cases the model reports this unit as the limiter.\n\n",
             seen.device, seen.date, seen.items, n, n_same, 100 * kSame, kBusy, n_busy, n_named) +
         "| kernel | blocks | measured, µs | modelled, µs | sectors loaded, counted ÷ measured | busiest "
         "unit | limiter in the model |\n|---|--:|--:|--:|--:|---|---|\n" +
         rows;
}

}  // namespace course::grader
