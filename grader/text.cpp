// SPDX-License-Identifier: MIT
#include "text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

namespace course::grader {
namespace {

struct Decoded {
  char32_t code = 0;
  std::size_t n_bytes = 1;
  bool valid = false;
};

Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t n_bytes = 0;
  char32_t code = 0;
  char32_t smallest = 0;
  if ((lead & 0xE0) == 0xC0) {
    n_bytes = 2, code = lead & 0x1FU, smallest = 0x80;
  } else if ((lead & 0xF0) == 0xE0) {
    n_bytes = 3, code = lead & 0x0FU, smallest = 0x800;
  } else if ((lead & 0xF8) == 0xF0) {
    n_bytes = 4, code = lead & 0x07U, smallest = 0x10000;
  } else {
    return {};
  }
  if (text.size() < n_bytes) return {};
  for (std::size_t i = 1; i < n_bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < smallest || code > 0x10FFFF || surrogate) return {};
  return {code, n_bytes, true};
}

// Wide are East Asian characters and emoji (the blocks of Unicode that have nearly only such).
std::size_t width_of(char32_t code) {
  const auto in = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
  if (code < 0x20 || in(0x7F, 0x9F) || in(0x300, 0x36F) || in(0x200B, 0x200F) || in(0xFE00, 0xFE0F)) return 0;
  return in(0x1100, 0x115F) || in(0x2E80, 0xD7A3) || in(0xF900, 0xFAFF) || in(0xFE30, 0xFF60) ||
                 in(0x1F300, 0x3FFFD)
             ? 2
             : 1;
}

std::size_t width_of(const Decoded& character) {
  return character.valid ? width_of(character.code) : 1;
}

// The longest prefix that takes at most `width` columns.
std::string_view prefix_of_width(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  std::size_t used = 0;
  while (at < text.size()) {
    const Decoded next = decode(text.substr(at));
    if (used + width_of(next) > width) break;
    used += width_of(next);
    at += next.n_bytes;
  }
  return text.substr(0, at);
}

std::string cut(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  return std::string(prefix_of_width(text, width - 1)) + "…";
}

// Keeps the indentation of the line on all lines that it is broken into: it may be a listing.
void wrap_line(std::string_view line, std::size_t width, std::size_t indent, std::string& out) {
  const std::size_t lead = std::min({line.find_first_not_of(' '), line.size(), width / 2});
  const std::string spaces(std::min(indent + lead, width - 1), ' ');
  const std::size_t room = width - spaces.size();
  line.remove_prefix(lead);
  out += spaces;
  std::size_t used = 0;
  bool first = true;
  while (!line.empty()) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, space);
    line.remove_prefix(std::min(space + 1, line.size()));
    if (!first && used + 1 + display_width(word) > room) {
      out += "\n" + spaces;
      used = 0;
    } else if (!first) {
      out += " ";
      ++used;
    }
    const std::string shown = cut(word, room > used ? room - used : 1);
    out += shown;
    used += display_width(shown);
    first = false;
  }
}

// Levenshtein distance in which swapping two neighbouring letters counts as one edit (optimal string
// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Decoded next = decode(text);
    width += width_of(next);
    text.remove_prefix(next.n_bytes);
  }
  return width;
}

std::string fit_left(std::string_view text, std::size_t width) {
  std::string out = cut(text, width);
  out.append(width - std::min(width, display_width(out)), ' ');
  return out;
}

std::string fit_right(std::string_view text, std::size_t width) {
  const std::string shown = cut(text, width);
  return std::string(width - std::min(width, display_width(shown)), ' ') + shown;
}

std::size_t terminal_columns() {
  constexpr std::size_t kUsual = 80, kFewest = 40, kMax = 200;
  const char* wanted = std::getenv("COLUMNS");
  winsize size{};
  std::size_t columns = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 0;
  if (columns == 0 && isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    columns = size.ws_col;
  return columns == 0 ? kUsual : std::clamp(columns, kFewest, kMax);
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  bool first = true;
  while (true) {
    const std::size_t end = text.find('\n');
    if (!first) out += "\n";
    first = false;
    const std::string_view line = text.substr(0, end);
    if (!line.empty()) wrap_line(line, std::max<std::size_t>(width, 2), indent, out);
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string wrap_beside(std::string_view head, std::string_view text, std::size_t width) {
  const std::size_t indent = display_width(head);
  return std::string(head) + (text.empty() ? "" : wrap(text, width, indent).substr(indent));
}

std::string tame(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decode(text);
    const bool control = next.code < 0x20 || (next.code >= 0x7F && next.code < 0xA0);
    // Marks that change the writing direction can make a name look like another one.
    const bool direction =
        (next.code >= 0x202A && next.code <= 0x202E) || (next.code >= 0x2066 && next.code <= 0x2069);
    if (!next.valid) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if ((control && next.code != '\n' && next.code != '\t')) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(next.code));
    } else if (direction ||
               // 0xFFFE and 0xFFFF are no characters and not allowed in XML.
               (next.code & 0xFFFE) == 0xFFFE) {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(next.code));
    } else {
      out += text.substr(0, next.n_bytes);
    }
    text.remove_prefix(next.n_bytes);
  }
  return out;
}

