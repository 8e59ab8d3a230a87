// SPDX-License-Identifier: MIT
#include "base/words.hpp"

#include <gtest/gtest.h>

namespace course {
namespace {

TEST(Words, AreSeparatedBySpacesOrAnotherSign) {
  EXPECT_EQ(words("read write close"), (std::vector<std::string>{"read", "write", "close"}));
  EXPECT_EQ(words("one"), std::vector<std::string>{"one"});
  EXPECT_TRUE(words("").empty());
  EXPECT_EQ(words("cpu,,memory\n", ','), (std::vector<std::string>{"cpu", "", "memory\n"}));
}

}  // namespace
}  // namespace course
