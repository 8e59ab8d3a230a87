// SPDX-License-Identifier: MIT
#include "layout.hpp"

#include <gtest/gtest.h>

namespace course::grader {
namespace {

TEST(LibraryPath, LosesTheFoldersOfTheBuild) {
  Layout layout;
  layout.build = "/a b/course/build";
  const auto kept = [&](std::string_view folders) { return without_built_libraries(layout, folders); };
  EXPECT_EQ(kept("/usr/lib:" + layout.simulator_dir() + ":/opt/cuda/lib64"), "/usr/lib:/opt/cuda/lib64");
  EXPECT_EQ(kept(layout.remote_dir() + "/:" + layout.simulator_dir() + "/../cudart"), "");
  EXPECT_EQ(kept("/a b/course/build2:/a b/course:lib"), "/a b/course/build2:/a b/course:lib");
  EXPECT_EQ(kept("/usr/lib::"), "/usr/lib");
  EXPECT_EQ(kept(""), "");
}

}  // namespace
}  // namespace course::grader
