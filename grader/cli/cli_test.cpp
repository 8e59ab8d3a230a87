// SPDX-License-Identifier: MIT
// labcli as a user calls it: exit codes, messages, and real grading on the simulator. The environment
// variable LABCLI is its path.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "process.hpp"
#include "testing/files.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class Labcli : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* labcli = std::getenv("LABCLI");
    ASSERT_NE(labcli, nullptr) << "set LABCLI to the program";
    labcli_ = labcli;
  }

  // What labcli prints; the exit code must be this one, if any.
  std::string run(std::vector<std::string> arguments, std::optional<int> exit_code = 0,
                  const std::vector<std::string>& environment = {}) {
    arguments.insert(arguments.begin(), labcli_);
    ProcessOptions options;
    options.seconds = 900;
    options.environment = environment_;
    options.environment.insert(options.environment.end(), environment.begin(), environment.end());
    const auto done = run_process(arguments, options);
    EXPECT_TRUE(done);
    if (!done) return "";
    EXPECT_EQ(done->exit_code, exit_code.value_or(done->exit_code)) << done->output;
    return done->output;
  }
  std::string contents(const std::string& name) const { return testing::contents(folder_ + "/" + name); }

  // All labs if the list is empty.
  void expect_all_points(const std::vector<std::string>& labs) {
    std::vector<std::string> arguments{"grade",  "--solutions", "--device", "sim",
                                       "--seed", "0x2024",      "--json",   folder_ + "/out.json"};
    arguments.insert(arguments.begin() + 1, labs.begin(), labs.end());
    const std::string done = run(arguments);
    const json result = json::parse(contents("out.json"));
    EXPECT_EQ(result.at("seed"), "0x2024");
    EXPECT_EQ(result.at("modelled"), true);
    for (const json& lab : result.at("labs")) {
      EXPECT_EQ(lab.at("points"), lab.at("max_points")) << done;
      EXPECT_EQ(lab.at("bonus_points"), lab.at("max_bonus_points")) << done;
      std::set<bool> recorded;  // whether the CPU times are; of all tasks or of none
      for (const json& task : lab.at("tasks")) {
        EXPECT_EQ(task.at("verdict"), "OK") << done;
        if (!task.at("timing").is_null()) recorded.insert(task.at("timing").at("cpu_runs") == 0);
      }
      EXPECT_LE(recorded.size(), 1u) << lab.at("id") << ": a timed case has no row in kCpuTimes (points.hpp)";
    }
  }
  void expect_no_finding(const std::vector<std::string>& labs) {
    std::vector<std::string> arguments{"check", "--solutions"};
    arguments.insert(arguments.begin() + 1, labs.begin(), labs.end());
    const std::string done = run(arguments);
    EXPECT_THAT(done, HasSubstr("Nothing found."));
    EXPECT_THAT(done, Not(HasSubstr("finding")));
  }

  const testing::Folder own_;
  const std::string& folder_ = own_.path;
  std::string labcli_;
  std::vector<std::string> environment_;
};

TEST_F(Labcli, HelpAndListsFitATerminal) {
  std::vector<std::vector<std::string>> asked{{"--help"}, {"list"}, {"isolation"}};
  std::istringstream help(run({"--help"}));
  for (std::string line, name; std::getline(help, line) && !line.starts_with("Subcommands:");) continue;
  for (std::string line, name; std::getline(help, line) && std::istringstream(line) >> name;)
    asked.push_back({name, "--help"});
  ASSERT_GT(asked.size(), 11u);
  for (const auto& one : asked) {
    const std::string done = run(one);
    std::istringstream lines(done);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(display_width(line), 80u) << one[0] << ": " << line;
  }
}

