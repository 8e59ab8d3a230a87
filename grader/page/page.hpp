// SPDX-License-Identifier: MIT
// The common design of all HTML reports: grade, trace and photo. A report is one self-contained page that
// loads nothing and is readable in dark mode, on a phone, on paper, by keyboard and with a screen reader. In
// this folder: page.hpp the page and its sections, table.hpp tables and their bars, markup.hpp the escapes,
// style.css the style sheet, trace.js the player of traces, embed.py, which puts these two into the program.
//
//   using namespace page;
//   Html body = section("Scan", table(…));
//   write_report(path, document({.title = "Bench", .summary = text(device), .body = body}));
//
// Invariant: an Html holds well-formed markup. All other text gets into it through text() only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace course::grader::page {

struct Html {
  std::string markup;

  bool empty() const { return markup.empty(); }
  Html& operator+=(const Html& more) {
    markup += more.markup;
    return *this;
  }
};
inline Html operator+(Html a, const Html& b) {
  a += b;
  return a;
}

// Escapes any text.
Html text(std::string_view words);
// Markup from our own sources: a literal, or a combination of Html and numbers.
inline Html raw(std::string markup) {
  return {std::move(markup)};
}

// How content is emphasised. The words must say the same, since colour alone is not accessible.
enum class Tone { plain, quiet, good, fair, bad };
Html toned(Tone tone, const Html& content);
Html paragraph(const Html& content, Tone tone = Tone::plain);
Html code_block(std::string_view code, std::string_view label);  // unchanged, scrollable by keyboard
Html details(const Html& summary, const Html& content);
// The anchor of a title: its letters, digits and hyphens, in lower case; "section" if none is left.
std::string anchor_of(std::string_view title);
// A section with a heading of level 2, and a part of a section with a heading of level 3.
Html section(std::string_view title, const Html& content, const Html& beside_title = {});
Html subsection(std::string_view title, const Html& content, const Html& beside_title = {});

struct Document {
  std::string title;                       // of the page; "Grade report"
  Html summary = {};                       // a line or two below it
  Html body = {};                          // sections
  std::vector<std::string> sections = {};  // titles of sections, for a list of links at the top
  std::string made_by = {};                // "./lab grade reduction --html report.html"
  std::string_view script = {};            // a script of assets.hpp; no script with another hash runs
  std::string_view script_hash = {};       // "sha256-…"
};

std::string document(const Document& page);

}  // namespace course::grader::page
