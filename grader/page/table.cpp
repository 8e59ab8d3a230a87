// SPDX-License-Identifier: MIT
#include "page/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/markup.hpp"

namespace course::grader::page {
namespace {

std::string rows_of(const Table& t, const std::vector<std::vector<Cell>>& rows) {
  std::string out;
  for (const auto& row : rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool number = i < t.columns.size() && t.columns[i].number;
      const std::string open = i == 0 ? "<th scope=\"row\"" : "<td";
      out += fmt::format("{}{}>{}{}", open, number ? " class=\"number\"" : "",
                         toned(row[i].tone, row[i].content).markup, i == 0 ? "</th>" : "</td>");
    }
    out += "</tr>\n";
  }
  return out;
}

}  // namespace

Html table(const Table& t) {
  std::string out = fmt::format(
      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table>\n"
      "<caption{1}>{0}</caption>\n<thead><tr>",
      escape_markup(t.caption), t.shows_caption ? "" : " class=\"unseen\"");
  for (const Column& c : t.columns)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", c.number ? " class=\"number\"" : "", c.title.markup);
  out += "</tr></thead>\n<tbody>\n" + rows_of(t, t.rows) + "</tbody>\n";
  if (!t.foot.empty()) out += "<tfoot>\n" + rows_of(t, t.foot) + "</tfoot>\n";
  return {out + "</table></div>\n"};
}

Html meter(double share) {
  const double s = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
  return {
      fmt::format("<svg class=\"meter\" viewBox=\"0 0 60 10\" aria-hidden=\"true\"><rect class=\"whole\" "
                  "width=\"60\" height=\"10\"/>"
                  "<rect width=\"{:.1f}\" height=\"10\"/></svg>",
                  60 * s)};
}

}  // namespace course::grader::page