TEST_F(Labcli, BreaksLongMessagesOnATerminal) {
  ProcessOptions options;
  options.environment = {"COLUMNS=80"};
  const auto done =
      run_process({"script", "-qec", labcli_ + " trace sat separable --solutions", "/dev/null"}, options);
  ASSERT_TRUE(done);
  EXPECT_THAT(done->output, HasSubstr("There is no task"));
  for (std::string_view line : lines_of(done->output)) EXPECT_LE(display_width(line), 80u) << line;
}

TEST_F(Labcli, ExplainsWrongUsage) {
  run({}, 1);
  run({"--help"});
  run({"grade", "--help"});
  const struct {
    std::vector<std::string> arguments;
    const char* says;
  } wrong[] = {
      {{"grade", "redcution"}, "There is no lab \"redcution\"; did you mean reduction?"},
      {{"grade", "reduction", "--task", "shufle"}, "did you mean shuffle?"},
      {{"grade", "reduction", "--case", "sum_i32_n102_randm"}, "did you mean sum_i32_n"},
      {{"grade", "--seed", "12x"}, "--seed"},
      {{"grade", "--device", "tpu"}, "--device"},
      {{"grade", "--jobs", "0"}, "--jobs"},
      {{"grade", "--device", "sim", "--json", "/no/such/folder/out.json"},
       "there is no folder /no/such/folder"},
      {{"grade", "reduction", "--case", "nonsense"}, "they are called like "},
      {{"grade", "reduction", "shufle"}, "did you mean reduction --task shuffle?"},
      {{"trace", "reduction"}, "Name a task of reduction; there is: neighboured, sequential, shuffle"},
      {{"profile", "scan"}, "Name a task of scan; there is: "},
      {{"check", "scna"}, "There is no lab"},
      {{"points", "nothing"}, "There is no lab"},
      {{"fly"}, "There is no command \"fly\"; there is: grade, check, profile, bench, trace"},
      {{"graed"}, "did you mean grade?"},
      {{"grade", "--solution"}, "--solution"},
  };
  for (const auto& [arguments, says] : wrong) {
    EXPECT_THAT(run(arguments, 1), HasSubstr(says));
  }
}

TEST_F(Labcli, ListsLabsAsTextAndJson) {
  EXPECT_THAT(run({"list"}), HasSubstr("reduction: Reduction (100 points"));
  const json list = json::parse(run({"list", "--json"}));
  EXPECT_EQ(list.at("labs").at(0).at("id"), "first_steps");
  EXPECT_TRUE(list.at("metrics").at("active_lanes").at("at_least"));
  EXPECT_FALSE(list.at("metrics").at("barriers").at("at_least"));
  EXPECT_THAT(run({"points", "reduction", "--markdown"}), HasSubstr("| **all** | | | | **100"));
}

TEST_F(Labcli, UnchangedSkeletonScoresZero) {
  // In lab 0, the kernels' launches and most of one kernel are given.
  const std::string done =
      run({"grade", "reduction", "first_steps", "--device", "sim", "--json", folder_ + "/out.json", "--junit",
           folder_ + "/junit.xml", "--html", folder_ + "/report.html"});
  EXPECT_THAT(done, HasSubstr("0/100"));
  EXPECT_THAT(done, Not(HasSubstr("\x1b")));  // no colours, because stdout is not a terminal
  const json result = json::parse(contents("out.json"));
  ASSERT_EQ(result.at("labs").size(), 2u);
  for (const json& lab : result.at("labs")) {
    EXPECT_EQ(lab.at("points"), 0);
    EXPECT_EQ(lab.at("max_points"), lab.at("id") == "first_steps" ? 50 : 100);
    for (const json& task : lab.at("tasks")) EXPECT_EQ(task.at("verdict"), "NOT_IMPLEMENTED") << task;
  }
  EXPECT_THAT(contents("junit.xml"), HasSubstr("type=\"NOT_IMPLEMENTED\""));
  EXPECT_THAT(contents("report.html"), HasSubstr("0/100"));
}

