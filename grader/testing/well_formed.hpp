// SPDX-License-Identifier: MIT
// For tests: whether a text is well-formed XML, or HTML that closes all elements. Strict about what the
// reports use: quoted attributes, five entities, no bare < or &, balanced elements, no control characters.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace course::grader::testing {

// The HTML elements without an end tag that reports use.
inline const std::set<std::string> kVoidElements{"meta", "br", "input"};

// Returns "" if the text is well-formed, else the error.
inline std::string why_malformed(std::string_view text, const std::set<std::string>& void_elements = {}) {
  std::vector<std::string> open;
  bool seen_root = false;
  std::size_t at = 0;
  const auto around = [&] { return " near: " + std::string(text.substr(at, 60)); };
  while (at < text.size()) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') return "control character" + around();
    if (c == '&') {
      const std::size_t end = text.find(';', at);
      const std::string_view name = text.substr(at, end == std::string_view::npos ? 0 : end - at + 1);
      static const std::set<std::string_view> kKnown{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
      if (kKnown.count(name) == 0) return "unknown entity" + around();
      at = end + 1;
      continue;
    }
    if (c == '>') return "bare >" + around();
    if (c != '<') {
      ++at;
      continue;
    }
    if (text.substr(at, 2) == "<?" || text.substr(at, 2) == "<!") {
      at = text.find('>', at) + 1;
      continue;
    }
    const bool closing = text.substr(at, 2) == "</";
    std::size_t i = at + (closing ? 2 : 1);
    std::string name;
    while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '-'))
      name += text[i++];
    if (name.empty()) return "bare <" + around();
    bool self_closed = false;
    while (i < text.size() && text[i] != '>') {
      if (text[i] == '/') {
        self_closed = true;
        ++i;
      } else if (text[i] == ' ' || text[i] == '\n') {
        ++i;
      } else {
        const std::size_t equals = text.find_first_of("=<> ", i);
        if (equals == std::string_view::npos || text[equals] != '=' || text.substr(equals, 2) != "=\"") {
          return "attribute without a quoted value" + around();
        }
        const std::size_t end = text.find('"', equals + 2);
        if (end == std::string_view::npos) return "attribute that does not end" + around();
        if (text.substr(equals, end - equals).find('<') != std::string_view::npos)
          return "< in attribute" + around();
        i = end + 1;
      }
    }
    if (i >= text.size()) return "tag that does not end" + around();
    if (closing) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing" + around();
      open.pop_back();
    } else if (!self_closed && void_elements.count(name) == 0) {
      if (open.empty() && seen_root) return "second root" + around();
      seen_root = true;
      open.push_back(name);
      // The content is not markup.
      if (name == "style" || name == "script") {
        i = text.find("</" + name + ">", i) - 1;
      }
    }
    at = i + 1;
  }
  if (!open.empty()) return "<" + open.back() + "> is not closed";
  return seen_root ? "" : "no element";
}

}  // namespace course::grader::testing
