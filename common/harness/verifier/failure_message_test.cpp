// SPDX-License-Identifier: MIT
#include "verifier/failure_message.hpp"

#include <gtest/gtest.h>

namespace course::lab {
namespace {

constexpr Task kTasks[] = {
    {"sequential", "Sequential addressing", "handouts/01-reduction.md#sequential", 100, {}, {}}};
constexpr Manifest kManifest{"reduction", "Reduction", "", kTasks};

TEST(FailureMessage, KeepsItsOrderAndFitsAScreen) {
  Case c;
  c.name = "sum_i32_n1025_random";
  Failure failure;
  failure.headline = "is wrong";
  failure.mismatch = Mismatch{
      "d_out", 3, "12", "7", 2, 10, "every element from 8 on", "",
  };
  failure.notes = {"a note"};
  failure.cause = "reduction.cu:31: race on s_data[17]";
  failure.proved = true;
  EXPECT_EQ(failure_message(kManifest, kTasks[0], c, 42, "", failure),
            "reduction / sequential: case sum_i32_n1025_random is wrong\n"
            "  run it again:  ./lab grade reduction --task sequential --case sum_i32_n1025_random --seed 42\n"
            "  d_out[3]: expected 12, got 7\n"
            "  2 of 10 elements are wrong: every element from 8 on\n"
            "  a note\n"
            "  cause: reduction.cu:31: race on s_data[17]\n"
            "  read:  handouts/01-reduction.md#sequential\n");
}

TEST(FailureMessage, TellsAGuessFromAProof) {
  Case c;
  c.name = "x";
  Failure failure;
  failure.headline = "is wrong";
  failure.cause = "the last block is missing";
  const std::string text = failure_message(kManifest, kTasks[0], c, 1, "--device gpu", failure);
  EXPECT_NE(text.find("  likely cause: the last block is missing\n"), std::string::npos);
  EXPECT_NE(text.find("--seed 1 --device gpu\n"), std::string::npos);
}

}  // namespace
}  // namespace course::lab
