// SPDX-License-Identifier: MIT
// Kernels that never end, which the simulator must end and describe, and kernels that only take long, which
// must finish.

#include "sim/observation/report.hpp"
#include "sim/testing/test_device.hpp"

namespace course::sim {
namespace {

const std::string& ptx() {
  static const std::string text = TestDevice::read(SIM_PTX_DIR "/hang_test.ptx");
  return text;
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// Whether the launch was ended as one that hangs, with these words.
testing::AssertionResult hung(const LaunchResult& result, std::string_view words) {
  if (result.fault == Fault::launch_timeout && result.text.find(words) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << static_cast<int>(result.fault) << ": " << result.text;
}

DeviceOptions watched_for(double seconds, std::uint64_t patience = DeviceOptions().patience) {
  DeviceOptions options = TestDevice::one_thread();
  options.watchdog_seconds = seconds;
  options.patience = patience;
  return options;
}
constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

TEST(Hangs, DeadlocksAreDiagnosed) {
  {
    TestDevice t(ptx());
    auto out = t.array<int>(64);
    const auto r = t.try_launch("wrong_mask", 1, 32, out);
    EXPECT_TRUE(hung(r, "deadlock"));
    EXPECT_SAYS(r.text, "lanes 0x0000ffff");
    EXPECT_SAYS(r.text, "barrier 0");
  }
  {
    TestDevice t(ptx());
    auto out = t.array<int>(64);
    EXPECT_TRUE(hung(t.try_launch("missing_arrivals", 1, 64, out), "32 of 96 threads"));
  }
}

TEST(Hangs, WatchdogEndsAnEndlessKernel) {
  TestDevice t(ptx(), watched_for(0.3, std::uint64_t{1} << 62));  // the watchdog's limit comes first
  auto flag = t.array<int>(1);
  const auto r = t.try_launch("never_ends", 1, 32, flag);
  EXPECT_TRUE(hung(r, "watchdog"));
  EXPECT_SAYS(r.text, "thread 0 of block 0 and 31 more of its warp waits at");
  EXPECT_NE(Device::text_of(t.device.findings()).text.find("time-limit (execution)"), std::string::npos);
}

// With checkers the limit is far higher, but not after they have found an error.
TEST(Hangs, AnErrorShortensTheLimit) {
  TestDevice t(ptx(), watched_for(4, kUnlimited));
  t.device.set_mode(kAllChecks);
  auto out = t.array<int>(64);
  EXPECT_TRUE(hung(t.try_launch("races_and_never_ends", 1, 64, out), "has not ended after 1."));
  EXPECT_NE(Device::text_of(t.device.findings()).text.find("shared-race"), std::string::npos);
}

// Unlimited patience must stay unlimited after a block has ended.
TEST(Hangs, UnlimitedPatienceDoesNotOverflow) {
  TestDevice t(ptx(), watched_for(0.3, kUnlimited));
  auto flag = t.array<int>(1);
  EXPECT_TRUE(hung(t.try_launch("never_ends_but_for_block_0", 2, 32, flag), "watchdog"));
}

constexpr std::uint32_t kModes[] = {kCounters, kCounters | kAllChecks};

// The watchdog's limit is far away, and the launch is checked for progress after `patience` instructions.
LaunchResult run_patiently(const char* kernel, const TestDevice::Shape& shape, std::uint32_t mode,
                           std::uint64_t patience, int host_threads) {
  DeviceOptions options = watched_for(100, patience);
  options.host_threads = host_threads;
  TestDevice t(ptx(), options);
  t.device.set_mode(mode);
  auto place = t.array<int>(4096);
  auto out = t.array<int>(4096);
  return t.try_launch(kernel, shape, place, out);
}

TEST(Progress, EndsLaunchesWithoutProgress) {
  const struct {
    const char* kernel;
    TestDevice::Shape shape;
  } cases[] = {
      {"never_ends", {{1, 1, 1}, {32, 1, 1}}},          {"never_ends", {{300, 1, 1}, {64, 1, 1}}},
      {"loops_for_nothing", {{2, 1, 1}, {64, 1, 1}}},   {"loops_with_barriers", {{2, 1, 1}, {96, 1, 1}}},
      {"counts_its_polls", {{2, 1, 1}, {64, 1, 1}}},    {"looks_at_the_clock", {{1, 1, 1}, {64, 1, 1}}},
      {"wait_for_each_other", {{2, 1, 1}, {32, 1, 1}}}, {"waits_for_a_later_block", {{1, 1, 1}, {32, 1, 1}}}};
  for (const auto& c : cases)
    for (const std::uint32_t mode : kModes)
      for (const int host_threads : {1, 2}) {
        const auto r = run_patiently(c.kernel, c.shape, mode, 1 << 17, host_threads);
        EXPECT_TRUE(hung(r, "nothing changes any more")) << c.kernel;
      }
}

TEST(Progress, LetsLaunchesWithProgressFinish) {
  for (const char* kernel :
       {"computes_for_long", "reads_for_long", "waits_for_a_later_block", "counts_down_in_memory"})
    for (const std::uint32_t mode : kModes) {
      const auto r = run_patiently(kernel, {{40, 1, 1}, {64, 1, 1}}, mode, 1 << 12, 1);
      EXPECT_EQ(r.fault, Fault::none) << kernel << ": " << r.text;
    }
}

// Only the threads of a block can complete its mbarriers, so this is known long before the patience ends.
TEST(Progress, EndsBlocksThatWaitForTheirOwnMbarriers) {
  for (const std::uint32_t mode : kModes)
    for (const auto& [kernel, missing] : {std::pair{"bytes_never_come", " 1024 announced bytes"},
                                          std::pair{"one_arrival_is_missing", " 1 of 65 arrivals"}}) {
      const auto r = run_patiently(kernel, {{40, 1, 1}, {64, 1, 1}}, mode, kUnlimited, 2);
      EXPECT_TRUE(hung(r, missing)) << kernel;
      EXPECT_SAYS(r.text, "of block 1 and 31 more");
    }
  for (const std::uint32_t mode : kModes) {
    const auto r = run_patiently("one_warp_is_late", {{2, 1, 1}, {96, 1, 1}}, mode, kUnlimited, 1);
    EXPECT_EQ(r.fault, Fault::none) << r.text;
  }
}

LaunchResult run_scattered(const char* kernel, std::uint32_t n_blocks, std::uint32_t mode,
                           std::uint64_t seed) {
  DeviceOptions options = TestDevice::one_thread();
  options.schedule_seed = seed;
  options.any_start_order = true;
  TestDevice t(ptx(), options);
  t.device.set_mode(mode);
  auto place = t.array<int>(4096);
  auto out = t.array<int>(4096);
  t.device.name_buffer(place.address, 4096 * sizeof(int), sizeof(int), "place", false);
  return t.try_launch(kernel, n_blocks, 32u, place, out);
}

TEST(Progress, WaitingForAnUnstartedBlockHangs) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto r = run_scattered("chain_by_block", seed % 3 == 0 ? 120 : 60, kAllChecks, seed);
    EXPECT_TRUE(hung(r, "hangs if its blocks start in another order"));
    EXPECT_SAYS(r.text, "for place, element");
    EXPECT_SAYS(r.text, "a ticket");
  }
  EXPECT_EQ(run_scattered("chain_by_block", 60, kAllChecks, 0).fault, Fault::none) << "natural order";
}

// While blocks wait for each other in turn, the crowd of residents does not grow: each of them has to poll.
TEST(Progress, LongChainsKeepFewBlocksResident) {
  constexpr std::uint32_t kBlocks = 3000;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    DeviceOptions options = TestDevice::one_thread();
    options.schedule_seed = seed;
    TestDevice t(ptx(), options);
    t.device.set_mode(kAllChecks);
    auto next = t.array<int>(1), place = t.array<int>(kBlocks), most = t.array<int>(1);
    t.launch("lead_in_chain", kBlocks, 32u, next, place, most);
    EXPECT_GE(most[0], 3) << seed;
    EXPECT_LT(most[0], 150) << seed;
  }
}

// That blocks have not started is not the reason here.
TEST(Progress, ScatteredHangsKeepTheirReason) {
  const auto r = run_scattered("never_ends", 20, kAllChecks, 1);
  EXPECT_TRUE(hung(r, "nothing changes any more"));
  EXPECT_EQ(r.text.find("another order"), std::string::npos) << r.text;
}

TEST(Progress, TicketsWorkInAnyOrderOfBlocks) {
  for (const std::uint32_t n_blocks : {1u, 2u, 3u, 60u, 120u})
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u})
      EXPECT_EQ(run_scattered("chain_by_ticket", n_blocks, kAllChecks, seed).fault, Fault::none);
}

