// SPDX-License-Identifier: MIT
// From a file to a runner, with fast commands in place of the compilers: the files that stages see and may
// write, and the checks between stages. (With the real compilers: compile_attack_test.cpp.)
#include "compile/build.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "build_config.hpp"
#include "compile/compile_file.hpp"
#include "compile/parallel_script.hpp"
#include "compile/run_folder.hpp"
#include "screen/screen.hpp"
#include "testing/files.hpp"

namespace course::grader {
namespace {

namespace fs = std::filesystem;
using lab::Verdict;
using testing::contents;
using ::testing::HasSubstr;
using ::testing::Not;

// A checkout with a build folder, and a student's file from another folder.
class Compiled : public ::testing::Test {
 protected:
  void SetUp() override {
    layout_ = {root_, root_ + "/build", ""};
    for (const char* folder : {"/build/grader", "/labs/scan", "/solutions"})
      fs::create_directories(root_ + folder);
    std::ofstream(root_ + "/build/.lab-stamp") << "stamp\n";
    std::ofstream(root_ + "/build/linked.o") << "ours\n";
    std::ofstream(root_ + "/labs/scan/lab.hpp") << "for everybody\n";
    std::ofstream(root_ + "/labs/scan/scan.cu") << "the checkout's\n";
    std::ofstream(root_ + "/solutions/secret.cu") << "the answer\n";
    std::ofstream(root_ + "/handed_in.cu") << "the student's\n";
    recipe_.compile = "cat {source} > {object}";
    recipe_.link = "cat {object} > {runner}";
    recipe_.linked = {"linked.o"};
    recipe_.headers = {root_ + "/labs/scan/lab.hpp"};
    options_.screen = false;
    options_.cpu_seconds = 1;
    options_.seconds = 30;
  }

  void use_sandbox(sandbox::Isolation most = sandbox::Isolation::full) {
    const char* enter = std::getenv("SANDBOX_ENTER");
    ASSERT_NE(enter, nullptr);
    machine_ = sandbox::probe(enter, most);
    options_.machine = &machine_;
  }
  BuildOutcome compile() {
    return compile_file(layout_, recipe_, "scan", root_ + "/handed_in.cu", root_ + "/work", options_);
  }