TEST_F(Labcli, SolutionGetsAllPoints) {
  expect_all_points({"reduction"});
}
TEST_F(Labcli, SolutionsOfAllLabsGetAllPoints) {
  expect_all_points({});
}

TEST_F(Labcli, ReportsTheIsolation) {
  ProcessOptions options;
  options.environment = {"LAB_SANDBOX=none"};
  const auto done = run_process({labcli_, "isolation"}, options);
  ASSERT_TRUE(done);
  EXPECT_THAT(done->output,
              HasSubstr("none (a process of its own)\nLAB_SANDBOX=none switches isolation off"));
}

TEST_F(Labcli, GradedRunsRequireIsolation) {
  ProcessOptions options;
  options.seconds = 900;
  options.environment = {"LAB_SANDBOX=limits"};
  const std::vector<std::string> command{labcli_, "grade", "reduction", "--device", "sim", "--graded"};
  auto refused = run_process(command, options);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->exit_code, 1);
  EXPECT_THAT(refused->output, HasSubstr("--graded needs isolation \"full\", and this machine offers"));
  EXPECT_THAT(refused->output, HasSubstr("LAB_SANDBOX=limits switches namespaces off"));

  options.environment = {"LAB_SANDBOX=none"};
  auto accepted = command;
  accepted.insert(accepted.end(), {"--isolation", "none", "--json", folder_ + "/out.json"});
  auto graded = run_process(accepted, options);
  ASSERT_TRUE(graded);
  EXPECT_EQ(graded->exit_code, 0) << graded->output;
  EXPECT_THAT(graded->output, ::testing::ContainsRegex("Isolation: none .a process of its own.*, graded"));
  EXPECT_EQ(json::parse(contents("out.json")).at("isolation"), "none");
}

TEST_F(Labcli, CheckersFindNothingInASolution) {
  expect_no_finding({"reduction"});
}
TEST_F(Labcli, CheckersFindNothingInSolutionsOfAllLabs) {
  expect_no_finding({});
}

TEST_F(Labcli, PrintsOnlyTheReportOnStdout) {
  // run_process returns both streams together, so the shell discards stderr.
  ProcessOptions options;
  options.seconds = 100;
  auto done =
      run_process({"sh", "-c", labcli_ + " grade reduction --device sim --json - 2>/dev/null"}, options);
  ASSERT_TRUE(done);
  EXPECT_EQ(json::parse(done->output).at("labs").at(0).at("points"), 0);
}

TEST_F(Labcli, SmallCasesAreFoundByTheirNames) {
  for (const char* name : {"sum_i32_n8_example", "max_f32_n5_ascending", "product_i32_n2_random"}) {
    EXPECT_THAT(run({"trace", "reduction", "neighboured", "--solutions", "--case", name}), HasSubstr(name));
    run({"grade", "reduction", "neighboured", "--solutions", "--device", "sim", "--case", name, "--seed", "1",
         "--json", folder_ + "/out.json"});
    const json cases = json::parse(contents("out.json")).at("labs").at(0).at("tasks").at(0).at("cases");
    EXPECT_FALSE(cases.empty());
    for (const json& one : cases) EXPECT_EQ(one.at("name"), name);
  }
}

TEST_F(Labcli, SmallestFindsNothingInASolution) {
  EXPECT_THAT(run({"smallest", "reduction", "neighboured", "--solutions"}),
              HasSubstr("No case of reduction / neighboured with up to"));
}

TEST_F(Labcli, SmallestSaysThatATaskIsNotWritten) {
  for (const auto& more : {std::vector<std::string>{}, {"--case", "sum_i32_n33_random"}}) {
    std::vector<std::string> words{"smallest", "reduction", "neighboured"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_THAT(run(words, 1), HasSubstr("not implemented"));
  }
}

TEST_F(Labcli, GradesATaskNamedAfterItsLab) {
  const std::string done =
      run({"grade", "reduction", "shuffle", "--device", "sim", "--json", folder_ + "/out.json"});
  const json tasks = json::parse(contents("out.json")).at("labs").at(0).at("tasks");
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks.at(0).at("id"), "shuffle");
  EXPECT_THAT(run({"check", "reduction", "shuffle"}), Not(HasSubstr("neighboured")));
  EXPECT_THAT(run({"trace", "reduction", "--task", "shuffle"}, 1), HasSubstr("not implemented"));
}

