// SPDX-License-Identifier: MIT
// What the parser makes of each feature of PTX, one test a feature.
#include "ptx/parser.hpp"

#include <gtest/gtest.h>

namespace course::ptx {
namespace {

TEST(PtxParser, ReadsAKernelWithParametersAndABranch) {
  const auto module = parse(R"(
.version 9.0
.target sm_90
.address_size 64
.visible .entry twice(.param .u64 data, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra done;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  shl.b32 %r4, %r3, 1;
  st.global.u32 [%rd3+0], %r4;
done:
  ret;
}
)");
  ASSERT_TRUE(module) << module.error().text;
  ASSERT_EQ(module->functions.size(), 1u);
  const Function& twice = module->functions[0];
  EXPECT_EQ(twice.name, "twice");
  ASSERT_EQ(twice.instructions.size(), 11u);
  const Instruction& branch = twice.instructions[4];
  EXPECT_EQ(branch.opcode, "bra");
  EXPECT_EQ(twice.registers[static_cast<std::size_t>(branch.guard)].name, "%p1");
  EXPECT_EQ(branch.operands[0].kind, Operand::Kind::label);
  EXPECT_EQ(branch.operands[0].index, 10);
  EXPECT_EQ(twice.parameters[1].offset, 8u);
  EXPECT_EQ(twice.parameter_bytes(), 12u);
}

}  // namespace
}  // namespace course::ptx
