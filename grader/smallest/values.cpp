// SPDX-License-Identifier: MIT
// Reading order: side_by_side at the end, parts_of, table_of.
#include "smallest/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/differs.hpp"
#include "lab/poison.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

constexpr std::size_t kTableWidth = 80;  // of a terminal

std::string index_text(std::uint64_t i, std::uint64_t row_length) {
  return row_length == 0 ? fmt::format("{}", i) : fmt::format("{},{}", i / row_length, i % row_length);
}

// Adds a column to the lines of a table: two of its title and one for each row.
void add_column(std::vector<std::string>& lines, const std::vector<std::string>& texts) {
  std::size_t most = 0;
  for (const std::string& text : texts) most = std::max(most, display_width(text));
  lines.resize(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) lines[i] += fit_right(texts[i], most + 2);
}

// What a table shows of an input, or of an output: the right and the actual elements.
struct Part {
  std::string output;  // its name
  std::vector<std::string> lines;
  bool agree = true;
  std::size_t width() const { return display_width(lines[0]); }
};

// `lines`: the column of the indices. `marked`: the rows with a wrong element.
std::string table_of(std::vector<std::string> lines, const std::vector<const Part*>& shown,
                     const std::vector<bool>& marked) {
  for (const Part* part : shown)
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += part->lines[i];
  const bool can_be_wrong = !std::ranges::all_of(shown, &Part::agree);
  for (std::size_t i = 0; i < marked.size(); ++i)
    if (can_be_wrong && marked[i]) lines[i + 2] += "  <- wrong";
  if (lines[1].find_first_not_of(' ') == std::string::npos) lines.erase(lines.begin() + 1);
  std::string out;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += "  " + (display_width(line) > kTableWidth - 2 ? fit_left(line, kTableWidth - 2) : line) + "\n";
  }
  return out;
}

// The parts for the elements from `first` on. Marks the rows with a wrong element.
std::vector<Part> parts_of(const CaseValues& values, const std::optional<lab::Mismatch>& mismatch,
                           std::uint64_t first, std::uint64_t last, std::vector<bool>& marked) {
  std::vector<Part> parts;
  for (const lab::HostBuffer& buffer : values.inputs) {
    std::vector<std::string> texts{buffer.spec.name, ""};
    for (std::uint64_t i = first; i < last; ++i) texts.push_back(values.element(buffer, i));
    add_column(parts.emplace_back().lines, texts);
  }
  for (std::size_t k = 0; k < values.actual.size(); ++k) {
    Part part{values.actual[k].spec.name, {}};
    std::vector<std::string> expected{part.output, "expected"}, actual{"", "actual"};
    for (std::uint64_t i = first; i < last; ++i) {
      // Nothing may be stored there, such as behind the last item that is kept.
      const bool none = i < values.expected[k].spec.count && is_untouched(values.expected[k], i);
      expected.push_back(none ? "" : values.element(values.expected[k], i));
      actual.push_back(none && is_untouched(values.actual[k], i) ? "" : values.element(values.actual[k], i));
      const bool named = mismatch && mismatch->buffer == part.output && mismatch->index == i;
      if (!named && !lab::differs(expected.back(), actual.back())) continue;
      marked[i - first] = true;
      part.agree = false;
    }
    add_column(part.lines, expected);
    add_column(part.lines, actual);
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

// As in lab::Session: each case has its own items.
CaseValues::CaseValues(const lab::Problem& of, const lab::Task& task, const SmallestFailure& found)
    : problem(of),
      c(found.c),
      inputs(lab::inputs_of(of, task, c, seed_for(kSmallestSeed, c.name))),
      actual(found.outcome.outputs) {
  if (actual.empty()) return;
  expected = lab::buffers_of(problem.shape(task, c).outputs, lab::kPoison);
  problem.baseline(task, c, inputs, expected);
}

std::string CaseValues::element(const lab::HostBuffer& buffer, std::uint64_t i) const {
  const lab::DType dtype = buffer.spec.dtype;
  return i < buffer.spec.count ? problem.print(c, dtype, buffer.bytes.data() + i * lab::bytes_of(dtype)) : "";
}

bool is_untouched(const lab::HostBuffer& buffer, std::uint64_t i) {
  const std::size_t width = lab::bytes_of(buffer.spec.dtype);
  const auto bytes = std::span(buffer.bytes).subspan(i * width, width);
  return std::ranges::all_of(bytes, [](std::byte b) { return b == lab::kPoison; });
}

std::string side_by_side(const CaseValues& values, const std::optional<lab::Mismatch>& mismatch,
                         std::uint64_t row_length, std::uint64_t max_rows, bool one_table) {
  std::uint64_t n_rows = 0;
  for (const auto* list : {&values.inputs, &values.actual})
    for (const lab::HostBuffer& buffer : *list) n_rows = std::max(n_rows, buffer.spec.count);
  std::uint64_t first = 0;
  if (mismatch && mismatch->index >= max_rows) first = mismatch->index - max_rows / 2;
  const std::uint64_t last = std::min(n_rows, first + max_rows);

  std::vector<std::string> indices{"index", row_length == 0 ? "" : "row,col"}, index;
  for (std::uint64_t i = first; i < last; ++i) indices.push_back(index_text(i, row_length));
  add_column(index, indices);
  std::vector<bool> marked(last - first);
  std::vector<Part> parts = parts_of(values, mismatch, first, last, marked);

  constexpr std::size_t kMark = 9;  // "  <- wrong"
  const std::size_t room = kTableWidth - 3 - kMark - display_width(index[0]);
  std::size_t width = 0;
  for (const Part& part : parts) width += part.width();
  if (one_table && width > room)
    std::erase_if(parts, [&](const Part& part) {
      return part.output.empty() || (mismatch && part.output != mismatch->buffer);
    });
  std::string out, right;
  std::vector<const Part*> shown;
  const bool all_agree = std::ranges::all_of(parts, &Part::agree);
  std::size_t used = 0;
  for (const Part& part : parts) {
    if (width > room && part.agree && !part.output.empty() && !all_agree) {
      right += (right.empty() ? "" : ", ") + part.output;
      continue;
    }
    if (!shown.empty() && used + part.width() > room) {
      out += table_of(index, std::exchange(shown, {}), marked);
      used = 0;
    }
    shown.push_back(&part);
    used += part.width();
  }
  if (!shown.empty()) out += table_of(index, shown, marked);
  if (!right.empty()) out += wrap("right in these elements: " + right, kTableWidth, 2) + "\n";
  if (!one_table && (first > 0 || last < n_rows)) out += fmt::format("    … {} elements in all\n", n_rows);
  return out;
}

}  // namespace course::grader
