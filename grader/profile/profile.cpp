// SPDX-License-Identifier: MIT
#include "profile/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "bar.hpp"
#include "fields.hpp"
#include "grading/scoring/metrics.hpp"
#include "sim/timing/bounds.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using Json = nlohmann::json;

using fields::count, fields::number, fields::string;

std::vector<Json> objects(const Json& report, const char* key) {
  std::vector<Json> all;
  std::ranges::copy_if(fields::list(report, key), std::back_inserter(all), &Json::is_object);
  return all;
}
std::optional<double> ratio(double above, double below) {
  return below > 0 ? std::optional(above / below) : std::nullopt;
}

// The wavefronts of shared memory and L1 for one source line. An L1 line has four sectors. If the accesses
// touched at least twice as many bytes of sectors as they requested, each sector is counted as a line of its
// own.
double near_passes(const Json& line) {
  const double sectors = number(line, "global_sectors");
  const bool scattered = sectors * 32 >= 2 * number(line, "global_bytes");
  return number(line, "shared_wavefronts") + (scattered ? sectors : sectors / 4);
}

// A resource that can limit a kernel: its meaning, and how much of it a source line uses.
struct Resource {
  sim::Bound bound;
  const char* meaning;
  double (*demand)(const Json& line);
};
constexpr Resource kResources[] = {
    {sim::Bound::memory, "bytes through global memory; share = sectors moved",
     [](const Json& l) { return number(l, "global_sectors"); }},
    {sim::Bound::second_level_cache,
     "sectors to and from the cache that all blocks share; share = sectors moved",
     [](const Json& l) { return number(l, "global_sectors"); }},
    {sim::Bound::shared_memory_and_l1,
     "passes of what serves shared memory and first-level cache; share = passes", near_passes},
    {sim::Bound::issue, "instructions; share = warp instructions",
     [](const Json& l) { return number(l, "warp_instructions"); }},
    {sim::Bound::shared_atomics,
     "atomics in shared memory, lanes at one address in turn; share = their turns",
     [](const Json& l) { return number(l, "atomic_serialised"); }},
    {sim::Bound::global_atomics, "atomics that meet in one place of global memory; share = lanes",
     [](const Json& l) { return number(l, "atomic_lanes"); }},
    {sim::Bound::starting_blocks,
     "so many blocks that starting them takes longest; share = warp instructions",
     [](const Json& l) { return number(l, "warp_instructions"); }},
    {sim::Bound::latency, "the chain of one warp; share = warp instructions",
     [](const Json& l) { return number(l, "warp_instructions"); }},
    {sim::Bound::launch, "the launch itself; share = warp instructions",
     [](const Json& l) { return number(l, "warp_instructions"); }},
};
static_assert(std::size(kResources) == sim::kBoundNames.size());

// The resource of this name in a report, or the last one if the name is unknown.
const Resource& resource_of(const std::string& bound_by) {
  const auto found =
      std::ranges::find_if(kResources, [&](const Resource& r) { return bound_by == sim::name_of(r.bound); });
  return found != std::end(kResources) ? *found : *std::rbegin(kResources);
}

// The report's kernels by their full names, without their lines.
std::map<std::string, ProfiledKernel> kernels_of(const Json& report) {
  std::map<std::string, ProfiledKernel> kernels;
  std::map<std::string, double> longest;
  for (const Json& launch : objects(report, "launches")) {
    const std::string name = string(launch, "kernel");
    ProfiledKernel& kernel = kernels[name];
    kernel.name = lab::short_kernel_name(name);
    // An entry may stand for several launches.
    const std::uint64_t times = std::max<std::uint64_t>(count(launch, "times"), 1);
    kernel.launches += times;
    kernel.modelled_us += number(launch, "modelled_us");
    const double us = number(launch, "modelled_us") / static_cast<double>(times);
    if (us < longest[name]) continue;
    longest[name] = us;
    kernel.bound_by = string(launch, "bound_by");
    kernel.occupancy = number(launch, "occupancy");
    kernel.resident_blocks = count(launch, "resident_blocks");
    kernel.registers = count(launch, "registers");
    kernel.shared = count(launch, "shared");
    kernel.block_threads = 1;
    for (const Json& side : fields::list(launch, "block"))
      if (side.is_number_unsigned())
        kernel.block_threads *= std::min<std::uint64_t>(side.get<std::uint64_t>(), 1024);
  }
  return kernels;
}

