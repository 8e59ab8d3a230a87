// SPDX-License-Identifier: MIT
#include "bar.hpp"

#include <algorithm>
#include <cmath>

namespace course::grader {

std::string bar(double share, std::size_t width) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double held = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
  const auto eighths = static_cast<std::size_t>(std::lround(held * 8 * static_cast<double>(width)));
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  return out + kEighths[eighths % 8];
}

}  // namespace course::grader
