// SPDX-License-Identifier: MIT
#include "sim/observation/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "sim/machine/source_places.hpp"

namespace course::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxName = 512, kMaxMessage = 2000;  // characters that the report keeps
constexpr std::size_t kMaxLines = 2000;

std::string shortened(const std::string& text, std::size_t most = kMaxName) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

Json json_of(const Counters& c) {
  Json j;
  const auto put = [&](const char* name, std::uint64_t Counters::*field) { j[name] = c.*field; };
  for_each_sum(put);
  for_each_maximum(put);
  for (std::size_t k = 0; k < kInstructionKinds; ++k) j["mix"][kInstructionNames[k]] = c.mix[k];
  return j;
}

Json json_of(const Dim3& d) {
  return Json::array({d.x, d.y, d.z});
}

Json json_of(const Finding& f) {
  const SourcePlace here = own_place(f.where), there = own_place(f.other_where);
  Json j;
  j["checker"] = name_of(f.checker);
  j["severity"] = f.severity == Severity::hint ? "hint" : "error";
  j["kind"] = shortened(f.kind);
  j["kernel"] = shortened(f.kernel);
  j["file"] = shortened(here.file);
  j["line"] = here.line;
  j["other_file"] = shortened(there.file);
  j["other_line"] = there.line;
  j["object"] = shortened(f.object);
  j["message"] = shortened(f.message, kMaxMessage);
  j["block"] = f.thread.block;
  j["thread"] = f.thread.thread;
  j["other_block"] = f.other_thread.block;
  j["other_thread"] = f.other_thread.thread;
  j["times"] = f.times;
  return j;
}

Json json_of(const LineProfile& l) {
  return {{"kernel", shortened(l.kernel)},
          {"file", shortened(l.file)},
          {"line", l.line},
          {"warp_instructions", l.warp_instructions},
          {"lane_instructions", l.lane_instructions},
          {"branches", l.branches},
          {"divergent_branches", l.divergent_branches},
          {"global_requests", l.global_requests},
          {"global_sectors", l.global_sectors},
          {"local_sectors", l.local_sectors},
          {"global_bytes", l.global_bytes},
          {"shared_requests", l.shared_requests},
          {"shared_wavefronts", l.shared_wavefronts},
          {"atomic_requests", l.atomic_requests},
          {"atomic_lanes", l.atomic_lanes},
          {"atomic_serialised", l.atomic_serialised},
          {"barriers", l.barriers}};
}

const char* name_of(TraceRow::After after) {
  switch (after) {
    case TraceRow::After::start: return "start";
    case TraceRow::After::barrier: return "barrier";
    case TraceRow::After::warp_sync: return "warp_sync";
    case TraceRow::After::block: return "block";
    case TraceRow::After::launch: return "launch";
    case TraceRow::After::shuffle: return "shuffle";
    case TraceRow::After::publish: return "publish";
    case TraceRow::After::fault: return "fault";
    default: return "vote";
  }
}

