// SPDX-License-Identifier: MIT
// Text for people: columns on a terminal, escaping of output from foreign programs, and "did you mean".
// Strings are UTF-8. Each invalid byte is treated as one unknown character, so any input is safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace course::grader {

// The columns that the text takes on a terminal: 2 for wide East Asian characters, 0 for combining marks.
std::size_t display_width(std::string_view text);

// Exactly `width` columns: padded with spaces, or cut with a final "…".
std::string fit_left(std::string_view text, std::size_t width);
std::string fit_right(std::string_view text, std::size_t width);

// Breaks lines at spaces so that none takes more than `width` columns (a longer word is cut). Each line
// starts with `indent` spaces. Line breaks in the text are kept.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0);

// `head`, and beside it `text`, which is broken at spaces and goes on below its own first column.
std::string wrap_beside(std::string_view head, std::string_view text, std::size_t width);

// The columns to write for: COLUMNS, else those of the terminal, else 80; from 40 to 200.
std::size_t terminal_columns();

// The message of a failed case for a terminal: escaped by tame(), with each line wrapped. Lines with a ./lab
// command are broken with backslashes, so that they can be pasted into a shell. Ends with a newline unless
// empty.
std::string wrap_message(std::string_view message, std::size_t width, std::size_t indent = 0);

// Returns valid UTF-8 in which control characters other than newline and tab, marks of the writing direction,
// invalid bytes and what XML forbids are written as escapes ("\x1b", "\u202e"), so that no output or file
// name of a student can move the cursor, sound the bell, or turn or recolour the terminal's text.
std::string tame(std::string_view text);

// The same on one line: newlines and tabs become spaces.
std::string tame_line(std::string_view text);

// The lines of `text` without their line ends. They point into `text`.
std::vector<std::string_view> lines_of(std::string_view text);

// The first `max_lines` lines, then "… N more lines".
std::string first_lines(std::string_view text, std::size_t max_lines);

// Does `text` contain `part`?
bool has(std::string_view text, std::string_view part);

// Replaces every `from` that is not empty.
void replace_all(std::string& text, const std::string& from, const std::string& to);

// The text with every absolute path below the folder `root`, such as root/build/../labs/x.cu, replaced by the
// path relative to `root`: labs/x.cu. Other paths stay as they are.
std::string paths_from(const std::string& root, std::string_view text);

// Each "file:" that has no folder becomes "folder/file:".
std::string with_folder(std::string_view text, const std::string& folder, const std::string& file);

// At most three candidates that are close to `word` by edit distance, nearest first.
std::vector<std::string> close_matches(std::string_view word, std::span<const std::string> candidates);

// "; did you mean a, b or c?". When nothing is close, the whole list if it is short, else "". "" for no
// candidates.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace course::grader
