// SPDX-License-Identifier: MIT
#include "compile/diagnostics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace course::grader {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FirstErrors, AreLimited) {
  std::string many;
  for (int i = 0; i < 100; ++i) many += "x.cu(" + std::to_string(i) + "): error: no\n   detail\n";
  const std::string shown = first_errors(many, 3);
  EXPECT_THAT(shown, HasSubstr("x.cu(2)"));
  EXPECT_THAT(shown, Not(HasSubstr("x.cu(3)")));
  EXPECT_EQ(first_errors("Killed\n", 3), "Killed");
}

TEST(FirstErrors, LooksAtABoundedNumberOfErrors) {
  std::string many;
  for (int i = 0; i < 20000; ++i) many += "x.cu(1): warning: \": error\" _ZN1aE\n";
  EXPECT_THAT(first_errors(many + "x.cu(7): error: late\n", 3), HasSubstr("x.cu(1)"));
}

TEST(FirstWarnings, AreThoseOfTheFile) {
  const std::string of_file =
      "labs/x/x.cu(3): warning #177-D: variable \"i\" was declared but never referenced";
  EXPECT_EQ(first_warnings("/usr/include/a.hpp(1): warning: b\n" + of_file + "\n  int i;\n\n" + of_file, 2),
            of_file);
  EXPECT_EQ(first_warnings("x.cu(3): error: no\n", 2), "");
}

// As nvcc prints it for each type with which a template is instantiated.
constexpr const char* kOneForEachType =
    R"(../labs/reduction/reduction.cu(61): error: identifier "tdi" is undefined
    s_data[tdi] = 0;
           ^
          detected during:
            instantiation of "void k01<T,Op>(…) [with T=int32_t, Op=Sum<int32_t>]" at line 64
            instantiation of "Status neighboured(…) [with T=int32_t, Op=Sum<int32_t>]" at line 218

../labs/reduction/reduction.cu(61): error: identifier "tdi" is undefined
    s_data[tdi] = 0;
           ^
          detected during:
            instantiation of "void k01<T,Op>(…) [with T=float, Op=Sum<float>]" at line 64

../labs/reduction/reduction.cu(70): error: expected a ";"
2 errors detected in the compilation of "../labs/reduction/reduction.cu".
)";

TEST(FirstErrors, AreShownOnceForAllTemplateTypes) {
  EXPECT_EQ(first_errors(kOneForEachType, 3),
            R"(../labs/reduction/reduction.cu(61): error: identifier "tdi" is undefined
    s_data[tdi] = 0;
           ^
../labs/reduction/reduction.cu(70): error: expected a ";")");
}

TEST(FirstErrors, KeepLinesThatLedIntoAHeader) {
  const std::string shown = first_errors(
      "/usr/include/c++/12/bits/stl_vector.h(143): error: calling a __host__ function\n"
      "          detected during instantiation of \"k01\" at line 51 of labs/reduction/reduction.cu\n",
      3);
  EXPECT_THAT(shown, HasSubstr("at line 51 of labs/reduction/reduction.cu"));
}

TEST(FirstErrors, ShowKernelNamesOfTheSource) {
  const std::string line =
      "ptxas error   : Entry function "
      "'_ZN6course9reduction15k01_neighbouredI{}NS0_3SumI{}EEEEvPKT_mPNT0_5ValueES7_' "
      "uses too much shared data (0x64000 bytes, 0xc000 max)\n";
  std::string all;
  for (const char type : {'i', 'l'}) {
    std::string one = line;
    for (std::size_t at; (at = one.find("{}")) != std::string::npos;) one.replace(at, 2, 1, type);
    all += one;
  }
  const std::string shown = first_errors(all, 3);
  EXPECT_EQ(shown,
            "ptxas error   : Entry function 'course::reduction::k01_neighboured' uses too much shared data "
            "(0x64000 bytes, 0xc000 max)");
  EXPECT_THAT(advice_on(shown), HasSubstr("may have 49152 bytes together; here they have 409600"));
}

// #error "…" makes the compiler print any text, of any length.
TEST(FirstErrors, SurviveLinesOfAnyLength) {
  const std::string long_word(std::size_t{1} << 20, 'a');
  for (const std::string& line :
       {"x.cu(3): error: _Z" + long_word, long_word + ":3: error: no",
        "x.cu(3): error: uses too much shared data (0x" + long_word + " bytes, 0xc000 max)"}) {
    const std::string shown = first_errors(line, 3);
    EXPECT_GE(shown.size(), long_word.size());
    EXPECT_LT(advice_on(shown).size(), 1000U);
  }
}