  const testing::Folder folder_{"compiled with space"};
  const std::string& root_ = folder_.path;
  Layout layout_;
  Recipe recipe_;
  BuildOptions options_;
  sandbox::Machine machine_;
};

TEST_F(Compiled, MakesARunnerFromAFile) {
  for (const sandbox::Isolation most : {sandbox::Isolation::none, sandbox::Isolation::full}) {
    use_sandbox(most);
    const BuildOutcome outcome = compile();
    EXPECT_EQ(outcome.verdict, Verdict::ok) << outcome.message;
    EXPECT_EQ(contents(root_ + "/work/runner"), "the student's\n");
    EXPECT_EQ(access((root_ + "/work/runner").c_str(), X_OK), 0);
  }
}

TEST_F(Compiled, StagesAccessOnlyTheirOwnFiles) {
  use_sandbox();
  if (machine_.level < sandbox::Isolation::namespaces) GTEST_SKIP() << "no namespaces here";
  setenv("GRADERS_SECRET", "1", 1);
  const Recipe good = recipe_;
  for (const char* attack :
       {"cat ROOT/solutions/secret.cu", "cat /etc/passwd",
        "tr '\\0' '\\n' < /proc/self/environ | grep GRADERS_SECRET", "echo changed > ROOT/build/.lab-stamp",
        "echo changed > ROOT/build/linked.o", "echo changed > ROOT/build/grader/sandbox_enter",
        "echo changed > ROOT/labs/scan/lab.hpp", "echo changed > ROOT/labs/scan/scan.cu",
        "echo changed > ROOT/work/object.o", "echo changed > ROOT/work/runner",
        "ln -sf /etc/passwd ROOT/build/link"}) {
    std::string command = attack;
    if (const std::size_t at = command.find("ROOT"); at != std::string::npos)
      command.replace(at, 4, "'" + root_ + "'");
    for (std::string Recipe::*stage : {&Recipe::compile, &Recipe::link}) {
      recipe_ = good;
      recipe_.*stage = command + " && " + recipe_.*stage;
      const BuildOutcome outcome = compile();
      EXPECT_EQ(outcome.verdict, Verdict::compile_error) << command;
      EXPECT_THAT(outcome.message, Not(HasSubstr("the answer"))) << command;
      EXPECT_THAT(outcome.message, Not(HasSubstr("root:"))) << command;
    }
  }
  unsetenv("GRADERS_SECRET");
  EXPECT_EQ(contents(root_ + "/build/.lab-stamp"), "stamp\n");
  EXPECT_EQ(contents(root_ + "/build/linked.o"), "ours\n");
  EXPECT_FALSE(fs::exists(root_ + "/build/grader/sandbox_enter"));
}

TEST_F(Compiled, StopsCompilerBombs) {
  use_sandbox();
  if (machine_.level < sandbox::Isolation::namespaces) GTEST_SKIP() << "no namespaces here";
  for (const char* bomb : {"tail /dev/zero", "cat /dev/zero > {object}", "while :; do :; done"}) {
    recipe_.compile = bomb;
    EXPECT_EQ(compile().verdict, Verdict::compile_error) << bomb;
  }
}

TEST_F(Compiled, StopsEndlessCompiling) {
  recipe_.compile = "sleep 30";
  options_.seconds = 1;
  const auto begin = std::chrono::steady_clock::now();
  const BuildOutcome outcome = compile();
  EXPECT_EQ(outcome.verdict, Verdict::compile_error);
  EXPECT_THAT(outcome.message, HasSubstr("longer than 1 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// A compiler under a student's control may leave any kind of file in its folder.
TEST_F(Compiled, AcceptsOnlyRegularFilesAsObjects) {
  for (const char* left : {"ln -s /etc/passwd {object}", "mkfifo {object}", "mkdir {object}", "true"}) {
    recipe_.compile = left;
    const BuildOutcome outcome = compile();
    EXPECT_EQ(outcome.verdict, Verdict::compile_error) << left;
    EXPECT_FALSE(fs::exists(root_ + "/work/runner")) << left;
  }
}

TEST_F(Compiled, LinksNothingThatWasNotScreened) {
  options_.screen = true;
  recipe_.link = "touch {folder}/was_linked {runner}";
  // Options of the link-time optimiser, as inline assembly can write them; and a linker script in place of an
  // object.
  recipe_.compile = "printf '.section .gnu.lto_.opts,\"e\"\\n.ascii \"x\"\\n' | as -o {object}";
  EXPECT_EQ(compile().verdict, Verdict::policy);
  EXPECT_THAT(compile().message, HasSubstr(".gnu.lto_.opts: is a section that the compiler does not make"));
  recipe_.compile = "echo 'INPUT(/etc/passwd)' > {object}";
  EXPECT_EQ(compile().verdict, Verdict::policy);
  EXPECT_FALSE(fs::exists(root_ + "/work/was_linked"));
  EXPECT_FALSE(fs::exists(root_ + "/work/runner"));
}

// The linker names the undefined function, which is clearer than the screening's message.
TEST_F(Compiled, ReportsForgottenDefinitionAsCompileError) {
  options_.screen = true;
  recipe_.compile = "printf '.text\\ncall _Z6helperi\\n' | as -o {object}";
  recipe_.link = "echo \"scan.cu.o: undefined reference to 'helper(int)'\"; exit 1";
  EXPECT_EQ(compile().verdict, Verdict::compile_error);
  EXPECT_THAT(compile().message, HasSubstr("helper(int)"));
  recipe_.link = "touch {runner}";
  EXPECT_EQ(compile().verdict, Verdict::policy) << "some library has it";
}

// With #line 1 "bwrap: " the compiler's errors look like those of a sandbox that did not start, which would
// be a fault of the machine and cost no points.
TEST_F(Compiled, SourcesCannotImitateErrorsOfTheSandbox) {
  for (const sandbox::Isolation most : {sandbox::Isolation::full, sandbox::Isolation::none}) {
    use_sandbox(most);
    for (const char* name : {"bwrap: ", "sandbox: "}) {
      recipe_.compile = std::string("echo '") + name + "(1): error: expected a \";\"'; exit 1";
      const BuildOutcome outcome = compile();
      EXPECT_EQ(outcome.verdict, Verdict::compile_error) << outcome.message;
      EXPECT_THAT(outcome.message, HasSubstr("expected a"));
      EXPECT_THAT(outcome.message, HasSubstr("labs/scan/scan.cu does not compile"));
    }
  }
}

TEST_F(Compiled, RefusesStudentFilesThatAreNotRegular) {
  for (const char* lab : {"link", "pipe", "huge", "gone"}) fs::create_directories(root_ + "/labs/" + lab);
  fs::create_symlink("/etc/passwd", root_ + "/labs/link/link.cu");
  ASSERT_EQ(mkfifo((root_ + "/labs/pipe/pipe.cu").c_str(), 0600), 0);
  std::ofstream(root_ + "/labs/huge/huge.cu") << std::string(2U << 20, ' ');
  const std::string labs[] = {"link", "pipe", "huge", "gone"};
  const auto outcomes = build_runners(layout_, labs, options_);
  for (const char* lab : {"link", "pipe", "huge"})
    EXPECT_EQ(outcomes.at(lab).verdict, Verdict::policy) << lab;
  EXPECT_THAT(outcomes.at("gone").message, HasSubstr("labs/gone/gone.cu is not there"));
}

TEST_F(Compiled, BuildsOtherSolutionsAfterAnError) {
  std::ofstream(root_ + "/build/build.ninja") << R"(
rule run
  command = $what
build solutions/runner_fine: run
  what = touch solutions/runner_fine
build solutions/runner_wrong: run
  what = echo "wrong.cu(7): error: identifier \"x\" is undefined" && false
)";
  const std::string labs[] = {"wrong", "fine"};
  options_.solutions = true;
  const auto outcomes = build_runners(layout_, labs, options_);
  EXPECT_EQ(outcomes.at("fine").verdict, Verdict::ok) << outcomes.at("fine").message;
  EXPECT_TRUE(fs::exists(*runner_of(layout_, "fine", true)));
  EXPECT_EQ(outcomes.at("wrong").verdict, Verdict::infra) << "the course's own fault";
  EXPECT_THAT(outcomes.at("wrong").message, HasSubstr("identifier \"x\" is undefined"));
}

TEST_F(Compiled, RunFolderIsPrivateAndTemporary) {
  fs::create_directories(root_ + "/build/runs/killed");  // a folder without a lock, as after SIGKILL
  const pid_t child = fork();
  if (child == 0) {
    const auto folder = run_folder(layout_);
    const bool good = folder && fs::is_directory(*folder) && !fs::exists(root_ + "/build/runs/killed");
    std::exit(good ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::is_empty(root_ + "/build/runs"));
}

TEST_F(Compiled, CtrlCLeavesNothingBehind) {
  const pid_t child = fork();
  if (child == 0) {
    tidy_up_on_signals();
    if (!run_folder(layout_)) _exit(1);
    raise(SIGINT);
    for (;;) pause();
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
  EXPECT_TRUE(fs::is_empty(root_ + "/build/runs"));
}

TEST(CompilersWords, AreTheSameEachTime) {
  EXPECT_EQ(without_chance("/tmp/cc9zFnr6.s:6: Error"), without_chance("/tmp/ccXlWpLD.s:6: Error"));
  EXPECT_EQ(without_chance("labs/scan/scan.cu(3): error: /tmp/ccc"), "labs/scan/scan.cu(3): error: /tmp/ccc");
}

// The output of nvcc 13, shortened.
constexpr const char* kDryrun = R"(#$ _SPACE_= 
#$ TOP=/cuda/bin/..
#$ CICC_PATH=/cuda/bin/../nvvm/bin
#$ PATH=/cuda/bin:/usr/bin
#$ INCLUDES="-I/cuda/include"  
#$ "/usr/bin"/g++ -D__CUDA_ARCH_LIST__=900 -E -x c++ -m64 "labs/scan/scan.cu" -o "/tmp/tmpxft_000071e6_00000000-5_scan.cpp4.ii" 
#$ cudafe++ --stub_file_name "tmpxft_000071e6_00000000-6_scan.cudafe1.stub.c" --gen_module_id_file --module_id_file_name "/tmp/tmpxft_000071e6_00000000-4_scan.module_id" "/tmp/tmpxft_000071e6_00000000-5_scan.cpp4.ii" 
#$ "/usr/bin"/g++ -D__CUDA_ARCH__=900 -E -x c++ -m64 "labs/scan/scan.cu" -o "/tmp/tmpxft_000071e6_00000000-7_scan.cpp1.ii" 
#$ "$CICC_PATH/cicc" -arch compute_90 --module_id_file_name "/tmp/tmpxft_000071e6_00000000-4_scan.module_id" "/tmp/tmpxft_000071e6_00000000-7_scan.cpp1.ii" -o "/tmp/tmpxft_000071e6_00000000-6_scan.ptx"
#$ ptxas -arch=sm_90 "/tmp/tmpxft_000071e6_00000000-6_scan.ptx"  -o "/tmp/tmpxft_000071e6_00000000-8_scan.cubin" 
#$ fatbinary -64 "--image3=kind=ptx,sm=90,file=/tmp/tmpxft_000071e6_00000000-6_scan.ptx" --embedded-fatbin="/tmp/tmpxft_000071e6_00000000-3_scan.fatbin.c" 
#$ rm /tmp/tmpxft_000071e6_00000000-3_scan.fatbin
#$ "/usr/bin"/g++ -D__CUDA_ARCH__=900 -c -x c++ -m64 "/tmp/tmpxft_000071e6_00000000-6_scan.cudafe1.cpp" -o "{object}" 
)";

TEST(SideBySide, RunsNvccsCommandsInParallel) {
  const std::string script = parallel_script(kDryrun, "labs/scan/scan.cu");
  EXPECT_THAT(script, Not(HasSubstr("tmpxft")));
  EXPECT_THAT(
      script,
      HasSubstr("w={folder}\nexport CICC_PATH='/cuda/bin/../nvvm/bin'\nexport PATH='/cuda/bin:/usr/bin'\n"));
  EXPECT_THAT(script, HasSubstr("{source} -o \"$w/5_scan.cpp4.ii\""));
  EXPECT_THAT(script, HasSubstr("--stub_file_name \"6_scan.cudafe1.stub.c\""));
  EXPECT_THAT(script, HasSubstr("printf %s _00000000_7_scan_cu_00000000 >\"$w/4_scan.module_id\""));
  EXPECT_THAT(script, Not(HasSubstr("--gen_module_id_file"))) << "the device's compiler would have to wait";
  EXPECT_THAT(script, HasSubstr(" -S -x c++ -m64 \"$w/6_scan.cudafe1.cpp\" -o \"$w/host.s\""));
  EXPECT_THAT(script, HasSubstr("\"/usr/bin\"/g++ -m64 -c \"$w/host.s\" -o {object}"));
  EXPECT_LT(script.find("cicc"), script.find("wait $host")) << "begun before the host's half has ended";
}

TEST(SideBySide, IsEmptyForUnknownOutputOfNvcc) {
  const std::string text = kDryrun;
  for (const char* needed : {"cudafe++", "--gen_module_id_file", "fatbinary", "cicc", "ptxas", "-E -x c++",
                             "--embedded-fatbin", " -c -x c++ "}) {
    std::string changed = text;
    changed.replace(changed.find(needed), std::string_view(needed).size(), "something");
    EXPECT_EQ(parallel_script(changed, "labs/scan/scan.cu"), "") << needed;
  }
  EXPECT_EQ(parallel_script("nvcc fatal: no such option\n", "labs/scan/scan.cu"), "");
  EXPECT_EQ(parallel_script("", "labs/scan/scan.cu"), "");
}

TEST(OnlyForTask, RemovesKernelsOfOtherTasks) {
  const std::string source =
      "  switch (rung) {\n    case Rung::blelloch: return blelloch(job);\n"
      "    case Rung::kogge_stone: return kogge_stone(job);\n    default: return Status::unsupported;\n  }\n";
  EXPECT_EQ(only_for_task(source, "blelloch"),
            "  switch (rung) {\n    case Rung::blelloch: return blelloch(job);\n"
            "    case Rung::kogge_stone: return Status::unsupported;\n    default: return "
            "Status::unsupported;\n  }\n");
  EXPECT_EQ(only_for_task(source, "hillis_steele"), source) << "written in a way of its own";
  EXPECT_EQ(only_for_task("int x;", "blelloch"), "int x;");
}

// The lines that only_for_task looks for must be those of the skeletons.
TEST(OnlyForTask, FindsGivenLinesOfEachLab) {
  for (const auto& entry : fs::directory_iterator(std::string(kSourceRoot) + "/labs")) {
    const std::string lab = entry.path().filename().string(), source = contents(entry.path() / (lab + ".cu"));
    if (source.empty()) continue;
    const std::size_t at = source.find("case Rung::") + std::string_view("case Rung::").size();
    const std::string task = source.substr(at, source.find(':', at) - at);
    EXPECT_NE(only_for_task(source, task), source) << lab;
  }
}

TEST(Recipe, QuotesPaths) {
  EXPECT_EQ(fill_in("{source} {object} {folder} {runner}", "/w/it's.cu", "/a b/o.o", "/w/runner"),
            "'/w/it'\\''s.cu' '/a b/o.o' '/a b' '/w/runner'");
}

}  // namespace
}  // namespace course::grader