TEST_F(Labcli, FirstGradesTheShortCasesBeforeTheOthers) {
  EXPECT_THAT(run({"grade", "reduction", "--first", folder_ + "/first.json"}, 1),
              HasSubstr("--first is for one task"));
  run({"grade", "reduction", "shuffle", "--solutions", "--device", "sim", "--first", folder_ + "/first.json",
       "--json", folder_ + "/out.json"});
  const auto task = [&](const char* file) {
    return json::parse(contents(file)).at("labs").at(0).at("tasks").at(0);
  };
  EXPECT_EQ(task("first.json").at("verdict"), "OK");
  EXPECT_LT(task("first.json").at("cases").size(), task("out.json").at("cases").size());
  const json first = task("first.json");
  for (const json& one : first.at("cases"))
    EXPECT_THAT(one.at("name").get<std::string>(), ::testing::StartsWith("sum_i32_n"));
  EXPECT_EQ(task("out.json").at("points"), task("out.json").at("max_points"));
}

TEST_F(Labcli, TraceShowsTheRootOfATreeInItsColumn) {
  EXPECT_THAT(run({"trace", "scan", "blelloch", "--solutions", "--n", "5"}), Not(HasSubstr("[7…]")));
}

TEST_F(Labcli, BenchTakesPowersOfTwoUpToItsLimit) {
  for (const char* wrong : {"2^33", "2^x", "2^", "2^99", "0"}) {
    EXPECT_THAT(run({"bench", "reduction", "--sizes", wrong}, 1), HasSubstr("not in range")) << wrong;
  }
}

TEST_F(Labcli, BenchNamesAFolderWithoutCub) {
  EXPECT_THAT(run({"bench", "reduction", "--cccl", folder_, "--device", "sim"}, 1),
              HasSubstr("there is no cub/version.cuh"));
}

TEST_F(Labcli, NumberOfGpusNeedsALabForSeveralDevices) {
  const auto refusal = [&](const std::vector<std::string>& arguments) {
    const std::string done = run(arguments, 1);
    EXPECT_EQ(std::count(done.begin(), done.end(), '\n'), 1) << done;
    return done;
  };
  EXPECT_THAT(refusal({"bench", "reduction", "--gpus", "2"}), HasSubstr("for labs for several devices"));
  EXPECT_THAT(refusal({"grade", "reduction", "--gpus", "2"}), HasSubstr("for labs for several devices"));
  EXPECT_THAT(refusal({"grade", "multi_gpu", "--gpus", "2", "--device", "sim"}),
              HasSubstr("--gpus uses GPUs"));
  EXPECT_THAT(refusal({"grade", "multi_gpu", "--device", "gpu"}), HasSubstr("Say with --gpus"));
}

TEST_F(Labcli, ProfileShowsCostOfEachLine) {
  EXPECT_THAT(run({"profile", "reduction", "reindexed", "--solutions"}),
              HasSubstr("if (left < kBlock) s_data[left] ="));
  const auto as_json = json::parse(run({"profile", "reduction", "reindexed", "--solutions", "--json"}));
  EXPECT_EQ(as_json.at("work"), 262143);
  EXPECT_GT(as_json.at("barriers_passed"), 0);
}

TEST_F(Labcli, TraceExplainsWhatItCannotShow) {
  EXPECT_THAT(run({"trace", "reduction", "neighbored"}, 1), HasSubstr("did you mean neighboured"));
  EXPECT_THAT(run({"trace", "reduction", "neighboured", "--solutions", "--n", "100000"}, 1),
              HasSubstr("too many"));
}

