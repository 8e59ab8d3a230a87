// SPDX-License-Identifier: MIT
// What a person sees of long work, and of a wait for another process that builds.
#include "progress.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>

#include "compile/run_folder.hpp"
#include "process.hpp"
#include "testing/files.hpp"

namespace course::grader {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

constexpr std::chrono::milliseconds kLonger{2500};  // than what is announced

TEST(Progress, OuterLineShowsInnerWork) {
  CaptureStderr();
  {
    Progress outer(Progress::Form::redrawn);
    outer.begin("Measuring", 2);
    outer.step("scan");
    Progress inner(Progress::Form::redrawn);
    inner.begin("building", 0);
    inner.detail("[3/7] Compiling\x1b[31m");
    std::this_thread::sleep_for(kLonger);
  }
  const std::string shown = GetCapturedStderr();
  EXPECT_THAT(shown, HasSubstr("Measuring [1/2]  scan: building: [3/7] Compiling"));
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
}

TEST(Progress, SilentOneSilencesInnerWork) {
  CaptureStderr();
  {
    const Progress outer(Progress::Form::silent);
    Progress inner(Progress::Form::redrawn);
    inner.begin("building", 0);
    std::this_thread::sleep_for(kLonger);
  }
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(Progress, NamesWhoHoldsTheBuildFolder) {
  const testing::Folder own;
  const std::string& folder = own.path;
  const Layout layout{folder, folder, ""};
  std::ofstream(folder + "/ninja.lock") << "123\t./lab debug\n";
  const int held = open((folder + "/ninja.lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  CaptureStderr();
  {
    const Progress outer(Progress::Form::redrawn);
    std::thread holder([&] {
      std::this_thread::sleep_for(kLonger);
      close(held);
    });
    const BuildLock waiting(layout);
    holder.join();
    std::string now;
    std::getline(std::ifstream(folder + "/ninja.lock"), now, '\t');
    EXPECT_EQ(now, std::to_string(getpid()));
  }
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("waiting until \"./lab debug\" (process 123) has built"));
}

TEST(Progress, GetsCompleteLinesOfPrograms) {
  std::string last;
  ProcessOptions options;
  options.on_line = [&](std::string_view line) { last = line; };
  ASSERT_TRUE(run_process({"/bin/sh", "-c", "printf 'one\\ntwo\\nthr'"}, options));
  EXPECT_EQ(last, "two");
}

}  // namespace
}  // namespace course::grader
