// SPDX-License-Identifier: MIT
#include "verifier/sim_report.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "sim/checker.hpp"
#include "verifier/report_fields.hpp"

namespace course::lab {

std::string short_kernel_name(std::string kernel) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (auto at = kernel.find(kAnonymous); at != std::string::npos; at = kernel.find(kAnonymous))
    kernel.erase(at, kAnonymous.size());
  kernel.resize(std::min(kernel.find_first_of("<("), kernel.size()));
  kernel = kernel.substr(kernel.find_last_of(" :") + 1);
  constexpr std::size_t kLongest = 60;
  return kernel.size() <= kLongest ? kernel : kernel.substr(0, kLongest) + "…";
}

namespace {

using fields::count, fields::Json, fields::list, fields::member, fields::number;

// A text for printing: at most 2000 bytes, indented lines joined to one, other control characters replaced by
// '?'.
std::string printable(std::string_view given) {
  std::string out;
  for (std::size_t i = 0; i < given.size() && out.size() < 2000; ++i) {
    const auto byte = static_cast<unsigned char>(given[i]);
    if (given.compare(i, 2, "\n ") == 0) {
      out += out.ends_with(':') ? " " : "; ";
      i = std::min(given.find_first_not_of(' ', i + 1), given.size()) - 1;
    } else {
      out += byte < 0x20 || byte == 0x7f ? '?' : given[i];
    }
  }
  return out;
}

std::string text(const Json& object, const char* key) {
  return printable(fields::text(object, key));
}

// A counter, which other programs may have written as a floating-point number.
std::uint64_t counter(const Json& object, const char* key) {
  const double rounded = number(object, key);
  return count(object, key, rounded >= 0 && rounded < 1.8e19 ? static_cast<std::uint64_t>(rounded) : 0);
}

sim::Counters counters(const Json& totals) {
  sim::Counters out;
  const auto read = [&](const char* name, std::uint64_t sim::Counters::*field) {
    out.*field = counter(totals, name);
  };
  sim::for_each_sum(read);
  sim::for_each_maximum(read);
  for (std::size_t k = 0; k < sim::kInstructionKinds; ++k)
    out.mix[k] = counter(member(totals, "mix"), sim::kInstructionNames[k]);
  return out;
}

// The number; 0 if it is too large.
std::uint32_t narrow(std::uint64_t x) {
  return x <= std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(x) : 0;
}

std::array<std::uint32_t, 3> triple(const Json& object, const char* key) {
  std::array<std::uint32_t, 3> out{};
  const Json& sides = list(object, key);
  for (std::size_t i = 0; i < out.size() && i < sides.size(); ++i)
    if (sides[i].is_number_unsigned()) out[i] = narrow(sides[i].get<std::uint64_t>());
  return out;
}

// The label of a checker's findings; "" if it has none.
std::string label_of(const std::string& checker) {
  for (const sim::CheckerRow& row : sim::kCheckers)
    if (checker == row.name) return row.label;
  return "";
}

// The message of a finding. A long name of the kernel is replaced by a short one before anything is cut off,
// so that it does not hide the line and the threads.
std::string message_of(const Json& finding) {
  std::string message(fields::text(finding, "message"));
  const std::string_view kernel = fields::text(finding, "kernel");
  constexpr std::size_t kLong = 200;
  if (const auto at = kernel.size() > kLong ? message.find(kernel) : std::string::npos;
      at != std::string::npos)
    message.replace(at, kernel.size(), short_kernel_name(std::string(kernel.substr(0, 8 * kLong))));
  return printable(message);
}

std::string base_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

// Whether the text begins like "lab.cu:7".
bool has_line(std::string_view text) {
  for (std::size_t at = 1; at + 1 < text.size(); ++at)
    if (text[at] == ':' && text[at + 1] >= '0' && text[at + 1] <= '9') return true;
  return false;
}

// "/a/b/lab.cu:7" becomes "lab.cu:7". Linear in the length of the text, which a student's process may choose.
std::string without_folders(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find_first_of(" \t\n\r\v\f()"));
    text.remove_prefix(word.size());
    for (std::size_t end = word.size(); end > 0;) {
      const std::size_t slash = word.rfind('/', end - 1);
      if (slash == std::string_view::npos) break;
      if (has_line(word.substr(slash + 1, end - slash - 1))) {
        word.remove_prefix(slash + 1);
        break;
      }
      end = slash;
    }
    out += word;
    if (text.empty()) break;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace

SimReport read_sim_report(std::string_view json) {
  SimReport report;
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  const Json& totals = member(root, "totals");
  if (!totals.is_object()) return report;
  report.readable = true;
  report.device = text(root, "device");
  report.modelled_us = number(root, "modelled_us");
  report.memory_gb_per_s = number(root, "memory_gb_per_s");
  report.totals = counters(totals);
  const Json& traffic = member(root, "traffic");
  report.traffic = {counter(traffic, "messages"), counter(traffic, "bytes_sent")};
  report.fills = count(root, "fills");
  for (const Json& entry : list(root, "findings")) {
    if (report.findings.size() == 100) break;
    if (!entry.is_object()) continue;
    SimFinding finding;
    finding.checker = text(entry, "checker");
    finding.kind = text(entry, "kind");
    finding.kernel = text(entry, "kernel");
    finding.file = text(entry, "file");
    finding.line = narrow(count(entry, "line"));
    finding.other_file = text(entry, "other_file");
    finding.other_line = narrow(count(entry, "other_line"));
    finding.object = text(entry, "object");
    finding.message = message_of(entry);
    finding.block = triple(entry, "block");
    finding.thread = triple(entry, "thread");
    finding.other_block = triple(entry, "other_block");
    finding.other_thread = triple(entry, "other_thread");
    finding.times = std::max<std::uint64_t>(count(entry, "times", 1), 1);
    finding.is_hint = text(entry, "severity") == "hint";
    report.findings.push_back(std::move(finding));
  }
  return report;
}

namespace {

// Adds the numbers of `from` to those of `to`, member by member.
void add_numbers(Json& to, const Json& from) {
  for (const auto& [key, value] : from.items()) {
    Json& sum = to[key];
    if (value.is_object())
      add_numbers(sum, value);
    else if (value.is_number_unsigned())
      sum = (sum.is_number_unsigned() ? sum.get<std::uint64_t>() : 0) + value.get<std::uint64_t>();
    else if (value.is_number())
      sum = (sum.is_number() ? sum.get<double>() : 0) + value.get<double>();
  }
}

void keep_larger(Json& to, const Json& from, const char* key) {
  const Json& value = member(from, key);
  if (!value.is_number()) return;
  if (!to[key].is_number() || to[key].get<double>() < value.get<double>()) to[key] = value;
}

// Adds the costs of one report's source lines to `lines`, which has each line of a kernel once.
void add_lines(Json& lines, const Json& report) {
  if (!lines.is_array()) lines = Json::array();
  const auto place_of = [](const Json& line) {
    return std::tuple(text(line, "kernel"), text(line, "file"), count(line, "line"));
  };
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::size_t> index;
  for (std::size_t i = 0; i < lines.size(); ++i) index.emplace(place_of(lines[i]), i);
  for (const Json& line : list(report, "lines")) {
    if (!line.is_object()) continue;
    const auto [at, is_new] = index.emplace(place_of(line), lines.size());
    if (is_new) {
      lines.push_back(line);
      continue;
    }
    Json& sum = lines[at->second];
    const Json number_of_line = sum["line"];
    add_numbers(sum, line);
    sum["line"] = number_of_line;
  }
}

}  // namespace

std::string merged_report(std::string_view json) {
  const Json all = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (all.is_discarded() || !all.is_array() || all.empty()) return "";
  Json merged;
  for (const Json& one : all) {
    const Json &totals = member(one, "totals"), &traffic = member(one, "traffic");
    if (!totals.is_object() || !traffic.is_object()) return "";
    if (merged.is_null()) {
      merged = one;
      continue;
    }
    keep_larger(merged, one, "modelled_us");
    for (const char* key : {"operations", "messages", "bytes_sent"})
      keep_larger(merged["traffic"], traffic, key);
    const Json before = merged["totals"];
    add_numbers(merged["totals"], totals);
    sim::for_each_maximum([&](const char* key, std::uint64_t sim::Counters::*) {
      const auto kept = before.find(key);
      if (kept == before.end()) return;
      merged["totals"][key] = *kept;
      keep_larger(merged["totals"], totals, key);
    });
    merged["fills"] = count(merged, "fills") + count(one, "fills");
    if (merged.contains("lines")) add_lines(merged["lines"], one);
    for (const char* key : {"launches", "findings"})
      for (const Json& entry : list(one, key)) merged[key].push_back(entry);
  }
  return merged.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Weight weight_of(const SimFinding& finding) {
  if (finding.checker == "leakcheck") return Weight::shown;
  // If the outputs are right, the lost update did no harm, as of a word that is a hint only.
  return finding.is_hint || finding.kind == "lost-update" ? Weight::hint : Weight::fault;
}

bool is_failed_call(const SimFinding& finding) {
  return finding.kind == "api-error";
}

bool is_old_value(const SimFinding& finding) {
  return finding.is_hint && finding.kind == "missing-fence";
}

std::string one_line(const SimFinding& finding) {
  std::string place = base_name(finding.file);
  if (finding.line != 0) place += ":" + std::to_string(finding.line);
  std::string line = without_folders(finding.message.empty() ? finding.kind : finding.message);
  // The grader compiles the file, so advice about compiling does not help.
  constexpr std::string_view kAdvice = " (compile with -lineinfo to see it)";
  for (auto at = line.find(kAdvice); at != std::string::npos; at = line.find(kAdvice))
    line.erase(at, kAdvice.size());
  if (!finding.kernel.empty()) {
    if (const auto at = line.find(finding.kernel); at != std::string::npos)
      line.replace(at, finding.kernel.size(), short_kernel_name(finding.kernel));
  }
  if (!place.empty() && line.find(place) == std::string::npos) line = place + ": " + line;
  if (!finding.object.empty() && line.find(finding.object) == std::string::npos)
    line += " [" + finding.object + "]";
  if (const std::string label = is_old_value(finding)           ? "missing fence"
                                : finding.kind == "lost-update" ? "lost update"
                                : is_failed_call(finding)       ? "failed call"
                                                                : label_of(finding.checker);
      !label.empty())
    line = label + ": " + line;
  constexpr std::size_t kLongest = 400;  // about five lines of a terminal
  if (line.size() > kLongest) line = line.substr(0, std::min(line.rfind(' ', kLongest), kLongest)) + " …";
  if (finding.times > 1) line += " (" + std::to_string(finding.times) + " times)";
  return line;
}

SimFinding without_elements(SimFinding finding) {
  const std::string array = finding.object.substr(0, finding.object.find_first_of("[,"));
  for (auto at = finding.object.empty() ? std::string::npos : finding.message.find(finding.object);
       at != std::string::npos; at = finding.message.find(finding.object, at + array.size()))
    finding.message.replace(at, finding.object.size(), array);
  finding.object = array;
  // It says what the memory holds that the threads wait for.
  if (finding.kind == "no-progress") finding.message = "the kernel can make no more progress";
  return finding;
}

}  // namespace course::lab
