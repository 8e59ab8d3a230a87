// SPDX-License-Identifier: MIT
// The files of photos, and the darkroom. The whole runs the solutions on the simulator, if they are built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "lab/testing/photo_on_cpu.hpp"
#include "photo/develop.hpp"
#include "photo/image.hpp"
#include "photo/page.hpp"
#include "verifier/session.hpp"

namespace course::grader {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;

std::span<const std::uint8_t> bytes_in(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// --- Files.

TEST(PhotoFiles, AreReadAsTheyWereWritten) {
  const lab::Photo photo = lab::photo_for_tests();
  const auto again = photo_of("photo.png", bytes_in(png_of(photo)));
  ASSERT_TRUE(again);
  EXPECT_EQ(bytes_of(*again), bytes_of(photo));
  EXPECT_TRUE(photo_of("photo.jpg", bytes_in(jpeg_of(photo))));
}

std::string pfm(const std::string& header, std::vector<float> numbers) {
  std::string file = header;
  file.resize(header.size() + 4 * numbers.size());
  std::memcpy(&file[header.size()], numbers.data(), 4 * numbers.size());
  return file;
}

TEST(PhotoFiles, OfPfmBeginWithTheLastRow) {
  const auto photo = photo_of("a.pfm", bytes_in(pfm("Pf\n2 2\n-1\n", {3, 4, 1, 2})));
  ASSERT_TRUE(photo);
  EXPECT_EQ(photo->rgb, (std::vector<float>{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}));
  const auto colour = photo_of("a.pfm", bytes_in(pfm("PF 1 2 -1.0 ", {4, 5, 6, 1, 2, 3})));
  ASSERT_TRUE(colour);
  EXPECT_EQ(colour->rgb, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(PhotoFiles, OfRadianceHoldLight) {
  const std::string file =
      std::string("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n") + "\x80\x40\x20\x83";
  const auto photo = photo_of("a.hdr", bytes_in(file));
  ASSERT_TRUE(photo) << photo.error().text;
  EXPECT_EQ(photo->rgb, (std::vector<float>{4, 2, 1}));
}

TEST(PhotoFiles, ThatAreBadGiveAnError) {
  const std::string png = png_of(lab::photo_for_tests());
  const std::vector<std::pair<std::string, std::string>> files = {
      {"", "no PNG"},
      {"text", "no PNG"},
      {png.substr(0, png.size() / 2), "no PNG"},
      {pfm("Pf\n2 2\n-1\n", {1, 2, 3}), "ends too early"},
      {pfm("Pf\n2\n", {}), "are missing"},
      {pfm("Pf\n99999 99999\n-1\n", {}), "too many"},
      {pfm("Pf\n0 7\n-1\n", {}), "no pixels"},
      {pfm("Pf\n1 1\n-1\n", {-1}), "negative"},
  };
  for (const auto& [file, part] : files) {
    const auto photo = photo_of("NAME", bytes_in(file));
    ASSERT_FALSE(photo) << part;
    EXPECT_THAT(photo.error().text, HasSubstr(part));
    EXPECT_THAT(photo.error().text, HasSubstr("NAME"));
  }
  EXPECT_FALSE(read_photo("/nowhere/photo.png"));
}

TEST(PhotoFiles, AreMadeSmallerByMeans) {
  lab::Photo photo{5, 2, {}, {0, 1, 2, 3, 9, 4, 5, 6, 7, 9}};
  for (const float depth : photo.depth) photo.rgb.insert(photo.rgb.end(), {depth, 0, 2 * depth});
  const lab::Photo small = smaller(photo, 2);
  EXPECT_EQ(small.depth, (std::vector<float>{2.5, 4.5}));
  EXPECT_EQ(small.rgb, (std::vector<float>{2.5, 0, 5, 4.5, 0, 9}));
}

// --- The darkroom.

lab::Outcome on_cpu(const lab::Problem& problem, const lab::Task& task, const lab::Case& c) {
  const std::vector<lab::HostBuffer> inputs = lab::inputs_of(problem, task, c, 1);
  std::vector<lab::HostBuffer> outputs = lab::buffers_of(problem.shape(task, c).outputs, std::byte{0xA5});
  problem.baseline(task, c, inputs, outputs);
  lab::Outcome outcome;
  outcome.verdict = problem.check(task, c, inputs, outputs) ? lab::Verdict::wrong_answer : lab::Verdict::ok;
  return outcome;
}

lab::Outcome unwritten(const lab::Problem&, const lab::Task&, const lab::Case&) {
  lab::Outcome outcome;
  outcome.verdict = lab::Verdict::not_implemented;
  return outcome;
}

// Every byte of the outputs is 0xA5, as if the kernel wrote nothing.
lab::Outcome idle(const lab::Problem& problem, const lab::Task& task, const lab::Case& c) {
  const std::vector<lab::HostBuffer> inputs = lab::inputs_of(problem, task, c, 1);
  lab::Outcome outcome;
  static_cast<lab::Judgement&>(outcome) = lab::judged(lab::Verdict::wrong_answer, "is wrong");
  outcome.failure.mismatch =
      problem.check(task, c, inputs, lab::buffers_of(problem.shape(task, c).outputs, std::byte{0xA5}));
  return outcome;
}

Development development_by(const RunCase& run_case, lab::Photo photo = lab::photo_for_tests()) {
  Development all;
  all.name = "test.png", all.device = "the CPU", all.made_by = "./lab photo", all.before = photo;
  for (const lab::PhotoStage* stage : lab::photo_stages())
    all.stages.push_back(develop(*stage, photo, run_case));
  all.after = photo;
  return all;
}

TEST(Darkroom, HasAStageForEachPosition) {
  int last = 0;
  for (const lab::PhotoStage* stage : lab::photo_stages())
    EXPECT_GT(stage->position, std::exchange(last, stage->position));
  EXPECT_GT(last, 0);
}

TEST(Darkroom, PassesThePhotoOnIfNothingIsWritten) {
  const Development all = development_by(unwritten);
  EXPECT_EQ(all.after.rgb, all.before.rgb);
  for (const DevelopedStage& stage : all.stages) {
    EXPECT_FALSE(stage.is_written());
    EXPECT_EQ(stage.shown.rgb, all.before.rgb);
    EXPECT_THAT(stage_line(stage), HasSubstr("not written yet"));
  }
  EXPECT_THAT(photo_html(all), HasSubstr("class=\"photo unwritten\""));
}

TEST(Darkroom, ChangesThePhotoInEveryStageThatIsRight) {
  const Development all = development_by(on_cpu);
  const std::vector<float>* before = &all.before.rgb;
  for (const DevelopedStage& stage : all.stages) {
    EXPECT_EQ(stage.verdict, lab::Verdict::ok) << stage.stage->does;
    EXPECT_NE(stage.shown.rgb, *before) << stage.stage->does;
    before = &stage.shown.rgb;
  }
  EXPECT_THAT(photo_html(all), Not(HasSubstr("class=\"photo unwritten\"")));
}

TEST(Darkroom, ShowsWhatAWrongKernelDoes) {
  const Development right = development_by(on_cpu), wrong = development_by(idle);
  for (std::size_t i = 0; i < wrong.stages.size(); ++i) {
    EXPECT_EQ(wrong.stages[i].verdict, lab::Verdict::wrong_answer);
    EXPECT_NE(wrong.stages[i].shown.rgb, right.stages[i].shown.rgb) << wrong.stages[i].stage->does;
    EXPECT_THAT(stage_line(wrong.stages[i]), HasSubstr("WRONG_ANSWER"));
    EXPECT_THAT(wrong.stages[i].message, Not(HasSubstr("run it again")));
  }
  EXPECT_THAT(photo_html(wrong), HasSubstr("WRONG_ANSWER"));
}

TEST(Darkroom, DrawsTwoPixelsACharacterInATerminal) {
  const std::string text = photo_text(lab::photo_for_tests(), 60);
  EXPECT_EQ(std::ranges::count(text, '\n'), 91 / 3 / 2);
}

// --- The whole.

// The mean level in each of 4 · 3 parts of the photo.
std::vector<double> digest(const lab::Photo& photo) {
  std::vector<double> sums(12);
  const std::vector<std::uint8_t> bytes = bytes_of(photo);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t x = i / 3 % photo.width * 4 / photo.width, y = i / 3 / photo.width * 3 / photo.height;
    sums[y * 4 + x] += bytes[i] * 12.0 / static_cast<double>(bytes.size());
  }
  return sums;
}

TEST(Whole, IsThePhotoThatTheCpuDevelops) {
  const char* root = std::getenv("LAB_ROOT");
  const char* build = std::getenv("LAB_BUILD");
  ASSERT_TRUE(root != nullptr && build != nullptr);
  auto photo = read_photo(std::string(root) + "/grader/photo/pictures/room.png");
  ASSERT_TRUE(photo);
  ASSERT_TRUE(read_depth(std::string(root) + "/grader/photo/pictures/room.depth.png", *photo));
  photo->focus = photo->depth[photo->n_pixels() / 2 + photo->width / 2];
  const RunCase simulated = [&](const lab::Problem& problem, const lab::Task& task, const lab::Case& c) {
    lab::SessionOptions options;
    options.runner = std::string(build) + "/solutions/runner_" + std::string(problem.manifest().id);
    options.simulator_dir = std::string(build) + "/common/harness/remote";
    options.device_program = options.simulator_dir + "/simulated_device";
    options.of_the_course = true;
    options.seconds_per_case = 60;
    return lab::Session(options).run(problem, task, c, 1, {});
  };
  const Development expected = development_by(on_cpu, *photo), got = development_by(simulated, *photo);
  for (std::size_t k = 0; k < got.stages.size(); ++k) {
    ASSERT_EQ(got.stages[k].verdict, lab::Verdict::ok) << got.stages[k].message;
    const auto a = bytes_of(expected.stages[k].shown), b = bytes_of(got.stages[k].shown);
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], 1) << got.stages[k].task << " at " << i;
  }
  const std::vector<double> stored = {119, 148, 102, 93, 109, 140, 96, 114, 81, 119, 121, 89};
  EXPECT_THAT(digest(got.after), Pointwise(DoubleNear(1), stored));
}

}  // namespace
}  // namespace course::grader
