// SPDX-License-Identifier: MIT
// The tones of ./lab photo as a whole: their cumulative distribution is one scan over a fine histogram, which
// is too long for one block. A tone moves towards the share of pixels that are not brighter (histogram
// equalisation).
#include "lab/photo.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hierarchical_scan/lab.hpp"

namespace course::hierarchical_scan {

const lab::Problem& problem();

namespace {

constexpr std::uint32_t kLevels = 65536;
constexpr float kStrength = 0.3f;  // 0: no change … 1: all tones equally frequent

void equalise(lab::Photo& photo, lab::Kernels& kernels) {
  std::vector<std::uint32_t> levels(photo.n_pixels());
  std::vector<std::int32_t> counts(kLevels);
  for (std::size_t i = 0; i < levels.size(); ++i)
    ++counts[levels[i] = lab::level_of(lab::tone_of(luminance(photo, i)), kLevels)];

  // One of the tasks of the hierarchical scan lab: an inclusive sum of all counts.
  auto c = lab::make_case({"inclusive_sum"}, OpId::sum, lab::DType::i32, counts.size(), lab::Pattern::random);
  c.params[0] = static_cast<std::int64_t>(Kind::inclusive);
  const auto scanned = kernels.run({"look_back", "chained", "reduce_then_scan", "recursive", "two_levels"}, c,
                                   {std::as_bytes(std::span(counts))});
  const auto sums = scanned[0].as<std::int32_t>();

  for (std::size_t i = 0; i < levels.size(); ++i) {
    const float tone = lab::tone_of(luminance(photo, i));
    const float equal = static_cast<float>(sums[levels[i]]) / static_cast<float>(levels.size());
    set_tone(photo, i, std::lerp(tone, std::clamp(equal, 0.0f, 1.0f), kStrength));
  }
}

}  // namespace

extern const lab::PhotoStage kPhotoStage{problem, 4, "balances all tones", equalise};

}  // namespace course::hierarchical_scan
