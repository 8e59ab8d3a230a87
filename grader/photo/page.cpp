// SPDX-License-Identifier: MIT
#include "photo/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "page/page.hpp"
#include "photo/image.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using page::Html;
using page::text;
using page::Tone;

constexpr std::size_t kThumbnail = 320;  // pixels in a row, at most

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kDigits[three >> (18 - 6 * k) & 63];
  }
  return out;
}

lab::Photo thumbnail(const lab::Photo& photo, std::size_t width = kThumbnail) {
  return smaller(photo, std::max<std::size_t>(1, (photo.width + width - 1) / width));
}

Html picture(const lab::Photo& photo, std::string_view about, const Html& caption,
             std::string_view look = "") {
  return page::raw(fmt::format(
      "<figure class=\"photo {}\"><img alt=\"{}\" width=\"{}\" height=\"{}\" "
      "src=\"data:image/jpeg;base64,{}\">"
      "<figcaption>{}</figcaption></figure>\n",
      look, text(about).markup, photo.width, photo.height, base64(jpeg_of(photo)), caption.markup));
}

std::string_view title_of(const DevelopedStage& stage) {
  return stage.stage->problem().manifest().title;
}

// "single_launch, 1.2 ms": what ran, and the time of its kernels if it is known.
std::string ran(const DevelopedStage& stage) {
  return stage.time_us > 0 ? fmt::format("{}, {:.3g} ms", stage.task, stage.time_us / 1000) : stage.task;
}

Html stage_html(const DevelopedStage& stage, std::size_t number) {
  const bool right = stage.verdict == lab::Verdict::ok;
  const std::string_view said = stage.is_written() ? lab::name_of(stage.verdict) : "not written yet";
  Html caption = page::raw(fmt::format("<b>{}. {}</b> ", number, text(title_of(stage)).markup)) +
                 text(stage.stage->does) + page::raw("<br>") +
                 page::toned(right                ? Tone::good
                             : stage.is_written() ? Tone::bad
                                                  : Tone::quiet,
                             text(said));
  if (stage.is_written() && !stage.task.empty()) caption += text(": " + ran(stage));
  if (stage.is_written() && !right)
    caption += page::details(text("What the grader says"), page::code_block(tame(stage.message), "Message"));
  return picture(thumbnail(stage.shown), fmt::format("After the stage that {}", stage.stage->does), caption,
                 stage.is_written() ? "" : "unwritten");
}

}  // namespace

std::string photo_html(const Development& development) {
  const auto& [name, device, made_by, before, after, stages] = development;
  page::Document document{.title = "Photo: " + tame_line(name), .made_by = made_by};
  const auto written = std::ranges::count_if(stages, &DevelopedStage::is_written);
  document.summary = text(fmt::format("{} × {} pixels; {} of {} stages are written; kernels ran on: {}.",
                                      before.width, before.height, written, stages.size(), device));
  document.body =
      page::section("Before and after", page::raw("<div class=\"pair-of-photos\">") +
                                            picture(before, "The photo as it was taken", text("As taken")) +
                                            picture(after, "The developed photo", text("Developed")) +
                                            page::raw("</div>\n"));
  Html strip;
  for (std::size_t i = 0; i < stages.size(); ++i) strip += stage_html(stages[i], i + 1);
  document.body +=
      page::section("Stages", page::raw("<div class=\"strip\">") + strip + page::raw("</div>\n"));
  return page::document(document);
}

std::string stage_line(const DevelopedStage& stage) {
  const std::string_view said = stage.is_written() ? lab::name_of(stage.verdict) : "not written yet";
  std::string line = fmt::format("  {} {} {} {}", fit_left(title_of(stage), 18),
                                 fit_left(stage.stage->does, 27), fit_left(said, 15), ran(stage));
  line.erase(line.find_last_not_of(' ') + 1);
  if (stage.is_written() && !stage.message.empty()) line += "\n" + wrap_message(stage.message, 80, 4);
  return line + (line.ends_with('\n') ? "" : "\n");
}

std::string photo_text(const lab::Photo& photo, std::size_t columns) {
  const lab::Photo small = thumbnail(photo, columns);
  const std::vector<std::uint8_t> bytes = bytes_of(small);
  std::string out;
  for (std::size_t y = 0; y + 1 < small.height; y += 2) {
    for (std::size_t x = 0; x < small.width; ++x) {
      const std::uint8_t *upper = &bytes[3 * (y * small.width + x)], *lower = upper + 3 * small.width;
      out += fmt::format("\x1b[38;2;{};{};{};48;2;{};{};{}m▀", upper[0], upper[1], upper[2], lower[0],
                         lower[1], lower[2]);
    }
    out += "\x1b[0m\n";
  }
  return out;
}

}  // namespace course::grader