TEST(AdviceOnErrors, IsAboutTheFirstError) {
  const struct {
    const char *errors, *advice;
  } usual[] = {
      {"x.cu(50): error: expected a \";\"\nx.cu(51): error: identifier \"printf\" is undefined",
       "A ; is missing"},
      {"x.cu(57): error: identifier \"printf\" is undefined", "#include <cstdio>"},
      {"x.cu:6:4: error: invalid preprocessing directive #i\n    6 |  # i n c l u d e   \" s c a n",
       "save it as UTF-8"},
      {"x.cu(49): error: expected an expression\n  <<<<<<< HEAD\n  ^", "unfinished merge"},
      {"x.cu(60): error: a template declaration is not allowed here", "A } is missing"},
      {"a.cpp:33: undefined reference to `course::reduction::run(course::lab::Request const&)'",
       "put it back"},
      {"x.cu.o: undefined reference to `helper(int)'", "nowhere written"},
      {"x.cu(213): error: identifier \"sequential\" is undefined\n  case Rung::sequential: return "
       "sequential(job);",
       "given lines at the end"},
      {"x.cu(63): error: a __global__ function call must be configured", "<<<blocks"},
      {"x.cu(52): error: calling a __device__ function(\"__syncthreads\") from a __host__ function(\"k\") is "
       "not allowed",
       "is __global__ or __device__ missing"},
      {"x.cu(50): error: calling a __host__ function(\"helper(int)\") from a __global__ function(\"k\") is "
       "not allowed",
       "marked __device__"},
      {"x.cu(7): error: missing return statement at end of non-void function \"h\"", "return Status::ok;"},
      {"x.cu:1:10: fatal error: mine.h: No such file or directory", "A lab is one file"},
      {"x.cu(2): error: expected a \";\"\n    Op::Value total = op.identity();\n              ^\n",
       "\"typename Op::Value\""},
      {"x.cu(4): error: nontype \"Op::Value\" is not a type name\n", "\"typename Op::Value\""},
      {"x.cu(2): error: identifier \"d_to\" is undefined\n    const Op::Value* d_to = job.d_scratch_a;\n"
       "                     ^\n",
       "\"typename Op::Value\""},
      {"x.cu(2): error: expected a \";\"\n    int a = 3\n             ^\n", "A ; is missing"},
      {"x.cu(2): error: expected a \";\"\n    std::swap\n              ^\n", "A ; is missing"},
      {"x.cu(2): error: no instance of function template \"k01\" matches the argument list\n            "
       "argument types are: (int *const, std::nullptr_t)\n    k01<<<1, 32>>>(d_in, nullptr);\n",
       "static_cast<Value*>(nullptr)"},
      {"x.cu(2): error: no instance of function template \"k01\" matches the argument list\n            "
       "argument types are: (int *const, int)\n    k01<<<1, 32>>>(d_in, 0);\n",
       "compare the two lines"},
      {"x.cu(2): error: incomplete type \"unsigned int []\" is not allowed\n"
       "      __attribute__((shared)) unsigned s_counts[];\n                                       ^\n",
       "extern __shared__"},
      {"c.cu(4): error: __host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag\n",
       "cannot be passed to a kernel"},
  };
  for (const auto& [errors, advice] : usual) EXPECT_THAT(advice_on(errors), HasSubstr(advice)) << errors;
  EXPECT_EQ(advice_on("x.cu(3): error: something new"), "");
  EXPECT_EQ(advice_on("x.cu(2): error: incomplete type \"unsigned int []\" is not allowed\n"
                      "      unsigned counts[];\n"),
            "");
  EXPECT_THAT(advice_on("x.cu(2): error: identifier \"n_block\" is undefined\n"
                        "    const std::uint64_t size = Op::kSize * n_block;\n"
                        "                                           ^\n"),
              Not(HasSubstr("typename")));
}

TEST(CompileMessage, StatesTheConsequenceFirst) {
  EXPECT_EQ(compile_message("labs/scan/scan.cu", "labs/scan/scan.cu(7): error: no"),
            "labs/scan/scan.cu does not compile, so nothing of it was run\n"
            "  labs/scan/scan.cu(7): error: no");
  EXPECT_THAT(compile_message("labs/scan/scan.cu", "labs/scan/scan.cu(7): error: expected a \";\""),
              HasSubstr("\n  what to do: A ; is missing"));
}

TEST(Diagnostics, ExplainHostLambdasInKernels) {
  const std::string errors = first_errors(
      "a.cu(3): error: The closure type for a lambda (\"lambda [](int)->int\", defined at a.cu:3) cannot be "
      "used in the "
      "template argument type of a __global__ function template instantiation, unless the lambda is defined "
      "within a "
      "__device__ or __global__ function, or the flag '-extended-lambda' is specified and so on\n",
      3);
  EXPECT_THAT(errors, Not(HasSubstr("extended-lambda")));
  EXPECT_THAT(advice_on(errors), HasSubstr("cannot be passed to a kernel"));
}

}  // namespace
}  // namespace course::grader