std::string hex(const std::vector<std::byte>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += kDigits[std::to_integer<unsigned>(b) >> 4];
    text += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

// The bytes of a value; "" if it is not known.
std::string hex_of(std::uint64_t value, std::uint32_t width) {
  std::vector<std::byte> bytes(width);
  std::copy_n(reinterpret_cast<const std::byte*>(&value), std::min<std::size_t>(width, sizeof value),
              bytes.begin());
  return hex(bytes);
}

Json json_of(const TraceRow& row) {
  Json j;
  j["launch"] = row.launch;
  j["block"] = row.block == TraceRow::kWholeGrid ? Json(nullptr) : Json(row.block);
  j["after"] = name_of(row.after);
  j["warp"] = row.warp;
  j["lanes"] = row.lanes;
  j["file"] = row.file;
  j["line"] = row.line;
  j["object"] = row.object;
  j["width"] = row.width;
  j["contents"] = hex(row.contents);
  j["writes"] = Json::array();
  for (const TraceWrite& w : row.writes) {
    Json from = Json::array(), values = Json::array();
    for (const TracePlace& p : w.from) {
      Json place = Json::array({p.object, p.element});
      if (p.object == row.object && p.row == w.row && row.after != TraceRow::After::shuffle)
        place.push_back(1);
      // An element that was read twice, with two values, has none that can be shown.
      const bool again = !from.empty() && from.back() == place;
      if (again) values.back() = "";
      if (again) continue;
      from.push_back(std::move(place));
      values.push_back(hex_of(p.value, p.width));
    }
    j["writes"].push_back(Json::array({w.element, w.block, w.thread, w.line, std::move(from),
                                       hex_of(w.value, w.width), std::move(values)}));
  }
  j["accesses"] = Json::array();
  for (const TraceAccess& a : row.accesses)
    j["accesses"].push_back(
        Json::array({a.block, a.warp, a.line, a.lanes, a.live, a.passes, a.least_passes}));
  if (!row.fault.empty()) j["fault"] = row.fault;
  return j;
}

// The order of findings: first what corrupts memory or ends the run, then what makes the result depend on
// timing. A hang comes after misused barriers, which may explain it.
int rank(const Finding& f) {
  if (f.severity == Severity::hint) return 9;
  return f.kind == "no-progress" || f.kind == "time-limit" ? 3 : row_of(f.checker).rank;
}

}  // namespace

void Report::add(Launch launch) {
  totals += launch.counters;
  if (launches.size() < kMaxLaunches) {
    launches.push_back(std::move(launch));
    return;
  }
  const auto is_same = [](const Dim3& a, const Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
  const auto alike = [&](const Launch& one) {
    return is_same(one.grid, launch.grid) && is_same(one.block, launch.block) &&
           one.shared == launch.shared && one.registers == launch.registers && one.kernel == launch.kernel;
  };
  const auto known = std::ranges::find_if(launches, alike);
  if (known == launches.end()) {
    ++launches_left_out;
    return;
  }
  ++known->times;
  known->counters += launch.counters;
  known->modelled_us += launch.modelled_us;
}

namespace {

std::vector<const Finding*> most_telling_first(const std::vector<Finding>& findings) {
  std::vector<const Finding*> order;
  for (const Finding& f : findings) order.push_back(&f);
  std::ranges::stable_sort(order, [](const Finding* a, const Finding* b) { return rank(*a) < rank(*b); });
  return order;
}

// The array of an object: the same for "s_data[17]" and "s_data[3]", or for two elements of d_in.
std::string_view array_of(const std::string& object) {
  return std::string_view(object).substr(0, object.find_first_of("[,"));
}

// A missing barrier or initialisation causes findings at many later lines. Findings of the same kind in the
// same kernel on the same array are therefore reported as one.
bool same_cause(const Finding& a, const Finding& b) {
  return a.checker == b.checker && a.severity == b.severity && a.kind == b.kind && a.kernel == b.kernel &&
         !a.where.empty() && !b.where.empty() && !a.object.empty() &&
         array_of(a.object) == array_of(b.object);
}

}  // namespace

namespace {

void replace_all(std::string& text, const std::string& what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// Template arguments of more than a few characters become "<…>".
std::string without_arguments(const std::string& text) {
  constexpr std::size_t kShort = 16;  // characters
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool opens = text[at] == '<' && at > 0 &&
                       (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '_') &&
                       !out.ends_with("operator");
    std::size_t end = at, depth = 0;
    for (; opens && end < text.size(); ++end) {
      if (text[end] == '<') ++depth;
      if (text[end] == '>' && text[end - 1] != '-' && --depth == 0) break;
    }
    if (opens && end < text.size() && end - at > kShort) {
      out += "<…>";
      at = end;
    } else {
      out += text[at];
    }
  }
  return out;
}

// "cub::DeviceScanKernel<…>": without parameters, which would take the place of what the message says last.
std::string short_name(const std::string& kernel) {
  constexpr std::size_t kShort = 60;  // characters
  std::string name = without_arguments(kernel);
  if (name.starts_with("void ")) name.erase(0, 5);
  replace_all(name, "(anonymous namespace)::", "");
  std::size_t end = 0;
  // f<(Kind)0>(int): the first parenthesis is an argument's.
  for (int depth = 0; end < name.size() && (depth > 0 || name[end] != '('); ++end)
    depth += (name[end] == '<') - (name[end] == '>');
  name.resize(end);
  const std::size_t first = name.find("::"), last = name.rfind("::");
  if (name.size() > kShort && first < last) name.erase(first, last - first);
  return name;
}

// The message after a heading with its kernel and its line.
std::string brief_message(const Finding& f) {
  std::string text = f.message;
  if (!f.kernel.empty()) {
    replace_all(text, f.kernel + ": ", "");
    replace_all(text, f.kernel, short_name(f.kernel));
  }
  if (const SourcePlace place = own_place(f.where); place.line != 0) {
    const std::string line = file_and_line(place.file, place.line);
    replace_all(text, place.file + ":", line.substr(0, line.rfind(':') + 1));
    replace_all(text, " at " + line + " ", " ");
    replace_all(text, line.substr(0, line.rfind(':') + 1), "line ");
  }
  text = without_arguments(text);
  replace_all(text, "kernel void ", "kernel ");
  // Names without parameters, no functions of other files that a line calls, and no line that calls it.
  for (const char* const before : {"kernel ", " (in ", " (called at "})
    for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
      const std::size_t open = text.find('(', at + 1), space = text.find(' ', at + std::strlen(before));
      const bool is_name = *before == 'k';
      if (is_name ? open > space : open != at + 1) continue;
      std::size_t close = open, depth = 0;
      for (; close < text.size(); ++close)
        if (text[close] == '(')
          ++depth;
        else if (text[close] == ')' && --depth == 0)
          break;
      if (close < text.size()) text.erase(is_name ? open : at, close + 1 - (is_name ? open : at));
    }
  return text;
}

std::vector<std::string> lines_of(const std::set<std::pair<std::string, std::uint32_t>>& places,
                                  const std::string& here) {
  std::vector<std::string> lines;
  for (const auto& [file, line] : places)
    lines.push_back(file == here ? std::to_string(line) : file_and_line(file, line));
  return lines;
}

}  // namespace

