// SPDX-License-Identifier: MIT
#include "verifier/sim_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "sim/checker.hpp"

namespace course::lab {
namespace {

using Json = nlohmann::json;

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

// A text field as it is.
std::string_view raw_text(const Json& object, const char* key) {
  const Json* value = member(object, key);
  return value != nullptr && value->is_string() ? std::string_view(value->get_ref<const std::string&>()) : "";
}

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
  return printable(raw_text(object, key));
}

template <typename T>
T number(const Json& object, const char* key, T otherwise) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_number()) return otherwise;
  if constexpr (std::is_integral_v<T>) {
    return value->is_number_unsigned() && value->get<std::uint64_t>() <= std::numeric_limits<T>::max()
               ? value->get<T>()
               : otherwise;
  } else {
    const T x = value->get<T>();
    return std::isfinite(x) ? x : otherwise;
  }
}

// A counter, which other programs may have written as a floating-point number.
std::uint64_t count(const Json& object, const char* key) {
  const double rounded = number(object, key, 0.0);
  return number<std::uint64_t>(object, key,
                               rounded >= 0 && rounded < 1.8e19 ? static_cast<std::uint64_t>(rounded) : 0);
}

sim::Counters counters(const Json& totals) {
  sim::Counters out;
  const auto read = [&](const char* name, std::uint64_t sim::Counters::*field) {
    out.*field = count(totals, name);
  };
  sim::for_each_sum(read);
  sim::for_each_maximum(read);
  const Json* mix = member(totals, "mix");
  for (std::size_t k = 0; mix != nullptr && k < sim::kInstructionKinds; ++k)
    out.mix[k] = count(*mix, sim::kInstructionNames[k]);
  return out;
}

std::array<std::uint32_t, 3> triple(const Json& object, const char* key) {
  std::array<std::uint32_t, 3> out{};
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_array()) return out;
  for (std::size_t i = 0; i < out.size() && i < value->size(); ++i)
    if ((*value)[i].is_number_unsigned())
      out[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>((*value)[i].get<std::uint64_t>(),
                                                                  std::numeric_limits<std::uint32_t>::max()));
  return out;
}

// The label of a checker's findings; "" if it has none.
std::string label_of(const std::string& checker) {
  for (const sim::CheckerRow& row : sim::kCheckers)
    if (checker == row.name) return row.label;
  return "";
}

// "k03" for "void course::reduction::k03<int, Sum<int> >(int const*, …)".
std::string plain_name(std::string kernel) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (auto at = kernel.find(kAnonymous); at != std::string::npos; at = kernel.find(kAnonymous))
    kernel.erase(at, kAnonymous.size());
  kernel.resize(std::min(kernel.find_first_of("<("), kernel.size()));
  kernel = kernel.substr(kernel.find_last_of(" :") + 1);
  constexpr std::size_t kLongest = 60;
  return kernel.size() <= kLongest ? kernel : kernel.substr(0, kLongest) + "…";
}

// The message of a finding. A long name of the kernel is replaced by a short one before anything is cut off,
// so that it does not hide the line and the threads.
std::string message_of(const Json& finding) {
  std::string message(raw_text(finding, "message"));
  const std::string_view kernel = raw_text(finding, "kernel");
  constexpr std::size_t kLong = 200;
  if (const auto at = kernel.size() > kLong ? message.find(kernel) : std::string::npos;
      at != std::string::npos)
    message.replace(at, kernel.size(), plain_name(std::string(kernel.substr(0, 8 * kLong))));
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
  const Json* totals = root.is_discarded() ? nullptr : member(root, "totals");
  if (totals == nullptr || !totals->is_object()) return report;
  report.readable = true;
  report.device = text(root, "device");
  report.modelled_us = number(root, "modelled_us", 0.0);
  report.memory_gb_per_s = number(root, "memory_gb_per_s", 0.0);
  report.totals = counters(*totals);
  if (const Json* traffic = member(root, "traffic"); traffic != nullptr)
    report.traffic = {count(*traffic, "messages"), count(*traffic, "bytes_sent")};
  report.fills = number<std::uint64_t>(root, "fills", 0);
  if (const Json* findings = member(root, "findings"); findings != nullptr && findings->is_array()) {
    for (const Json& entry : *findings) {
      if (report.findings.size() == 100) break;
      if (!entry.is_object()) continue;
      SimFinding finding;
      finding.checker = text(entry, "checker");
      finding.kind = text(entry, "kind");
      finding.kernel = text(entry, "kernel");
      finding.file = text(entry, "file");
      finding.line = number<std::uint32_t>(entry, "line", 0);
      finding.other_file = text(entry, "other_file");
      finding.other_line = number<std::uint32_t>(entry, "other_line", 0);
      finding.object = text(entry, "object");
      finding.message = message_of(entry);
      finding.block = triple(entry, "block");
      finding.thread = triple(entry, "thread");
      finding.other_block = triple(entry, "other_block");
      finding.other_thread = triple(entry, "other_thread");
      finding.times = std::max(number<std::uint64_t>(entry, "times", 1), std::uint64_t{1});
      finding.is_hint = text(entry, "severity") == "hint";
      report.findings.push_back(std::move(finding));
    }
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
  const Json* value = member(from, key);
  if (value == nullptr || !value->is_number()) return;
  if (!to[key].is_number() || to[key].get<double>() < value->get<double>()) to[key] = *value;
}

// Adds the costs of one report's source lines to `lines`, which has each line of a kernel once.
void add_lines(Json& lines, const Json& report) {
  const Json* list = member(report, "lines");
  if (list == nullptr || !list->is_array()) return;
  if (!lines.is_array()) lines = Json::array();
  const auto place_of = [](const Json& line) {
    return std::tuple(text(line, "kernel"), text(line, "file"), number<std::uint64_t>(line, "line", 0));
  };
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::size_t> index;
  for (std::size_t i = 0; i < lines.size(); ++i) index.emplace(place_of(lines[i]), i);
  for (const Json& line : *list) {
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
    const Json *totals = member(one, "totals"), *traffic = member(one, "traffic");
    if (totals == nullptr || !totals->is_object() || traffic == nullptr || !traffic->is_object()) return "";
    if (merged.is_null()) {
      merged = one;
      continue;
    }
    keep_larger(merged, one, "modelled_us");
    for (const char* key : {"operations", "messages", "bytes_sent"})
      keep_larger(merged["traffic"], *traffic, key);
    const Json before = merged["totals"];
    add_numbers(merged["totals"], *totals);
    sim::for_each_maximum([&](const char* key, std::uint64_t sim::Counters::*) {
      const auto kept = before.find(key);
      if (kept == before.end()) return;
      merged["totals"][key] = *kept;
      keep_larger(merged["totals"], *totals, key);
    });
    if (const Json* fills = member(one, "fills"); fills != nullptr && fills->is_number_unsigned())
      merged["fills"] = number<std::uint64_t>(merged, "fills", 0) + fills->get<std::uint64_t>();
    if (merged.contains("lines")) add_lines(merged["lines"], one);
    for (const char* key : {"launches", "findings"})
      if (const Json* list = member(one, key); list != nullptr && list->is_array())
        for (const Json& entry : *list) merged[key].push_back(entry);
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
      line.replace(at, finding.kernel.size(), plain_name(finding.kernel));
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
