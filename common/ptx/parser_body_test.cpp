// SPDX-License-Identifier: MIT
// Function bodies: instructions, operands, labels, blocks, calls, locations; one test a feature.
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "ptx/parser.hpp"
#include "ptx/test_support.hpp"

namespace course::ptx {
namespace {

using testing::body_error;
using testing::operand;
using testing::parse_kernel;
using testing::parse_module;
using testing::register_name;
using Kind = Operand::Kind;
using Table = Operand::Table;

// The one instruction of a body, printed again: what it was read as.
std::string reprinted(std::string_view instruction, std::string_view before = "") {
  const Module module = parse_kernel(instruction, before);
  const Function& k = module.functions.back();
  if (k.instructions.empty()) return "";
  return print(k, k.instructions.front());
}

std::int64_t integer_of(std::string_view constant) {
  const Module module = parse_kernel("mov.b64 %rd1, " + std::string(constant) + ";");
  const Operand& value = operand(module.functions.back(), 0, 1);
  EXPECT_EQ(value.kind, Kind::integer) << constant;
  return value.integer;
}

double real_of(std::string_view constant) {
  const Module module = parse_kernel("mov.f64 %fd1, " + std::string(constant) + ";");
  const Operand& value = operand(module.functions.back(), 0, 1);
  EXPECT_EQ(value.kind, Kind::real64) << constant;
  return std::bit_cast<double>(value.integer);
}

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
  EXPECT_EQ(reprinted("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r3, {%r4, %r5}, %p1;"),
            "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r3, {%r4, %r5}, %p1;");
  EXPECT_EQ(reprinted("some_future.16x64b.x1 %r1;"), "some_future.16x64b.x1 %r1;");
}

TEST(PtxInstruction, EqualSpellingsShareAForm) {
  const Module module = parse_kernel("add.u32 %r1,%r2,%r3; add.s32 %r1,%r2,%r3; add .u32 %r1,%r2,%r3;");
  const std::vector<Instruction>& i = module.functions.back().instructions;
  EXPECT_EQ(i.at(0).form, i.at(2).form);
  EXPECT_NE(i.at(0).form, i.at(1).form);
  EXPECT_EQ(module.forms, 2u);
  EXPECT_EQ(i[2].full_opcode(), "add.u32");
}

TEST(PtxInstruction, KnowsItsGuardAndLine) {
  const Module module = parse_kernel("@%p3 ret;\n\n@ ! %p4\nexit;\nbar.sync 0;");
  const Function& k = module.functions.back();
  EXPECT_EQ(register_name(k, k.instructions.at(0).guard), "%p3");
  EXPECT_FALSE(k.instructions[0].guard_negated);
  EXPECT_TRUE(k.instructions[1].guard_negated);
  EXPECT_EQ(register_name(k, k.instructions[1].guard), "%p4");
  EXPECT_EQ(k.instructions[2].guard, -1);
  EXPECT_EQ(k.instructions[0].text_line, 7u);
  EXPECT_EQ(k.instructions[1].text_line, 10u);
}

// --- operands ---

TEST(PtxOperand, ReadsIntegersInAllBases) {
  EXPECT_EQ(integer_of("42"), 42);
  EXPECT_EQ(integer_of("0x2aU"), 42);
  EXPECT_EQ(integer_of("0X2A"), 42);
  EXPECT_EQ(integer_of("052"), 42);
  EXPECT_EQ(integer_of("0b101010"), 42);
  EXPECT_EQ(integer_of("-42"), -42);
  EXPECT_EQ(integer_of("0"), 0);
  EXPECT_EQ(integer_of("18446744073709551615"), -1);
  EXPECT_EQ(integer_of("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
}

TEST(PtxOperand, EvaluatesConstantExpressions) {
  EXPECT_EQ(integer_of("1 + 2 * 3"), 7);
  EXPECT_EQ(integer_of("(1 + 2) * 3 - -1"), 10);
  EXPECT_EQ(integer_of("7 / 2 + 7 % 4"), 6);
  EXPECT_EQ(integer_of("-7 / 2"), -3);
  EXPECT_EQ(integer_of("1 << 4 | 1"), 17);
  EXPECT_EQ(integer_of("-8 >> 1"), -4);
  EXPECT_EQ(integer_of("(.u64)-8 >> 1"), 0x7FFFFFFFFFFFFFFC);
  EXPECT_EQ(integer_of("0xFU >> 2"), 3);
  EXPECT_EQ(integer_of("1 << 64"), 0);
  EXPECT_EQ(integer_of("6 & 3 ^ 8 | 16"), 26);
  EXPECT_EQ(integer_of("~0"), -1);
  EXPECT_EQ(integer_of("!5 + !0"), 1);
  EXPECT_EQ(integer_of("1 < 2 && 3 >= 4 || 5 != 6"), 1);
  EXPECT_EQ(integer_of("-1 < 1"), 1);
  EXPECT_EQ(integer_of("-1 < 1U"), 0);
  EXPECT_EQ(integer_of("1 ? 2 : 0 ? 3 : 4"), 2);
  EXPECT_EQ(integer_of("0 ? 2 : 0 ? 3 : 4"), 4);
  EXPECT_EQ(integer_of("WARP_SZ - 1"), 31);
  EXPECT_EQ(integer_of("(.s64)0x10"), 16);
  EXPECT_EQ(integer_of("(.s64)0x8000000000000000 / -1"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(integer_of("1.5 < 2"), 1);
}

TEST(PtxOperand, ReadsFloatingPointNumbers) {
  EXPECT_EQ(real_of("1.5"), 1.5);
  EXPECT_EQ(real_of("-2.5e-3"), -2.5e-3);
  EXPECT_EQ(real_of("1e3"), 1000.0);
  EXPECT_EQ(real_of("3."), 3.0);
  EXPECT_EQ(real_of(".25"), 0.25);
  EXPECT_EQ(real_of("0d3FF8000000000000"), 1.5);
  EXPECT_EQ(real_of("0D3ff8000000000000"), 1.5);
  EXPECT_EQ(real_of("1.5 * 2 + 1"), 4.0);
  EXPECT_EQ(real_of("1e-999"), 0.0);
  const Module module = parse_kernel("mov.f32 %f1, 0f3F800000; mov.f32 %f1, -0f3F800000;");
  EXPECT_EQ(operand(module.functions.back(), 0, 1).kind, Kind::real32);
  EXPECT_EQ(operand(module.functions.back(), 0, 1).integer, 0x3F800000);
  EXPECT_EQ(operand(module.functions.back(), 1, 1).integer, 0xBF800000);
}

TEST(PtxOperand, BadNumbersAreErrors) {
  EXPECT_EQ(body_error("mov.u32 %r1, 089;"),
            "PTX line 7, column 15: expected octal digits only in this number, found '89'");
  EXPECT_EQ(body_error("mov.u32 %r1, 0x;"), "PTX line 7, column 16: expected hexadecimal digits, found ';'");
  EXPECT_EQ(body_error("mov.u32 %r1, 12ab;"),
            "PTX line 7, column 16: expected decimal digits only in this number, found 'ab'");
  EXPECT_EQ(body_error("mov.u64 %rd1, 18446744073709551616;"),
            "PTX line 7, column 15: this number needs more than 64 bits");
  EXPECT_EQ(body_error("mov.f32 %f1, 0f3F80;"),
            "PTX line 7, column 14: expected 8 hexadecimal digits after 0f");
  EXPECT_EQ(body_error("mov.f32 %f1, 0f3F8000000;"),
            "PTX line 7, column 14: expected no more than 8 hexadecimal digits after 0f");
  EXPECT_EQ(body_error("mov.f64 %fd1, 1e999;"),
            "PTX line 7, column 15: this number is above the largest double");
  EXPECT_EQ(body_error("mov.u32 %r1, 1/0;"),
            "PTX line 7, column 15: division by zero in a constant expression");
  EXPECT_EQ(body_error("mov.u32 %r1, 1.5 << 1;"), "PTX line 7, column 18: this operator needs integers");
  EXPECT_EQ(body_error("mov.u32 %r1, (1;"),
            "PTX line 7, column 16: expected ')' that closes the constant expression, found ';'");
}

TEST(PtxOperand, ReadsAddresses) {
  const Module module = parse_kernel(R"(
ld.u32 %r1, [%rd1]; ld.u32 %r1, [%rd1+8]; ld.u32 %r1, [%rd1+-8]; ld.u32 %r1, [ %rd1 - 8 ]; ld.param.u64 %rd1, [a];
ld.global.u32 %r1, [g+4*2]; ld.global.u32 %r1, [g+-4]; ld.local.u32 %r1, [16];)",
                                     ".global .u32 g[8];");
  const Function& k = module.functions.back();
  const auto address = [&](std::size_t i) -> const Operand& { return operand(k, i, 1); };
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(address(i).kind, Kind::address);
  EXPECT_EQ(register_name(k, address(0).index), "%rd1");
  EXPECT_EQ(address(0).integer, 0);
  EXPECT_EQ(address(1).integer, 8);
  EXPECT_EQ(address(2).integer, -8);
  EXPECT_EQ(address(3).integer, -8);
  EXPECT_EQ(address(4).name, "a");
  EXPECT_EQ(address(4).table, Table::parameter);
  EXPECT_EQ(address(4).symbol, 0);
  EXPECT_EQ(address(4).index, -1);
  EXPECT_EQ(address(5).name, "g");
  EXPECT_EQ(address(5).table, Table::variable);
  EXPECT_EQ(address(5).integer, 8);
  EXPECT_EQ(address(6).integer, -4);
  EXPECT_EQ(address(7).integer, 16);
  EXPECT_EQ(address(7).index, -1);
  EXPECT_TRUE(address(7).name.empty());
}

TEST(PtxOperand, SubscriptsCountElements) {
  const Module module =
      parse_kernel("ld.global.u32 %r1, g[3]; mov.u64 %rd1, h[2]; ld.global.u32 %r1, g[%r2+1];",
                   ".global .u32 g[8]; .global .v2 .u32 h[4];");
  const Function& k = module.functions.back();
  EXPECT_EQ(operand(k, 0, 1).kind, Kind::address);
  EXPECT_EQ(operand(k, 0, 1).integer, 12);
  EXPECT_EQ(operand(k, 1, 1).kind, Kind::symbol);
  EXPECT_EQ(operand(k, 1, 1).integer, 16);
  const Operand& indexed = operand(k, 2, 1);
  EXPECT_EQ(indexed.kind, Kind::address);
  EXPECT_EQ(indexed.name, "g");
  EXPECT_EQ(register_name(k, indexed.index), "%r2");
  EXPECT_EQ(indexed.integer, 1);
}

TEST(PtxOperand, ReadsSymbols) {
  const Module module = parse_kernel(
      "mov.u64 %rd1, g; mov.u64 %rd1, g+12; mov.u64 %rd1, f; mov.u64 %rd1, b; { .local .b8 s[8]; mov.u64 "
      "%rd1, s; }",
      ".global .u32 g[8]; .func f() { ret; }");
  const Function& k = module.functions.back();
  EXPECT_EQ(operand(k, 0, 1).kind, Kind::symbol);
  EXPECT_EQ(operand(k, 0, 1).table, Table::variable);
  EXPECT_EQ(operand(k, 1, 1).integer, 12);
  EXPECT_EQ(operand(k, 2, 1).table, Table::function);
  EXPECT_EQ(operand(k, 3, 1).table, Table::parameter);
  EXPECT_EQ(operand(k, 3, 1).symbol, 1);
  EXPECT_EQ(operand(k, 4, 1).table, Table::local);
  EXPECT_EQ(k.variables.at(static_cast<std::size_t>(operand(k, 4, 1).symbol)).size, 8u);
}

TEST(PtxOperand, ReadsVectorsSinksAndPairs) {
  const Module module = parse_kernel(
      "mov.b64 {%r1, _}, %rd1; setp.eq.and.u32 %p1|%p2, %r1, 2, !%p3; setp.lt.u32 _|%p1, %r1, 3;");
  const Function& k = module.functions.back();
  ASSERT_EQ(operand(k, 0, 0).kind, Kind::vector);
  EXPECT_EQ(operand(k, 0, 0).parts.at(1).kind, Kind::sink);
  ASSERT_EQ(operand(k, 1, 0).kind, Kind::pair);
  EXPECT_EQ(register_name(k, operand(k, 1, 0).parts.at(1).index), "%p2");
  EXPECT_TRUE(operand(k, 1, 3).negated);
  EXPECT_EQ(register_name(k, operand(k, 1, 3).index), "%p3");
  EXPECT_EQ(operand(k, 2, 0).parts.at(0).kind, Kind::sink);
}

TEST(PtxOperand, ReadsSpecialRegisters) {
  const Module module = parse_kernel(
      "mov.u32 %r1, %tid.x; mov.u64 %rd1, %clock64; mov.u32 %r1, %envreg31; mov.u32 %r1, %ctaid.b; mov.u64 "
      "%rd1, %pm7_64;");
  const Function& k = module.functions.back();
  EXPECT_EQ(operand(k, 0, 1).kind, Kind::special);
  EXPECT_EQ(operand(k, 0, 1).name, "%tid.x");
  EXPECT_EQ(operand(k, 1, 1).name, "%clock64");
  EXPECT_EQ(operand(k, 2, 1).name, "%envreg31");
  EXPECT_EQ(operand(k, 3, 1).name, "%ctaid.z");
  EXPECT_EQ(operand(k, 4, 1).name, "%pm7_64");
  for (const char* wrong : {"%tidx", "%tid.q", "%envreg32", "%envreg01", "%envreg", "%pm8", "%laneid.x"}) {
    EXPECT_NE(body_error(std::string("mov.u32 %r1, ") + wrong + ";").find("is not declared"),
              std::string::npos)
        << wrong;
  }
}

TEST(PtxOperand, ReadsByteSelectorsOfVideoInstructions) {
  const Module module = parse_kernel("vmad.u32.u32.u32 %r1, %r2.b3, -%r3.h0, %r4;");
  const Function& k = module.functions.back();
  EXPECT_EQ(operand(k, 0, 1).name, "b3");
  EXPECT_EQ(operand(k, 0, 2).name, "h0");
  EXPECT_TRUE(operand(k, 0, 2).negated);
  EXPECT_TRUE(operand(k, 0, 3).name.empty());
}

TEST(PtxOperand, ReadsCoordinatesOfTexturesAndTensors) {
  const Module module = parse_kernel(R"(
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];)",
                                     ".global .texref t;");
  const Function& k = module.functions.back();
  EXPECT_EQ(operand(k, 0, 1).name, "t");
  ASSERT_EQ(operand(k, 0, 1).parts.size(), 1u);
  EXPECT_EQ(operand(k, 0, 1).parts[0].parts.size(), 2u);
  EXPECT_EQ(register_name(k, operand(k, 1, 1).index), "%rd1");
  EXPECT_EQ(operand(k, 1, 1).parts.at(0).parts.size(), 2u);
  EXPECT_TRUE(k.instructions[1].has("mbarrier::complete_tx::bytes"));
}

TEST(PtxOperand, BadOnesAreErrors) {
  EXPECT_EQ(body_error("add.u32 %r1, %r2 %r3;"),
            "PTX line 7, column 18: expected ',' or ';' after operand 2 of 'add.u32', found '%r3'");
  EXPECT_EQ(body_error("add.u32 %r1, ;"), "PTX line 7, column 14: expected an operand, found ';'");
  EXPECT_EQ(body_error("ret"), "PTX line 8, column 1: expected an operand or ';' after 'ret', found '}'");
  EXPECT_EQ(body_error("ld.u32 %r1, [%rd1;"),
            "PTX line 7, column 18: expected ']' after the address of 'ld', found ';'");
  EXPECT_EQ(body_error("ld.u32 %r1, [];"),
            "PTX line 7, column 14: expected a register, a variable or a number as the address, found ']'");
  EXPECT_EQ(body_error("mov.b64 {%r1, %r2, %rd1;"),
            "PTX line 7, column 24: expected ',' or '}' in the vector of 'mov', found ';'");
  EXPECT_EQ(body_error("mov.b64 {%r1, nobody}, %rd1;"), "PTX line 7, column 15: 'nobody' is not declared");
  EXPECT_EQ(body_error("mov.u32 %r1, nobody;"),
            "PTX line 7, column 14: 'nobody' is not declared, and no label here has this name");
  EXPECT_EQ(body_error("add. u32 %r1, %r2, %r3;"),
            "PTX line 7, column 6: expected a modifier right after '.', found 'u32'");
  EXPECT_EQ(body_error("@%r1 ret;"),
            "PTX line 7, column 2: the guard '%r1' is a '.b32' register, not a '.pred' one");
  EXPECT_EQ(body_error("@q ret;"), "PTX line 7, column 2: the guard 'q' is not a declared register");
  EXPECT_EQ(body_error("%r1 = 5;"), "PTX line 7, column 1: expected an opcode, found '%r1'");
  EXPECT_EQ(body_error("mov.u32 %r1, k[0];"),
            "PTX line 7, column 15: 'k' is no variable and has no elements");
  EXPECT_EQ(body_error("mov.u32 %r1, \x01;"),
            "PTX line 7, column 14: expected an operand, found the byte 0x01");
}

// --- labels and blocks ---

TEST(PtxLabel, BranchesGoForwardsAndBackwards) {
  const Module module = parse_kernel("top: bra.uni bottom; add.u32 %r1, %r1, 1; @%p1 bra top; bottom: ret;");
  const Function& k = module.functions.back();
  EXPECT_EQ(operand(k, 0, 0).kind, Kind::label);
  EXPECT_EQ(operand(k, 0, 0).index, 3);
  EXPECT_EQ(operand(k, 2, 0).index, 0);
}

TEST(PtxLabel, SeveralMayStandBeforeOneInstruction) {
  const Module module = parse_kernel("bra one; bra two; one: two:\n three: ret;");
  const Function& k = module.functions.back();
  ASSERT_EQ(k.labels.size(), 3u);
  for (const Function::Label& label : k.labels) EXPECT_EQ(label.at, 2);
  EXPECT_EQ(operand(k, 0, 0).index, 2);
  EXPECT_EQ(operand(k, 0, 0).symbol, 0);
  EXPECT_EQ(operand(k, 1, 0).symbol, 1);
}

TEST(PtxLabel, MayStandAtTheEnd) {
  const Module module = parse_kernel("bra end; ret; end:");
  const Function& k = module.functions.back();
  EXPECT_EQ(k.labels.at(0).at, 2);
  EXPECT_EQ(operand(k, 0, 0).index, 2);
}

TEST(PtxLabel, MayHaveTheNameOfAnOpcodeOrARegister) {
  const Module module =
      parse_kernel("add: add.u32 %r1, %r1, 1; bra add; .reg .u32 x; x : mov.u32 x, 1; bra x;");
  const Function& k = module.functions.back();
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
  const Module module =
      parse_kernel("mov.b32 %r1, 1; { .reg .b64 %r<4>; mov.b64 %r1, 2; mov.b64 %r2, 3; } mov.b32 %r2, %r1;");
  const Function& k = module.functions.back();
  const auto type = [&](std::size_t i) {
    return k.registers.at(static_cast<std::size_t>(operand(k, i, 0).index)).type;
  };
  EXPECT_EQ(type(0), Type::b32);
  EXPECT_EQ(type(1), Type::b64);
  EXPECT_EQ(type(2), Type::b64);
  EXPECT_EQ(type(3), Type::b32);
  EXPECT_EQ(operand(k, 3, 1).index, operand(k, 0, 0).index);
}

TEST(PtxBlock, AnOuterRangeSurvivesAnInnerUse) {
  const Module module = parse_kernel("{ mov.b32 %r1, 1; } mov.b32 %r1, 2;");
  const Function& k = module.functions.back();
  EXPECT_EQ(k.registers.size(), 1u);
  EXPECT_EQ(operand(k, 0, 0).index, operand(k, 1, 0).index);
}

TEST(PtxBlock, LabelsShadow) {
  const Module module = parse_kernel(R"(
{ WAIT: mov.u32 %r1, 1; @%p1 bra DONE; bra WAIT; DONE: }
{ WAIT: mov.u32 %r1, 2; @%p1 bra DONE; bra WAIT; DONE: }
bra WAIT; WAIT: ret;)");
  const Function& k = module.functions.back();
  EXPECT_EQ(operand(k, 1, 0).index, 3);
  EXPECT_EQ(operand(k, 2, 0).index, 0);
  EXPECT_EQ(operand(k, 4, 0).index, 6);
  EXPECT_EQ(operand(k, 5, 0).index, 3);
  EXPECT_EQ(operand(k, 6, 0).index, 7);
  EXPECT_EQ(k.labels.at(2).name, "WAIT$1");
}

TEST(PtxBlock, ABranchSeesTheLabelsAroundItButNotInside) {
  const Module module = parse_kernel("{ { bra out; } } out: ret;");
  EXPECT_EQ(operand(module.functions.back(), 0, 0).index, 1);
  EXPECT_EQ(body_error("bra in; { in: ret; }"),
            "PTX line 7, column 5: 'in' is not declared, and no label here has this name");
  EXPECT_EQ(body_error("x: ret;\nx: ret;"), "PTX line 8, column 1: the label 'x' is already on line 7");
}

TEST(PtxBlock, VariablesKnowWhereTheyLive) {
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

TEST(PtxCall, PrototypesOfOneNameInSeveralBlocksAreToldApart) {
  const Module module = parse_kernel(R"(
{ p: .callprototype _ (.param .b32 _); .param .b32 a0; call %rd1, (a0), p; }
{ p: .callprototype _ (.param .b64 _); .param .b64 a0; call %rd1, (a0), p; })");
  const Function& k = module.functions.back();
  EXPECT_EQ(operand(k, 0, 2).symbol, 0);
  EXPECT_EQ(operand(k, 1, 2).symbol, 1);
  EXPECT_EQ(operand(k, 1, 2).name, "p$1");
}

TEST(PtxCall, AnUndeclaredFunctionIsAnError) {
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

TEST(PtxLocation, HoldsUntilTheNextOneAndEndsWithTheFunction) {
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

TEST(PtxLocation, EqualOnesAreKeptOnce) {
  const Module module = parse_kernel(".loc 1 1 1\n ret; .loc 1 2 1\n ret; .loc 1 1 1\n ret;");
  EXPECT_EQ(module.locations.size(), 2u);
}

TEST(PtxLocation, CallSitesAreTheLastLocationAtTheirPosition) {
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
  EXPECT_EQ(lines(module, i.at(2)), (Lines{40, 99}));  // an unknown call site is made
  const Location& innermost = module.locations.at(static_cast<std::size_t>(i[0].location));
  EXPECT_EQ(innermost.function, "out");
  EXPECT_EQ(module.locations.at(static_cast<std::size_t>(innermost.inlined_at)).function, "inn");
  EXPECT_EQ(module.locations.at(static_cast<std::size_t>(i[2].location)).function, "x");
}

TEST(PtxLocation, CallSitesOfAnotherFunctionAreNotTaken) {
  const Module module = parse_module(R"(
.entry a() { .loc 1 1 1
.loc 2 5 1, function_name L, inlined_at 1 1 1
ret; }
.entry b() { .loc 3 7 1, function_name L, inlined_at 2 5 1
ret; })");
  EXPECT_EQ(lines(module, module.functions.at(0).instructions.at(0)), (Lines{5, 1}));
  EXPECT_EQ(lines(module, module.functions.at(1).instructions.at(0)), (Lines{7, 5}));
}

TEST(PtxLocation, InlinedRecursionAtOnePositionDoesNotGrowWithRepetition) {
  std::string body = ".loc 1 9 1\n.loc 1 5 2, function_name A, inlined_at 1 9 1\n";
  for (int i = 0; i < 50; ++i) {
    body += ".loc 1 5 2, function_name B, inlined_at 1 5 2\nmov.u32 %r1, 1;\n";
    body += ".loc 1 5 2, function_name C, inlined_at 1 5 2\nmov.u32 %r1, 2;\n";
  }
  const Module module = parse_kernel(body);
  EXPECT_LE(lines(module, module.functions.back().instructions.back()).size(), 4u);
  EXPECT_LE(module.locations.size(), 6u);
}

TEST(PtxLocation, ANameWithoutItsSectionIsEmpty) {
  const Module module = parse_kernel(".loc 1 2 3, function_name nowhere, inlined_at 1 1 1\nret;");
  EXPECT_EQ(module.locations.at(static_cast<std::size_t>(module.functions.back().instructions.at(0).location))
                .function,
            "");
}

}  // namespace
}  // namespace course::ptx
