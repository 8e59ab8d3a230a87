// SPDX-License-Identifier: MIT
// Function bodies: instructions, labels, blocks, calls, locations; one test per feature. Operands:
// parser_operands_test.cpp.

#include "ptx/testing/test_support.hpp"

namespace course::ptx {
namespace {

using testing::body_error;
using testing::kernel_of;
using testing::operand;
using testing::parse_kernel;
using testing::parse_module;
using testing::register_name;
using Kind = Operand::Kind;
using Table = Operand::Table;

// --- opcodes ---

TEST(PtxInstruction, SplitsOpcodeModifiersAndTypes) {
  const Module module = parse_kernel(
      "ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f1, %f2}, [%rd1]; cvt.rzi.s32.f64 %r1, %fd1;");
  const Instruction& load = module.functions.back().instructions.at(0);
  EXPECT_EQ(load.opcode, "ld");
  ASSERT_EQ(load.modifiers.size(), 6u);
  EXPECT_EQ(load.modifiers[2], "L1::no_allocate");
  EXPECT_TRUE(load.has("nc"));
  EXPECT_TRUE(load.has("L2::128B"));
  EXPECT_FALSE(load.has("ld"));
  EXPECT_FALSE(load.has("L2"));
  ASSERT_EQ(load.types.size(), 1u);
  EXPECT_EQ(load.types[0], Type::f32);
  EXPECT_EQ(load.full_opcode(), "ld.global.nc.L1::no_allocate.L2::128B.v2.f32");
  const Instruction& convert = module.functions.back().instructions.at(1);
  ASSERT_EQ(convert.types.size(), 2u);
  EXPECT_EQ(convert.types[0], Type::s32);
  EXPECT_EQ(convert.types[1], Type::f64);
}

TEST(PtxInstruction, AcceptsAnyOpcode) {
  const Module module = parse_kernel(
      "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r3, {%r4, %r5}, %p1; "
      "some_future.16x64b.x1 %r1;");
  const std::vector<Instruction>& i = module.functions.back().instructions;
  EXPECT_EQ(i.at(0).full_opcode(), "tcgen05.mma.cta_group::1.kind::f16");
  EXPECT_EQ(i.at(0).operands.size(), 6u);
  EXPECT_EQ(i.at(1).full_opcode(), "some_future.16x64b.x1");
}

TEST(PtxInstruction, EqualSpellingsShareAForm) {
  const Module module = parse_kernel("add.u32 %r1,%r2,%r3; add.s32 %r1,%r2,%r3; add .u32 %r1,%r2,%r3;");
  const std::vector<Instruction>& i = module.functions.back().instructions;
  EXPECT_EQ(i.at(0).form, i.at(2).form);
  EXPECT_NE(i.at(0).form, i.at(1).form);
  EXPECT_EQ(module.forms, 2u);
  EXPECT_EQ(i[2].full_opcode(), "add.u32");
}

TEST(PtxInstruction, ReadsGuardAndLine) {
  const Function& k = kernel_of("@%p3 ret;\n\n@ ! %p4\nexit;\nbar.sync 0;");
  EXPECT_EQ(register_name(k, k.instructions.at(0).guard), "%p3");
  EXPECT_FALSE(k.instructions[0].guard_negated);
  EXPECT_TRUE(k.instructions[1].guard_negated);
  EXPECT_EQ(register_name(k, k.instructions[1].guard), "%p4");
  EXPECT_EQ(k.instructions[2].guard, -1);
  EXPECT_EQ(k.instructions[0].text_line, 7u);
  EXPECT_EQ(k.instructions[1].text_line, 10u);
}

// --- labels and blocks ---

TEST(PtxLabel, BranchesGoForwardsAndBackwards) {
  const Function& k = kernel_of("top: bra.uni bottom; add.u32 %r1, %r1, 1; @%p1 bra top; bottom: ret;");
  EXPECT_EQ(operand(k, 0, 0).kind, Kind::label);
  EXPECT_EQ(operand(k, 0, 0).index, 3);
  EXPECT_EQ(operand(k, 2, 0).index, 0);
}

TEST(PtxLabel, SeveralMayStandBeforeOneInstruction) {
  const Function& k = kernel_of("bra one; bra two; one: two:\n three: ret;");
  ASSERT_EQ(k.labels.size(), 3u);
  for (const Function::Label& label : k.labels) EXPECT_EQ(label.at, 2);
  EXPECT_EQ(operand(k, 0, 0).index, 2);
  EXPECT_EQ(operand(k, 0, 0).symbol, 0);
  EXPECT_EQ(operand(k, 1, 0).symbol, 1);
}

TEST(PtxLabel, MayStandAtTheEnd) {
  const Function& k = kernel_of("bra end; ret; end:");
  EXPECT_EQ(k.labels.at(0).at, 2);
  EXPECT_EQ(operand(k, 0, 0).index, 2);
}

TEST(PtxLabel, MayHaveNamesOfOpcodesOrRegisters) {
  const Function& k = kernel_of("add: add.u32 %r1, %r1, 1; bra add; .reg .u32 x; x : mov.u32 x, 1; bra x;");
  EXPECT_EQ(operand(k, 1, 0).index, 0);
  EXPECT_EQ(operand(k, 3, 0).kind, Kind::label);
  EXPECT_EQ(operand(k, 3, 0).index, 2);
}

TEST(PtxBlock, RegistersAndVariablesShadow) {
  const Module module = parse_kernel(R"(
.reg .u32 x; .local .b32 v;
mov.u32 x, 1;
{ .reg .f32 x; .local .b64 v[2]; mov.f32 x, 0f00000000; st.local.b64 [v], %rd1;
  { .reg .f64 x; mov.f64 x, 1.0; }
  mov.f32 x, 0f3F800000; }
st.local.b32 [v], x;)");
  const Function& k = module.functions.back();
  EXPECT_EQ(register_name(k, operand(k, 0, 0).index), "x");
  EXPECT_EQ(register_name(k, operand(k, 1, 0).index), "x$1");
  EXPECT_EQ(k.registers.at(static_cast<std::size_t>(operand(k, 1, 0).index)).type, Type::f32);
  EXPECT_EQ(k.registers.at(static_cast<std::size_t>(operand(k, 3, 0).index)).type, Type::f64);
  EXPECT_EQ(operand(k, 4, 0).index, operand(k, 1, 0).index);
  EXPECT_EQ(operand(k, 5, 1).index, operand(k, 0, 0).index);
  ASSERT_EQ(k.variables.size(), 2u);
  EXPECT_EQ(operand(k, 2, 0).symbol, 1);
  EXPECT_EQ(operand(k, 2, 0).name, "v$1");
  EXPECT_EQ(operand(k, 5, 0).symbol, 0);
}

TEST(PtxBlock, RangesShadow) {
  const Function& k =
      kernel_of("mov.b32 %r1, 1; { .reg .b64 %r<4>; mov.b64 %r1, 2; mov.b64 %r2, 3; } mov.b32 %r2, %r1;");
  const auto type = [&](std::size_t i) {
    return k.registers.at(static_cast<std::size_t>(operand(k, i, 0).index)).type;
  };
  EXPECT_EQ(type(0), Type::b32);
  EXPECT_EQ(type(1), Type::b64);
  EXPECT_EQ(type(2), Type::b64);
  EXPECT_EQ(type(3), Type::b32);
  EXPECT_EQ(operand(k, 3, 1).index, operand(k, 0, 0).index);
}

TEST(PtxBlock, OuterRegisterRangesSurviveInnerUses) {
  const Function& k = kernel_of("{ mov.b32 %r1, 1; } mov.b32 %r1, 2;");
  EXPECT_EQ(k.registers.size(), 1u);
  EXPECT_EQ(operand(k, 0, 0).index, operand(k, 1, 0).index);
}

TEST(PtxBlock, LabelsShadow) {
  const Function& k = kernel_of(R"(
{ WAIT: mov.u32 %r1, 1; @%p1 bra DONE; bra WAIT; DONE: }
{ WAIT: mov.u32 %r1, 2; @%p1 bra DONE; bra WAIT; DONE: }
bra WAIT; WAIT: ret;)");
  EXPECT_EQ(operand(k, 1, 0).index, 3);
  EXPECT_EQ(operand(k, 2, 0).index, 0);
  EXPECT_EQ(operand(k, 4, 0).index, 6);
  EXPECT_EQ(operand(k, 5, 0).index, 3);
  EXPECT_EQ(operand(k, 6, 0).index, 7);
  EXPECT_EQ(k.labels.at(2).name, "WAIT$1");
}

TEST(PtxBlock, BranchesReachOnlyLabelsOfEnclosingBlocks) {
  const Module module = parse_kernel("{ { bra out; } } out: ret;");
  EXPECT_EQ(operand(module.functions.back(), 0, 0).index, 1);
  EXPECT_EQ(body_error("bra in; { in: ret; }"),
            "PTX line 7, column 5: 'in' is not declared, and no label here has this name");
  EXPECT_EQ(body_error("x: ret;\nx: ret;"), "PTX line 8, column 1: the label 'x' is already on line 7");
}

TEST(PtxBlock, VariablesHaveTheScopeOfTheirBlock) {
  const Module module = parse_kernel(R"(
.param .b32 always; mov.u32 %r1, 0;
{ .param .b32 p; st.param.b32 [p], %r1; .param .b64 q; ld.param.b64 %rd1, [q]; }
{ .param .b64 p; st.param.b64 [p], %rd1; } ret;)");
  const std::vector<Variable>& v = module.functions.back().variables;
  ASSERT_EQ(v.size(), 4u);
  EXPECT_EQ(v[0].scope_end, -1);
  EXPECT_EQ(v[1].scope_begin, 1);
  EXPECT_EQ(v[1].scope_end, 3);
  EXPECT_EQ(v[2].name, "q");
  EXPECT_EQ(v[2].scope_begin, 1);
  EXPECT_EQ(v[3].name, "p$1");
  EXPECT_EQ(v[3].scope_begin, 3);
  EXPECT_EQ(v[3].scope_end, 4);
}

TEST(PtxBlock, MissingBracesAreReportedWithTheOpeningOne) {
  EXPECT_EQ(
      testing::error_of(std::string(testing::kHeader) + ".entry k() {\n ret;\n"),
      "PTX line 6, column 1: expected '}' that closes the block opened on line 4, found the end of the text");
  EXPECT_EQ(testing::module_error(".entry k() {\n ret;\n.entry l() { ret; }"),
            "PTX line 6, column 1: '.entry' inside the body of 'k', opened on line 4: is a '}' missing?");
  EXPECT_EQ(testing::module_error(".entry k() { ret; } }"),
            "PTX line 4, column 21: expected a directive, found '}'");
}

// --- calls and tables ---

TEST(PtxOperand, ReadsRegisterPlusConstant) {
  const Function& k = kernel_of("add.u32 %r1, %r2 + 4, %r3+(1 << 3); st.u32 [%rd1+8], %r1 + 1;");
  EXPECT_EQ(operand(k, 0, 1).kind, Kind::reg);
  EXPECT_EQ(operand(k, 0, 1).integer, 4);
  EXPECT_EQ(operand(k, 0, 2).integer, 8);
  EXPECT_EQ(operand(k, 1, 0).kind, Kind::address);
  EXPECT_EQ(operand(k, 1, 1).integer, 1);
}

TEST(PtxCall, ReadsResultsCalleeAndArguments) {
  const Module module = parse_kernel(R"({
.param .b32 p0; .param .b32 r0;
call.uni (r0), f, (p0, 5);
call g, (%r1);
call h;
call (_), f, (p0);
})",
                                     ".func (.param .b32 r) f(.param .b32 x, .param .b32 y) { ret; } .func "
                                     "g(.reg .b32 x) { ret; } .func h { ret; }");
  const Function& k = module.functions.back();
  EXPECT_EQ(operand(k, 0, 0).kind, Kind::list);
  EXPECT_EQ(operand(k, 0, 0).parts.at(0).name, "r0");
  EXPECT_EQ(operand(k, 0, 1).table, Table::function);
  EXPECT_EQ(operand(k, 0, 2).parts.at(0).table, Table::local);
  EXPECT_EQ(operand(k, 0, 2).parts.at(1).integer, 5);
  EXPECT_EQ(operand(k, 1, 0).symbol, 1);
  EXPECT_EQ(operand(k, 1, 1).parts.at(0).kind, Kind::reg);
  EXPECT_EQ(k.instructions.at(2).operands.size(), 1u);
  EXPECT_EQ(operand(k, 3, 0).parts.at(0).kind, Kind::sink);
}

