// SPDX-License-Identifier: MIT
#include "screen/screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

#include "base/demangle.hpp"
#include "ptx/parser/parser.hpp"
#include "screen/rules.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/observation/subset.hpp"
#include "text.hpp"

namespace course::grader::screen {
namespace {

constexpr std::size_t kShown = 6;
constexpr std::size_t kMaxOfAName = 100;
constexpr std::size_t kMaxObjections = 1000;  // further ones are not counted

// The demangled name, shortened and escaped.
std::string readable(const std::string& name) {
  std::string out = demangled(name).substr(0, kMaxOfAName + 1);
  if (out.size() > kMaxOfAName) out = out.substr(0, kMaxOfAName) + "…";
  return tame(out);
}

// The source files of the device code, from the .file directives that -lineinfo adds to PTX: .file 3
// "/usr/…/block_reduce.cuh"
std::set<std::string> sources_of(const std::string& ptx) {
  std::set<std::string> sources;
  constexpr std::string_view kFile = ".file";
  for (std::size_t at = ptx.find(kFile); at != std::string::npos; at = ptx.find(kFile, at + 1)) {
    if (at > 0 && ptx[at - 1] != '\n' && ptx[at - 1] != '\t') continue;
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::string line = ptx.substr(at, end - at);
    at = end - 1;  // continue after this line: it may be as long as the whole text
    const std::size_t open = line.find('"'), close = line.rfind('"');
    if (open != std::string::npos && close > open) sources.insert(line.substr(open + 1, close - open - 1));
  }
  return sources;
}

// "cub/block/block_reduce.cuh" for "/usr/…/include/cub/block/block_reduce.cuh"; "" for a library's internal
// headers.
std::string public_header(const std::string& path) {
  const std::size_t library = std::max(path.rfind("/cub/") + 1, path.rfind("/thrust/") + 1);
  if (library == 0) return "";
  const std::string header = path.substr(library);
  for (const char* inner : {"/detail/", "/agent/", "/system/", "/dispatch/", "/util_", "/config"})
    if (header.find(inner) != std::string::npos) return "";
  // All other headers include those of threads and iterators, so these would tell the reader nothing.
  return header.starts_with("cub/thread/") || header.starts_with("cub/iterator/") ? "" : header;
}

// "CUB or Thrust", with the first of their headers that the device code was compiled from.
std::string name_libraries(const std::set<std::string>& sources) {
  std::vector<std::string> headers;
  for (const std::string& source : sources)
    if (std::string header = public_header(source); !header.empty()) headers.push_back(tame(header));
  constexpr std::size_t kNamed = 3;
  const std::size_t n = std::min(headers.size(), kNamed);
  if (n == 0) return "CUB or Thrust";
  const std::span first(headers.data(), n);
  return fmt::format(
      "CUB or Thrust ({}{})", fmt::join(first, ", "),
      headers.size() > n ? fmt::format(" and {} more of their headers", headers.size() - n) : "");
}

constexpr std::size_t kMaxOfAReason = 300;

class Objections {
 public:
  void add(const std::string& what, const Reason& reason) {
    if (is_new(what)) add_new(tame(what.substr(0, kMaxOfAReason)), reason);
  }
  // A mangled name, in `words` ("its own {}"). Names take long to demangle, so only those that the message
  // shows are.
  void add_name(const std::string& name, const Reason& reason, std::string_view words = "{}") {
    if (!is_new(std::string(words) + name)) return;
    const std::string said =
        all_.size() < kShown ? readable(name) : tame(std::string_view(name).substr(0, kMaxOfAName));
    add_new(fmt::format(fmt::runtime(words), said), reason);
  }
  // Device code that the checkers do not follow.
  void add_outside(const sim::Outside& one) {
    const std::string what = sim::name_and_place(one);
    if (is_new(what))
      all_.push_back({tame(what.substr(0, kMaxOfAReason)),
                      tame(sim::reason_and_advice(one).substr(0, kMaxOfAReason)), "kernels", false});
  }
  std::vector<Objection> take() { return std::move(all_); }