// What the watchdog reports about a kernel that hangs, with or without checkers.
template <typename T>
std::string hang(std::string_view kernel, TestDevice::Shape shape, std::uint32_t mode) {
  TestDevice t(ptx(), watched_for(0.2));
  t.device.set_mode(mode);
  auto place = t.array<T>(2);
  auto out = t.array<int>(64);
  t.device.name_buffer(place.address, 2 * sizeof(T), sizeof(T), "place", false);
  const auto r = t.try_launch(kernel, shape, place, out);
  EXPECT_EQ(r.fault, Fault::launch_timeout);
  return r.text;
}

TEST(Hangs, ReportTheMemoryThatIsWaitedFor) {
  const std::string text = hang<int>("wait_for_each_other", {{2, 1, 1}, {32, 1, 1}}, kCounters);
  EXPECT_SAYS(text, "thread 0 of block 0 and 31 more of its warp waits at ");
  EXPECT_SAYS(text, "for place, element 1 of 2 to change: it holds 0");
  EXPECT_SAYS(text, "thread 0 of block 1");
  EXPECT_SAYS(text, "for place, element 0 of 2 to change: it holds 0");
}

TEST(Hangs, ReportTheLastWriterIfKnown) {
  EXPECT_SAYS(hang<int>("wait_for_each_other", {{2, 1, 1}, {32, 1, 1}}, kAllChecks),
              "of this launch has changed it");
  const std::string text = hang<unsigned>("lock_never_released", {{3, 1, 1}, {1, 1, 1}}, kAllChecks);
  EXPECT_SAYS(text, "thread 0 of block 1 waits at ");
  EXPECT_SAYS(text,
              "for place, element 0 of 2 to change: it holds 1; thread 0 of block 0 changed it last, at ");
  EXPECT_SAYS(text, "which has ended since");
  EXPECT_SAYS(text, "1 of 3 blocks have ended");
}

