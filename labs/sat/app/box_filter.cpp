// SPDX-License-Identifier: MIT
// box_filter IMAGE OUT --radius K: every pixel becomes the mean of the (2K + 1) x (2K + 1) pixels around it.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sat/app/blur.hpp"

int main(int argc, char** argv) {
  using namespace course::sat;
  CLI::App program{"Blurs a picture with boxes of any size: the time does not depend on it."};
  std::string in, out;
  app::BlurOptions options;
  bool lower_left = false;
  program.add_option("image", in, "PNG, PGM or PPM")->required();
  program.add_option("out", out, "where the result goes: .png, .pgm or .ppm")->required();
  program.add_option("--radius", options.radius, "pixels to each side of the middle; 0 changes nothing")
      ->required()
      ->check(CLI::Range(0u, 1u << 20));
  program.add_option("--task", options.task,
                     "the task that makes the tables; default: the best one that is written");
  program.add_flag("--lower-left", lower_left, "make tables from the lower left corner");
  CLI11_PARSE(program, argc, argv);
  if (lower_left) options.corner = Corner::lower_left;

  const auto fail = [](const course::Error& error) {
    fmt::print(stderr, "box_filter: {}\n", error.text);
    return 1;
  };
  const auto image = app::read_image(in);
  if (!image) return fail(image.error());
  const auto blurred = app::blur(*image, options);
  if (!blurred) return fail(blurred.error());
  if (auto r = app::write_image(out, blurred->image); !r) return fail(r.error());
  fmt::print("{}: {} x {} pixels, {} channels, radius {}; tables by {}\n", out, image->width, image->height,
             image->channels, options.radius, blurred->task);
}
