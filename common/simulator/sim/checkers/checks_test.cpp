// SPDX-License-Identifier: MIT
// Runs every kernel in kernels/ with all checkers. For faulty kernels, the right kind and line must be
// reported; for correct ones, nothing. The expectations are in the comments of the kernels.
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <utility>

#include "sim/checkers/kernel_cases.hpp"
#include "sim/checkers/racecheck/racecheck.hpp"
#include "sim/machine/source_places.hpp"
#include "sim/testing/test_device.hpp"

namespace course::sim::testing {
namespace {

// Whether a finding points to one of these lines, either itself or by the call of a function that several
// kernels call.
bool points_to(const KernelCase& c, const std::set<std::uint32_t>& lines,
               const std::vector<SourcePlace>& where) {
  const std::uint32_t own = own_place(where).line;
  return lines.contains(own) || (c.helper_lines.contains(own) && lines.contains(where.back().line));
}

class Checkers : public ::testing::TestWithParam<KernelCase> {};

TEST_P(Checkers, ReportTheFaultAndItsLine) {
  const KernelCase& c = GetParam();
  const std::vector<Finding> findings = run(c, kAllChecks);
  SCOPED_TRACE("findings:\n" + list(findings));
  for (const std::string& kind : c.expected)
    EXPECT_TRUE(
        std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.kind == kind; }))
        << kind << " is not reported";
  for (const Finding& f : findings) {
    ASSERT_FALSE(f.where.empty());
    // The machine itself reports a deadlock that a checker has found, too.

    if (f.kind == "no-progress" && !c.expected.contains(f.kind)) continue;
    EXPECT_TRUE(c.expected.contains(f.kind)) << f.kind << " is reported";
    EXPECT_TRUE(points_to(c, c.fault_lines, f.where)) << "line " << own_place(f.where).line;
    EXPECT_EQ(f.kernel, c.kernel);
    EXPECT_NE(f.message, "");
    EXPECT_NE(f.message.find(c.reason), std::string::npos) << f.message;
    if (f.kind == "missing-fence") {
      EXPECT_NE(f.message.find("__threadfence()"), std::string::npos) << f.message;
    }
    if (f.other_where.empty() || c.other_lines.empty()) continue;
    EXPECT_TRUE(points_to(c, c.other_lines, f.other_where)) << "other line " << own_place(f.other_where).line;
  }
}

// Other orders of blocks and warps must not change the result for correct code.
TEST_P(Checkers, FindNothingInCorrectCodeUnderOtherSchedules) {
  const KernelCase& c = GetParam();
  if (!c.expected.empty()) return;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const std::vector<Finding> findings = run(c, kAllChecks, seed);
    EXPECT_TRUE(findings.empty()) << "seed " << seed << "\n" << list(findings);
  }
  const std::vector<Finding> while_counted = run(c, kCounters | kAllChecks, 1);
  EXPECT_TRUE(while_counted.empty()) << list(while_counted);
}

TEST_P(Checkers, ReportNothingInOtherModes) {
  const std::vector<Finding> findings = run(GetParam(), kCounters);
  for (const Finding& f : findings)
    EXPECT_TRUE(f.checker == Checker::memcheck || f.checker == Checker::execution) << f.kind;
}

std::vector<Finding> findings_of(const std::string& file, const std::string& kernel,
                                 std::uint32_t mode = kCounters | kAllChecks) {
  for (const KernelCase& c : cases_of(file))
    if (c.kernel == kernel) return run(c, mode);
  ADD_FAILURE() << "no kernel " << kernel << " in " << file;
  return {};
}

// A stray address is described relative to the buffer that its pointer came from.
TEST(CheckersMessages, NameTheBufferOfAStrayAddress) {
  const auto far = findings_of("memory", "far_past_the_end");
  ASSERT_EQ(far.size(), 1u);
  EXPECT_EQ(far[0].object, "in, element 30000007 of 4096 (past its end)");
  const auto before = findings_of("memory", "far_before_the_start");
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0].object, "out, 32 element(s) before its start");
  const auto masked = findings_of("memory", "ring_past_the_end");
  ASSERT_EQ(masked.size(), 1u);
  EXPECT_EQ(masked[0].message.find("below zero"), std::string::npos) << masked[0].message;
}

