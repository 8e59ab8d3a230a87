// SPDX-License-Identifier: MIT
#include "ptx/link.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace course::ptx {
namespace {

const std::string kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

Result<Module> linked(const std::vector<std::string>& bodies) {
  std::vector<std::string> texts;
  texts.reserve(bodies.size());
  for (const std::string& body : bodies) texts.push_back(kHead + body);
  return link(texts);
}

TEST(PtxLink, ConnectsDeclarationsWithDefinitions) {
  const auto module = linked(
      {".extern .global .u32 count;\n.extern .func (.param .b32 r) twice(.param .b32 x);\n"
       ".visible .entry k()\n{\n .reg .u32 %r;\n ld.global.u32 %r, [count];\n"
       " { .param .b32 a; .param .b32 b;\n st.param.b32 [a], %r;\n call (b), twice, (a); }\n ret;\n}\n",
       ".visible .global .u32 count = 7;\n"
       ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n ret;\n}\n"});
  ASSERT_TRUE(module) << module.error().text;
  ASSERT_NE(module->find_function("twice"), nullptr);
  EXPECT_FALSE(module->find_function("twice")->is_declaration);
  EXPECT_FALSE(module->find_variable("count")->is_extern);
  EXPECT_EQ(module->find_variable("count")->initial.at(0), 7);
}

TEST(PtxLink, KeepsModulePrivateNamesDistinct) {
  const std::string one =
      ".global .u32 hidden = {};\n.visible .entry k{}()\n{{\n .reg .u32 %r;\n ld.global.u32 %r, [hidden];\n "
      "ret;\n}}\n";
  std::string a = one, b = one;
  const auto fill = [](std::string& text, const char* value, const char* name) {
    text.replace(text.find("{}"), 2, value);
    text.replace(text.find("{}"), 2, name);
    for (std::size_t at; (at = text.find("{{")) != std::string::npos;) text.replace(at, 2, "{");
    for (std::size_t at; (at = text.find("}}")) != std::string::npos;) text.replace(at, 2, "}");
  };
  fill(a, "1", "a");
  fill(b, "2", "b");
  const auto module = linked({a, b});
  ASSERT_TRUE(module) << module.error().text;
  ASSERT_EQ(module->variables.size(), 2u);
  const auto value_read = [&](const char* kernel) {
    const Function* f = module->find_function(kernel);
    return module->find_variable(f->instructions.at(0).operands.at(1).name)->initial.at(0);
  };
  EXPECT_EQ(value_read("ka"), 1);
  EXPECT_EQ(value_read("kb"), 2);
}

TEST(PtxLink, KeepsPrivateNamesApartFromLaterPublicOnes) {
  const std::string reader = "\n{\n .reg .u32 %r;\n ld.global.u32 %r, [v];\n ret;\n}\n";
  const auto module =
      linked({".global .u32 v = 1;\n.visible .entry a()" + reader,
              ".extern .global .u32 v;\n.visible .entry b()" + reader, ".visible .global .u32 v = 2;\n"});
  ASSERT_TRUE(module) << module.error().text;
  const auto value_read = [&](const char* kernel) {
    const Operand& operand = module->find_function(kernel)->instructions.at(0).operands.at(1);
    EXPECT_EQ(module->variables.at(static_cast<std::size_t>(operand.symbol)).name, operand.name);
    return module->find_variable(operand.name)->initial.at(0);
  };
  EXPECT_EQ(value_read("a"), 1);
  EXPECT_EQ(value_read("b"), 2);
}

TEST(PtxLink, RefusesVariableAndFunctionOfOneName) {
  const auto module = linked({".visible .func f()\n{\n ret;\n}\n", ".visible .global .u32 f;\n"});
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().text, "'f' is a variable in one part and a function in another");
}

TEST(PtxLink, ConnectsCallsAcrossModules) {
  const std::string header = ".extern .func f();\n";
  const auto module =
      linked({header + ".visible .entry k()\n{\n call f;\n ret;\n}\n",
              ".func unused()\n{\n ret;\n}\n.visible .func f()\n{\n call unused;\n ret;\n}\n"});
  ASSERT_TRUE(module) << module.error().text;
  const auto called = [&](const char* caller) {
    return module->function_at(module->find_function(caller)->instructions.at(0).operands.at(0).symbol).name;
  };
  EXPECT_EQ(called("k"), "f");
  EXPECT_EQ(called("f"), "unused");
}

TEST(PtxLink, KeepsTheFirstWeakDefinition) {
  const auto module = linked({".weak .func f()\n{\n ret;\n}\n.weak .global .u32 v = 1;\n",
                              ".weak .func f()\n{\n trap;\n ret;\n}\n.weak .global .u32 v = 2;\n.visible "
                              ".func g()\n{\n call f;\n ret;\n}\n"});
  ASSERT_TRUE(module) << module.error().text;
  EXPECT_EQ(module->find_function("f")->instructions.at(0).opcode, "ret");
  EXPECT_EQ(module->find_variable("v")->initial.at(0), 1);
}

TEST(PtxLink, PrefersAStrongDefinition) {
  const std::string weak = ".weak .func f()\n{\n ret;\n}\n.weak .global .u32 v = 1;\n",
                    strong =
                        ".visible .func g()\n{\n ret;\n}\n.visible .func f()\n{\n call g;\n ret;\n}\n"
                        ".visible .global .u32 v = 2;\n";
  for (const auto& texts : {std::vector{weak, strong}, std::vector{strong, weak}}) {
    const auto module = linked(texts);
    ASSERT_TRUE(module) << module.error().text;
    EXPECT_EQ(module->find_function("f")->instructions.at(0).opcode, "call");
    EXPECT_EQ(module->find_variable("v")->initial.at(0), 2);
  }
}

TEST(PtxLink, RefusesTwoStrongDefinitions) {
  const auto module = linked({".visible .func f()\n{\n ret;\n}\n", ".visible .func f()\n{\n ret;\n}\n"});
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().text, "'f' is defined twice");
}

TEST(PtxLink, KeepsTheFilesOfLines) {
  const std::string body = "\n{\n .loc 1 5 3\n ret;\n}\n";
  const auto module = linked(
      {".file 1 \"a.cu\"\n.visible .entry a()" + body, ".file 1 \"b.cu\"\n.visible .entry b()" + body});
  ASSERT_TRUE(module) << module.error().text;
  const auto file_of = [&](const char* kernel) {
    const auto at = static_cast<std::size_t>(module->find_function(kernel)->instructions.at(0).location);
    return *module->find_file(module->locations.at(at).file);
  };
  EXPECT_EQ(file_of("a"), "a.cu");
  EXPECT_EQ(file_of("b"), "b.cu");
}

}  // namespace
}  // namespace course::ptx