TEST(PtxCall, ReadsPrototypesAndCallTargets) {
  const Module module = parse_kernel(R"({
.param .b32 p0; .param .b32 r0;
proto : .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[24]);
call (r0), %rd1, (p0), proto;
}
list: .calltargets f, g;
call (%r1), %rd1, (%r2), list;
none: .callprototype ()_() .noreturn;
call %rd1, none;
call %rd1, table;)",
                                     ".func f() { ret; } .func g() { ret; } .global .u64 table[2] = {f, g};");
  const Function& k = module.functions.back();
  ASSERT_EQ(k.prototypes.size(), 2u);
  EXPECT_EQ(k.prototypes[0].name, "proto");
  EXPECT_EQ(k.prototypes[0].results.size(), 1u);
  EXPECT_EQ(k.prototypes[0].parameters.at(1).offset, 8u);
  EXPECT_EQ(k.prototypes[0].parameters.at(1).size, 24u);
  EXPECT_TRUE(k.prototypes[1].noreturn);
  EXPECT_EQ(operand(k, 0, 3).table, Table::prototype);
  EXPECT_EQ(operand(k, 0, 3).symbol, 0);
  EXPECT_EQ(operand(k, 1, 3).table, Table::call_targets);
  EXPECT_EQ(k.call_targets.at(0).functions, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(operand(k, 2, 1).symbol, 1);
  EXPECT_EQ(operand(k, 3, 1).table, Table::variable);
}