 private:
  bool is_new(const std::string& what) { return all_.size() < kMaxObjections && seen_.insert(what).second; }
  void add_new(std::string what, const Reason& reason) {
    all_.push_back({std::move(what), reason.why, reason.anchor, &reason == &unknown_name()});
  }

  std::set<std::string> seen_;
  std::vector<Objection> all_;
};

}  // namespace

std::vector<Objection> objections(const ObjectFile& object, std::string_view lab, bool several_devices) {
  Objections out;
  bool algorithm = false;
  for (const Symbol& symbol : object.symbols)
    algorithm = algorithm || names_a_finished_algorithm(symbol.name);
  std::set<std::string> finished;
  for (const std::string& ptx : object.ptx)
    for (const std::string& source : sources_of(ptx))
      if (is_a_source_of_finished_algorithms(source)) finished.insert(source);
  if (!object.too_much.empty()) out.add(object.too_much, too_much());
  if (algorithm || !finished.empty()) out.add(name_libraries(finished), finished_algorithm());
  for (const Symbol& symbol : object.symbols) {
    if (symbol.defined || names_a_finished_algorithm(symbol.name)) continue;
    if (const Reason* reason = reason_against_import(symbol.name, several_devices))
      out.add_name(symbol.name, *reason);
  }
  for (const Symbol& symbol : object.symbols) {
    if (symbol.name.find('@') != std::string::npos)
      out.add_name(symbol.name, unusual_section(), "a version of {}");
    if (!symbol.defined) continue;
    if (symbol.resolver) out.add_name(symbol.name, runs_by_itself(), "the resolver of {}");
    if (symbol.binding == Binding::local || names_a_finished_algorithm(symbol.name)) continue;
    if (const Reason* reason = reason_against_definition(symbol.name, symbol.binding == Binding::weak, lab))
      out.add_name(symbol.name, *reason, "its own {}");
  }
  for (const std::string& constructor : object.constructors) {
    if (constructor.empty())
      out.add("a function without a name", runs_by_itself());
    else if (!is_registration(constructor))
      out.add_name(constructor, runs_by_itself());
  }
  if (object.n_registrations > 1 || std::ranges::count_if(object.constructors, is_registration) > 1)
    out.add("a second registration of kernels", runs_by_itself());
  // A library's code would give a list of its instructions.
  if (!algorithm && finished.empty()) {
    for (const std::string& ptx : object.ptx) {
      const auto module = ptx::parse(ptx);
      if (!module)
        out.add_outside({"device code that can't be read", module.error().text, ""});
      else
        for (const sim::Outside& one : sim::outside_of(*module, *sim::engine().table)) out.add_outside(one);
    }
  }
  if (!object.odd_device_code.empty())
    out.add(fmt::format("device code that no compiler made ({})", tame(object.odd_device_code)),
            unusual_section());
  for (const Section& section : object.sections) {
    if (section.odd || !is_usual_section(section.name)) out.add(section.name, unusual_section());
    if (section.name == ".init_array" && section.bytes > 8 * object.constructors.size())
      out.add("an entry of .init_array", runs_by_itself());
  }
  return out.take();
}

std::string message_of(const std::vector<Objection>& objections) {
  if (objections.empty()) return "";
  std::string out = "uses what a lab's code may not use, so it was not run\n";
  for (std::size_t i = 0; i < objections.size() && i < kShown; ++i) {
    out += fmt::format("  {}: {}\n", objections[i].what, objections[i].why);
  }
  if (objections.size() > kShown) out += fmt::format("  and {} more\n", objections.size() - kShown);
  out += fmt::format("  read:  handouts/rules.md#{}\n", objections.front().anchor);
  return out;
}

Result<Screened> screen_object(const std::string& path, std::string_view lab, bool several_devices) {
  const auto object = read_object(path);
  if (!object) return Error{fmt::format("can't be screened: {}", object.error().text)};
  const std::vector<Objection> found = objections(*object, lab, several_devices);
  return Screened{message_of(found),
                  std::ranges::all_of(found, [](const Objection& one) { return one.unknown_import; })};
}

}  // namespace course::grader::screen
