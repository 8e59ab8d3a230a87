// SPDX-License-Identifier: MIT
#include "layout.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

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

class WrittenToolchain : public testing::Test {
 protected:
  ~WrittenToolchain() override { std::filesystem::remove_all(folder_); }
  Result<Toolchain> read(std::string_view text) {
    std::ofstream(folder_ + "/toolchain.txt") << text;
    return read_toolchain(folder_ + "/toolchain.txt", libraries_);
  }
  std::string folder_ = testing::TempDir() + "toolchain_test_XXXXXX";
  std::string libraries_;

 private:
  const char* made_ = mkdtemp(folder_.data());
};

TEST_F(WrittenToolchain, HoldsPathsWithSpaces) {
  const auto found = read(
      "nvcc /a b/nvcc\nnvcc -ccbin\nnvcc /usr/bin/g++\ncxx /usr/bin/g++\narch 80\narch 90\nfolder /a b\n"
      "libraries /a b/lib64\n");
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(found->nvcc, (std::vector<std::string>{"/a b/nvcc", "-ccbin", "/usr/bin/g++"}));
  EXPECT_EQ(found->cxx, std::vector<std::string>{"/usr/bin/g++"});
  EXPECT_EQ(found->gpu_archs, (std::vector<std::string>{"80", "90"}));
  EXPECT_EQ(found->folders, std::vector<std::string>{"/a b"});
  EXPECT_EQ(libraries_, "/a b/lib64");
}

TEST_F(WrittenToolchain, WithoutACompilerIsAnError) {
  EXPECT_FALSE(read("nvcc /usr/bin/nvcc\narch 90\n"));
  EXPECT_FALSE(read("nvcc x\ncxx x\narch 90\ncolour blue\n"));
  EXPECT_FALSE(read_toolchain("/nowhere/toolchain.txt", libraries_));
}

// Set-up (common/tools/setup/setup.sh) writes the file of prebuilt tools; what it leaves out is compiled in.
TEST(Toolchain, OfTheBuildNamesCompilersAndAGpu) {
  const Toolchain built = toolchain_of_build();
  EXPECT_FALSE(built.nvcc.empty());
  EXPECT_FALSE(built.cxx.empty());
  EXPECT_FALSE(built.gpu_archs.empty());
}

}  // namespace
}  // namespace course::grader
