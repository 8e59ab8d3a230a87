// SPDX-License-Identifier: MIT
#include "verifier/failure.hpp"

#include <gtest/gtest.h>

namespace course::lab {
namespace {

constexpr Task kTasks[] = {{"sequential", "Sequential addressing", "", 100, {}, {}}};
constexpr Manifest kManifest{"reduction", "Reduction", "", "handouts/01-reduction.md", kTasks};

SimFinding race() {
  SimFinding finding;
  finding.checker = "racecheck";
  finding.message = "thread 4 reads s_data[1717] at k.cu:31 while thread 3 writes s_data[1717]";
  finding.object = "s_data[1717]";
  return finding;
}

Failure failure(std::uint64_t seed = 42, const std::string& flags = "") {
  Case c;
  c.name = "sum_i32_n1025_random";
  Failure failure;
  failure.headline = "is wrong";
  failure.name_case(kManifest, kTasks[0], c, seed, flags);
  return failure;
}

TEST(FailureMessage, KeepsItsOrderAndFitsAScreen) {
  Failure one = failure();
  one.mismatch = Mismatch{"d_out", 3, "12", "7", 2, 10, "every element from 8 on"};
  one.notes = {"a note"};
  one.printed = {"…", "sum 12"};
  one.source = "31 | s_data[t] = x;";
  one.explain(race(), true);
  EXPECT_EQ(
      failure_message(one),
      "reduction / sequential: case sum_i32_n1025_random is wrong\n"
      "  confirmed cause: race: thread 4 reads s_data[1717] at k.cu:31 while thread 3 writes s_data[1717]\n"
      "    31 | s_data[t] = x;\n"
      "  a note\n"
      "  d_out[3]: expected 12, got 7\n"
      "  2 of 10 elements are wrong: every element from 8 on\n"
      "  run it again:  ./lab grade reduction --task sequential --case sum_i32_n1025_random --seed 42\n"
      "  read:  handouts/01-reduction.md#sequential\n"
      "  it printed:\n"
      "    …\n"
      "    sum 12\n");
}

TEST(FailureMessage, TellsAGuessFromAProof) {
  Failure one = failure(1, "--device gpu");
  one.explain("the last block is missing", false);
  const std::string text = failure_message(one);
  EXPECT_NE(text.find("  likely cause: the last block is missing\n"), std::string::npos);
  EXPECT_NE(text.find("--seed 1 --device gpu\n"), std::string::npos);
}

TEST(FailureMessage, CallsACauseWithoutProofLikely) {
  Failure one = failure();
  one.diagnosis = {{{"late", "one place too late"}}};
  EXPECT_NE(failure_message(one).find("  likely cause: "), std::string::npos);
  one.diagnosis.n_failed = 3;  // of which it explains some
  EXPECT_NE(failure_message(one).find("  likely cause: "), std::string::npos);
}

TEST(FailureMessage, NamesCaseAndDeviceOfItsCause) {
  Failure one = failure();
  one.explain(race(), true);
  one.found_in = "sum_i32_n7_random";
  one.found_on_simulator = true;
  EXPECT_NE(
      failure_message(one).find("cause, found on the simulator: in case sum_i32_n7_random, too: race: "),
      std::string::npos);
}

TEST(FailureMessage, MistakeComesBeforeTheReadsThatItMakes) {
  Failure one = failure();
  SimFinding read = race();
  read.checker = "initcheck";
  one.explain(read, true);
  one.diagnosis = {{{"sides_swapped", "width and height are swapped"}}};
  EXPECT_NE(failure_message(one).find("  likely cause: width and height are swapped\n"
                                      "    a checker also reports: "),
            std::string::npos)
      << failure_message(one);
  one.diagnosis = {{{"never_written", "it holds 0xA5"}}};
  EXPECT_EQ(failure_message(one).find("0xA5"), std::string::npos);
}

TEST(FailureMessage, WithoutValuesKeepsWhatHappenedAndWhere) {
  Failure one = failure();
  one.mismatch = Mismatch{"d_out", 3, "12", "7", 2, 10, "every element from 8 on"};
  one.printed = {"sum 12"};
  one.explain(race(), true);
  EXPECT_EQ(failure_message(without_values(one)),
            "reduction / sequential: case sum_i32_n1025_random is wrong\n"
            "  confirmed cause: race: thread 4 reads s_data at k.cu:31 while thread 3 writes s_data\n"
            "  d_out[3] is wrong\n"
            "  2 of 10 elements are wrong: every element from 8 on\n"
            "  read:  handouts/01-reduction.md#sequential\n");
}

TEST(FailureMessage, WithoutValuesHidesLengthThatIsAResult) {
  Failure one = failure();
  one.mismatch = Mismatch{"d_out", 517, "7", "8", 517, 517, "every element from 517 on"};
  one.mismatch->length_is_a_value = true;
  one.diagnosis = {{{"kept", "517 items are kept", false, "the rest must stay"}}, 1, 3, "n9"};
  EXPECT_EQ(failure_message(without_values(one)),
            "reduction / sequential: case sum_i32_n1025_random is wrong\n"
            "  likely cause: in case n9: the rest must stay (this explains 1 of the 3 failed cases)\n"
            "  d_out is wrong\n"
            "  read:  handouts/01-reduction.md#sequential\n");
}

}  // namespace
}  // namespace course::lab