TEST(PtxCall, DistinguishesPrototypesOfDifferentBlocks) {
  const Function& k = kernel_of(R"(
{ p: .callprototype _ (.param .b32 _); .param .b32 a0; call %rd1, (a0), p; }
{ p: .callprototype _ (.param .b64 _); .param .b64 a0; call %rd1, (a0), p; })");
  EXPECT_EQ(operand(k, 0, 2).symbol, 0);
  EXPECT_EQ(operand(k, 1, 2).symbol, 1);
  EXPECT_EQ(operand(k, 1, 2).name, "p$1");
}

TEST(PtxCall, RefusesUndeclaredFunctions) {
  EXPECT_EQ(body_error("call nobody;"),
            "PTX line 7, column 6: 'nobody' is not declared, and no label here has this name");
  EXPECT_EQ(body_error("t: .calltargets nobody;"),
            "PTX line 7, column 17: 'nobody' is not a function declared before");
}

TEST(PtxBranchTable, HoldsInstructionIndices) {
  const Module module = parse_kernel(R"(
$L_brx_0: .branchtargets
  $L__BB0_2,
  $L__BB0_1,
  $L__BB0_2;
brx.idx %r1, $L_brx_0;
$L__BB0_1: mov.u32 %r1, 1;
$L__BB0_2: ret;)");
  const Function& k = module.functions.back();
  ASSERT_EQ(k.branch_targets.size(), 1u);
  EXPECT_EQ(k.branch_targets[0].name, "$L_brx_0");
  EXPECT_EQ(k.branch_targets[0].targets, (std::vector<std::int32_t>{2, 1, 2}));
  EXPECT_EQ(operand(k, 0, 1).kind, Kind::symbol);
  EXPECT_EQ(operand(k, 0, 1).table, Table::branch_targets);
  EXPECT_EQ(operand(k, 0, 1).symbol, 0);
  EXPECT_EQ(operand(k, 0, 1).name, "$L_brx_0");
  EXPECT_EQ(body_error("t: .branchtargets nowhere; brx.idx %r1, t;"),
            "PTX line 7, column 19: 'nowhere' is not declared, and no label here has this name");
}