// Hardware barriers count warps, so a warp that has left as a whole does no harm.
TEST(CheckersMessages, WholeWarpsThatLeftAreAHint) {
  const auto whole = findings_of("sync", "whole_warp_returns_before_barrier");
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0].severity, Severity::hint);
  const auto part = findings_of("sync", "returns_before_barrier");
  ASSERT_FALSE(part.empty());
  EXPECT_EQ(part[0].severity, Severity::error);
}

// If the loaded value only decides, the thread may check again.
TEST(CheckersMessages, LostUpdatesOfChecksAreHints) {
  const auto computed = findings_of("lost_updates", "volatile_total_of_blocks", kAllChecks);
  ASSERT_EQ(computed.size(), 1u);
  EXPECT_EQ(computed[0].severity, Severity::error);
  EXPECT_NE(computed[0].message.find("thread 0 of block "), std::string::npos) << computed[0].message;
  EXPECT_EQ(computed[0].object, "out, element 0 of 4096");
  const auto decided = findings_of("lost_updates", "maximum_by_check_and_store", kAllChecks);
  ASSERT_EQ(decided.size(), 1u);
  EXPECT_EQ(decided[0].severity, Severity::hint);
}

TEST(CheckersMessages, NameADynamicSharedArray) {
  const auto found = findings_of("init", "dynamic_shared_with_a_short_name");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].object, "s[32]");
}

TEST(CheckersMessages, SayThatAWordWasWrittenInPart) {
  for (const char* kernel : {"one_byte_of_a_counter_cleared", "compares_a_word_written_in_part"}) {
    const auto found = findings_of("init", kernel);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NE(found[0].message.find("some of its bytes have never been written"), std::string::npos)
        << found[0].message;
  }
}

TEST(CheckersMessages, VerbAgreesWithTheNumberOfLanes) {
  static const std::regex kOneLaneCall("lane [0-9]+ of warp [0-9]+ call ");
  for (const KernelCase& c : cases_of("sync"))
    for (const Finding& f : run(c, kCounters | kAllChecks))
      EXPECT_FALSE(std::regex_search(f.message, kOneLaneCall)) << f.message;
}

TEST(CheckersMessages, ReadmeHasTheNumberOfKernels) {
  std::size_t faulty = 0, correct = 0;
  for (const KernelCase& c : all_cases()) ++(c.expected.empty() ? correct : faulty);
  std::ifstream file(std::string(SIM_KERNEL_SOURCES) + "/../../README.md");
  std::stringstream text;
  for (std::string line; std::getline(file, line);) text << line << ' ';  // sentences are wrapped
  const std::string said = fmt::format("{} faulty kernels and {} correct ones", faulty, correct);
  EXPECT_NE(text.str().find(said), std::string::npos) << "README.md should say: " << said;
  EXPECT_GE(faulty, 40u);
  EXPECT_GE(correct, 40u);
}

TEST(Checkers, CallAFlagNoLostChange) {
  for (const KernelCase& c : cases_of("memory_model")) {
    SCOPED_TRACE(c.kernel);
    for (const Finding& f : run(c, kAllChecks))
      EXPECT_EQ(f.message.find("one of the two changes is lost"), std::string::npos) << f.message;
  }
}

TEST(Checkers, EndLaunchesThatAreTooLongToCheck) {
  const auto most = std::exchange(race::AccessRecords::most, RecordId{1} << 12);
  const auto fault = [](int rounds) {
    TestDevice t(fmt::format(
        ".visible .entry k()\n{{\n  .reg .pred %p;\n  .reg .b32 %r<3>;\n  .shared .align 4 .b32 s_word;\n"
        "  mov.u32 %r1, {};\nagain:\n  ld.shared.u32 %r2, [s_word];\n  bar.warp.sync -1;\n"
        "  sub.u32 %r1, %r1, 1;\n  setp.ne.u32 %p, %r1, 0;\n  @%p bra again;\n  ret;\n}}\n",
        rounds));
    t.device.set_mode(kRacecheck);
    return t.try_launch("k", 1, 32);
  };
  EXPECT_EQ(fault(100).fault, Fault::none);
  const LaunchResult r = fault(10'000);
  EXPECT_EQ(r.fault, Fault::launch_timeout);
  EXPECT_NE(r.text.find("could not be checked"), std::string::npos) << r.text;
  race::AccessRecords::most = most;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Checkers, ::testing::ValuesIn(all_cases()), name_of_case);

}  // namespace
}  // namespace course::sim::testing
