// SPDX-License-Identifier: MIT
// Text for people: columns on a terminal, taming of what foreign programs print, and "did you mean".
// Strings are UTF-8; bytes that are not are treated as one unknown character each, so any input is safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace course::grader {

// Columns that the text takes on a terminal: 2 for wide East Asian characters, 0 for combining marks.
std::size_t display_width(std::string_view text);

// Exactly `width` columns: padded with spaces, or cut with a final "…".
std::string fit_left(std::string_view text, std::size_t width);
std::string fit_right(std::string_view text, std::size_t width);

// Breaks at spaces so that no line takes more than `width` columns (a longer word is cut), each line after
// `indent` spaces. Line breaks in the text stay.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0);

// A message of a failed case for a terminal: tamed, each of its lines wrapped, those with a ./lab command
// broken with backslashes, so that they can be copied into a shell. Ends with a newline unless empty.
std::string wrap_message(std::string_view message, std::size_t width, std::size_t indent = 0);

// Valid UTF-8 with control characters other than newline and tab made visible ("\x1b"): nothing that a
// student's program or file name contains can move the cursor, ring, or recolour the terminal.
std::string tame(std::string_view text);

// The same on one line: newlines and tabs become spaces.
std::string tame_line(std::string_view text);

// Its lines, without their ends; they point into `text`.
std::vector<std::string_view> lines_of(std::string_view text);

// The first `max_lines` lines, then "… N more lines".
std::string first_lines(std::string_view text, std::size_t max_lines);

// Does `text` contain `part`?
bool has(std::string_view text, std::string_view part);

// Replaces every `from` that is not empty.
void replace_all(std::string& text, const std::string& from, const std::string& to);

// The text with every absolute path below the folder `root`, such as root/build/../labs/x.cu, as one from
// there: labs/x.cu. Other paths stay as they are.
std::string paths_from(const std::string& root, std::string_view text);

// The candidates nearest to `word` by edit distance, nearest first, none that is too far off to be meant.
std::vector<std::string> close_matches(std::string_view word, std::span<const std::string> candidates);

// "; did you mean a, b or c?", or the whole list when nothing is close and it is short; "" for no candidates.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace course::grader