// --- locations ---

std::vector<std::uint32_t> lines(const Module& module, const Instruction& instruction) {
  std::vector<std::uint32_t> result;
  for (std::int32_t i = instruction.location; i >= 0;
       i = module.locations.at(static_cast<std::size_t>(i)).inlined_at) {
    result.push_back(module.locations[static_cast<std::size_t>(i)].line);
  }
  return result;
}

using Lines = std::vector<std::uint32_t>;

TEST(PtxLocation, AppliesUntilTheNextLocationOrFunctionEnd) {
  const Module module =
      parse_module(".entry a() { ret; .loc 1 10 3\n ret; ret; .loc 2 20 5\n ret; } .entry b() { ret; }");
  const Function& a = module.functions.at(0);
  EXPECT_EQ(a.instructions.at(0).location, -1);
  EXPECT_EQ(lines(module, a.instructions.at(1)), (Lines{10}));
  EXPECT_EQ(a.instructions[1].location, a.instructions.at(2).location);
  const Location& last = module.locations.at(static_cast<std::size_t>(a.instructions.at(3).location));
  EXPECT_EQ(last.file, 2u);
  EXPECT_EQ(last.column, 5u);
  EXPECT_EQ(module.functions.at(1).instructions.at(0).location, -1);
}

TEST(PtxLocation, StoresEqualLocationsOnce) {
  const Module module = parse_kernel(".loc 1 1 1\n ret; .loc 1 2 1\n ret; .loc 1 1 1\n ret;");
  EXPECT_EQ(module.locations.size(), 2u);
}

