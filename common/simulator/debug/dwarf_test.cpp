// SPDX-License-Identifier: MIT
#include "debug/dwarf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/authors_files.hpp"

namespace course::debug {
namespace {

TEST(AuthorsFiles, ToolkitMayLieAnywhere) {
  const std::filesystem::path folder = testing::TempDir() + "/authors_files";
  std::filesystem::create_directories(folder / "include/cooperative_groups/details");
  std::ofstream(folder / "include/cuda_runtime_api.h").put('\n');
  EXPECT_FALSE(sim::is_authors_file(folder / "include/cooperative_groups/details/sync.h"));
  EXPECT_FALSE(sim::is_authors_file(folder / "bin/../include/crt/sm_90_rt.hpp"));
  EXPECT_TRUE(sim::is_authors_file(folder / "reduction.cu"));
  EXPECT_FALSE(sim::is_authors_file("/usr/include/c++/12/cmath"));
  EXPECT_FALSE(sim::is_authors_file("/opt/gcc/15/include/c++/15/cmath"));
  EXPECT_TRUE(sim::is_authors_file("/opt/course/labs/reduction/reduction.cu"));
  EXPECT_FALSE(sim::is_authors_file(""));
  std::filesystem::remove_all(folder);
}

// PTX of programs/tree_sum.cu and programs/functors.cu, compiled with -G; the folder is in the environment.
std::string ptx_of(const std::string& name) {
  const char* folder = std::getenv("DEBUG_PTX_DIR");
  EXPECT_NE(folder, nullptr);
  std::ostringstream text;
  text << std::ifstream(std::string(folder == nullptr ? "" : folder) + "/" + name + ".ptx").rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

const Scope* function_named(const DebugInfo& info, const std::string& name) {
  for (const Scope& f : info.functions)
    if (f.function == name) return &f;
  return nullptr;
}

const Variable* find(const Scope& scope, const std::string& name) {
  for (const Variable& v : scope.variables)
    if (v.name == name) return &v;
  for (const Scope& child : scope.children)
    if (const Variable* v = find(child, name)) return v;
  return nullptr;
}

TEST(Dwarf, LocalsAreInRegistersMemoryAndLists) {
  const auto info = read_debug_info(ptx_of("tree_sum"));
  ASSERT_TRUE(info) << info.error().text;
  const Scope* sum = function_named(*info, "sum<int>");
  ASSERT_NE(sum, nullptr);
  const Variable* tid = find(*sum, "tid");
  ASSERT_NE(tid, nullptr);
  ASSERT_EQ(tid->ranges.size(), 1u);
  EXPECT_EQ(tid->ranges[0].place.kind, Place::Kind::in_register);
  EXPECT_TRUE(tid->ranges[0].place.name.starts_with("%r")) << tid->ranges[0].place.name;
  const Variable* shared = find(*sum, "s_data");
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(shared->ranges.at(0).place.kind, Place::Kind::at_symbol);
  EXPECT_EQ(shared->type->kind, Type::Kind::array);
  EXPECT_EQ(shared->type->count, 64u);
  EXPECT_EQ(shared->type->bytes, 256u);
  const Variable* in = find(*sum, "in");
  ASSERT_NE(in, nullptr);
  EXPECT_TRUE(in->is_parameter);
  EXPECT_EQ(in->type->kind, Type::Kind::pointer);
  ASSERT_NE(in->type->target, nullptr);
  EXPECT_EQ(in->type->target->name, "int");
  const Variable* s = find(*sum, "s");  // the loop's variable changes its register
  ASSERT_NE(s, nullptr);
  EXPECT_GT(s->ranges.size(), 1u);
  for (const auto& range : s->ranges) EXPECT_FALSE(range.begin.empty() || range.end.empty());
}

TEST(Dwarf, RecordsHaveMembersWithOffsets) {
  const auto info = read_debug_info(ptx_of("tree_sum"));
  ASSERT_TRUE(info);
  const Variable* p = find(*function_named(*info, "sum<int>"), "p");
  ASSERT_NE(p, nullptr);
  ASSERT_EQ(p->type->kind, Type::Kind::record);
  ASSERT_EQ(p->type->members.size(), 2u);
  EXPECT_EQ(p->type->members[0].name, "first");
  EXPECT_EQ(p->type->members[1].name, "second");
  EXPECT_EQ(p->type->members[1].offset, 4u);
  EXPECT_EQ(p->type->members[1].type->count, 3u);
}

TEST(Dwarf, NamesOfNamespacesAndEnumeratorsAreDemangled) {
  const auto info = read_debug_info(ptx_of("functors"));
  ASSERT_TRUE(info) << info.error().text;
  EXPECT_TRUE(std::any_of(info->globals.begin(), info->globals.end(),
                          [](const Variable& v) { return v.name == "shapes::weight"; }));
  const auto color =
      std::find_if(info->types.begin(), info->types.end(), [](const Type& t) { return t.name == "Color"; });
  ASSERT_NE(color, info->types.end());
  EXPECT_EQ(color->enumerators.at(1), "Color::green");
}

TEST(Dwarf, SeveralDimensionsAreArraysOfArrays) {
  const auto info = read_debug_info(ptx_of("functors"));
  ASSERT_TRUE(info);
  const Variable* matrix = nullptr;
  for (const Scope& f : info->functions)
    if (const Variable* v = find(f, "matrix")) matrix = v;
  ASSERT_NE(matrix, nullptr);
  EXPECT_EQ(matrix->type->count, 4u);
  EXPECT_EQ(matrix->type->target->count, 8u);
  EXPECT_EQ(matrix->type->bytes, 256u);
}

TEST(Dwarf, TextWithoutDebugInformationIsEmpty) {
  const auto info = read_debug_info(".version 8.0\n.target sm_90\n// .section .debug_info { .b8 1 }\n");
  ASSERT_TRUE(info);
  EXPECT_TRUE(info->functions.empty());
}

TEST(Dwarf, CutTextGivesAnErrorOrLess) {
  const std::string whole = ptx_of("tree_sum");
  const std::size_t begin = whole.find(".section");
  ASSERT_NE(begin, std::string::npos);
  for (std::size_t n = begin; n < whole.size(); n += 211) {
    if (const auto info = read_debug_info(whole.substr(0, n)); info) {
      EXPECT_LE(info->functions.size(), 4u);
    }
  }
}

}  // namespace
}  // namespace course::debug
