// SPDX-License-Identifier: MIT
// Operands of instructions; one test per feature.

#include <bit>
#include <limits>

#include "ptx/testing/test_support.hpp"

namespace course::ptx {
namespace {

using testing::body_error;
using testing::kernel_of;
using testing::operand;
using testing::parse_kernel;
using testing::register_name;
using Kind = Operand::Kind;
using Table = Operand::Table;

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
  EXPECT_EQ(integer_of("0xFU >> 2"), 3);
  EXPECT_EQ(integer_of("1 << 64"), 0);
  EXPECT_EQ(integer_of("6 & 3 ^ 8 | 16"), 26);
  EXPECT_EQ(integer_of("~0"), -1);
  EXPECT_EQ(integer_of("WARP_SZ - 1"), 31);
}

TEST(PtxOperand, ReadsFloatingPointNumbers) {
  EXPECT_EQ(real_of("1.5"), 1.5);
  EXPECT_EQ(real_of("-2.5e-3"), -2.5e-3);
  EXPECT_EQ(real_of("1e3"), 1000.0);
  EXPECT_EQ(real_of("3."), 3.0);
  EXPECT_EQ(real_of(".25"), 0.25);
  EXPECT_EQ(real_of("0d3FF8000000000000"), 1.5);
  EXPECT_EQ(real_of("0D3ff8000000000000"), 1.5);
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
ld.u32 %r1, [%rd1]; ld.u32 %r1, [%rd1+8]; ld.u32 %r1, [%rd1+-8]; ld.u32 %r1, [ %rd1 - 8 ];
ld.param.u64 %rd1, [a];
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
  const Function& k = kernel_of("ld.global.u32 %r1, g[3]; mov.u64 %rd1, h[2]; ld.global.u32 %r1, g[%r2+1];",
                                ".global .u32 g[8]; .global .v2 .u32 h[4];");
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
  const Function& k = kernel_of(
      "mov.u64 %rd1, g; mov.u64 %rd1, g+12; mov.u64 %rd1, f; mov.u64 %rd1, b; { .local .b8 s[8]; mov.u64 "
      "%rd1, s; }",
      ".global .u32 g[8]; .func f() { ret; }");
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
  const Function& k =
      kernel_of("mov.b64 {%r1, _}, %rd1; setp.eq.and.u32 %p1|%p2, %r1, 2, !%p3; setp.lt.u32 _|%p1, %r1, 3;");
  ASSERT_EQ(operand(k, 0, 0).kind, Kind::vector);
  EXPECT_EQ(operand(k, 0, 0).parts.at(1).kind, Kind::sink);
  ASSERT_EQ(operand(k, 1, 0).kind, Kind::pair);
  EXPECT_EQ(register_name(k, operand(k, 1, 0).parts.at(1).index), "%p2");
  EXPECT_TRUE(operand(k, 1, 3).negated);
  EXPECT_EQ(register_name(k, operand(k, 1, 3).index), "%p3");
  EXPECT_EQ(operand(k, 2, 0).parts.at(0).kind, Kind::sink);
}

TEST(PtxOperand, ReadsSpecialRegisters) {
  const Function& k = kernel_of(
      "mov.u32 %r1, %tid.x; mov.u64 %rd1, %clock64; mov.u32 %r1, %envreg31; mov.u32 %r1, %ctaid.b; mov.u64 "
      "%rd1, %pm7_64;");
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
  const Function& k = kernel_of("vmad.u32.u32.u32 %r1, %r2.b3, -%r3.h0, %r4;");
  EXPECT_EQ(operand(k, 0, 1).name, "b3");
  EXPECT_EQ(operand(k, 0, 2).name, "h0");
  EXPECT_TRUE(operand(k, 0, 2).negated);
  EXPECT_TRUE(operand(k, 0, 3).name.empty());
}

TEST(PtxOperand, ReadsCoordinatesOfTexturesAndTensors) {
  const Module module = parse_kernel(R"(
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
  [%r1], [%rd1, {%r2, %r3}], [%r4];)",
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
            "PTX line 7, column 15: 'k' is not a variable and has no elements");
  EXPECT_EQ(body_error("mov.u32 %r1, \x01;"),
            "PTX line 7, column 14: expected an operand, found the byte 0x01");
}

}  // namespace
}  // namespace course::ptx