// A checkout with a student's file: the task neighboured adds where it should combine, and prints.
class StudentsFile : public Labcli {
 protected:
  void SetUp() override {
    Labcli::SetUp();
    namespace fs = std::filesystem;
    const char* source = std::getenv("LAB_SOURCE");
    ASSERT_NE(source, nullptr) << "set LAB_SOURCE to the checkout";
    for (const char* part :
         {"labs", "common/base", "common/harness/lab", "common/harness/protocol", "common/tools"}) {
      fs::create_directories(folder_ + "/" + part);
      fs::copy(std::string(source) + "/" + part, folder_ + "/" + part, fs::copy_options::recursive);
    }
    std::string text = contents("labs/reduction/reduction.cu");
    const std::string include = "#include \"reduction/lab.hpp\"";
    replace_all(text, include, "#include \"lab/print.hpp\"\n" + include);
    // A serial sum, which is enough for a short array: `sum +=` in place of op.
    const std::size_t kernel = text.find("__global__ void k01_neighboured");
    const std::size_t open = text.find("{", kernel), end = text.find("\n}", open);
    ASSERT_NE(kernel, std::string::npos);
    text.replace(open, end - open,
                 "{\n  typename Op::Value sum = op.identity();\n"
                 "  if (threadIdx.x != 0) return;\n"
                 "  for (std::uint64_t i = 0; i < n; ++i) sum += static_cast<typename Op::Value>(d_in[i]);\n"
                 "  lab::print(\"sum\", sum);\n  d_out[0] = op.finish(sum);");
    const std::size_t host = text.find("Status neighboured(");
    const std::size_t body = text.find("{", host), last = text.find("\n}", body);
    text.replace(body, last - body,
                 "{\n  lab::print(\"n\", job.n);\n"
                 "  k01_neighboured<<<1, 32, 0, job.stream>>>(job.d_in, job.n, job.d_out, job.op);\n"
                 "  return Status::ok;");
    std::ofstream(folder_ + "/labs/reduction/reduction.cu") << text;
    environment_ = {"LAB_ROOT=" + folder_};
  }
};

// The words of the first command in `text` that begins like this, joined over its line breaks.
std::vector<std::string> command_in(std::string text, const std::string& begin) {
  replace_all(text, "\\\n", " ");
  const std::size_t at = text.find("./lab " + begin);
  std::istringstream line(at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at));
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(word);
  if (!words.empty()) words.erase(words.begin());
  return words;
}

// The folder has no solutions/, as the student edition.
TEST_F(StudentsFile, BenchSaysWhoseKernelsItTimes) {
  const std::vector<std::string> words{"bench", "reduction", "--device", "gpu", "--sizes", "64", "--no-cpu"};
  EXPECT_THAT(run(words, std::nullopt), HasSubstr("lab: timing your kernels;"));
}

TEST_F(StudentsFile, BenchKeepsWhatItMeasuredBeforeALabFailed) {
  // As if scan did not compile.
  std::ofstream(folder_ + "/ninja")
      << "#!/bin/sh\ncase $* in *bench_scan*) echo 'error: no'; exit 1;; esac\nexec "
      << program_in_path("ninja") << " \"$@\"\n";
  std::filesystem::permissions(folder_ + "/ninja", std::filesystem::perms(0755));
  const std::string done = run({"bench", "reduction", "scan", "--device", "sim", "--sizes", "2^10,77",
                                "--no-cpu", "--json", folder_ + "/kept.json"},
                               1, {"PATH=" + folder_ + ":" + std::getenv("PATH")});
  EXPECT_THAT(done, HasSubstr("labs/bench_scan does not build"));
  EXPECT_THAT(done, HasSubstr("Reduction: sum_i32_random"));
  const auto labs = json::parse(contents("kept.json")).at("labs");
  ASSERT_EQ(labs.size(), 1u);
  EXPECT_EQ(labs[0].at("lab"), "reduction");
  EXPECT_EQ(labs[0].at("sizes")[0].at("n"), 1024);
  EXPECT_EQ(labs[0].at("sizes")[1].at("n"), 77);
}

