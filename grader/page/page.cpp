// SPDX-License-Identifier: MIT
#include "page/page.hpp"

#include <fmt/format.h>

#include <cctype>
#include <map>

#include "page/assets.hpp"
#include "page/markup.hpp"

namespace course::grader::page {

namespace {

const char* class_of(Tone tone) {
  constexpr const char* kClasses[] = {"", "quiet", "good", "fair", "bad"};
  return kClasses[static_cast<std::size_t>(tone)];
}

Html headed(int level, std::string_view title, const Html& content, const Html& beside_title) {
  const std::string id = anchor_of(title);
  return {fmt::format("<section aria-labelledby=\"{0}\">\n<h{1} id=\"{0}\">{2}{3}</h{1}>\n{4}</section>\n",
                      id, level, text(title).markup, beside_title.empty() ? "" : " " + beside_title.markup,
                      content.markup)};
}

// Makes the ids of sections with equal titles unique: "sum", "sum-2", "sum-3".
std::string with_unique_anchors(const std::string& body) {
  constexpr std::string_view kOpen = "<section aria-labelledby=\"";
  std::map<std::string, int> seen;
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = body.find(kOpen, done)) != std::string::npos;) {
    const std::size_t first = at + kOpen.size(), end = body.find('"', first);
    const std::string id = body.substr(first, end - first);
    const std::size_t heading = body.find("id=\"" + id + "\"", end);
    const int n = ++seen[id];
    const std::string more = n > 1 ? fmt::format("-{}", n) : "";
    const std::size_t after = heading + 4 + id.size();
    out += fmt::format("{}{}{}{}", body.substr(done, end - done), more, body.substr(end, after - end), more);
    done = after;
  }
  return out + body.substr(done);
}

}  // namespace

Html text(std::string_view words) {
  return {escape_markup(words)};
}

Html toned(Tone tone, const Html& content) {
  if (tone == Tone::plain) return content;
  return {fmt::format("<span class=\"{}\">{}</span>", class_of(tone), content.markup)};
}

Html paragraph(const Html& content, Tone tone) {
  if (tone == Tone::plain) return {fmt::format("<p>{}</p>\n", content.markup)};
  return {fmt::format("<p class=\"{}\">{}</p>\n", class_of(tone), content.markup)};
}

Html code_block(std::string_view code, std::string_view label) {
  return {fmt::format("<pre tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</pre>\n",
                      escape_markup(label), escape_markup(code))};
}

Html details(const Html& summary, const Html& content) {
  return {fmt::format("<details><summary>{}</summary>\n{}</details>\n", summary.markup, content.markup)};
}

std::string anchor_of(std::string_view title) {
  std::string id;
  for (const char c : title) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 128 && std::isalnum(u) != 0)
      id += static_cast<char>(std::tolower(u));
    else if (!id.empty() && id.back() != '-')
      id += '-';
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id.empty() ? "section" : id;
}

Html section(std::string_view title, const Html& content, const Html& beside_title) {
  return headed(2, title, content, beside_title);
}

Html subsection(std::string_view title, const Html& content, const Html& beside_title) {
  return headed(3, title, content, beside_title);
}

std::string document(const Document& page) {
  const std::string title = text(page.title).markup;
  const std::string scripts = page.script.empty() ? "" : fmt::format("; script-src '{}'", page.script_hash);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data:; "
      "base-uri 'none'; form-action 'none'{}\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n<h1>{}</h1>\n",
      scripts, title, kStyle, title);
  if (!page.summary.empty()) out += paragraph(page.summary).markup;
  out += "</header>\n";
  if (page.sections.size() > 1) {
    out += "<nav aria-label=\"On this page\"><ul>\n";
    for (const std::string& s : page.sections)
      out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", anchor_of(s), text(s).markup);
    out += "</ul></nav>\n";
  }
  out +=
      fmt::format("<main id=\"main\" tabindex=\"-1\">\n{}</main>\n", with_unique_anchors(page.body.markup));
  if (!page.made_by.empty())
    out += fmt::format("<footer><p class=\"quiet\">Made by <code>{}</code></p></footer>\n",
                       text(page.made_by).markup);
  if (!page.script.empty()) out += fmt::format("<script>{}</script>\n", page.script);
  return out + "</body>\n</html>\n";
}

}  // namespace course::grader::page