// Gives each kernel its source lines, in order.
void add_lines(const Json& report, std::map<std::string, ProfiledKernel>& kernels) {
  std::map<std::string, double> whole;
  const auto lines = objects(report, "lines");
  for (const Json& line : lines)
    if (const auto k = kernels.find(string(line, "kernel")); k != kernels.end())
      whole[k->first] += resource_of(k->second.bound_by).demand(line);
  for (const Json& line : lines) {
    const auto kernel = kernels.find(string(line, "kernel"));
    if (kernel == kernels.end()) continue;
    ProfiledLine p;
    p.file = string(line, "file");
    p.line = static_cast<std::uint32_t>(number(line, "line"));
    p.share = ratio(resource_of(kernel->second.bound_by).demand(line), whole[kernel->first]).value_or(0);
    p.active_lanes =
        ratio(number(line, "lane_instructions"), 32 * number(line, "warp_instructions")).value_or(0);
    p.divergent = ratio(number(line, "divergent_branches"), number(line, "branches"));
    p.sectors_per_request = ratio(number(line, "global_sectors"), number(line, "global_requests"));
    p.passes_per_request = ratio(number(line, "shared_wavefronts"), number(line, "shared_requests"));
    p.atomics_at_one_place = ratio(number(line, "atomic_serialised"), number(line, "atomic_requests"));
    kernel->second.lines.push_back(std::move(p));
  }
  for (auto& [name, kernel] : kernels)
    std::ranges::sort(kernel.lines, [](const ProfiledLine& a, const ProfiledLine& b) {
      return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    });
}

}  // namespace

Profile profile_of(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                   std::string_view sim_report) {
  Profile profile;
  profile.lab = problem.manifest().id;
  profile.task = task.id;
  profile.case_name = c.name;
  profile.n = c.n;
  profile.ideal = problem.ideal(task, c);
  const Json report = Json::parse(sim_report, nullptr, false);
  if (!report.is_object()) return profile;
  const lab::SimReport read = lab::read_sim_report(sim_report);
  const sim::Counters& totals = read.totals;
  profile.device = read.device;
  profile.modelled_us = read.modelled_us;
  profile.work = static_cast<double>(totals.work);
  profile.steps = static_cast<double>(totals.steps);
  profile.barriers = static_cast<double>(totals.barriers);
  profile.bytes = 32 * static_cast<double>(totals.global_load_sectors + totals.global_store_sectors +
                                           totals.local_sectors);
  profile.messages = static_cast<double>(read.traffic.messages);
  for (const lab::Metric metric : lab::kAllMetrics)
    if (const auto measured = measure(metric, totals, profile.ideal, read.traffic))
      profile.metrics.emplace_back(metric, *measured);

  auto kernels = kernels_of(report);
  add_lines(report, kernels);
  for (auto& [name, kernel] : kernels) profile.kernels.push_back(std::move(kernel));
  std::ranges::stable_sort(profile.kernels,
                           [](const auto& a, const auto& b) { return a.modelled_us > b.modelled_us; });
  return profile;
}

namespace {

constexpr const char* kColumnsLegend =
    "lanes: active ones of 32. split: branches whose lanes part. sect: 32-byte sectors a request (ideal: 4 "
    "for items of 4 bytes, 8 for 8 bytes, 16 for 16 bytes as in a uint4). pass: shared-memory passes a "
    "request (1: no bank conflict). meet: lanes on one address in an atomic.\n"
    "occupancy: of the threads of an SM (multiprocessor), those that fit at once; registers are estimated "
    "from PTX.";

std::string figure(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", *value) : "";
}
std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}%", 100 * *value) : "";
}

std::string beside(const char* what, double measured, double ideal, const char* unit) {
  // Of a lab without an operator, such as one that only moves items: no ratio to a closed form.
  if (measured == 0) return fmt::format("  {:<6} {:>14} {:<10} none counted\n", what, 0, unit);
  return fmt::format("  {:<6} {:>14.0f} {:<10} closed form {:>14.0f}   {:.2f}x\n", what, measured, unit,
                     ideal, ideal > 0 ? measured / ideal : 0.0);
}

