// SPDX-License-Identifier: MIT
// Printed text parses to an equal module.
#include <gtest/gtest.h>

#include "ptx/parser/parser.hpp"
#include "ptx/testing/equality.hpp"
#include "ptx/testing/printer.hpp"
#include "ptx/testing/test_support.hpp"

namespace course::ptx {
namespace {

using testing::parse_kernel;
using testing::parse_module;

void expect_round_trip(const Module& module) {
  const std::string text = print(module);
  const Result<Module> again = parse(text);
  ASSERT_TRUE(again) << again.error().text << "\nin\n" << text;
  EXPECT_EQ(first_difference(module, *again), "") << "in\n" << text;
  EXPECT_EQ(print(*again), text);
}

TEST(PtxPrinter, PrintsOneInstructionWithNames) {
  const Module module = parse_kernel(
      "@!%p1 ld.global.nc.v2.f32 {%f1, _}, [%rd1+-8]; l: @%p2 bra l; fma.rn.f32 %f1, %f2, 0f3f800000, %f3; "
      "mov.u64 %rd1, a; setp.eq.and.s32 %p1|%p2, %r1, -5, !%p3;");
  const Function& k = module.functions.back();
  EXPECT_EQ(print(k, k.instructions.at(0)), "@!%p1 ld.global.nc.v2.f32 {%f1, _}, [%rd1+-8];");
  EXPECT_EQ(print(k, k.instructions.at(1)), "@%p2 bra l;");
  EXPECT_EQ(print(k, k.instructions.at(2)), "fma.rn.f32 %f1, %f2, 0f3F800000, %f3;");
  EXPECT_EQ(print(k, k.instructions.at(3)), "mov.u64 %rd1, a;");
  EXPECT_EQ(print(k, k.instructions.at(4)), "setp.eq.and.s32 %p1|%p2, %r1, -5, !%p3;");
}

class PtxPrinterOnNvccText : public ::testing::TestWithParam<const char*> {};

TEST_P(PtxPrinterOnNvccText, RoundTrips) {
  const auto module = parse(testing::read_test_data(GetParam()));
  ASSERT_TRUE(module) << module.error().text;
  expect_round_trip(*module);
}

INSTANTIATE_TEST_SUITE_P(Samples, PtxPrinterOnNvccText,
                         ::testing::Values("tree_sum.ptx", "calls.ptx", "tree_sum_debug.ptx"),
                         [](const auto& sample) {
                           std::string name = sample.param;
                           return name.substr(0, name.find('.'));
                         });

TEST(PtxPrinter, RoundTripsDirectives) {
  expect_round_trip(parse_module(R"(
.pragma "nounroll";
.file 1 "a.cu", 1, 2
.visible .func f(.param .u32 x, .param .align 8 .b8 s[12]) .noreturn;
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.func g(.reg .v2 .f32 v, .reg .u32 u) { mov.b64 u, {v.x, v.y}; ret; }
.entry k(.param .u64 .ptr .global .align 16 p, .param .u64 .ptr q) .maxntid 32, 2 .minnctapersm 2 .maxnreg 40
  .reqnctapercluster 2, 1, 1 .explicitcluster .blocksareclusters .maxclusterrank 8 .pragma "x y"; { ret; }
.visible .func f(.param .u32 x, .param .align 8 .b8 s[12]) .noreturn { trap; }
.func h();
.alias h, g;)"));
}

TEST(PtxPrinter, RoundTripsVariables) {
  expect_round_trip(parse_module(R"(
.func f() { ret; }
.extern .global .u32 late;
.global .u32 a, b[3] = {1, 2}, c[2][2] = {{1, 2}, {3, 4}};
.visible .const .v4 .f32 v[2] = {{1.0, 2.0, 3.0, 4.0}, {-0.0, 1e30}};
.weak .global .f64 d = -2.5;
.global .attribute(.managed) .align 16 .u8 m[5] = {1, 0xFF(a), 0xFF00(generic(b)+4), 0xFF0000(c-8)};
.global .u64 table[4] = {f, generic(a)+4, table, 18446744073709551615};
.extern .shared .align 16 .b8 dynamic[];
.global .b128 wide = 5;
.global .u32 late = 7;
.global .texref t;
.common .global .u32 x<3>;
.global .u16 long_list[70] = {0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,
  20,21,22,23,24,25,26,27,28,29,30,31,32,33};
)"));
}

TEST(PtxPrinter, RoundTripsOperands) {
  expect_round_trip(
      parse_kernel(R"(
.reg .v4 .f32 %v; .reg .f32 plain, %r99; .reg .b32 %mix7; .reg .b64 %mix8; mov.b64 %mix8, {%mix7, 1}; )"
                   R"(
mov.f32 plain, %r99; ld.global.v4.f32 %v, [%rd1]; mov.f32 %v.w, 0f7F800000; mov.f64 %fd1, 0.1;
mov.u32 %r1, %tid.x; add.u32 %r1, %r2, 0xFFFFFFFFFFFFFFFF; ld.local.u32 %r1, [16]; ld.local.u32 %r1, [-16];
ld.global.u32 %r1, g[%r2+3]; ld.global.u32 %r1, g[2]; mov.u64 %rd1, g+-4; st.global.u32 [g+8], %r1;
vmad.u32.u32.u32 %r1, -%r2.b3, %r3.h1, %r4; shfl.sync.idx.b32 %r1|%p1, %r2, 3, 31, -1;
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}]; call (_), h, (5, 1.5, 0f3F800000, %r1);)",
                   ".global .u32 g[8]; .global .texref t; .func (.reg .u32 r) h(.reg .u32 x) { ret; }"));
}

