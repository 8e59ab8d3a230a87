// SPDX-License-Identifier: MIT
// The one design of all HTML that the tools write: grade, profile, bench and trace. A report is one
// self-contained page: nothing is loaded, it reads well in the dark, on a phone, on paper, by keyboard and by
// ear. In this folder: page.hpp the page and its sections, table.hpp tables, chart.hpp charts (inline SVG),
// style.css the look, embed.py puts that into the program.
//
//   using namespace page;
//   Html body = section("Scan", table(…)) + line_chart(…);
//   write_report(path, document({.title = "Bench", .summary = text(device), .body = body}));
//
// Invariant: an Html holds well-formed markup. What is not written in our sources gets there through text()
// alone.
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

// Any text at all, made safe.
Html text(std::string_view words);
// Markup of our own: a literal, or one put together from Html and numbers.
inline Html raw(std::string markup) {
  return {std::move(markup)};
}

// What a thing is, beyond its words. Colour never says it alone.
enum class Tone { plain, quiet, good, fair, bad };
Html toned(Tone tone, const Html& content);
Html paragraph(const Html& content, Tone tone = Tone::plain);
Html code_block(std::string_view code, std::string_view label);  // as it is, scrollable by keyboard
Html details(const Html& summary, const Html& content);
// A name for an anchor: letters, digits and hyphens of `title`; "" becomes "section".
std::string anchor_of(std::string_view title);
// A landmark with a heading, listed at the top of the page (level 2), or a part of one (3).
Html section(std::string_view title, const Html& content, const Html& beside_title = {});
Html subsection(std::string_view title, const Html& content, const Html& beside_title = {});

struct Document {
  std::string title;                       // of the page; "Grade report"
  Html summary = {};                       // a line or two below it
  Html body = {};                          // sections
  std::vector<std::string> sections = {};  // titles, when there should be a list of links to them at the top
  std::string made_by = {};                // "./lab grade reduction --html report.html"
  std::string_view script = {};            // of assets.hpp, with its hash: scripts of other origin do not run
  std::string_view script_hash = {};       // "sha256-…"
};

std::string document(const Document& page);

}  // namespace course::grader::page