TEST(PtxLocation, CallSitesReferToLastLocationThere) {
  const Module module = parse_kernel(R"(
.loc 1 10 3
.loc 2 20 1, function_name $L__info_string0, inlined_at 1 10 3
.loc 3 30 1, function_name $L__info_string0+4, inlined_at 2 20 1
mov.u32 %r1, 1;
.loc 1 11 3
.loc 2 20 1, function_name $L__info_string0, inlined_at 1 11 3
.loc 3 30 1, function_name $L__info_string0+4, inlined_at 2 20 1
mov.u32 %r1, 2;
.loc 4 40 1, function_name $L__info_string1, inlined_at 9 99 9
mov.u32 %r1, 3;
}
.section .debug_str
{
$L__info_string0:
.b8 105,110,110,0,111,117
.b8 116,0
$L__info_string1:
.b8 120,0
)");
  const std::vector<Instruction>& i = module.functions.back().instructions;
  EXPECT_EQ(lines(module, i.at(0)), (Lines{30, 20, 10}));
  EXPECT_EQ(lines(module, i.at(1)), (Lines{30, 20, 11}));
  EXPECT_EQ(lines(module, i.at(2)), (Lines{40, 99}));  // a location is created for an unknown call site
  const Location& innermost = module.locations.at(static_cast<std::size_t>(i[0].location));
  EXPECT_EQ(innermost.function, "out");
  EXPECT_EQ(module.locations.at(static_cast<std::size_t>(innermost.inlined_at)).function, "inn");
  EXPECT_EQ(module.locations.at(static_cast<std::size_t>(i[2].location)).function, "x");
}

TEST(PtxLocation, IgnoresCallSitesOfOtherFunctions) {
  const Module module = parse_module(R"(
.entry a() { .loc 1 1 1
.loc 2 5 1, function_name L, inlined_at 1 1 1
ret; }
.entry b() { .loc 3 7 1, function_name L, inlined_at 2 5 1
ret; })");
  EXPECT_EQ(lines(module, module.functions.at(0).instructions.at(0)), (Lines{5, 1}));
  EXPECT_EQ(lines(module, module.functions.at(1).instructions.at(0)), (Lines{7, 5}));
}

TEST(PtxLocation, InlinedRecursionAddsNoDuplicateLocations) {
  std::string body = ".loc 1 9 1\n.loc 1 5 2, function_name A, inlined_at 1 9 1\n";
  for (int i = 0; i < 50; ++i) {
    body += ".loc 1 5 2, function_name B, inlined_at 1 5 2\nmov.u32 %r1, 1;\n";
    body += ".loc 1 5 2, function_name C, inlined_at 1 5 2\nmov.u32 %r1, 2;\n";
  }
  const Module module = parse_kernel(body);
  EXPECT_LE(lines(module, module.functions.back().instructions.back()).size(), 4u);
  EXPECT_LE(module.locations.size(), 6u);
}

TEST(PtxLocation, NameIsEmptyWithoutDebugSection) {
  const Module module = parse_kernel(".loc 1 2 3, function_name nowhere, inlined_at 1 1 1\nret;");
  EXPECT_EQ(module.locations.at(static_cast<std::size_t>(module.functions.back().instructions.at(0).location))
                .function,
            "");
}

}  // namespace
}  // namespace course::ptx
