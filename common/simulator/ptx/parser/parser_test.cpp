// SPDX-License-Identifier: MIT
// Parsing of a module's directives and function headers, one test per feature; and of text that nvcc
// generated.

#include <algorithm>

#include "ptx/testing/test_support.hpp"

namespace course::ptx {
namespace {

using testing::module_error;
using testing::parse_module;
using testing::read_test_data;

const Variable* find_parameter(const Function& function, std::string_view name) {
  for (const Variable& parameter : function.parameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

TEST(PtxParser, ReadsVersionTargetAndAddressSize) {
  const auto module = parse(".version 8.4 .target sm_90a, texmode_independent, debug .address_size 32");
  ASSERT_TRUE(module) << module.error().text;
  EXPECT_EQ(module->version_major, 8);
  EXPECT_EQ(module->version_minor, 4);
  EXPECT_EQ(module->target, "sm_90a");
  EXPECT_EQ(module->target_options, (std::vector<std::string>{"texmode_independent", "debug"}));
  EXPECT_EQ(module->address_bits, 32);
}

TEST(PtxParser, AcceptsMissingNewlineAndStopsAtNul) {
  using namespace std::string_view_literals;
  EXPECT_EQ(parse_module(".global .u32 x;").variables.size(), 1u);
  const auto module = parse(".version 9.0\n.global .u32 x;\0 )garbage("sv);
  ASSERT_TRUE(module) << module.error().text;
  EXPECT_EQ(module->variables.size(), 1u);
}

TEST(PtxParser, SkipsCommentsOfBothKinds) {
  const Module module = parse_module("// one { \n/* two } \n*/.global /* three */ .u32 x; /**/ // end");
  EXPECT_EQ(module.variables.size(), 1u);
}

TEST(PtxParser, SkipsLineMarkersAndOldDwarfLines) {
  const Module module =
      parse_module("# 1 \"a.ptx\"\n#line 7\n@@DWARF .byte 0x00, {\n.entry k()\n{\n# 3\n@@DWARF }\nret;\n}");
  EXPECT_EQ(module.functions.at(0).instructions.size(), 1u);
}

TEST(PtxParser, KeepsFilesWithOrWithoutTimeAndSize) {
  const Module module = parse_module(".file 1 \"a b.cu\"\n.file 2 \"c.h\", 1700000000, 1234\n");
  ASSERT_NE(module.find_file(1), nullptr);
  EXPECT_EQ(*module.find_file(1), "a b.cu");
  EXPECT_EQ(*module.find_file(2), "c.h");
  EXPECT_EQ(module.find_file(3), nullptr);
}

TEST(PtxParser, SkipsDebugSections) {
  const Module module = parse_module(R"(
.section .debug_abbrev { .b8 1 // } a comment
 .b8 2 /* } */ { } "}" }
.section .debug_info, "", @progbits { .b32 .debug_abbrev
 .b64 $L__func_end0-$L__func_begin0 }
.global .u32 x;)");
  EXPECT_EQ(module.variables.size(), 1u);
}

TEST(PtxParser, KeepsPragmasOfModulesHeadersAndBodies) {
  const Module module = parse_module(
      ".pragma \"one\";\n.entry k() .pragma \"two\", \"three\"; { ret; .pragma \"nounroll\"; ret; }");
  EXPECT_EQ(module.pragmas, (std::vector<std::string>{"one"}));
  const std::vector<Pragma>& pragmas = module.functions.at(0).pragmas;
  ASSERT_EQ(pragmas.size(), 3u);
  EXPECT_EQ(pragmas[1].text, "three");
  EXPECT_EQ(pragmas[1].at, -1);
  EXPECT_EQ(pragmas[2].text, "nounroll");
  EXPECT_EQ(pragmas[2].at, 1);
}

TEST(PtxParser, AssignsParameterOffsetsByAlignment) {
  const Module module = parse_module(
      ".entry k(.param .u8 c, .param .u64 p, .param .u16 h, .param .align 16 .b8 s[20], .param .b8 t[3], "
      ".param .f32 f) { ret; }");
  const Function& k = module.functions.at(0);
  std::vector<std::uint64_t> offsets;
  for (const Variable& parameter : k.parameters) offsets.push_back(parameter.offset);
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 8, 16, 32, 52, 56}));
  EXPECT_EQ(k.parameter_bytes(), 60u);
  EXPECT_EQ(k.parameters[3].size, 20u);
  EXPECT_EQ(k.parameters[3].alignment, 16u);
}

TEST(PtxParser, ReadsPointerAttributesOfParameters) {
  const Module module = parse_module(
      ".entry k(.param .u64 .ptr .global .align 16 p, .param .u64 .ptr q, .param .b64 .ptr .shared .align 4 "
      "r, .param .u64 n) { ret; }");
  const Function& k = module.functions.at(0);
  EXPECT_TRUE(find_parameter(k, "p")->is_pointer);
  EXPECT_EQ(find_parameter(k, "p")->pointee_space, Space::global);
  EXPECT_EQ(find_parameter(k, "p")->pointee_alignment, 16u);
  EXPECT_EQ(find_parameter(k, "p")->alignment, 8u);
  EXPECT_EQ(find_parameter(k, "q")->pointee_space, Space::generic);
  EXPECT_EQ(find_parameter(k, "r")->pointee_space, Space::shared);
  EXPECT_FALSE(find_parameter(k, "n")->is_pointer);
}

TEST(PtxParser, ReadsLaunchBoundsAndClusters) {
  const Module module = parse_module(R"(
.entry a() .maxntid 32, 2, 1 .minnctapersm 2 .maxnreg 40 .maxclusterrank 8 { ret; }
.entry b() .reqntid 64 .reqnctapercluster 2, 1, 1 .explicitcluster .blocksareclusters .maxnctapersm 4
{ ret; })");
  const Function& a = module.functions.at(0);
  EXPECT_EQ(a.max_threads, (std::vector<std::uint32_t>{32, 2, 1}));
  EXPECT_EQ(a.min_blocks, 2u);
  EXPECT_EQ(a.max_registers, 40u);
  EXPECT_EQ(a.max_cluster_rank, 8u);
  EXPECT_FALSE(a.explicit_cluster);
  const Function& b = module.functions.at(1);
  EXPECT_EQ(b.required_threads, (std::vector<std::uint32_t>{64}));
  EXPECT_EQ(b.required_cluster, (std::vector<std::uint32_t>{2, 1, 1}));
  EXPECT_TRUE(b.explicit_cluster);
  EXPECT_TRUE(b.blocks_are_clusters);
  EXPECT_EQ(b.max_blocks, 4u);
}

TEST(PtxParser, ReadsLinkage) {
  const Module module = parse_module(R"(
.visible .entry a() { ret; }
.weak .func b() { ret; }
.extern .func c();
.func d() .noreturn { trap; }
.visible .global .u32 v; .weak .global .u32 w = 3; .common .global .u32 x; .extern .global .u32 y;
.global .u32 z;)");
  EXPECT_EQ(module.find_function("a")->linkage, Linkage::visible);
  EXPECT_TRUE(module.find_function("a")->is_entry);
  EXPECT_EQ(module.find_function("b")->linkage, Linkage::weak);
  EXPECT_EQ(module.find_function("c")->linkage, Linkage::external);
  EXPECT_TRUE(module.find_function("c")->is_declaration);
  EXPECT_TRUE(module.find_function("d")->noreturn);
  EXPECT_EQ(module.find_function("d")->linkage, Linkage::internal);
  EXPECT_EQ(module.find_variable("v")->linkage, Linkage::visible);
  EXPECT_EQ(module.find_variable("w")->linkage, Linkage::weak);
  EXPECT_EQ(module.find_variable("x")->linkage, Linkage::common);
  EXPECT_TRUE(module.find_variable("y")->is_extern);
  EXPECT_FALSE(module.find_variable("z")->is_extern);
  EXPECT_EQ(module.find_variable("nobody"), nullptr);
  EXPECT_EQ(module.find_function("nobody"), nullptr);
}

TEST(PtxParser, AcceptsFunctionsWithoutParameterList) {
  const Module module = parse_module(".func f { ret; }\n.visible .entry k { call f; ret; }");
  EXPECT_EQ(module.functions.at(1).instructions.at(0).operands.at(0).name, "f");
}

TEST(PtxParser, DefinitionsReplaceDeclarations) {
  const Module module = parse_module(R"(
.func (.param .b32 r) even(.param .b32 n);
.func (.param .b32 r) odd(.param .b32 n) { .param .b32 x; call (x), even, (x); ret; }
.func (.param .b32 r) even(.param .b32 n) { .param .b32 x; call (x), odd, (x); ret; })");
  ASSERT_EQ(module.functions.size(), 2u);
  const Function& even = module.functions[0];
  EXPECT_EQ(even.name, "even");
  EXPECT_FALSE(even.is_declaration);
  EXPECT_TRUE(even.forward_declared);
  EXPECT_EQ(even.instructions.size(), 2u);
  const Operand& callee = module.functions[1].instructions.at(0).operands.at(1);
  EXPECT_EQ(callee.table, Operand::Table::function);
  EXPECT_EQ(callee.symbol, 0);
  EXPECT_EQ(&module.function_at(callee.symbol), &even);
}

TEST(PtxParser, AcceptsRecursiveFunctions) {
  const Module module =
      parse_module(".func (.param .b32 r) f(.param .b32 n) { .param .b32 x; call (x), f, (x); ret; }");
  EXPECT_EQ(module.functions.at(0).instructions.at(0).operands.at(1).symbol, 0);
}

TEST(PtxParser, ResolvesAliases) {
  const Module module = parse_module(
      ".func real() { ret; }\n.func other();\n.alias other, real;\n.entry k() { call other; ret; }");
  EXPECT_EQ(module.find_function("other"), module.find_function("real"));
  const Operand& callee = module.find_function("k")->instructions.at(0).operands.at(0);
  EXPECT_EQ(module.function_at(callee.symbol).name, "real");
}

TEST(PtxParser, RefusesAnAliasOfItself) {
  EXPECT_NE(module_error(".func a(); .func b(); .alias a, b; .alias b, a;").find("alias of itself"),
            std::string::npos);
  EXPECT_NE(module_error(".func a(); .alias a, a;").find("alias of itself"), std::string::npos);
}

TEST(PtxParser, RegisterParametersAreRegisters) {
  const Module module = parse_module(R"(
.func (.reg .u32 res) inc(.reg .u32 x, .reg .f64 y) { add.u32 res, x, 1; ret; }
.entry k() { .reg .u32 r<3>; call (r1), inc, (r2, 2.5); ret; })");
  const Function& inc = module.functions.at(0);
  const Variable& x = inc.parameters.at(0);
  EXPECT_EQ(x.space, Space::reg);
  const Operand& second = inc.instructions.at(0).operands.at(1);
  EXPECT_EQ(second.kind, Operand::Kind::reg);
  EXPECT_EQ(second.index, x.register_index);
  EXPECT_EQ(inc.instructions[0].operands[0].index, inc.results.at(0).register_index);
  EXPECT_EQ(inc.registers.at(static_cast<std::size_t>(inc.parameters.at(1).register_index)).type, Type::f64);
}

TEST(PtxParser, AcceptsAbiAttributes) {
  const Module module = parse_module(
      ".func .attribute(.unified(19, 0x5f)) f() .abi_preserve 8 .abi_preserve_control 1 { ret; }");
  EXPECT_EQ(module.functions.at(0).name, "f");
}

TEST(PtxParser, CopiesOutliveTheOriginal) {
  Module copy;
  {
    const auto module = parse(testing::kernel_text("ld.global.nc.f32 %f1, [%rd1+4]; ret;"));
    ASSERT_TRUE(module);
    copy = *module;
  }
  EXPECT_EQ(copy.functions.at(0).instructions.at(0).full_opcode(), "ld.global.nc.f32");
}

// --- text generated by nvcc ---

TEST(PtxParserOnNvccText, ReadsASharedMemoryKernel) {
  const auto module = parse(read_test_data("tree_sum.ptx"));
  ASSERT_TRUE(module) << module.error().text;
  ASSERT_EQ(module->functions.size(), 1u);
  const Function& kernel = module->functions[0];
  EXPECT_EQ(kernel.name, "_Z8tree_sumILi128EEvPKfPfi");
  EXPECT_TRUE(kernel.is_entry);
  EXPECT_EQ(kernel.max_threads, (std::vector<std::uint32_t>{128, 1, 1}));
  EXPECT_EQ(kernel.parameter_bytes(), 20u);
  const Variable* shared = module->find_variable("s_data");
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(shared->space, Space::shared);
  EXPECT_TRUE(shared->is_extern);
  EXPECT_EQ(shared->alignment, 16u);
  EXPECT_EQ(shared->size, 0u);
  EXPECT_EQ(std::count_if(kernel.instructions.begin(), kernel.instructions.end(),
                          [](const Instruction& i) { return i.opcode == "bar" && i.has("sync"); }),
            8);  // one before the loop, log2(128) in the loop
  EXPECT_EQ(*module->find_file(1), "tree_sum.cu");
}

TEST(PtxParserOnNvccText, ChainsInlinedHelpersToTheirCallSites) {
  const auto module = parse(read_test_data("tree_sum.ptx"));
  ASSERT_TRUE(module) << module.error().text;
  const Function& kernel = module->functions.at(0);
  const auto load = std::find_if(kernel.instructions.begin(), kernel.instructions.end(),
                                 [](const Instruction& i) { return i.full_opcode() == "ld.global.f32"; });
  ASSERT_NE(load, kernel.instructions.end());
  std::vector<std::pair<std::uint32_t, std::string>> chain;
  for (std::int32_t i = load->location; i >= 0;
       i = module->locations[static_cast<std::size_t>(i)].inlined_at) {
    const Location& location = module->locations[static_cast<std::size_t>(i)];
    chain.emplace_back(location.line, location.function);
  }
  // In load(), called by weight(), called by the kernel.
  EXPECT_EQ(chain, (std::vector<std::pair<std::uint32_t, std::string>>{
                       {4, "_Z4loadPKfi"}, {8, "_Z6weightPKfi"}, {17, ""}}));
}

TEST(PtxParserOnNvccText, ReadsCallsOfEveryKind) {
  const auto module = parse(read_test_data("calls.ptx"));
  ASSERT_TRUE(module) << module.error().text;
  const Function* kernel = module->find_function("_Z5callsPii4Pair");
  ASSERT_NE(kernel, nullptr);
  ASSERT_EQ(kernel->prototypes.size(), 1u);
  EXPECT_EQ(kernel->prototypes[0].parameters.at(0).size, 4u);
  int direct = 0;
  int indirect = 0;
  for (const Instruction& instruction : kernel->instructions) {
    if (instruction.opcode != "call") continue;
    ASSERT_GE(instruction.operands.size(), 3u);
    const Operand& callee = instruction.operands[1];
    if (callee.kind == Operand::Kind::reg) {
      ++indirect;
      EXPECT_EQ(instruction.operands.at(3).table, Operand::Table::prototype);
      EXPECT_EQ(instruction.operands[3].symbol, 0);
    } else {
      ++direct;
      EXPECT_EQ(callee.table, Operand::Table::function);
    }
  }
  EXPECT_EQ(direct, 2);
  EXPECT_EQ(indirect, 1);
}

TEST(PtxParserOnNvccText, ReadsInitialValues) {
  const auto module = parse(read_test_data("calls.ptx"));
  ASSERT_TRUE(module) << module.error().text;
  const Variable* primes = module->find_variable("primes");
  ASSERT_NE(primes, nullptr);
  EXPECT_EQ(primes->space, Space::constant);
  EXPECT_EQ(primes->initial.at(16), 245);  // -11
  const Variable* pointers = module->find_variable("pointers");
  ASSERT_NE(pointers, nullptr);
  ASSERT_EQ(pointers->relocations.size(), 2u);
  EXPECT_EQ(pointers->relocations[1].symbol, "target");
  EXPECT_EQ(pointers->relocations[1].addend, 4);
  EXPECT_TRUE(pointers->relocations[1].generic);
  EXPECT_EQ(pointers->size, 24u);
  const Variable* packed = module->find_variable("packed");
  ASSERT_NE(packed, nullptr);
  ASSERT_EQ(packed->relocations.size(), 8u);  // one for each byte of the pointer
  EXPECT_EQ(packed->relocations[7].shift, 56);
  EXPECT_EQ(packed->relocations[7].offset, 8u);
  EXPECT_EQ(packed->relocations[7].addend, 20);
  EXPECT_TRUE(module->find_variable("managed")->managed);
  EXPECT_EQ(module->find_variable("functions")->relocations.at(1).symbol, "_Z6thricei");
  EXPECT_FALSE(module->find_variable("functions")->relocations[1].generic);
}

TEST(PtxParserOnNvccText, ReadsADebugBuild) {
  const auto module = parse(read_test_data("tree_sum_debug.ptx"));
  ASSERT_TRUE(module) << module.error().text;
  EXPECT_EQ(module->target_options, (std::vector<std::string>{"debug"}));
  const Function* kernel = module->find_function("_Z8tree_sumILi128EEvPKfPfi");
  ASSERT_NE(kernel, nullptr);
  ASSERT_FALSE(kernel->labels.empty());
  EXPECT_EQ(kernel->labels.back().at, static_cast<std::int32_t>(kernel->instructions.size()));
  EXPECT_GE(module->locations.size(), 5u);
}

}  // namespace
}  // namespace course::ptx
