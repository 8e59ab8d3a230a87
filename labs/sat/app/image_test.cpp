// SPDX-License-Identifier: MIT
// Images are read as they were written; reading a damaged file returns an Error. The environment variable
// IMAGES is the folder of the samples.
#include "sat/app/image.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace course::sat::app {
namespace {

class Files : public testing::Test {
 protected:
  Files() : folder_(std::filesystem::temp_directory_path() / fmt::format("sat_images_{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string written(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  static std::string sample(const std::string& name) {
    const char* folder = std::getenv("IMAGES");
    return (folder == nullptr ? std::string("labs/sat/app/images") : folder) + ("/" + name);
  }
  static std::string contents(const std::string& from) {
    std::ifstream file(from, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The error of a file, or "" if it was read.
  std::string complaint(const std::string& bytes) const {
    const std::string file = written("some", bytes);
    const auto image = read_image(file);
    return image ? "" : image.error().text.substr(file.size());
  }
  std::string depth_complaint(const std::string& bytes) const {
    const std::string file = written("some", bytes);
    const auto depth = read_depth(file);
    return depth ? "" : depth.error().text.substr(file.size());
  }

 private:
  std::filesystem::path folder_;
};

Image checkered(std::size_t width, std::size_t height, std::size_t channels) {
  Image image{width, height, channels, {}};
  for (std::size_t i = 0; i < width * height * channels; ++i)
    image.bytes.push_back(static_cast<std::uint8_t>(i * 37 % 251));
  return image;
}

TEST_F(Files, ComeBackAsTheyWereWritten) {
  const std::pair<const char*, std::size_t> kinds[] = {
      {"a.png", 1}, {"a.png", 3}, {"a.pgm", 1}, {"a.ppm", 3}};
  for (const auto& [name, channels] : kinds) {
    const Image image = checkered(7, 5, channels);
    ASSERT_TRUE(write_image(path(name), image)) << name;
    const auto back = read_image(path(name));
    ASSERT_TRUE(back) << back.error().text;
    EXPECT_EQ(back->width, 7u);
    EXPECT_EQ(back->height, 5u);
    EXPECT_EQ(back->channels, channels);
    EXPECT_EQ(back->bytes, image.bytes) << name;
  }
}

TEST_F(Files, OfTheLabAreRead) {
  const auto scene = read_image(sample("scene.png"));
  ASSERT_TRUE(scene) << scene.error().text;
  const auto depth = read_depth(sample("depth.pgm"));
  ASSERT_TRUE(depth) << depth.error().text;
  EXPECT_EQ(scene->channels, 3u);
  EXPECT_EQ(scene->width, depth->width);
  EXPECT_EQ(scene->height, depth->height);
}

TEST_F(Files, AreRefusedWhereverTheyAreCutOff) {
  const std::string png = contents(sample("scene.png")), pgm = contents(sample("depth.pgm"));
  ASSERT_GT(png.size(), 1000u);
  ASSERT_GT(pgm.size(), 1000u);
  // The last 12 bytes of a PNG are an empty closing chunk.
  for (std::size_t n = 0; n < png.size() - 12; n += n < 100 ? 1 : png.size() / 89)
    EXPECT_NE(complaint(png.substr(0, n)), "") << n;
  for (std::size_t n = 0; n < pgm.size(); n += n < 100 ? 1 : pgm.size() / 199) {
    EXPECT_NE(complaint(pgm.substr(0, n)), "") << n;
    EXPECT_NE(depth_complaint(pgm.substr(0, n)), "") << n;
  }
  EXPECT_EQ(complaint(pgm.substr(0, pgm.size() - 1)),
            ": ends too early: 480 x 360 pixels need 172800 bytes, 172799 are there");
}

// Reading may succeed or fail, but it must return.
TEST_F(Files, WithAnyByteChangedAreReadOrRefused) {
  const std::string png = contents(sample("scene.png"));
  for (std::size_t at = 0; at < png.size(); at += at < 60 ? 1 : png.size() / 139) {
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string changed = png;
      changed[at] = byte;
      complaint(changed);
      depth_complaint(changed);
    }
  }
}

TEST_F(Files, ThatAreTooLargeAreRefusedBeforeAnythingIsAllocated) {
  EXPECT_EQ(complaint("P5\n16385 1\n255\n"),
            ": 16385 x 1 pixels are too many: at most 16384 a side and 67108864 in all");
  EXPECT_NE(complaint("P6\n16384 16384\n255\n").find("too many"), std::string::npos);
  EXPECT_NE(complaint("P6\n18446744073709551615 2\n255\n").find("too many"), std::string::npos);
  EXPECT_NE(complaint("P6\n99999999999999999999 2\n255\n").find("header"), std::string::npos);
  // A PNG that says it is 2^31 - 1 pixels wide.
  std::string png = contents(sample("scene.png"));
  png.replace(16, 4, "\x7f\xff\xff\xff");
  EXPECT_NE(complaint(png), "");
}

TEST_F(Files, WithBrokenHeadersAreRefused) {
  EXPECT_NE(complaint("").find("is no PNG, PGM or PPM"), std::string::npos);
  EXPECT_NE(complaint("P5"), "");
  EXPECT_NE(complaint("P5\n"), "");
  EXPECT_NE(complaint("P5\n# only a comment"), "");
  EXPECT_NE(complaint("P5\n-3 4\n255\n............"), "");
  EXPECT_NE(complaint("P5\n0 4\n255\n").find("no pixels"), std::string::npos);
  EXPECT_NE(complaint("P5\n2 2\n100\n....").find("255 or 65535"), std::string::npos);
  EXPECT_NE(complaint("P2\n2 2\n255\n1 2 3 4").find("is no PNG"), std::string::npos);
  EXPECT_EQ(complaint("P5 # a comment\n2 # and one more\n2\n255\n...."), "");
  EXPECT_FALSE(read_image(path("nowhere.png")));
  EXPECT_FALSE(write_image(path("no/such/folder.png"), checkered(2, 2, 3)));
  EXPECT_FALSE(write_image(path("colour.pgm"), checkered(2, 2, 3)));
}

std::string floats(std::initializer_list<float> values, bool low_first) {
  std::string bytes;
  for (const float value : values) {
    char at[4];
    std::memcpy(at, &value, 4);
    if (!low_first) std::swap(at[0], at[3]), std::swap(at[1], at[2]);
    bytes.append(at, 4);
  }
  return bytes;
}

TEST_F(Files, OfFloatsHaveTheirLowestRowFirst) {
  for (const bool low_first : {true, false}) {
    const auto depth = read_depth(written(
        "d.pfm", (low_first ? "Pf\n2 3\n-1.0\n" : "Pf\n2 3\n1.0\n") + floats({5, 6, 3, 4, 1, 2}, low_first)));
    ASSERT_TRUE(depth) << depth.error().text;
    EXPECT_EQ(depth->depths, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  }
  EXPECT_NE(depth_complaint("Pf\n2 1\n-1\n" + floats({1, std::nanf("")}, true)).find("row 0, column 1"),
            std::string::npos);
  EXPECT_NE(depth_complaint("Pf\n2 1\n0\n" + floats({1, 2}, true)).find("scale"), std::string::npos);
  EXPECT_NE(depth_complaint("Pf\n2 1\n-1\n" + floats({1}, true)).find("ends too early"), std::string::npos);
  EXPECT_NE(depth_complaint("PF\n1 1\n-1\n" + floats({1, 2, 3}, true)).find("one channel"),
            std::string::npos);
}

TEST_F(Files, OfSixteenBitsKeepThemInDepthsAndAreRoundedInImages) {
  const std::string file =
      written("d.pgm", std::string("P5\n3 1\n65535\n") + std::string("\0\0\x80\0\xff\xff", 6));
  const auto depth = read_depth(file);
  ASSERT_TRUE(depth);
  EXPECT_EQ(depth->depths[0], 0.0f);
  EXPECT_FLOAT_EQ(depth->depths[1], 32768.0f / 65535.0f);
  EXPECT_EQ(depth->depths[2], 1.0f);
  const auto image = read_image(file);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->bytes, (std::vector<std::uint8_t>{0, 128, 255}));
}

}  // namespace
}  // namespace course::sat::app
