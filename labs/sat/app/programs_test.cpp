// SPDX-License-Identifier: MIT
// The programs, started as a user starts them, write the same image as the filter on the CPU.
// Environment variables: BOX_FILTER, DEPTH_OF_FIELD and GLOSSY_REFLECTION are the programs, IMAGES is the folder
// of the samples.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sat/app/blur.hpp"

namespace course::sat::app {
namespace {

struct Ended {
  int status = -1;
  std::string printed;
};
Ended run_program(const char* variable, const std::string& arguments) {
  const char* program = std::getenv(variable);
  if (program == nullptr) return {-1, std::string(variable) + " is not set"};
  Ended ended;
  FILE* pipe = ::popen(fmt::format("'{}' {} 2>&1", program, arguments).c_str(), "r");
  if (pipe == nullptr) return ended;
  char part[4096];
  while (const std::size_t n = std::fread(part, 1, sizeof part, pipe)) ended.printed.append(part, n);
  const int status = ::pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

class Programs : public testing::Test {
 protected:
  Programs() : folder_(std::filesystem::temp_directory_path() / fmt::format("sat_programs_{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Programs() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  static std::string sample(const std::string& name) {
    return std::string(std::getenv("IMAGES")) + "/" + name;
  }

  // The largest difference between two bytes of the images.
  static int distance(const Image& a, const Image& b) {
    if (a.width != b.width || a.height != b.height || a.channels != b.channels) return 1000;
    int worst = 0;
    for (std::size_t i = 0; i < a.bytes.size(); ++i)
      worst = std::max(worst, std::abs(a.bytes[i] - b.bytes[i]));
    return worst;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(Programs, BlurWithBoxesOfAnySize) {
  const auto scene = read_image(sample("scene.png"));
  ASSERT_TRUE(scene);
  for (const unsigned radius : {0u, 1u, 7u, 60u, 500u}) {
    for (const char* corner : {"", "--lower-left"}) {
      const auto ended = run_program(
          "BOX_FILTER",
          fmt::format("'{}' '{}' --radius {} {}", sample("scene.png"), path("out.png"), radius, corner));
      ASSERT_EQ(ended.status, 0) << ended.printed;
      const auto out = read_image(path("out.png"));
      ASSERT_TRUE(out) << out.error().text;
      BlurOptions options;
      options.radius = radius;
      EXPECT_EQ(distance(*out, reference_blur(*scene, options)), 0) << radius << corner;
      if (radius == 0) {
        EXPECT_EQ(out->bytes, scene->bytes);
      }
    }
  }
}

TEST_F(Programs, KeepSharpWhatIsInFocus) {
  const auto scene = read_image(sample("scene.png"));
  const auto depth = read_depth(sample("depth.pgm"));
  ASSERT_TRUE(scene);
  ASSERT_TRUE(depth);
  for (const char* task : {"serial", "rows_columns", "transpose", "single_pass", "state_of_the_art"}) {
    const auto ended = run_program(
        "DEPTH_OF_FIELD", fmt::format("'{}' '{}' '{}' --focus 0.1 --strength 36 --task {}",
                                      sample("scene.png"), sample("depth.pgm"), path("out.ppm"), task));
    ASSERT_EQ(ended.status, 0) << ended.printed;
    EXPECT_NE(ended.printed.find(task), std::string::npos) << ended.printed;
    const auto out = read_image(path("out.ppm"));
    ASSERT_TRUE(out) << out.error().text;
    const auto radii = radii_for(*depth, 0.1f, 36);
    BlurOptions options;
    options.radii = radii;
    EXPECT_EQ(distance(*out, reference_blur(*scene, options)), 0) << task;
    std::size_t sharp = 0;
    for (std::size_t i = 0; i < radii.size(); ++i) {
      if (radii[i] != 0) continue;
      ++sharp;
      for (std::size_t channel = 0; channel < 3; ++channel)
        ASSERT_EQ(out->bytes[3 * i + channel], scene->bytes[3 * i + channel]) << i;
    }
    EXPECT_GT(sharp, 1000u);
    EXPECT_LT(sharp, radii.size() / 2);
  }
}

// The handout shows two images, which its commands write.
TEST_F(Programs, WriteThePicturesOfTheHandout) {
  for (const auto& [name, options] :
       {std::pair{"focus_near.png", "--focus 0.1 --strength 36"},
        std::pair{"focus_far.png", "--focus 0.75 --strength 30 --lower-left"}}) {
    const auto ended = run_program("DEPTH_OF_FIELD", fmt::format("'{}' '{}' '{}' {}", sample("scene.png"),
                                                                 sample("depth.pgm"), path(name), options));
    ASSERT_EQ(ended.status, 0) << ended.printed;
    const auto shown = read_image(sample(name)), out = read_image(path(name));
    ASSERT_TRUE(shown) << shown.error().text;
    ASSERT_TRUE(out) << out.error().text;
    EXPECT_EQ(distance(*shown, *out), 0) << name;
  }
}

TEST_F(Programs, BlurReflectionsByDistance) {
  const auto scene = read_image(sample("scene.png")), mirror = read_image(sample("mirror.png"));
  const auto distances = read_depth(sample("mirror.pgm"));
  ASSERT_TRUE(scene);
  ASSERT_TRUE(mirror);
  ASSERT_TRUE(distances);
  const auto ended = run_program("GLOSSY_REFLECTION",
                                 fmt::format("'{}' '{}' '{}' '{}' --roughness 42", sample("scene.png"),
                                             sample("mirror.png"), sample("mirror.pgm"), path("glossy.png")));
  ASSERT_EQ(ended.status, 0) << ended.printed;
  const auto out = read_image(path("glossy.png")), shown = read_image(sample("glossy.png"));
  ASSERT_TRUE(out) << out.error().text;
  ASSERT_TRUE(shown) << shown.error().text;
  EXPECT_EQ(distance(*out, *shown), 0) << "the handout's picture";
  const auto radii = radii_for(*distances, 0, 42);
  BlurOptions options;
  options.radii = radii;
  EXPECT_EQ(distance(*out, with_reflection(*scene, reference_blur(*mirror, options), *distances, 0.5f)), 0);
  EXPECT_GT(*std::max_element(radii.begin(), radii.end()), 30u);
  for (std::size_t i = 0; i < radii.size(); ++i) {
    if (distances->depths[i] == 0) {
      ASSERT_EQ(out->bytes[3 * i], scene->bytes[3 * i]) << i;
    }
  }
}

TEST_F(Programs, RefuseAMirrorOfAnotherSize) {
  std::ofstream(path("small.ppm"), std::ios::binary) << "P6\n1 1\n255\n...";
  const auto ended = run_program("GLOSSY_REFLECTION",
                                 fmt::format("'{}' '{}' '{}' '{}' --roughness 42", sample("scene.png"),
                                             path("small.ppm"), sample("mirror.pgm"), path("glossy.png")));
  EXPECT_EQ(ended.status, 1);
  EXPECT_NE(ended.printed.find("differ in size"), std::string::npos) << ended.printed;
}

TEST_F(Programs, SayWhatIsWrongAndEndWithAFailure) {
  const auto complains = [&](const std::string& arguments, const char* about) {
    const auto ended = run_program("DEPTH_OF_FIELD", arguments + " --focus 0.5 --strength 3");
    EXPECT_NE(ended.status, 0) << arguments;
    EXPECT_LT(ended.status, 128) << arguments << " crashed";
    EXPECT_NE(ended.printed.find(about), std::string::npos) << ended.printed;
  };
  const std::string scene = sample("scene.png"), depth = sample("depth.pgm"), out = path("out.png");
  const std::string cut = path("cut.png");
  std::ofstream(cut, std::ios::binary) << std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  complains(fmt::format("'{}' '{}' '{}'", cut, depth, out), "cut.png: is no PNG that can be read");
  complains(fmt::format("'{}' '{}' '{}'", scene, path("nowhere.pfm"), out), "nowhere.pfm: can't be opened");
  complains(fmt::format("'{}' '{}' '{}'", scene, depth, path("out.jpeg")),
            "out.jpeg: a colour picture goes into");
  std::ofstream(path("small.pgm"), std::ios::binary) << "P5\n2 2\n255\n....";
  complains(fmt::format("'{}' '{}' '{}'", scene, path("small.pgm"), out),
            "the depth map has 2 x 2 pixels, the image 480 x 360");
  complains(fmt::format("'{}' '{}' '{}' --task box", scene, depth, out), "there is no task \"box\"");
}

}  // namespace
}  // namespace course::sat::app
