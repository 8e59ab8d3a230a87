// SPDX-License-Identifier: MIT
// Errors state the line and column, what was found and what was expected.

#include "ptx/testing/test_support.hpp"

namespace course::ptx {
namespace {

using testing::error_of;
using testing::module_error;

TEST(PtxError, RequiresAVersionAtTheStart) {
  EXPECT_EQ(
      error_of(""),
      "PTX line 1, column 1: expected '.version' at the beginning of the module, found the end of the text");
  EXPECT_EQ(error_of("// x\n.target sm_90"),
            "PTX line 2, column 1: expected '.version' at the beginning of the module, found '.target'");
  EXPECT_EQ(error_of("hello"),
            "PTX line 1, column 1: expected '.version' at the beginning of the module, found 'hello'");
  EXPECT_EQ(error_of(".version 9"),
            "PTX line 1, column 11: expected '.' and the minor version, found the end of the text");
  EXPECT_EQ(error_of(".version 9.0 .version 9.0"), "PTX line 1, column 14: a module has only one '.version'");
}

TEST(PtxError, ReportsUnknownDirectives) {
  EXPECT_EQ(module_error(".frobnicate 3;"),
            "PTX line 4, column 1: unknown directive '.frobnicate' outside of a function");
  EXPECT_EQ(module_error(".entry k() .frobnicate 3 { ret; }"),
            "PTX line 4, column 12: unknown directive '.frobnicate' in a function's header");
  EXPECT_EQ(module_error(".entry k() {\n  .frobnicate 3;\n}"),
            "PTX line 5, column 3: unknown directive '.frobnicate' inside a function");
  EXPECT_EQ(module_error(".visible .frobnicate x;"),
            "PTX line 4, column 10: unknown directive '.frobnicate' after '.visible'");
  EXPECT_EQ(module_error(". global .u32 x;"),
            "PTX line 4, column 3: expected a directive's name right after '.', found 'global'");
  EXPECT_EQ(module_error("#include \"x\""),
            "PTX line 4, column 1: a preprocessor directive: run the text through a C preprocessor first");
}

TEST(PtxError, CountsLinesAndColumnsAcrossComments) {
  EXPECT_EQ(module_error("/* a\n b\n */ oops"), "PTX line 6, column 5: expected a directive, found 'oops'");
  EXPECT_EQ(module_error("\toops"), "PTX line 4, column 2: expected a directive, found 'oops'");
  EXPECT_EQ(module_error("// x\r\n  oops"), "PTX line 5, column 3: expected a directive, found 'oops'");
}

TEST(PtxError, ReportsTheStartOfUnterminatedConstructs) {
  EXPECT_EQ(module_error(".global .u32 x;\n /* oops"),
            "PTX line 5, column 2: this comment has no end: expected '*/'");
  EXPECT_EQ(module_error(".file 1 \"oops\n"),
            "PTX line 4, column 9: this string has no closing '\"' on its line");
  EXPECT_EQ(module_error(".section .debug_info\n{ { }\n"),
            "PTX line 5, column 1: expected '}' that closes this section, found the end of the text");
}

TEST(PtxError, TruncatesLongWords) {
  EXPECT_EQ(module_error(std::string(100, 'x')),
            "PTX line 4, column 1: expected a directive, found '" + std::string(40, 'x') + "...'");
}

TEST(PtxError, RefusesInconsistentDeclarations) {
  EXPECT_EQ(module_error(".func f() { ret; }\n.func f() { ret; }"),
            "PTX line 5, column 7: 'f' already has a body");
  EXPECT_EQ(module_error(".func f();\n.entry f() { ret; }"),
            "PTX line 5, column 8: 'f' is declared both as '.entry' and as '.func'");
  EXPECT_EQ(module_error(".global .u32 f;\n.func f() { ret; }"),
            "PTX line 5, column 7: 'f' is already declared as a variable");
  EXPECT_EQ(module_error(".entry (.param .u32 r) f() { ret; }"),
            "PTX line 4, column 8: a kernel has no results");
  EXPECT_EQ(module_error(".func f(.param .u32 a, .param .u32 a) { ret; }"),
            "PTX line 4, column 39: the parameter 'a' of 'f' is declared twice");
  EXPECT_EQ(module_error(".func f(.local .u32 a) { ret; }"),
            "PTX line 4, column 9: expected '.param' or '.reg', found '.local'");
  EXPECT_EQ(module_error(".alias f, g;"), "PTX line 4, column 8: 'f' is not a function declared before");
  EXPECT_EQ(module_error(".func f() { ret; } .func g(); .alias f, g;"),
            "PTX line 4, column 38: 'f' has a body and cannot be an alias");
}

TEST(PtxError, ChecksLaunchBounds) {
  EXPECT_EQ(module_error(".entry k() .maxntid 1,2,3,4 { ret; }"),
            "PTX line 4, column 27: expected at most three times a number of threads");
  EXPECT_EQ(module_error(".entry k() .maxntid -1 { ret; }"),
            "PTX line 4, column 21: a number of threads out of range: -1");
  EXPECT_EQ(module_error(".entry k() .minnctapersm 1, 2 { ret; }"),
            "PTX line 4, column 26: expected only one number of blocks");
}

TEST(PtxError, LimitsNesting) {
  std::string blocks;
  for (int i = 0; i < 300; ++i) blocks += '{';
  EXPECT_NE(testing::body_error(blocks).find("blocks are nested more than 256 deep"), std::string::npos);
  EXPECT_NE(testing::body_error("mov.b32 %r1, " + std::string(5000, '(') + "1").find("nested too deeply"),
            std::string::npos);
  EXPECT_NE(testing::body_error("mov.b32 %r1, " + std::string(5000, '-') + "1").find("nested too deeply"),
            std::string::npos);
  EXPECT_NE(testing::body_error("mov.b32 %r1, " + std::string(5000, '{')).find("nested too deeply"),
            std::string::npos);
}

}  // namespace
}  // namespace course::ptx
