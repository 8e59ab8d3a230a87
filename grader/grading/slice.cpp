// SPDX-License-Identifier: MIT
#include "grading/slice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <regex>
#include <utility>

#include "text.hpp"

namespace course::grader {
namespace {

constexpr std::uint32_t kFunction = 120;  // lines that are looked through
constexpr std::size_t kMost = 7;          // that are found
constexpr std::size_t kLongestLine = 400;

// Without indentation and comment.
std::string trimmed(std::string_view text) {
  text = text.substr(0, std::min(text.find("//"), kLongestLine));
  while (text.ends_with(' ')) text.remove_suffix(1);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return tame_line(text);
}

// The names of variables in an expression: no members, functions and constants (kBlock), and none of the
// launch's variables, which are hardly ever wrong.
std::vector<std::string> names_in(const std::string& text) {
  static const std::regex kName(
      R"((?:^|[^\w.:>])(?!(?:threadIdx|blockIdx|blockDim|gridDim|const|auto|unsigned|int|return|if|else)\b))"
      R"((?!static_cast|k[A-Z])([A-Za-z_]\w*)(?![\w({:]))");
  std::vector<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), kName), end; match != end; ++match)
    if (std::ranges::find(names, (*match)[1].str()) == names.end()) names.push_back((*match)[1]);
  return names;
}

// The index expressions of a line. In a store, only those of the element that is written.
std::string indices_of(const std::string& line) {
  static const std::regex kStore(R"(\]\s*=(?!=))");
  std::smatch store;
  const std::string part =
      std::regex_search(line, store, kStore) ? store.prefix().str() : line.substr(0, line.rfind(']'));
  return part.substr(std::min(part.find('['), part.size()));
}

class Slicer {
 public:
  Slicer(const SourceLine& source_line, const std::string& file) : source_line_(source_line), file_(file) {}

  std::vector<std::uint32_t> lines;  // of statements that were found

  // Adds the names in an expression of a line to those that follow() looks for.
  void add(const std::string& expression, std::uint32_t line) {
    for (std::string& name : names_in(expression)) left_.emplace_back(std::move(name), line);
  }
  void follow() {
    while (!left_.empty() && lines.size() < kMost) {
      const auto [name, from] = left_.front();
      left_.pop_front();
      const std::uint32_t at = definition(name, from);
      if (at == 0) continue;
      const std::string found = statement(at);
      std::string value = found.substr(found.find('=') + 1);
      value.resize(std::min(value.find(';'), value.size()));
      const auto names = names_in(value);
      if (std::ranges::count(names, name) == std::ssize(names)) continue;  // of itself or the launch alone
      if (std::ranges::find(lines, at) == lines.end()) lines.push_back(at);
      add(value, at);
    }
  }

  std::string text(std::uint32_t line) const { return source_line_(file_, line); }
  std::string statement(std::uint32_t line) const {
    std::string all = trimmed(text(line));
    for (std::uint32_t more = 1;
         more <= 4 && !all.empty() && std::string_view(";{}").find(all.back()) == std::string_view::npos;
         ++more)
      all += " " + trimmed(text(line + more));
    return all;
  }

 private:
  // The line before this one, in the same function, that gives the variable a value or passes it to a call; 0
  // if there is none.
  std::uint32_t definition(const std::string& name, std::uint32_t line) const {
    const std::regex assigned("(^|[^\\w.])" + name + R"((\[.*\])?\s*[-+*/|&^]?=(?!=))");
    const std::regex passed(R"(^\w+[(<].*\b)" + name + "\\b");
    static const std::regex kFunctionStart(R"(^(?!template)\w.*\()");
    for (std::uint32_t at = line - 1; at > 0 && line - at <= kFunction; --at) {
      const std::string raw = text(at).substr(0, kLongestLine), here = trimmed(raw);
      if (raw.starts_with('}') || std::regex_search(raw, kFunctionStart)) return 0;
      if (std::regex_search(here, assigned) || std::regex_search(here, passed)) return at;
    }
    return 0;
  }

  const SourceLine& source_line_;
  std::string file_;
  std::deque<std::pair<std::string, std::uint32_t>> left_;  // names, and the lines that use them
};

}  // namespace

std::string quote(const SourceLine& source_line, const std::string& file, std::uint32_t line) {
  return Slicer(source_line, file).statement(line);
}

std::vector<std::string> slice_of(const SourceLine& source_line, const std::string& file, std::uint32_t line,
                                  std::uint32_t call) {
  Slicer slicer(source_line, file);
  slicer.lines.push_back(line);
  const bool guarded = trimmed(slicer.text(line - 1)).starts_with("if (");
  if (guarded) slicer.lines.push_back(line - 1);
  slicer.add(indices_of(slicer.statement(line)), line);
  if (call != line) {
    slicer.lines.push_back(call);
    slicer.add(slicer.statement(call), call);
  }
  slicer.follow();
  std::vector<std::string> quoted;
  const std::size_t n_quoted = std::min(kSliceLines, slicer.lines.size());
  for (std::size_t i = 0; i < n_quoted; ++i)
    quoted.push_back(fmt::format(
        "{} | {}", slicer.lines[i],
        guarded && i == 1 ? trimmed(slicer.text(line - 1)) : quote(source_line, file, slicer.lines[i])));
  const std::vector<std::uint32_t> others(slicer.lines.begin() + static_cast<std::ptrdiff_t>(n_quoted),
                                          slicer.lines.end());
  if (!others.empty()) quoted.push_back(fmt::format("lines {}, too", fmt::join(others, ", ")));
  return quoted;
}

}  // namespace course::grader
