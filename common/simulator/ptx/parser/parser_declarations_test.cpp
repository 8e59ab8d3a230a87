// SPDX-License-Identifier: MIT
// Variables, registers and initial values, one test per feature.

#include <cstring>

#include "ptx/testing/test_support.hpp"

namespace course::ptx {
namespace {

using testing::kernel_of;
using testing::module_error;
using testing::operand;
using testing::parse_kernel;
using testing::parse_module;
using testing::register_name;

using Bytes = std::vector<std::uint8_t>;

Variable only_variable(std::string_view text) {
  const Module module = parse_module(text);
  EXPECT_EQ(module.variables.size(), 1u) << text;
  return module.variables.empty() ? Variable{} : module.variables.front();
}

template <typename T>
T element(const Variable& variable, std::size_t index) {
  T value{};
  if (variable.initial.size() < (index + 1) * sizeof(T)) {
    ADD_FAILURE() << "only " << variable.initial.size() << " initial bytes";
    return value;
  }
  std::memcpy(&value, variable.initial.data() + index * sizeof(T), sizeof(T));
  return value;
}

TEST(PtxDeclarations, VariablesHaveTheirNaturalAlignment) {
  EXPECT_EQ(only_variable(".global .b8 x;").alignment, 1u);
  EXPECT_EQ(only_variable(".global .f64 x;").alignment, 8u);
  EXPECT_EQ(only_variable(".global .b128 x;").alignment, 16u);
  EXPECT_EQ(only_variable(".global .v4 .f32 x;").alignment, 16u);
  EXPECT_EQ(only_variable(".global .v2 .u16 x[5];").alignment, 4u);
  EXPECT_EQ(only_variable(".global .align 64 .b8 x[3];").alignment, 64u);
}

TEST(PtxDeclarations, SizesCoverAllDimensions) {
  EXPECT_EQ(only_variable(".global .u32 x;").size, 4u);
  EXPECT_EQ(only_variable(".global .u32 x[10];").size, 40u);
  EXPECT_EQ(only_variable(".shared .u16 x[3][0x10][2];").size, 192u);
  EXPECT_EQ(only_variable(".global .v4 .f32 x[2];").size, 32u);
  EXPECT_EQ(only_variable(".const .u32 x[2*3+1];").size, 28u);
}

TEST(PtxDeclarations, OneDirectiveMayDeclareSeveralVariables) {
  const Module module = parse_module(".global .u32 a, b[2], c = 3;");
  ASSERT_EQ(module.variables.size(), 3u);
  EXPECT_EQ(module.variables[1].size, 8u);
  EXPECT_EQ(element<std::uint32_t>(module.variables[2], 0), 3u);
}

TEST(PtxDeclarations, NumberedVariablesAreExpanded) {
  const Module module = parse_module(".global .u16 x<3>;");
  ASSERT_EQ(module.variables.size(), 3u);
  EXPECT_EQ(module.variables[2].name, "x2");
  EXPECT_EQ(module.variables[2].size, 2u);
}

TEST(PtxDeclarations, ExternArraysHaveNoSize) {
  const Variable dynamic = only_variable(".extern .shared .align 16 .b8 s[];");
  EXPECT_EQ(dynamic.size, 0u);
  EXPECT_TRUE(dynamic.is_array);
  EXPECT_TRUE(dynamic.is_extern);
  EXPECT_EQ(dynamic.alignment, 16u);
}

TEST(PtxDeclarations, ExternDeclarationsMayPrecedeTheVariable) {
  const Variable x = only_variable(".extern .global .u32 x;\n.extern .global .u32 x;\n.global .u32 x = 3;");
  EXPECT_FALSE(x.is_extern);
  EXPECT_EQ(x.initial.size(), 4u);
  EXPECT_EQ(only_variable(".global .u32 x = 4;\n.extern .global .u32 x;").initial.size(), 4u);
}

TEST(PtxDeclarations, ReadsManagedVariables) {
  EXPECT_TRUE(only_variable(".global .attribute(.managed) .align 4 .u32 m = 7;").managed);
  EXPECT_TRUE(only_variable(".global .attribute(.managed, .unified(1, 2)) .u32 m;").managed);
  EXPECT_FALSE(only_variable(".global .attribute(.unified(1, 2)) .u32 m;").managed);
}

TEST(PtxDeclarations, ReadsTexturesAndSamplers) {
  const Module module = parse_module(
      ".global .texref t;\n.global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest "
      "};");
  EXPECT_EQ(module.find_variable("t")->type, Type::texref);
  EXPECT_EQ(module.find_variable("s")->type, Type::samplerref);
  EXPECT_EQ(module.find_variable("s")->size, 8u);
}

// --- initial values ---

TEST(PtxInitialValues, IntegersAreLittleEndianAndTruncated) {
  EXPECT_EQ(only_variable(".global .u16 x[3] = {1, 0x1234, -2};").initial,
            (Bytes{1, 0, 0x34, 0x12, 0xFE, 0xFF}));
  EXPECT_EQ(only_variable(".global .u8 x[2] = {-1, 300};").initial, (Bytes{255, 44}));
  EXPECT_EQ(only_variable(".global .u64 x = -1;").initial, Bytes(8, 255));
  EXPECT_EQ(only_variable(".global .s64 x = 0x8000000000000000;").initial, (Bytes{0, 0, 0, 0, 0, 0, 0, 128}));
}

TEST(PtxInitialValues, ShorterListsAreFilledWithZeros) {
  const Variable x = only_variable(".global .u32 x[4] = {1, 2};");
  EXPECT_EQ(x.initial.size(), 8u);
  EXPECT_EQ(x.size, 16u);
}

TEST(PtxInitialValues, TheListDeterminesAMissingExtent) {
  EXPECT_EQ(only_variable(".global .u32 x[] = {1, 2, 3};").size, 12u);
  EXPECT_EQ(only_variable(".global .u8 x[][2] = {{1, 2}, {3}};").size, 4u);
}

TEST(PtxInitialValues, FloatsAreBitsOrDecimals) {
  const Variable f = only_variable(".global .f32 x[4] = {0f3F800000, 1.5, -2.0, 0d4010000000000000};");
  EXPECT_EQ(element<float>(f, 0), 1.0f);
  EXPECT_EQ(element<float>(f, 1), 1.5f);
  EXPECT_EQ(element<float>(f, 2), -2.0f);
  EXPECT_EQ(element<float>(f, 3), 4.0f);
  const Variable d = only_variable(".const .f64 x[2] = {0dBFF8000000000000, 1e-3};");
  EXPECT_EQ(element<double>(d, 0), -1.5);
  EXPECT_EQ(element<double>(d, 1), 1e-3);
}

TEST(PtxInitialValues, VectorsAddADimension) {
  const Variable one = only_variable(".global .v4 .f32 x = {1.0, 2.0, 3.0, 4.0};");
  EXPECT_EQ(element<float>(one, 3), 4.0f);
  const Variable two = only_variable(".global .v2 .u32 x[2] = {{1, 2}, {3, 4}};");
  EXPECT_EQ(element<std::uint32_t>(two, 2), 3u);
}

TEST(PtxInitialValues, NestedListsOnlyGroupAsInPtxas) {
  // ptxas 13.0 stores the 3 directly after the 2; C would leave a gap.
  const Variable x = only_variable(".global .u32 x[2][3] = {{1, 2}, {3}};");
  EXPECT_EQ(x.initial.size(), 12u);
  EXPECT_EQ(element<std::uint32_t>(x, 2), 3u);
}

TEST(PtxInitialValues, AddressesBecomeRelocations) {
  const Module module = parse_module(R"(
.func f() { ret; }
.global .u32 g[8];
.global .u64 table[5] = {g, generic(g), g+8, generic(g)+-4, f};)");
  const Variable& table = *module.find_variable("table");
  ASSERT_EQ(table.relocations.size(), 5u);
  EXPECT_EQ(table.initial, Bytes(40, 0));
  EXPECT_FALSE(table.relocations[0].generic);
  EXPECT_TRUE(table.relocations[1].generic);
  EXPECT_EQ(table.relocations[2].offset, 16u);
  EXPECT_EQ(table.relocations[2].addend, 8);
  EXPECT_EQ(table.relocations[3].addend, -4);
  EXPECT_TRUE(table.relocations[3].generic);
  EXPECT_EQ(table.relocations[4].symbol, "f");
  EXPECT_EQ(table.relocations[4].bytes, 8);
}

TEST(PtxInitialValues, MasksSelectOneByteOfAnAddress) {
  const Module module = parse_module(
      ".global .u32 g;\n.global .u8 x[4] = {7, 0xFF(g), 0xFF00(generic(g)+4), 0xFF00000000000000(g-1)};");
  const Variable& x = *module.find_variable("x");
  ASSERT_EQ(x.relocations.size(), 3u);
  EXPECT_EQ(x.relocations[0].bytes, 1);
  EXPECT_EQ(x.relocations[0].shift, 0);
  EXPECT_EQ(x.relocations[0].offset, 1u);
  EXPECT_EQ(x.relocations[1].shift, 8);
  EXPECT_TRUE(x.relocations[1].generic);
  EXPECT_EQ(x.relocations[1].addend, 4);
  EXPECT_EQ(x.relocations[2].shift, 56);
  EXPECT_EQ(x.relocations[2].addend, -1);
}

TEST(PtxInitialValues, VariablesMayContainTheirOwnAddress) {
  const Variable x = only_variable(".global .u64 x[2] = {x, generic(x)+8};");
  EXPECT_EQ(x.relocations.at(1).symbol, "x");
}

TEST(PtxInitialValues, BadOnesAreErrors) {
  EXPECT_EQ(module_error(".global .u32 x[2] = {1, 2, 3};"),
            "PTX line 4, column 28: more initial values than 'x' has elements");
  EXPECT_EQ(module_error(".global .u32 x = y;"),
            "PTX line 4, column 18: 'y' is not a variable or function declared before");
  EXPECT_EQ(module_error(".global .u32 x = 1.5;"),
            "PTX line 4, column 18: a floating-point number cannot initialise '.u32': give its bits");
  EXPECT_EQ(module_error(".global .u32 y; .global .u8 x = y;"),
            "PTX line 4, column 33: an address needs an element of 4 or 8 bytes, or a mask like 0xff(name)");
  EXPECT_EQ(module_error(".global .u32 y; .global .u8 x = 0xf0(y);"),
            "PTX line 4, column 33: expected a mask of one byte, like 0xff or 0xff00");
  EXPECT_EQ(module_error(".shared .u32 x = 1;"),
            "PTX line 4, column 18: a variable in '.shared' cannot have an initial value");
  EXPECT_EQ(module_error(".extern .global .u32 x = 1;"),
            "PTX line 4, column 22: the extern variable 'x' has an initial value");
  EXPECT_EQ(module_error(".global .u32 x[2] = 1;"),
            "PTX line 4, column 21: expected '{' that opens the initial values, found '1'");
  EXPECT_EQ(module_error(".global .u32 x[2] = {{1}};"),
            "PTX line 4, column 22: more nested braces than the array has dimensions");
}

TEST(PtxDeclarations, BadOnesAreErrors) {
  EXPECT_EQ(module_error(".global .u32 x[];"),
            "PTX line 4, column 14: the array 'x' needs an extent or an initial value");
  EXPECT_EQ(module_error(".global .u32 x[2][];"),
            "PTX line 4, column 20: only an array's first extent may be left out");
  EXPECT_EQ(module_error(".global .u32 x[-1];"), "PTX line 4, column 16: the array's extent is negative: -1");
  EXPECT_EQ(module_error(".global .align 3 .u32 x;"),
            "PTX line 4, column 16: expected a power of two as the alignment, found 3");
  EXPECT_EQ(module_error(".global .pred x;"),
            "PTX line 4, column 9: a variable cannot have the type '.pred'");
  EXPECT_EQ(module_error(".global x;"), "PTX line 4, column 9: expected a type like .b32, found 'x'");
  EXPECT_EQ(module_error(".global .u33 x;"),
            "PTX line 4, column 9: expected a type or '.align', found '.u33'");
  EXPECT_EQ(module_error(".global .u32 x; .global .u32 x;"),
            "PTX line 4, column 30: the variable 'x' is already declared");
  EXPECT_EQ(module_error(".func x() { ret; } .global .u32 x;"),
            "PTX line 4, column 33: 'x' is already declared as a function");
  EXPECT_EQ(module_error(".global .u64 x[0x100000000][0x100000000];"),
            "PTX line 4, column 14: this variable is larger than 281474976710656 bytes");
  EXPECT_EQ(module_error(".global .u32 x<70000>;"),
            "PTX line 4, column 16: a number of variables above the limit of 65536");
  EXPECT_EQ(module_error(".reg .u32 x;"),
            "PTX line 4, column 1: registers can only be declared inside a function");
}

// --- registers ---

TEST(PtxRegisters, ListsUsedRegistersInOrderOfUse) {
  const Function& k = kernel_of("add.u32 %r7, %r3, %r7; ret;");
  ASSERT_EQ(k.registers.size(), 2u);
  EXPECT_EQ(k.registers[0].name, "%r7");
  EXPECT_EQ(k.registers[0].type, Type::b32);
  EXPECT_EQ(k.registers[1].name, "%r3");
  EXPECT_EQ(operand(k, 0, 2).index, 0);
}

TEST(PtxRegisters, HugeRangesTakeNoMemory) {
  const Module module = parse_kernel(".reg .b32 %big<2000000000>; mov.u32 %big1999999999, 1; ret;");
  EXPECT_EQ(module.functions.back().registers.size(), 1u);
}

TEST(PtxRegisters, RangesExcludeTheirCount) {
  EXPECT_EQ(
      testing::body_error("mov.u32 %r16, 1;"),
      "PTX line 7, column 9: the register '%r16' is not declared, and no special register has this name");
  EXPECT_EQ(
      testing::body_error("mov.u32 %r01, 1;"),
      "PTX line 7, column 9: the register '%r01' is not declared, and no special register has this name");
}

TEST(PtxRegisters, PrefixesMayEndWithADigit) {
  const Module module = parse_kernel(".reg .f32 %x1<3>; mov.f32 %x12, %x10; ret;");
  EXPECT_EQ(module.functions.back().registers.at(0).name, "%x12");
  EXPECT_EQ(module.functions.back().registers.at(0).type, Type::f32);
}

TEST(PtxRegisters, NamesMayLackThePercentSign) {
  const Module module = parse_kernel(".reg .u32 count, $tmp, _x; add.u32 count, $tmp, _x; ret;");
  EXPECT_EQ(module.functions.back().registers.size(), 3u);
}

TEST(PtxRegisters, VectorsAreStoredAsComponents) {
  const Module module = parse_kernel(R"(.reg .v4 .f32 %v; .reg .v2 .b32 %w<3>;
mov.f32 %v.y, %v.a; ld.global.v4.f32 %v, [%rd1]; mov.b64 %rd2, {%w1.x, %w1.g}; ret;)");
  const Function& k = module.functions.back();
  EXPECT_EQ(register_name(k, operand(k, 0, 0).index), "%v.y");
  EXPECT_EQ(register_name(k, operand(k, 0, 1).index), "%v.w");
  const Operand& whole = operand(k, 1, 0);
  ASSERT_EQ(whole.kind, Operand::Kind::vector);
  ASSERT_EQ(whole.parts.size(), 4u);
  EXPECT_EQ(register_name(k, whole.parts[2].index), "%v.z");
  EXPECT_EQ(register_name(k, operand(k, 2, 1).parts.at(1).index), "%w1.y");
  EXPECT_EQ(testing::body_error(".reg .v2 .b32 %w; mov.b32 %r1, %w.z;"),
            "PTX line 7, column 35: expected a component of a vector of 2 like 'x', found 'z'");
}

TEST(PtxRegisters, RefusesDuplicatesInABlock) {
  EXPECT_EQ(testing::body_error(".reg .u32 x; .reg .f32 x;"),
            "PTX line 7, column 24: 'x' is already declared in this block");
  EXPECT_EQ(testing::body_error(".reg .u32 %r<2>;"),
            "PTX line 7, column 11: the registers '%r<...>' are already declared in this block");
}

}  // namespace
}  // namespace course::ptx
