// SPDX-License-Identifier: MIT
// For tests of the stages of ./lab photo: kernels that are the labs' CPU baselines, and a photo to develop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "base/rng.hpp"
#include "lab/photo.hpp"

namespace course::lab {

class CpuKernels : public Kernels {
 public:
  explicit CpuKernels(const Problem& problem) : problem_(problem) {}
  std::vector<HostBuffer> run(std::initializer_list<std::string_view> tasks, const Case& c,
                              std::initializer_list<std::span<const std::byte>> items) override {
    const Task& task = *find_task(problem_.manifest(), *tasks.begin());
    const Shape shape = problem_.shape(task, c);
    std::vector<HostBuffer> inputs = buffers_of(shape.inputs), outputs = buffers_of(shape.outputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      std::ranges::copy(items.begin()[i], inputs[i].bytes.begin());
    problem_.baseline(task, c, inputs, outputs);
    return outputs;
  }

 private:
  const Problem& problem_;
};

// Random colours, most of them dark, in front of depths that grow to the right; and two red pupils.
inline Photo photo_for_tests() {
  Photo photo{177, 91};
  Rng rng(7);
  for (std::size_t i = 0; i < 3 * photo.n_pixels(); ++i)
    photo.rgb.push_back(0.3f * light_of(static_cast<float>(rng.below(1000)) / 999));
  for (std::size_t i = 0; i < photo.n_pixels(); ++i)
    photo.depth.push_back(static_cast<float>(i % photo.width) / static_cast<float>(photo.width));
  for (const std::size_t middle : {40 * photo.width + 50, 42 * photo.width + 90})
    for (std::size_t y = middle - 2 * photo.width; y <= middle + 2 * photo.width; y += photo.width)
      for (std::size_t pixel = y - 2; pixel <= y + 2; ++pixel)
        photo.rgb[3 * pixel] = 0.9f, photo.rgb[3 * pixel + 1] = photo.rgb[3 * pixel + 2] = 0.01f;
  return photo;
}
// The photo after a stage whose kernels are right.
inline Photo developed(const PhotoStage& stage, Photo photo) {
  CpuKernels kernels(stage.problem());
  stage.develop(photo, kernels);
  return photo;
}

}  // namespace course::lab
