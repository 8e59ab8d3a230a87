// SPDX-License-Identifier: MIT
// The part of the catalogue of hostile submissions that attacks the compilers: sources that include files
// which they must not read, or that would keep a compiler busy forever. Each is built by the real nvcc in
// the sandbox, like a student's file, and must be a COMPILE_ERROR that reveals no secret and does not affect
// the others. SANDBOX_ENTER is the path of that program.
#include <gmock/gmock.h>

#include <cstdlib>
#include <map>

#include "compile/compile_file.hpp"
#include "testing/files.hpp"

namespace course::grader {
namespace {

using lab::Verdict;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecret = "the_answer_is_forty_two";

struct Attack {
  const char* name;
  const char* source;
};
// @ROOT@ is replaced by the checkout's path.
constexpr Attack kAttacks[] = {
    {"passwords", "#include \"/etc/passwd\"\n"},
    {"environment", "#include \"/proc/self/environ\"\nconst char* x = GRADERS_SECRET;\n"},
    {"solution", "#include \"../../solutions/secret.cu\"\n"},
    {"solution_by_path", "#include \"@ROOT@/solutions/secret.cu\"\n"},
    {"assembled_in", "asm(\".incbin \\\"@ROOT@/solutions/secret.cu\\\"\");\n"},
    {"assembled_in_on_the_device",
     "__global__ void kernel() { asm volatile(\".include \\\"@ROOT@/solutions/secret.cu\\\"\"); }\n"},
    {"own_header", "#include \"own.hpp\"\n"},
    {"float_is_half", "#define float half\nfloat add(float a, float b) { return a + b; }\n"},
    {"endless_file", "#include \"/dev/zero\"\n"},
    {"template_bomb",
     "template <int N, bool Left> struct Bomb { static constexpr long value = Bomb<N + 1, true>::value + "
     "Bomb<N + 1, false>::value; };\n"
     "long x = Bomb<0, true>::value;\n"},
    {"constexpr_bomb",
     "constexpr long spin() { long n = 0; for (;;) ++n; return n; }\nstatic_assert(spin() > 0);\n"},
    {"macro_bomb",
     "#define A(x) x x x x x x x x x x x x x x x x\n#define B(x) A(A(A(A(A(A(A(A(x))))))))\nint f() { return "
     "0 B(B(+1)); }\n"},
    {"array_bomb",
     "__device__ unsigned char d_big[2147483647u] = {1};\nunsigned char h_big[2147483647u] = {1};\n"},
};

class CompileAttack : public ::testing::TestWithParam<Attack> {
 protected:
  void SetUp() override {
    const char* enter = std::getenv("SANDBOX_ENTER");
    ASSERT_NE(enter, nullptr);
    machine_ = sandbox::probe(enter, sandbox::Isolation::full);
    if (machine_.level < sandbox::Isolation::namespaces) GTEST_SKIP() << "no namespaces here";
    layout_ = {root_, root_ + "/build", ""};
    for (const char* folder : {"/build", "/solutions", "/common", "/labs/attack", "/labs/honest"})
      std::filesystem::create_directories(root_ + folder);
    std::ofstream(root_ + "/solutions/secret.cu") << "int " << kSecret << " = 1;\n";
    // A student's own header is not part of a submission, and a student's own build file is not used.
    std::ofstream(root_ + "/labs/own.hpp") << "#error " << kSecret << "\n";
    std::ofstream(root_ + "/labs/attack/meson.build") << "run_command('touch', '" << root_ << "/owned')\n";
    std::ofstream(root_ + "/labs/honest/honest.cu") << "__global__ void kernel(int* d) { *d = 1; }\n";
    std::string source = GetParam().source;
    if (const std::size_t at = source.find("@ROOT@"); at != std::string::npos) source.replace(at, 6, root_);
    std::ofstream(root_ + "/labs/attack/attack.cu") << source;
  }
  sandbox::Machine machine_;
  const testing::Folder own_;
  const std::string& root_ = own_.path;
  Layout layout_;
};

TEST_P(CompileAttack, IsACompileErrorThatTellsNothing) {
  BuildOptions options;
  options.machine = &machine_;
  options.cpu_seconds = 6;
  options.memory_bytes = std::uint64_t{1} << 30;
  options.seconds = 200;
  options.screen = false;
  setenv("GRADERS_SECRET", kSecret, 1);
  std::map<std::string, BuildOutcome> outcomes;
  for (const std::string lab : {"attack", "honest"}) {
    auto recipe = recipe_for(layout_, lab);
    ASSERT_TRUE(recipe) << recipe.error().text;
    recipe->linked = {};
    recipe->link = "cp {object} {runner}";  // no real runner is needed here
    outcomes[lab] = compile_file(layout_, *recipe, lab, root_ + "/labs/" + lab + "/" + lab + ".cu",
                                 root_ + "/build/" + lab, options);
  }
  unsetenv("GRADERS_SECRET");
  EXPECT_EQ(outcomes.at("attack").verdict, Verdict::compile_error) << outcomes.at("attack").message;
  EXPECT_THAT(outcomes.at("attack").message, Not(HasSubstr(kSecret)));
  EXPECT_THAT(outcomes.at("attack").message, Not(HasSubstr("root:")));
  EXPECT_LT(outcomes.at("attack").message.size(), 16384u);
  EXPECT_FALSE(std::filesystem::exists(root_ + "/owned"));
  EXPECT_EQ(outcomes.at("honest").verdict, Verdict::ok) << outcomes.at("honest").message;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, CompileAttack, ::testing::ValuesIn(kAttacks),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace course::grader
