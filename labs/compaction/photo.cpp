// SPDX-License-Identifier: MIT
// The suspects of ./lab photo: the pixels that look like the middle of a red pupil, in their order. Most
// pixels do not, and the next stage need not look at them. The thumbnail marks the suspects.
#include "lab/photo.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compaction/lab.hpp"

namespace course::compaction {

const lab::Problem& problem();

namespace {

constexpr float kSuspicious = 0.1f;  // scores above this

// Makes a small square around a pixel green.
void mark(std::vector<float>& rgb, std::size_t pixel, std::size_t width) {
  constexpr float kGreen[] = {0.1f, 1.0f, 0.2f};
  for (const std::size_t row : {pixel - width, pixel, pixel + width})
    for (const std::size_t at : {row - 1, row, row + 1})
      if (at < rgb.size() / 3) std::ranges::copy(kGreen, &rgb[3 * at]);
}

void find_suspects(lab::Photo& photo, lab::Kernels& kernels) {
  const std::vector<float> scores = red_eye_scores(photo);
  std::vector<std::int32_t> items(scores.size());  // 0, or the number of a suspect, counted from 1
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i] = scores[i] > kSuspicious ? static_cast<std::int32_t>(i + 1) : 0;

  // One of the tasks of the compaction lab: keeps the items that are not 0.
  const auto c =
      lab::make_case({"nonzero_i32"}, KeepId::nonzero, lab::DType::i32, items.size(), lab::Pattern::random);
  const auto kept = kernels.run({"single_pass", "warp_aggregated", "fused", "three_kernels"}, c,
                                {std::as_bytes(std::span(items))});
  const Index count = std::min<Index>(kept[1].as<Index>()[0], items.size());

  photo.suspects.emplace();
  photo.shown = photo.rgb;
  for (const std::int32_t item : kept[0].as<std::int32_t>().first(count)) {
    if (item < 1 || static_cast<std::size_t>(item) > items.size()) continue;  // a wrong kernel's
    const auto pixel = static_cast<std::uint32_t>(item - 1);
    photo.suspects->push_back(pixel);
    mark(photo.shown, pixel, photo.width);
  }
}

}  // namespace

extern const lab::PhotoStage kPhotoStage{problem, 5, "marks what may be red eyes", find_suspects};

}  // namespace course::compaction