TEST(PtxPrinter, RoundTripsBlocksLabelsAndTables) {
  expect_round_trip(parse_kernel(R"(
.local .b8 frame[8];
before: $L: .branchtargets one, two, one;
{ .param .b32 p; .reg .b64 %r<3>; mov.b64 %r1, 1; st.param.b32 [p], %r2;
  { .param .b32 p; one: st.param.b32 [p], 1; bra one; }
  .param .b32 q; { } P: .callprototype (.param .b32 _) _ (.param .b32 _); call (q), %rd1, (p), P; }
brx.idx %r1, $L; one: mov.b32 %r1, 1; .pragma "nounroll"; two: three: @%p1 bra three;
{ T: .branchtargets in, two; .shared .b8 s[4]; brx.idx %r1, T; mov.b32 %r2, 1; in: mov.b32 %r2, s; }
{ .param .b32 empty; }
C: .calltargets f; call %rd1, C;
end:)",
                                 ".func f() { ret; }"));
}

TEST(PtxPrinter, TablesBeforeABlockStayVisibleAfterIt) {
  expect_round_trip(
      parse_kernel("T: .branchtargets x; { .local .b32 v; st.local.b32 [v], 1; } brx.idx %r1, T; x: ret;"));
}

TEST(PtxPrinter, RoundTripsLocations) {
  expect_round_trip(parse_kernel(R"(
.loc 1 10 3
.loc 2 20 1, function_name A, inlined_at 1 10 3
mov.u32 %r1, 1;
.loc 1 10 3
.loc 3 30 1, function_name A+4, inlined_at 1 10 3
mov.u32 %r1, 2;
.loc 2 20 1, function_name A, inlined_at 1 10 3
.loc 3 31 1, function_name A+4, inlined_at 2 20 1
mov.u32 %r1, 3;
.loc 3 31 1, function_name A+4, inlined_at 8 8 8
mov.u32 %r1, 4;
.loc 3 0 1
mov.u32 %r1, 4;
}
.section .debug_str
{ A: .b8 105,110,110,0,111,117,116,0
)"));
}

TEST(PtxEquality, ReportsTheFirstDifference) {
  const Module a = parse_kernel("mov.u32 %r1, 1; mov.u32 %r1, 2;");
  const Module b = parse_kernel("mov.u32 %r1, 1; mov.u32 %r1, 3;");
  EXPECT_EQ(first_difference(a, a), "");
  EXPECT_EQ(first_difference(a, b), "functions[0] 'k' instructions[1] operands[1] integer: 2 / 3");
}

}  // namespace
}  // namespace course::ptx
