// SPDX-License-Identifier: MIT
// ./lab photo: one photo, developed by the kernels of the labs. A lab's stage, labs/<lab>/photo.cpp, is what
// the host computes before and after the calls of the lab's tasks; the grader runs these like cases
// (grader/photo/).
// Read: Photo, Kernels, PhotoStage.
// Invariant: whatever a wrong kernel returns, a stage reads and writes only inside of its arrays.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lab/problem.hpp"

namespace course::lab {

// What a stage gets and changes. Arrays have an element for each pixel, row by row, the top row first.
struct Photo {
  std::size_t width = 0, height = 0;
  std::vector<float> rgb = {};  // red, green and blue of each pixel: amounts of light; 1 is the paper's white
  std::vector<float> depth = {};  // distance from the camera: 0 near … 1 far
  float focus = 0;                // the depth that is to be sharp
  std::optional<std::vector<std::uint32_t>> suspects =
      {};                         // pixels that may be of red eyes, if they are known
  std::vector<float> shown = {};  // what the stage shows in place of rgb; may be empty

  std::size_t n_pixels() const { return width * height; }
};

// How bright a pixel's light is (ITU-R BT.709).
inline float luminance(const Photo& photo, std::size_t pixel) {
  const float* rgb = &photo.rgb[3 * pixel];
  return 0.2126f * rgb[0] + 0.7152f * rgb[1] + 0.0722f * rgb[2];
}
inline void multiply(Photo& photo, std::size_t pixel, float factor) {
  for (std::size_t k = 0; k < 3; ++k) photo.rgb[3 * pixel + k] *= factor;
}

// Tones are what the eye sees and a file holds: 0 … 1 in about equal steps. A NaN is black.
constexpr float kGamma = 2.2f;
inline float tone_of(float light) {
  return !(light > 0) ? 0 : light < 1 ? std::pow(light, 1 / kGamma) : 1;
}
inline float light_of(float tone) {
  return std::pow(tone, kGamma);
}
// The number of a tone among n_levels equal steps.
inline std::uint32_t level_of(float tone, std::uint32_t n_levels) {
  return static_cast<std::uint32_t>(std::lround(tone * static_cast<float>(n_levels - 1)));
}
// Changes the tone of a pixel's luminance, and keeps its hue.
inline void set_tone(Photo& photo, std::size_t pixel, float tone) {
  const float before = luminance(photo, pixel);
  if (before > 0) multiply(photo, pixel, light_of(tone) / before);
}

// How red a colour is: 0 … 1, and 0 for grey.
float redness(const Photo& photo, std::size_t pixel);
// The radius of a pupil in this photo, in pixels.
inline std::size_t pupil_radius(const Photo& photo) {
  return photo.width / 80 + 1;
}
// How well each pixel fits the middle of a red pupil: the mean redness around it, minus that of a frame of
// the pupil's size. Larger red things score less.
std::vector<float> red_eye_scores(const Photo& photo);

// Thrown by Kernels::run if no task is written, or if the kernel gave no output.
struct NoOutput {};

// Runs the student's kernels, on the device.
class Kernels {
 public:
  virtual ~Kernels() = default;
  // Calls the first of `tasks` that is written, with a case of the lab and its inputs. The outputs are what
  // the kernel wrote, right or wrong.
  virtual std::vector<HostBuffer> run(std::initializer_list<std::string_view> tasks, const Case& c,
                                      std::initializer_list<std::span<const std::byte>> inputs) = 0;
};

struct PhotoStage {
  const Problem& (*problem)();  // of the stage's lab
  int position;                 // stages with smaller numbers come first
  const char* does;             // "exposes the photo"
  void (*develop)(Photo& photo, Kernels& kernels);
};

// Those of all labs, in their order.
std::vector<const PhotoStage*> photo_stages();

}  // namespace course::lab