// The table of a kernel's source lines. If the code of a line does not fit, the columns in which no line has
// a value are left out, and then the code is broken.
std::string lines_text(const ProfiledKernel& kernel, const SourceLine& source_line, std::size_t columns) {
  struct Column {
    const char* title;
    std::size_t width;
    std::string (*cell)(const ProfiledLine& line);
  };
  constexpr Column kTable[] = {
      {"lanes", 6, [](const ProfiledLine& l) { return percent(l.active_lanes); }},
      {"split", 6, [](const ProfiledLine& l) { return percent(l.divergent); }},
      {"sect", 5, [](const ProfiledLine& l) { return figure(l.sectors_per_request); }},
      {"pass", 5, [](const ProfiledLine& l) { return figure(l.passes_per_request); }},
      {"meet", 5, [](const ProfiledLine& l) { return figure(l.atomics_at_one_place); }},
  };
  double most = 0;  // of a line: the longest bar
  std::size_t longest = 0;
  std::vector<std::string> code;
  for (const ProfiledLine& line : kernel.lines) {
    most = std::max(most, line.share);
    std::string text =
        line.line == 0 ? "(no line information)" : tame_line(source_line(line.file, line.line));
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    longest = std::max(longest, display_width(text));
    code.push_back(std::move(text));
  }
  constexpr std::size_t kShare = 11, kNumber = 8;  // of the share with its bar; of the line's number
  std::size_t used = kShare + kNumber;
  for (const Column& column : kTable) used += column.width;
  std::vector<Column> shown;
  for (const Column& column : kTable) {
    const bool empty = std::ranges::all_of(
        kernel.lines, [&](const ProfiledLine& line) { return column.cell(line).empty(); });
    if (!empty || used + longest <= columns) shown.push_back(column);
  }
  std::string out = " share     ";
  for (const Column& column : shown) out += fit_right(column.title, column.width);
  out += "  line\n";
  for (std::size_t k = 0; k < code.size(); ++k) {
    const ProfiledLine& line = kernel.lines[k];
    std::string head =
        " " + fit_right(percent(line.share), 5) + " " + fit_left(bar(most > 0 ? line.share / most : 0, 4), 4);
    for (const Column& column : shown) head += fit_right(column.cell(line), column.width);
    out += wrap_beside(head + fmt::format(" {:>5}  ", line.line), code[k], columns) + "\n";
  }
  return out;
}

// "occupancy 100%: 8 blocks x 256 threads per SM, 32 registers each, 1024 B shared"
std::string occupancy_of(const ProfiledKernel& k) {
  return fmt::format("occupancy {:.0f}%: {} block{} x {} threads per SM, {} registers each, {} B shared",
                     100 * k.occupancy, k.resident_blocks, k.resident_blocks == 1 ? "" : "s", k.block_threads,
                     k.registers, k.shared);
}

}  // namespace

const char* meaning_of(const std::string& bound_by) {
  return resource_of(bound_by).meaning;
}

std::string profile_text(const Profile& profile, const SourceLine& source_line, std::size_t columns) {
  double in_kernels = 0;
  for (const ProfiledKernel& kernel : profile.kernels) in_kernels += kernel.modelled_us;
  std::string out = fmt::format(
      "{} / {}, case {}\nmodelled on {}: {:.1f} us, {:.1f} in kernels, the rest until they start\n\n",
      profile.lab, profile.task, profile.case_name, profile.device, profile.modelled_us, in_kernels);
  out += beside("work", profile.work, profile.ideal.work, "operations");
  out += beside("steps", profile.steps, profile.ideal.steps, "deep");
  out += beside("bytes", profile.bytes, profile.ideal.bytes, "moved");
  out += fmt::format("  barriers {:>12.0f} passed by blocks\n", profile.barriers);
  if (profile.messages > 0) out += fmt::format("  messages {:>12.0f} sent by one device\n", profile.messages);
  if (profile.work > 0) out += fmt::format("  intensity {:.3f} operations a byte\n", profile.intensity());
  for (const ProfiledKernel& kernel : profile.kernels) {
    out += "\n" + wrap(fmt::format("{}: {} launch{}, {:.1f} us; limiter: {}", kernel.name, kernel.launches,
                                   kernel.launches == 1 ? "" : "es", kernel.modelled_us, kernel.bound_by),
                       columns);
    out += "\n" + wrap(fmt::format("({})", meaning_of(kernel.bound_by)), columns, 2);
    out += "\n" + wrap(occupancy_of(kernel), columns, 2) + "\n" + lines_text(kernel, source_line, columns);
  }
  return out + "\n" + wrap(kColumnsLegend, std::min<std::size_t>(columns, 80)) + "\n";
}

std::string profile_json(const Profile& profile) {
  Json metrics = Json::object();
  for (const auto& [metric, measured] : profile.metrics)
    metrics[std::string(lab::name_of(metric))] = measured;
  return Json{
             {"schema", 1},
             {"lab", profile.lab},
             {"task", profile.task},
             {"case", profile.case_name},
             {"n", profile.n},
             {"device", profile.device},
             {"modelled_us", profile.modelled_us},
             {"work", profile.work},
             {"steps", profile.steps},
             {"bytes", profile.bytes},
             {"barriers_passed", profile.barriers},
             {"messages", profile.messages},
             {"ideal",
              {{"work", profile.ideal.work}, {"steps", profile.ideal.steps}, {"bytes", profile.ideal.bytes}}},
             {"intensity", profile.intensity()},
             {"metrics", std::move(metrics)}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace course::grader