FindingsText to_text(const std::vector<Finding>& findings) {
  FindingsText all;
  const auto failed = std::ranges::find_if(findings, [](const Finding& f) { return f.kind == "api-error"; });
  std::vector<const Finding*> order = most_telling_first(findings);
  std::erase_if(order, [](const Finding* f) { return f->kind == kConsequence; });
  for (auto it = order.begin(); it != order.end(); ++it) {
    const Finding* f = *it;
    const auto others = std::stable_partition(it + 1, order.end(),
                                              [&](const Finding* other) { return !same_cause(*f, *other); });
    const bool hint = f->severity == Severity::hint;
    ++(hint ? all.hints : all.errors);
    const auto head = [&](const std::string& kernel) {
      std::string line = fmt::format("{}: {} ({})", hint ? "hint" : "error", f->kind, name_of(f->checker));
      if (!kernel.empty()) line += " in " + kernel;
      if (const SourcePlace place = own_place(f->where); place.line != 0)
        line += ", " + file_and_line(place.file, place.line);
      if (f->times > 1) line += fmt::format(", {} times", f->times);
      return line + "\n  ";
    };
    std::string rest = "\n";
    if (failed != findings.end() && f > &*failed &&
        (f->checker == Checker::initcheck || f->message.find("a null pointer") != std::string::npos))
      rest +=
          "  this may be a consequence of the call that failed before: what it should have done is missing\n";
    const SourcePlace here = own_place(f->where);
    std::set<std::pair<std::string, std::uint32_t>> places, consequences;
    for (auto other = others; other != order.end(); ++other)
      if (const SourcePlace p = own_place((*other)->where); p.file != here.file || p.line != here.line)
        places.emplace(p.file, p.line);
    std::uint64_t n_consequences = 0;
    for (const Finding& other : findings)
      if (failed != findings.end() && f == &*failed && other.kind == kConsequence) {
        n_consequences += other.times;
        if (const SourcePlace p = own_place(other.where); p.line != 0) consequences.emplace(p.file, p.line);
      }
    if (!places.empty())
      rest += fmt::format("  the same of {} at {} other line{}: {}\n", array_of(f->object), places.size(),
                          places.size() == 1 ? "" : "s", fmt::join(lines_of(places, here.file), ", "));
    if (n_consequences > 0)
      rest += fmt::format("  therefore, {} later call{} failed, too{}{}\n", n_consequences,
                          n_consequences == 1 ? "" : "s", consequences.empty() ? "" : ", at lines ",
                          fmt::join(lines_of(consequences, here.file), ", "));
    all.text += head(f->kernel) + f->message + rest;
    all.brief.push_back(head(short_name(f->kernel)) + brief_message(*f) + rest);
    order.erase(others, order.end());
  }
  return all;
}

