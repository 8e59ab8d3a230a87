// SPDX-License-Identifier: MIT
// Reading ninja's and the compilers' words. (That runners are really built is seen by the grading tests.)
#include "build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "build_config.hpp"

namespace course::grader {
namespace {

using lab::Verdict;
using ::testing::HasSubstr;
using ::testing::Not;

const Layout kLayout{"/home/x/course", "/home/x/course/build", ""};

constexpr const char* kTwoFailures = R"(ninja: Entering directory `/home/x/course/build'
[1/4] Compiling Cuda object labs/reduction/runner_reduction.p/reduction.cu.o
FAILED: labs/reduction/runner_reduction.p/reduction.cu.o 
/usr/local/cuda/bin/nvcc -Ilabs -c ../labs/reduction/reduction.cu
../labs/reduction/reduction.cu(41): warning #177-D: variable "x" was declared but never referenced
      int x;
          ^

../labs/reduction/reduction.cu(52): error: identifier "blockIndx" is undefined
      const int gid = blockIndx.x * blockDim.x;
                      ^

../labs/reduction/reduction.cu(60): error: expected a ";"
2 errors detected in the compilation of "../labs/reduction/reduction.cu".
[2/4] Compiling Cuda object labs/scan/runner_scan.p/scan.cu.o
[3/4] Linking target labs/scan/runner_scan
FAILED: [code=1] labs/sat/runner_sat 
c++ -o labs/sat/runner_sat
/usr/bin/ld: sat.cu.o: undefined reference to `helper(int)'
collect2: error: ld returned 1 exit status
ninja: build stopped: cannot make progress due to previous errors.
)";

TEST(FailedEdges, AreCutOutOfNinjasOutput) {
  const auto edges = failed_edges(kTwoFailures);
  ASSERT_EQ(edges.size(), 2U);
  EXPECT_EQ(edges[0].target, "labs/reduction/runner_reduction.p/reduction.cu.o");
  EXPECT_THAT(edges[0].output, HasSubstr("blockIndx"));
  EXPECT_THAT(edges[0].output, Not(HasSubstr("nvcc -I")));
  EXPECT_THAT(edges[0].output, Not(HasSubstr("runner_scan")));
  EXPECT_EQ(edges[1].target, "labs/sat/runner_sat");
  EXPECT_THAT(edges[1].output, HasSubstr("helper(int)"));
  EXPECT_THAT(edges[1].output, Not(HasSubstr("ninja:")));
}

TEST(JudgeBuild, BlamesEachLabForItsOwnErrorsOnly) {
  const std::string labs[] = {"reduction", "scan", "sat"};
  const auto outcomes = judge_build(labs, false, 1, kTwoFailures, kLayout);
  EXPECT_EQ(outcomes.at("reduction").verdict, Verdict::compile_error);
  EXPECT_THAT(outcomes.at("reduction").message,
              HasSubstr("labs/reduction/reduction.cu(52): error: identifier \"blockIndx\" is undefined"));
  EXPECT_THAT(outcomes.at("reduction").message, Not(HasSubstr("../")));
  EXPECT_THAT(outcomes.at("reduction").message, Not(HasSubstr("never referenced")));
  EXPECT_EQ(outcomes.at("scan").verdict, Verdict::ok);
  EXPECT_EQ(outcomes.at("sat").verdict, Verdict::compile_error);
  EXPECT_THAT(outcomes.at("sat").message, HasSubstr("helper(int)"));
}

TEST(JudgeBuild, DoesNotBlameALabForTheSolutionsOrForTheCourse) {
  const std::string labs[] = {"reduction"};
  EXPECT_EQ(judge_build(labs, true, 1, kTwoFailures, kLayout).at("reduction").verdict, Verdict::infra);
  const auto outcomes = judge_build(labs, false, 1,
                                    "[1/2] Compiling\nFAILED: common/lab/lab.a.p/session.o\ng++ x\n"
                                    "session.cpp:3:1: error: no\nninja: build stopped\n",
                                    kLayout);
  EXPECT_EQ(outcomes.at("reduction").verdict, Verdict::infra);
  EXPECT_THAT(outcomes.at("reduction").message, HasSubstr("session.cpp:3:1: error: no"));
}

TEST(JudgeBuild, TakesNinjasOwnTroubleForTheCourses) {
  const std::string labs[] = {"reduction"};
  const auto outcome = judge_build(
      labs, false, 1, "ninja: error: unknown target 'labs/reduction/runner_reduction'\n", kLayout);
  EXPECT_EQ(outcome.at("reduction").verdict, Verdict::infra);
  EXPECT_THAT(outcome.at("reduction").message, HasSubstr("unknown target"));
}

TEST(JudgeBuild, IsOkWhenNinjaIs) {
  const std::string labs[] = {"reduction", "scan"};
  for (const auto& [lab, outcome] : judge_build(labs, false, 0, "[1/1] Linking", kLayout)) {
    EXPECT_EQ(outcome.verdict, Verdict::ok) << lab;
  }
}

TEST(JudgeBuild, LetsNoCompilerOutputControlTheTerminal) {
  const std::string labs[] = {"reduction"};
  const std::string output = "FAILED: labs/reduction/x.o\nnvcc\nx.cu(1): error: \x1b[2J\x07 bad\n";
  EXPECT_THAT(judge_build(labs, false, 1, output, kLayout).at("reduction").message, Not(HasSubstr("\x1b")));
}

// With a real ninja, on a build folder of three labs: one fine, one with an error in it, one that takes too long.
class BuildRunners : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "build-runners-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    std::ofstream(folder_ + "/build.ninja") << R"(
rule run
  command = $what
build labs/fine/runner_fine: run
  what = mkdir -p labs/fine && touch labs/fine/runner_fine
build labs/wrong/runner_wrong: run
  what = echo "wrong.cu(7): error: identifier \"x\" is undefined" && false
build labs/slow/runner_slow: run
  what = sleep 30
)";
    if (*kSimulatorTarget != '\0') {
      std::ofstream(folder_ + "/build.ninja", std::ios::app) << "build " << kSimulatorTarget << ": phony\n";
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(BuildRunners, OneLabsErrorLeavesTheOthersBuilt) {
  const std::string labs[] = {"wrong", "fine"};
  BuildOptions options;
  options.screen = false;
  const auto outcomes = build_runners({folder_, folder_, ""}, labs, options);
  EXPECT_EQ(outcomes.at("fine").verdict, Verdict::ok) << outcomes.at("fine").message;
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/labs/fine/runner_fine"));
  EXPECT_EQ(outcomes.at("wrong").verdict, Verdict::compile_error);
  EXPECT_EQ(outcomes.at("wrong").message,
            "labs/wrong/wrong.cu does not compile, so nothing of it was run\n"
            "  wrong.cu(7): error: identifier \"x\" is undefined");
}

TEST_F(BuildRunners, AStudentsFileMustBeAPlainOne) {
  for (const char* lab : {"link", "pipe", "huge", "fine"})
    std::filesystem::create_directories(folder_ + "/labs/" + lab);
  std::filesystem::create_symlink("/etc/passwd", folder_ + "/labs/link/link.cu");
  ASSERT_EQ(mkfifo((folder_ + "/labs/pipe/pipe.cu").c_str(), 0600), 0);
  std::ofstream(folder_ + "/labs/huge/huge.cu") << std::string(2U << 20, ' ');
  const std::string labs[] = {"link", "pipe", "huge", "fine"};
  BuildOptions options;
  options.screen = false;
  const auto outcomes = build_runners({folder_, folder_, ""}, labs, options);
  for (const char* lab : {"link", "pipe", "huge"})
    EXPECT_EQ(outcomes.at(lab).verdict, Verdict::policy) << lab;
  EXPECT_EQ(outcomes.at("fine").verdict, Verdict::ok) << outcomes.at("fine").message;
}

TEST_F(BuildRunners, EndlessCompilingIsStopped) {
  const std::string labs[] = {"slow"};
  BuildOptions options;
  options.seconds = 1;
  options.screen = false;
  const auto begin = std::chrono::steady_clock::now();
  const auto outcomes = build_runners({folder_, folder_, ""}, labs, options);
  EXPECT_EQ(outcomes.at("slow").verdict, Verdict::compile_error);
  EXPECT_THAT(outcomes.at("slow").message, HasSubstr("longer than 1 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// A root's build folder with what a student's source might reach for while it is compiled.
TEST(CompileView, HidesWhatIsNoneOfAStudentsBusiness) {
  const Layout layout{"/checkout", "/checkout/build", ""};
  const std::string inputs[] = {"../solutions/reduction/meson.build", "../labs/reduction/meson.build",
                                "/somewhere/native.ini"};
  const sandbox::View student = compile_view(layout, false, inputs);
  EXPECT_THAT(student.empty,
              ::testing::IsSupersetOf({"/checkout/.git", "/checkout/solutions", "/checkout/build/solutions",
                                       "/checkout/grader/mutants", "/checkout/build/grader/hostile"}));
  EXPECT_THAT(student.shown,
              ::testing::ElementsAre("/checkout/solutions/reduction/meson.build", "/somewhere/native.ini"));
  EXPECT_THAT(student.writable, ::testing::ElementsAre("/checkout/build"));
  EXPECT_THAT(compile_view(layout, true, inputs).empty, Not(::testing::Contains("/checkout/solutions")));
}

class SandboxedBuild : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* enter = std::getenv("SANDBOX_ENTER");
    machine_ = sandbox::probe(enter == nullptr ? "" : enter, sandbox::Isolation::full);
    if (machine_.level < sandbox::Isolation::namespaces) GTEST_SKIP() << "no namespaces here";
    root_ = (std::filesystem::temp_directory_path() / "sandboxed-build-XXXXXX").string();
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
    layout_ = {root_, root_ + "/build", ""};
    std::filesystem::create_directories(root_ + "/build");
    std::filesystem::create_directories(root_ + "/solutions");
    std::ofstream(root_ + "/solutions/secret.cu") << "the answer\n";
    std::ofstream(root_ + "/open.txt") << "for everybody\n";
    std::ofstream file(root_ + "/build/build.ninja");
    file << "rule run\n  command = $what\nbuild build.ninja: phony\n";
    if (*kSimulatorTarget != '\0') file << "build " << kSimulatorTarget << ": phony\n";
    const auto target = [&](const char* lab, const char* command) {
      file << "build labs/" << lab << "/runner_" << lab << ": run\n  what = mkdir -p labs/" << lab << " && "
           << command << "\n";
    };
    target("open", "cat ../open.txt > labs/open/runner_open");
    target("solution", "cat ../solutions/secret.cu");
    target("passwords", "cat /etc/passwd");
    target("environment", "tr '\\0' '\\n' < /proc/self/environ | grep GRADERS_SECRET");
    target("source", "echo changed > ../open.txt");
    target("memory", "tail /dev/zero");
    target("disk", "cat /dev/zero > labs/disk/flood");
    target("endless", "while :; do :; done");
  }
  void TearDown() override {
    if (!root_.empty()) std::filesystem::remove_all(root_);
  }
  BuildOutcome build(const std::string& lab) {
    BuildOptions options;
    options.machine = &machine_;
    options.cpu_seconds = 1;
    options.screen = false;
    options.seconds = 30;
    const std::string labs[] = {lab};
    return build_runners(layout_, labs, options).at(lab);
  }
  sandbox::Machine machine_;
  std::string root_;
  Layout layout_;
};

TEST_F(SandboxedBuild, SeesTheCheckoutAndNoSecret) {
  setenv("GRADERS_SECRET", "1", 1);
  EXPECT_EQ(build("open").verdict, Verdict::ok) << build("open").message;
  for (const char* lab : {"solution", "passwords", "environment", "source"}) {
    const BuildOutcome outcome = build(lab);
    EXPECT_EQ(outcome.verdict, Verdict::compile_error) << lab << outcome.message;
    EXPECT_THAT(outcome.message, Not(HasSubstr("the answer"))) << lab;
    EXPECT_THAT(outcome.message, Not(HasSubstr("root:"))) << lab;
  }
  unsetenv("GRADERS_SECRET");
}

TEST_F(SandboxedBuild, EndsBombs) {
  for (const char* lab : {"memory", "disk", "endless"}) {
    EXPECT_EQ(build(lab).verdict, Verdict::compile_error) << lab;
  }
}

TEST(FailedEdges, SurviveAnyOutput) {
  std::mt19937 random(17);
  const std::string text = kTwoFailures;
  const std::string labs[] = {"reduction", "sat"};
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 5; ++i) damaged[random() % damaged.size()] = static_cast<char>(random() & 0xff);
    damaged.resize(random() % damaged.size());
    const auto outcomes = judge_build(labs, false, 1, damaged, kLayout);
    ASSERT_EQ(outcomes.size(), 2U);
  }
}

}  // namespace
}  // namespace course::grader
