// SPDX-License-Identifier: MIT
// The exposure of ./lab photo, by two reductions over all pixels: the mean of the logarithms of the
// luminance, and the largest luminance. Source: E. Reinhard, M. Stark, P. Shirley and J. Ferwerda, 2002:
// Photographic Tone Reproduction for Digital Images, section 3, equations 1 to 4; DOI 10.1145/566654.566575.
#include "lab/photo.hpp"

#include <cmath>
#include <vector>

#include "reduction/lab.hpp"

namespace course::reduction {

const lab::Problem& problem();

namespace {

constexpr float kMiddleGrey = 0.18f;  // the geometric mean of the luminance is scaled to this
constexpr float kBlack = 1e-6f;       // added to the light of each pixel, since 0 has no logarithm

// One value for all pixels, from one of the tasks of the reduction lab.
float reduce(lab::Kernels& kernels, OpId op, const std::vector<float>& items) {
  const auto c = lab::make_case({name_of(op)}, op, lab::DType::f32, items.size(), lab::Pattern::random);
  return kernels
      .run({"single_launch", "coarsened", "shuffle", "sequential", "neighboured"}, c,
           {std::as_bytes(std::span(items))})[0]
      .as<float>()[0];
}

void expose(lab::Photo& photo, lab::Kernels& kernels) {
  std::vector<float> light(photo.n_pixels()), logarithms(photo.n_pixels());
  for (std::size_t i = 0; i < light.size(); ++i) {
    light[i] = luminance(photo, i);
    logarithms[i] = std::log(kBlack + light[i]);
  }
  const float factor = kMiddleGrey / std::exp(reduce(kernels, OpId::mean, logarithms));
  const float white = factor * reduce(kernels, OpId::max, light);
  for (std::size_t i = 0; i < light.size(); ++i) {
    const float scaled = factor * light[i];
    multiply(photo, i, factor * (1 + scaled / (white * white)) / (1 + scaled));
  }
}

}  // namespace

extern const lab::PhotoStage kPhotoStage{problem, 1, "exposes the photo", expose};

}  // namespace course::reduction
