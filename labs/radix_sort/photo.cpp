// SPDX-License-Identifier: MIT
// The red eyes of ./lab photo: sorts the suspects by their score, and corrects the best ones. Without a stage
// that finds suspects, all pixels are suspects.
#include "lab/photo.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "radix_sort/lab.hpp"

namespace course::radix_sort {

const lab::Problem& problem();

namespace {

constexpr float kGood = 0.75f;  // of the best score
constexpr float kRed = 0.3f;    // the redness of what is corrected

// Takes the red out of a disc around the middle of a pupil.
void correct_eye(lab::Photo& photo, std::uint32_t middle) {
  const auto radius = static_cast<std::ptrdiff_t>(pupil_radius(photo));
  for (std::ptrdiff_t dy = -radius; dy <= radius; ++dy) {
    for (std::ptrdiff_t dx = -radius; dx <= radius; ++dx) {
      const std::ptrdiff_t pixel = middle + dy * static_cast<std::ptrdiff_t>(photo.width) + dx;
      if (dx * dx + dy * dy > radius * radius || pixel < 0) continue;
      const auto at = static_cast<std::size_t>(pixel);
      if (at < photo.n_pixels() && redness(photo, at) > kRed)
        photo.rgb[3 * at] = (photo.rgb[3 * at + 1] + photo.rgb[3 * at + 2]) / 2;
    }
  }
}

void correct_red_eyes(lab::Photo& photo, lab::Kernels& kernels) {
  const std::vector<float> scores = red_eye_scores(photo);
  std::vector<std::uint32_t> all(photo.n_pixels());
  std::iota(all.begin(), all.end(), 0u);
  const std::vector<std::uint32_t>& suspects = photo.suspects.value_or(all);
  std::vector<std::uint32_t> keys;  // ascending: the best score first
  for (const std::uint32_t pixel : suspects)
    keys.push_back(lab::level_of(std::clamp(1 - scores[pixel], 0.0f, 1.0f), 65536));

  // One of the tasks of the radix sort lab: keys of 16 bits, and the pixels as their values.
  auto c = lab::make_case({"pairs_u32"}, OpId::pairs, lab::DType::u32, keys.size(), lab::Pattern::random);
  c.params[kEndBit] = 16;
  const auto sorted = kernels.run({"onesweep", "any_key", "digits"}, c,
                                  {std::as_bytes(std::span(keys)), std::as_bytes(std::span(suspects))});

  const auto ranked = sorted[1].as<std::uint32_t>();
  const auto score_of = [&](std::uint32_t pixel) { return pixel < scores.size() ? scores[pixel] : 0.0f; };
  for (const std::uint32_t pixel : ranked) {
    if (!(score_of(pixel) > 0) || score_of(pixel) < kGood * score_of(ranked[0])) break;
    correct_eye(photo, pixel);
  }
}

}  // namespace

extern const lab::PhotoStage kPhotoStage{problem, 6, "corrects the best of them", correct_red_eyes};

}  // namespace course::radix_sort
