// SPDX-License-Identifier: MIT
// What the kernels of kernels/old_values.cu compute when strong loads get old values. Unchecked and in the
// natural order, all of them compute correct results.

#include "sim/checkers/kernel_cases.hpp"
#include "sim/grid/calm_schedule.hpp"

namespace course::sim::testing {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint64_t kSeeds = 24;

std::vector<KernelCase> some_cases(bool faulty) {
  std::vector<KernelCase> some;
  for (const KernelCase& c : cases_of("old_values"))
    if (c.expected.empty() != faulty) some.push_back(c);
  return some;
}

std::string name_of_kernel(const ::testing::TestParamInfo<KernelCase>& info) {
  return info.param.kernel;
}

Words out_of(const KernelCase& c, std::uint32_t mode, std::uint64_t seed) {
  Words out;
  run(c, mode, seed, 1, &out);
  return out;
}

class OldValuesCorrect : public ::testing::TestWithParam<KernelCase> {};

TEST_P(OldValuesCorrect, ComputesTheSameInEverySchedule) {
  const KernelCase& c = GetParam();
  const Words right = out_of(c, kFast, 0);
  for (std::uint64_t k = 0; k < 2 * kSeeds; ++k) {
    const std::uint64_t seed = k < kSeeds ? k : k | kCalmSchedule;
    Words out;
    const auto findings = run(c, kAllChecks, seed, 1, &out);
    EXPECT_EQ(out, right) << "seed " << seed;
    EXPECT_TRUE(findings.empty()) << "seed " << seed << ":\n" << list(findings);
  }
}

class OldValuesFaulty : public ::testing::TestWithParam<KernelCase> {};

TEST_P(OldValuesFaulty, ComputesWrongResultsWhenChecked) {
  const KernelCase& c = GetParam();
  const Words right = out_of(c, kFast, 0);
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Words out;
    const auto findings = run(c, kAllChecks, seed, 1, &out);
    if (out == right) continue;
    ++wrong;
    EXPECT_FALSE(findings.empty()) << "seed " << seed;
    for (const Finding& f : findings) EXPECT_EQ(f.severity, Severity::hint) << f.message;
  }
  EXPECT_GT(wrong, kSeeds / 2);
}

// A kernel that is careless when it is counted must meet old values in a launch that looks the same to it.
TEST_P(OldValuesFaulty, ComputesWrongResultsInCalmLaunchesNowAndThen) {
  const Words right = out_of(GetParam(), kFast, 0);
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    if (out_of(GetParam(), kAllChecks, seed | kCalmSchedule) != right) ++wrong;
  EXPECT_GT(wrong, 0u);
  EXPECT_LT(wrong, kSeeds);
}

TEST_P(OldValuesFaulty, ComputesTheSameForTheSameSeed) {
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    EXPECT_EQ(out_of(GetParam(), kAllChecks, seed), out_of(GetParam(), kAllChecks, seed));
}

// A thread that polls once more changes the counters, and these must not depend on the schedule.
TEST_P(OldValuesFaulty, ComputesCorrectlyInCountedLaunches) {
  const Words right = out_of(GetParam(), kFast, 0);
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    EXPECT_EQ(out_of(GetParam(), kAllChecks | kCounters, seed), right);
}

INSTANTIATE_TEST_SUITE_P(Kernels, OldValuesCorrect, ::testing::ValuesIn(some_cases(false)), name_of_kernel);
INSTANTIATE_TEST_SUITE_P(Kernels, OldValuesFaulty, ::testing::ValuesIn(some_cases(true)), name_of_kernel);

}  // namespace
}  // namespace course::sim::testing
