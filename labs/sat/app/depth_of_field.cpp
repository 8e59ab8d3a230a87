// SPDX-License-Identifier: MIT
// depth_of_field IMAGE DEPTH OUT --focus D --strength S: sharp at depth D; the further a pixel is from that
// depth, the more it is blurred. Approximate: each pixel is the mean of a box whose radius depends on the
// pixel's own depth, so sharp objects also appear in the blurred pixels beside them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "sat/app/blur.hpp"

int main(int argc, char** argv) {
  using namespace course::sat;
  CLI::App program{"Approximate depth of field from a picture and its depth map."};
  std::string in, depth_in, out;
  float focus = 0, strength = 0;
  app::BlurOptions options;
  bool lower_left = false;
  program.add_option("image", in, "PNG, PGM or PPM")->required();
  program.add_option("depth", depth_in, "PNG or PGM (0: near, white: 1, far), or PFM; as large as the image")
      ->required();
  program.add_option("out", out, "where the result goes: .png, .pgm or .ppm")->required();
  program.add_option("--focus", focus, "the depth that is sharp")->required();
  program.add_option("--strength", strength, "radius of the blur, in pixels, one unit of depth away from it")
      ->required()
      ->check(CLI::NonNegativeNumber);
  program.add_option("--task", options.task,
                     "the task that makes the tables; default: the best one that is written");
  program.add_flag("--lower-left", lower_left, "make tables from the lower left corner");
  CLI11_PARSE(program, argc, argv);
  if (lower_left) options.corner = Corner::lower_left;

  const auto fail = [](const course::Error& error) {
    fmt::print(stderr, "depth_of_field: {}\n", error.text);
    return 1;
  };
  const auto image = app::read_image(in);
  if (!image) return fail(image.error());
  const auto depth = app::read_depth(depth_in);
  if (!depth) return fail(depth.error());
  if (depth->width != image->width || depth->height != image->height) {
    return fail({fmt::format("the depth map has {} x {} pixels, the image {} x {}", depth->width,
                             depth->height, image->width, image->height)});
  }
  const auto radii = app::radii_for(*depth, focus, strength);
  options.radii = radii;
  const auto blurred = app::blur(*image, options);
  if (!blurred) return fail(blurred.error());
  if (auto r = app::write_image(out, blurred->image); !r) return fail(r.error());
  fmt::print("{}: {} x {} pixels, radius up to {}; tables by {}\n", out, image->width, image->height,
             *std::ranges::max_element(radii), blurred->task);
}
