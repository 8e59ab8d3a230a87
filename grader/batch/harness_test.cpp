// SPDX-License-Identifier: MIT
#include "batch/harness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "batch/baselines.hpp"
#include "batch/compile_file.hpp"

namespace course::grader::batch {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// As ninja -t compdb gives it, shortened.
json database() {
  return json::parse(R"J([
    {"directory": "/b", "file": "../labs/scan/other.cpp", "output": "labs/scan/runner_scan.p/other.cpp.o", "command": "g++ -c ../labs/scan/other.cpp"},
    {"directory": "/b", "file": "../labs/scan/scan.cu", "output": "labs/scan/runner_scan.p/scan.cu.o",
     "command": "/cuda/nvcc -Ilabs/scan/runner_scan.p -I../labs/scan -MF labs/scan/runner_scan.p/scan.cu.o.d -o labs/scan/runner_scan.p/scan.cu.o -c ../labs/scan/scan.cu"},
    {"directory": "/b", "file": "labs/scan/runner_scan.p/scan.cu.o", "output": "labs/scan/runner_scan",
     "command": "/cuda/nvcc -o labs/scan/runner_scan labs/scan/runner_scan.p/scan.cu.o labs/scan/runner_scan.p/main.cpp.o common/lab/librunner.a -lcudart"}
  ])J");
}

TEST(Recipe, LeavesHolesForWhatDiffersBetweenSubmissions) {
  const auto recipe = recipe_in(database(), "scan");
  ASSERT_TRUE(recipe) << recipe.error().text;
  EXPECT_THAT(recipe->linked, ElementsAre("labs/scan/runner_scan.p/main.cpp.o", "common/lab/librunner.a"));
  const std::string compile = fill_in(recipe->compile, "/w/it's.cu", "/w/o.o", "/w/runner");
  EXPECT_THAT(compile, HasSubstr("-MF '/w/o.o.d' -o '/w/o.o' -c '/w/it'\\''s.cu'"));
  EXPECT_THAT(compile, Not(HasSubstr("{")));
  const std::string link = fill_in(recipe->link, "/w/s.cu", "/w/o.o", "/w/runner");
  EXPECT_EQ(link,
            "/cuda/nvcc -o '/w/runner' '/w/o.o' labs/scan/runner_scan.p/main.cpp.o common/lab/librunner.a "
            "-lcudart");
}

TEST(Recipe, SaysWhenTheBuildIsNotAsExpected) {
  EXPECT_FALSE(recipe_in(database(), "reduction"));
  json without_file = database();
  without_file[1]["command"] = "nvcc";
  EXPECT_FALSE(recipe_in(without_file, "scan"));
  EXPECT_FALSE(recipe_in(json::array(), "scan"));
}

TEST(CompilersWords, AreTheSameEachTime) {
  EXPECT_EQ(without_chance("/tmp/cc9zFnr6.s:6: Error"), without_chance("/tmp/ccXlWpLD.s:6: Error"));
  EXPECT_EQ(without_chance("/tmp/tmpxft_00000a12_00000000-6_scan.cudafe1.cpp:3: error"),
            "/tmp/…scan.cudafe1.cpp:3: error");
  EXPECT_EQ(without_chance("labs/scan/scan.cu(3): error: /tmp/ccc"), "labs/scan/scan.cu(3): error: /tmp/ccc");
}

// #error "…" puts anything into a compiler's mouth, of any length.
TEST(CompilersWords, MayBeOfAnyLength) {
  const std::string digits(std::size_t{1} << 20, 'a');
  EXPECT_EQ(without_chance("x.cu(3): error: /tmp/tmpxft_" + digits), "x.cu(3): error: /tmp/tmpxft_" + digits);
  EXPECT_EQ(without_chance("/tmp/tmpxft_" + digits + "_0-1_x"), "/tmp/…x");
}

// With #line 1 "bwrap: " a source makes a compiler speak like a sandbox that did not start: a fault of the machine, that costs no
// points and is tried again and again.
TEST(CompileFile, ASourceCanNotPassItsErrorsOffAsTheMachines) {
  namespace fs = std::filesystem;
  const char* enter = std::getenv("SANDBOX_ENTER");
  ASSERT_NE(enter, nullptr);
  std::string root = (fs::temp_directory_path() / "compile-file-XXXXXX").string();
  ASSERT_NE(mkdtemp(root.data()), nullptr);
  fs::permissions(root, fs::perms(0755));
  fs::create_directories(root + "/build");
  for (const char* file : {"/build/linked.o", "/source.cu"}) std::ofstream(root + file) << "\n";
  const Layout layout{root, root + "/build", ""};
  for (const sandbox::Isolation most : {sandbox::Isolation::full, sandbox::Isolation::none}) {
    const sandbox::Machine machine = sandbox::probe(enter, most);
    BuildOptions options;
    options.machine = &machine;
    options.screen = false;
    for (const char* name : {"bwrap: ", "sandbox: "}) {
      Recipe recipe;
      recipe.compile = std::string("echo '") + name + "(1): error: expected a \";\"'; exit 1";
      recipe.linked = {"linked.o"};
      const BuildOutcome outcome =
          compile_file(layout, recipe, "scan", root + "/source.cu", root + "/work", options);
      EXPECT_EQ(outcome.verdict, lab::Verdict::compile_error) << outcome.message;
      EXPECT_THAT(outcome.message, HasSubstr("expected a"));
    }
  }
  fs::remove_all(root);
}

TEST(HarnessFile, ComesBackAsItWas) {
  Harness harness;
  harness.labs["scan"] = {"compile {source}", "link {runner}", {"a.o"}, {"/h.hpp"}};
  harness.programs = {"/labcli"};
  harness.toolchain = "nvcc 13";
  const auto back = harness_from(to_json(harness));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(harness));
  for (const char* broken :
       {"[]", "{}", R"({"labs": 3})", R"({"labs": {"scan": {}}, "programs": [], "toolchain": ""})",
        R"({"labs": {}, "programs": [3], "toolchain": ""})"})
    EXPECT_FALSE(harness_from(json::parse(broken))) << broken;
}

TEST(Baselines, ComeBackAsTheyWere) {
  const KnownBaselines known{{"scan/blelloch/big", {{1.5, 2.5}, {0.5}}}};
  const auto back = baselines_from(to_json(known));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at("scan/blelloch/big").one_thread_us, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(back->at("scan/blelloch/big").all_cores_us, (std::vector<double>{0.5}));
  for (const char* broken : {"[3]", R"({"a": {}})", R"({"a": {"one_thread_us": ["x"], "all_cores_us": []}})"})
    EXPECT_FALSE(baselines_from(json::parse(broken))) << broken;
}

}  // namespace
}  // namespace course::grader::batch
