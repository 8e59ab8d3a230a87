// SPDX-License-Identifier: MIT
// The local contrast of ./lab photo: the photo is divided into tiles, and in each of them all tones become
// about equally frequent. A tile's histogram is a row; the scan of the row says how many of the tile's pixels
// are at most as bright as each level. Source: K. Zuiderveld, 1994: Contrast Limited Adaptive Histogram
// Equalization, in Graphics Gems IV.
#include "lab/photo.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "scan/lab.hpp"

namespace course::scan {

const lab::Problem& problem();

namespace {

constexpr std::uint32_t kTiles = 8;  // in each direction
constexpr std::uint32_t kLevels = 256;
constexpr float kStrength = 0.5f;      // 0: no change … 1: equalised
constexpr std::int32_t kSteepest = 3;  // a level counts at most so many times what it would if all were equal

// The histograms of the tiles, a row for each. What a level has too many is given to all levels.
std::vector<std::int32_t> histograms_of_tiles(const lab::Photo& photo) {
  std::vector<std::int32_t> counts(kTiles * kTiles * kLevels);
  for (std::size_t i = 0; i < photo.n_pixels(); ++i) {
    const std::size_t row = i / photo.width * kTiles / photo.height,
                      column = i % photo.width * kTiles / photo.width;
    ++counts[(row * kTiles + column) * kLevels + lab::level_of(lab::tone_of(luminance(photo, i)), kLevels)];
  }
  const auto most = kSteepest * static_cast<std::int32_t>(photo.n_pixels() / counts.size() + 1);
  for (auto tile = counts.begin(); tile != counts.end(); tile += kLevels) {
    std::int32_t cut = 0;
    std::for_each(tile, tile + kLevels, [&](std::int32_t& count) {
      cut += std::max(0, count - most);
      count = std::min(count, most);
    });
    std::for_each(tile, tile + kLevels,
                  [&](std::int32_t& count) { count += cut / static_cast<std::int32_t>(kLevels); });
  }
  return counts;
}

// Between which tiles' middles a pixel is, and how far on the way to the second.
struct Between {
  std::size_t first, second;
  float share;
  Between(std::size_t at, std::size_t size) {
    const float tile = (static_cast<float>(at) + 0.5f) * kTiles / static_cast<float>(size) - 0.5f;
    const float low = std::clamp(tile, 0.0f, kTiles - 1.0f);
    first = static_cast<std::size_t>(low);
    second = std::min<std::size_t>(first + 1, kTiles - 1);
    share = low - static_cast<float>(first);
  }
};

void equalise_tiles(lab::Photo& photo, lab::Kernels& kernels) {
  const std::vector<std::int32_t> counts = histograms_of_tiles(photo);
  // One of the tasks of the scan lab: an inclusive sum of each row.
  auto c = lab::make_case({"inclusive_sum"}, OpId::sum, lab::DType::i32, counts.size(), lab::Pattern::random);
  c.params[kRowLengthParam] = kLevels;
  c.params[kKindParam] = static_cast<std::int64_t>(Kind::inclusive);
  const auto scanned =
      kernels.run({"coarsened", "blelloch", "hillis_steele"}, c, {std::as_bytes(std::span(counts))});
  const auto sums = scanned[0].as<std::int32_t>();

  const float n_tile = static_cast<float>(photo.n_pixels()) / (kTiles * kTiles);
  for (std::size_t i = 0; i < photo.n_pixels(); ++i) {
    const Between row(i / photo.width, photo.height), column(i % photo.width, photo.width);
    const float tone = lab::tone_of(luminance(photo, i));
    const auto share = [&](std::size_t r, std::size_t c_) {
      return static_cast<float>(sums[(r * kTiles + c_) * kLevels + lab::level_of(tone, kLevels)]) / n_tile;
    };
    const float above =
        std::lerp(share(row.first, column.first), share(row.first, column.second), column.share);
    const float below =
        std::lerp(share(row.second, column.first), share(row.second, column.second), column.share);
    const float equal = std::clamp(std::lerp(above, below, row.share), 0.0f, 1.0f);
    set_tone(photo, i, std::lerp(tone, equal, kStrength));
  }
}

}  // namespace

extern const lab::PhotoStage kPhotoStage{problem, 3, "brings out every corner", equalise_tiles};

}  // namespace course::scan