TEST_F(StudentsFile, ShowsASmallInputWithCommandsThatWork) {
  const std::string done = run({"smallest", "reduction", "neighboured"});
  EXPECT_THAT(done,
              HasSubstr("A small input that fails: reduction / neighboured, case product_i32_n1_example"));
  EXPECT_THAT(done, HasSubstr("<- wrong"));
  EXPECT_THAT(done, HasSubstr("; right: mean, sum"));
  EXPECT_THAT(done, HasSubstr("thread 0 of block 0 stores 4"));
  EXPECT_THAT(run(command_in(done, "grade")), HasSubstr("WRONG_ANSWER"));
  const std::string traced = run(command_in(done, "trace"));
  EXPECT_THAT(traced, HasSubstr("d_out"));
  EXPECT_THAT(traced, HasSubstr("  kernel: block 0, thread 0: sum = "));
  EXPECT_THAT(traced, HasSubstr("  host:   n = 1"));
}

TEST_F(StudentsFile, AFailureShowsWhatItsSmallInputPrinted) {
  const std::string done =
      run({"grade", "reduction", "neighboured", "--device", "sim", "--html", folder_ + "/small.html"});
  EXPECT_THAT(contents("small.html"),
              ::testing::ContainsRegex("step by step: case product_i32_n1_example</p>\n.*<svg"));
  EXPECT_THAT(done, HasSubstr("product_i32_n1_example\n  It printed:\n"));
  EXPECT_THAT(done, HasSubstr("\n    host:   n = 1\n"));
  EXPECT_THAT(done, Not(HasSubstr("Printed by")));
  // ./lab debug --wrong begins there.
  std::ifstream kept(std::filesystem::path(labcli_).parent_path().parent_path() /
                     "wrong_cases/reduction.neighboured");
  std::string text;
  std::getline(kept, text);
  EXPECT_EQ(text, "--case product_i32_n1_example --seed 1");
}

TEST_F(StudentsFile, FirstEndsWithShortCasesThatAreWrong) {
  const auto verdict_in = [&](const char* file) {
    return json::parse(contents(file)).at("labs").at(0).at("tasks").at(0).at("verdict").get<std::string>();
  };
  const std::vector<std::string> grade{
      "grade",  "reduction",          "neighboured", "--device", "sim", "--first", folder_ + "/first.json",
      "--json", folder_ + "/out.json"};
  run(grade);
  EXPECT_EQ(verdict_in("first.json"), "OK");  // it adds; products come later
  EXPECT_EQ(verdict_in("out.json"), "WRONG_ANSWER");

  std::string text = contents("labs/reduction/reduction.cu");
  replace_all(text, "sum += ", "sum -= ");
  std::ofstream(folder_ + "/labs/reduction/reduction.cu") << text;
  run(grade);
  EXPECT_EQ(verdict_in("first.json"), "WRONG_ANSWER");
  EXPECT_EQ(contents("first.json"), contents("out.json"));
}

TEST_F(StudentsFile, IsNotWrongForWhatItPrints) {
  const std::string one = run({"grade", "reduction", "neighboured", "--device", "sim", "--case",
                               "sum_i32_n33_random", "--seed", "1"});
  EXPECT_THAT(one, ::testing::ContainsRegex("neighboured +OK")) << one;
  EXPECT_THAT(one, HasSubstr("Printed by reduction / neighboured, case sum_i32_n33_random:\n"));
  EXPECT_THAT(one, HasSubstr("  host:   n = 33\n"));
  EXPECT_THAT(one, HasSubstr("  kernel: block 0, thread 0: sum = "));
}

}  // namespace
}  // namespace course::grader
