// SPDX-License-Identifier: MIT
#include "screen/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

// Whether device code was compiled from a library's sources, by the .file directives that -lineinfo adds to
// PTX: .file 3 "/usr/…/block_reduce.cuh"
bool has_a_finished_algorithm(std::string_view ptx) {
  constexpr std::string_view kFile = ".file";
  for (std::size_t at = ptx.find(kFile); at != ptx.npos; at = ptx.find(kFile, at + 1)) {
    if (at > 0 && ptx[at - 1] != '\n' && ptx[at - 1] != '\t') continue;
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    if (is_a_source_of_finished_algorithms(ptx.substr(at, end - at))) return true;
    at = end - 1;  // continue after this line: it may be as long as the whole text
  }
  return false;
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
    all_.push_back({std::move(what), reason.why, reason.anchor, &reason == &kUnknown});
  }

  std::set<std::string> seen_;
  std::vector<Objection> all_;
};

}  // namespace

std::vector<Objection> objections(const ObjectFile& object, std::string_view lab, bool several_devices) {
  Objections out;
  bool algorithm = std::ranges::any_of(object.ptx, has_a_finished_algorithm);
  for (const Symbol& symbol : object.symbols)
    algorithm = algorithm || names_a_finished_algorithm(symbol.name);
  if (!object.too_much.empty()) out.add(object.too_much, kTooMuch);
  if (algorithm) out.add("CUB or Thrust", kAlgorithm);
  for (const Symbol& symbol : object.symbols) {
    if (symbol.defined || names_a_finished_algorithm(symbol.name)) continue;
    if (const Reason* reason = reason_against_import(symbol.name, several_devices))
      out.add_name(symbol.name, *reason);
  }
  for (const Symbol& symbol : object.symbols) {
    if (symbol.name.find('@') != std::string::npos) out.add_name(symbol.name, kSection, "a version of {}");
    if (!symbol.defined) continue;
    if (symbol.resolver) out.add_name(symbol.name, kBeforeMain, "the resolver of {}");
    if (symbol.binding == Binding::local || names_a_finished_algorithm(symbol.name)) continue;
    if (const Reason* reason = reason_against_definition(symbol.name, symbol.binding == Binding::weak, lab))
      out.add_name(symbol.name, *reason, "its own {}");
  }
  for (const std::string& constructor : object.constructors) {
    if (constructor.empty())
      out.add("a function without a name", kBeforeMain);
    else if (!is_registration(constructor))
      out.add_name(constructor, kBeforeMain);
  }
  if (object.n_registrations > 1 || std::ranges::count_if(object.constructors, is_registration) > 1)
    out.add("a second registration of kernels", kBeforeMain);
  // A library's code would give a list of its instructions.
  if (!algorithm) {
    for (const std::string& ptx : object.ptx) {
      const auto module = ptx::parse(ptx);
      if (!module)
        out.add_outside({"device code that can't be read", module.error().text, ""});
      else
        for (const sim::Outside& one : sim::outside_of(*module, *sim::engine().table)) out.add_outside(one);
    }
  }
  if (!object.odd_device_code.empty())
    out.add(fmt::format("device code that no compiler made ({})", tame(object.odd_device_code)), kSection);
  for (const Section& section : object.sections) {
    if (section.odd || !is_usual_section(section.name)) out.add(section.name, kSection);
    if (section.name == ".init_array" && section.bytes > 8 * object.constructors.size())
      out.add("an entry of .init_array", kBeforeMain);
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
