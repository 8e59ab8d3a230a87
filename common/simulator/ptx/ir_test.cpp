// SPDX-License-Identifier: MIT
// The tables of types, spaces and linkages.
#include "ptx/ir.hpp"

#include <gtest/gtest.h>

namespace course::ptx {
namespace {

TEST(PtxIr, ParsesTheSpellingOfEveryType) {
  for (int i = 1; i <= static_cast<int>(Type::surfref); ++i) {
    const auto type = static_cast<Type>(i);
    EXPECT_EQ(type_from(spelling(type)), type) << spelling(type);
    EXPECT_GT(bits_of(type), 0) << spelling(type);
  }
  EXPECT_EQ(type_from(""), std::nullopt);
  EXPECT_EQ(type_from("u33"), std::nullopt);
  EXPECT_EQ(bits_of(Type::none), 0);
}

TEST(PtxIr, KnowsTheWidthOfEachType) {
  EXPECT_EQ(bits_of(Type::pred), 1);
  EXPECT_EQ(bits_of(Type::s8), 8);
  EXPECT_EQ(bits_of(Type::bf16), 16);
  EXPECT_EQ(bits_of(Type::f16x2), 32);
  EXPECT_EQ(bits_of(Type::tf32), 32);
  EXPECT_EQ(bits_of(Type::f32x2), 64);
  EXPECT_EQ(bits_of(Type::b128), 128);
  EXPECT_EQ(bits_of(Type::e4m3x4), 32);
}

TEST(PtxIr, SpellsSpacesAndLinkagesAsInPtx) {
  EXPECT_STREQ(spelling(Space::constant), "const");
  EXPECT_STREQ(spelling(Space::shared), "shared");
  EXPECT_STREQ(spelling(Linkage::external), "extern");
  EXPECT_STREQ(spelling(Linkage::internal), "");
}

}  // namespace
}  // namespace course::ptx