std::string wrap_message(std::string_view message, std::size_t width, std::size_t indent) {
  std::string out;
  for (const std::string_view one : lines_of(message)) {
    const std::string line = tame(one);
    const bool command = line.find("./lab ") != std::string::npos;
    std::string wrapped = wrap(line, command ? width - 4 : width, indent);
    if (command)
      for (std::size_t at = 0; (at = wrapped.find('\n', at)) != std::string::npos; at += 5)
        wrapped.replace(at, 1, " \\\n  ");
    while (!wrapped.empty() && wrapped.back() == ' ') wrapped.pop_back();
    out += wrapped + "\n";
  }
  return out;
}

std::string tame_line(std::string_view text) {
  std::string out = tame(text);
  std::ranges::replace_if(
      out, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string first_lines(std::string_view text, std::size_t max_lines) {
  std::size_t at = 0;
  for (std::size_t line = 0; line < max_lines; ++line) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return std::string(text);
    at = end + 1;
  }
  if (at >= text.size()) return std::string(text);
  const auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n') +
                    (text.back() == '\n' ? 0 : 1);
  return fmt::format("{}… {} more line{}", text.substr(0, at), more, more == 1 ? "" : "s");
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string paths_from(const std::string& root, std::string_view text) {
  constexpr std::string_view kEnds = " \t\r\n\"'`()<>,;:";
  const auto ends = [&](char c) { return kEnds.find(c) != std::string_view::npos; };
  if (root.empty()) return std::string(text);
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '/' || (i > 0 && !ends(text[i - 1]))) {
      out += text[i++];
      continue;
    }
    // The root's own path may contain any character.
    std::size_t end = text.substr(i).starts_with(root) ? i + root.size() : i;
    while (end < text.size() && !ends(text[end])) ++end;
    const std::string path = std::filesystem::path(text.substr(i, end - i)).lexically_normal().string();
    out += path.starts_with(root + "/") ? std::string_view(path).substr(root.size() + 1)
                                        : text.substr(i, end - i);
    i = end;
  }
  return out;
}

std::string with_folder(std::string_view text, const std::string& folder, const std::string& file) {
  const std::string place = file + ":";
  std::string out;
  for (std::size_t at = 0; (at = text.find(place)) != std::string_view::npos;) {
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool is_name =
        std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_' && before != '/';
    out += text.substr(0, at);
    if (is_name) out += folder + "/";
    out += place;
    text.remove_prefix(at + place.size());
  }
  return out + std::string(text);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  if (from.empty()) return;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::vector<std::string> close_matches(std::string_view word, std::span<const std::string> candidates) {
  struct Near {
    std::size_t distance;
    std::string text;
  };
  std::vector<Near> near;
  const std::string wanted = lower(word.substr(0, 80));
  for (const std::string& candidate : candidates) {
    const std::string other = lower(candidate);
    std::size_t distance = edit_distance(wanted, other);
    // A part of the name counts as one typing error.
    if (wanted.size() >= 2 && other.find(wanted) != std::string::npos) distance = 1;
    if (distance <= std::max<std::size_t>(1, wanted.size() / 3)) near.push_back({distance, candidate});
  }
  std::ranges::stable_sort(near, {}, &Near::distance);
  std::vector<std::string> out;
  for (const Near& one : near) {
    if (out.size() == 3) break;
    out.push_back(one.text);
  }
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  if (candidates.empty()) return "";
  const std::vector<std::string> near = close_matches(word, candidates);
  if (!near.empty()) {
    std::string list = near.front();
    for (std::size_t i = 1; i < near.size(); ++i) list += (i + 1 == near.size() ? " or " : ", ") + near[i];
    return "; did you mean " + list + "?";
  }
  constexpr std::size_t kListable = 12;
  if (candidates.size() > kListable) return "";
  return fmt::format("; there is: {}", fmt::join(candidates, ", "));
}

}  // namespace course::grader