TEST(Hangs, ReportALockHeldByTheSameWarp) {
  const std::string text = hang<unsigned>("lock_held_at_syncwarp", {{1, 1, 1}, {32, 1, 1}}, kAllChecks);
  EXPECT_SAYS(text, "thread 1 of block 0 and 30 more of its warp waits at ");
  EXPECT_SAYS(text, "it holds 1; thread 0 of block 0 changed it last");
  EXPECT_SAYS(text, "which is now at ");
  EXPECT_SAYS(text, "lanes 0x00000001 of warp 0 wait at");
}

TEST(Hangs, ReportABlockMissingAtGridSync) {
  const std::string text = hang<int>("grid_sync_without_one", {{4, 1, 1}, {64, 1, 1}, 0, true}, kCounters);
  EXPECT_SAYS(text, "thread 0 of block 0 waits in grid.sync() at");
  EXPECT_SAYS(text, "wait at barrier 0");
  EXPECT_SAYS(text, "1 of 4 blocks have ended");
}

// A block waits for one that can only start when the first one has ended.
TEST(Hangs, ReportBlocksThatHaveNotStarted) {
  DeviceOptions options = watched_for(0.2);
  options.preset.multiprocessors = 1;
  TestDevice t(ptx(), options);
  auto flag = t.array<int>(1);
  EXPECT_TRUE(hung(t.try_launch("never_ends", 100, 1024, flag),
                   "of 100 blocks have not started, since there is no room"));
}

}  // namespace
}  // namespace course::sim