namespace {

std::string text_of(const Json& j) {
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The lines in their order, without those that have fewer instructions than the first kMaxLines.
Json json_of(const std::vector<LineProfile>& lines) {
  std::uint64_t least = 0;
  if (lines.size() > kMaxLines) {
    std::vector<std::uint64_t> costs;
    for (const LineProfile& line : lines) costs.push_back(line.warp_instructions);
    std::nth_element(costs.begin(), costs.begin() + kMaxLines, costs.end(), std::greater<>());
    least = costs[kMaxLines] + 1;
  }
  Json list = Json::array();
  for (const LineProfile& line : lines)
    if (line.warp_instructions >= least) list.push_back(json_of(line));
  return list;
}

}  // namespace

std::string to_json(const Report& report, std::uint32_t mode) {
  Json j;
  j["device"] = report.device;
  j["mode"] = mode;
  j["modelled_us"] = report.modelled_us;
  j["memory_gb_per_s"] = report.memory_gb_per_s;
  j["fills"] = report.fills;
  j["traffic"] = {{"operations", report.traffic.operations},
                  {"messages", report.traffic.messages},
                  {"bytes_sent", report.traffic.bytes_sent}};
  j["launches"] = Json::array();
  for (const Report::Launch& l : report.launches)
    j["launches"].push_back({{"kernel", shortened(l.kernel)},
                             {"times", l.times},
                             {"grid", json_of(l.grid)},
                             {"block", json_of(l.block)},
                             {"modelled_us", l.modelled_us},
                             {"bound_by", l.bound_by},
                             {"resident_blocks", l.resident_blocks},
                             {"occupancy", l.occupancy},
                             {"registers", l.registers},
                             {"shared", l.shared},
                             {"counters", json_of(l.counters)}});
  j["launches_left_out"] = report.launches_left_out;
  j["totals"] = json_of(report.totals);
  j["findings"] = Json::array();
  for (const Finding* f : most_telling_first(report.findings)) j["findings"].push_back(json_of(*f));
  if ((mode & kProfile) != 0) j["lines"] = json_of(report.lines);
  if ((mode & kTrace) != 0) {
    j["trace"] = {{"truncated", report.trace.truncated}, {"rows", Json::array()}};
    for (const TraceRow& row : report.trace.rows) j["trace"]["rows"].push_back(json_of(row));
  }
  std::string text = text_of(j);
  while (text.size() > kMaxReportBytes && j.contains("trace") && !j["trace"]["rows"].empty()) {
    Json& rows = j["trace"]["rows"];
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2), rows.end());
    j["trace"]["truncated"] = true;
    text = text_of(j);
  }
  for (const char* list : {"lines", "launches", "findings"}) {
    if (text.size() <= kMaxReportBytes) break;
    j[list] = Json::array();
    text = text_of(j);
  }
  return text;
}

}  // namespace course::sim
