// SPDX-License-Identifier: MIT
// glossy_reflection IMAGE MIRROR DISTANCE OUT --roughness R --share S: adds to the picture what a mirror that
// is not perfectly smooth shows. The further an object is from the mirror, the more its reflection is blurred.
// Approximate: each pixel of the reflection is the mean of a box of what a perfect mirror would show.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "sat/app/blur.hpp"

int main(int argc, char** argv) {
  using namespace course::sat;
  CLI::App program{"A blurred reflection, from what a perfect mirror shows and how far away that is."};
  std::string in, mirror_in, distance_in, out;
  float roughness = 0, share = 0.5f;
  app::BlurOptions options;
  program.add_option("image", in, "the scene without the mirror: PNG, PGM or PPM")->required();
  program.add_option("mirror", mirror_in, "what a perfect mirror shows; as large as the image")->required();
  program.add_option("distance", distance_in, "from the mirror to what it shows: 0 (no mirror) to 1 (far)")
      ->required();
  program.add_option("out", out, "where the result goes: .png, .pgm or .ppm")->required();
  program.add_option("--roughness", roughness, "radius of the blur, in pixels, for the distance 1")
      ->required()
      ->check(CLI::NonNegativeNumber);
  program.add_option("--share", share, "how much of a pixel is the reflection")->check(CLI::Range(0.0, 1.0));
  program.add_option("--task", options.task,
                     "the task that makes the tables; default: the best one that is written");
  CLI11_PARSE(program, argc, argv);

  const auto fail = [](const course::Error& error) {
    fmt::print(stderr, "glossy_reflection: {}\n", error.text);
    return 1;
  };
  const auto image = app::read_image(in), mirror = app::read_image(mirror_in);
  if (!image) return fail(image.error());
  if (!mirror) return fail(mirror.error());
  const auto distance = app::read_depth(distance_in);
  if (!distance) return fail(distance.error());
  const auto is_as_large = [&](const auto& other) {
    return other.width == image->width && other.height == image->height;
  };
  if (!is_as_large(*mirror) || !is_as_large(*distance) || mirror->channels != image->channels)
    return fail({"the three pictures differ in size, or in the number of channels"});
  const auto radii = app::radii_for(*distance, 0, roughness);
  options.radii = radii;
  const auto blurred = app::blur(*mirror, options);
  if (!blurred) return fail(blurred.error());
  const auto mixed = app::with_reflection(*image, blurred->image, *distance, share);
  if (auto r = app::write_image(out, mixed); !r) return fail(r.error());
  fmt::print("{}: {} x {} pixels, radius up to {}; tables by {}\n", out, image->width, image->height,
             *std::ranges::max_element(radii), blurred->task);
}
