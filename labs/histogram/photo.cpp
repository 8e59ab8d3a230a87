// SPDX-License-Identifier: MIT
// Black and white of ./lab photo: a histogram of the tones says which are the darkest and the brightest that
// the photo uses, and these become black and white.
#include "lab/photo.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "histogram/lab.hpp"

namespace course::histogram {

const lab::Problem& problem();

namespace {

constexpr std::uint32_t kLevels = 256;
constexpr Count kLost = 200;  // one pixel in so many becomes black, and as many white

// Shows the counts as columns in the lower third of the photo.
std::vector<float> with_columns(const lab::Photo& photo, const std::vector<Count>& counts) {
  std::vector<float> shown = photo.rgb;
  const double most = static_cast<double>(*std::ranges::max_element(counts)) + 1;
  for (std::size_t x = 0; x < photo.width; ++x) {
    const double share = static_cast<double>(counts[x * kLevels / photo.width]) / most;
    const auto top = photo.height - static_cast<std::size_t>(share * static_cast<double>(photo.height / 3));
    for (std::size_t y = top; y < photo.height; ++y)
      std::ranges::fill_n(shown.begin() + static_cast<std::ptrdiff_t>(3 * (y * photo.width + x)), 3, 1.0f);
  }
  return shown;
}

void stretch(lab::Photo& photo, lab::Kernels& kernels) {
  std::vector<std::uint8_t> levels(photo.n_pixels());
  for (std::size_t i = 0; i < levels.size(); ++i)
    levels[i] = static_cast<std::uint8_t>(lab::level_of(lab::tone_of(luminance(photo, i)), kLevels));

  // One of the tasks of the histogram lab: a bin for each level.
  auto c = lab::make_case({"even_u8"}, OpId::even, lab::DType::u8, levels.size(), lab::Pattern::random);
  c.params[kBinsParam] = c.params[kHiParam] = kLevels;
  const auto counted =
      kernels.run({"combined", "shared_counts", "sort_reduce", "private_counts", "global_atomics"}, c,
                  {std::as_bytes(std::span(levels))});
  const auto counts_of_all = counted[0].as<Count>().first(kLevels);
  const std::vector<Count> counts(counts_of_all.begin(), counts_of_all.end());

  std::uint32_t black = 0, white = kLevels - 1;
  const Count few = levels.size() / kLost;
  for (Count below = counts[0]; below <= few && black + 1 < white;) below += counts[++black];
  for (Count above = counts[white]; above <= few && black + 1 < white;) above += counts[--white];
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const float tone = lab::tone_of(luminance(photo, i)) * (kLevels - 1) - static_cast<float>(black);
    set_tone(photo, i, std::clamp(tone / static_cast<float>(white - black), 0.0f, 1.0f));
  }
  photo.shown = with_columns(photo, counts);
}

}  // namespace

extern const lab::PhotoStage kPhotoStage{problem, 2, "finds black and white", stretch};

}  // namespace course::histogram
