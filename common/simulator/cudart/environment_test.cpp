// SPDX-License-Identifier: MIT
#include "cudart/environment.hpp"

#include <gtest/gtest.h>

#include <map>

#include "sim/chips/presets.hpp"

namespace course::cudart {
namespace {

Environment parse(const std::map<std::string, std::string>& variables) {
  return parse_environment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found != variables.end() ? found->second.c_str() : nullptr;
  });
}

TEST(Environment, DefaultsWithoutVariables) {
  const Environment env = parse({});
  EXPECT_EQ(env.n_devices, 1);
  EXPECT_EQ(env.device.host_threads, 0);
  EXPECT_EQ(env.mode, sim::kCounters) << "modelled times need them";
  EXPECT_EQ(parse({{"SIM_MODE", "fast"}}).mode, sim::kFast);
  EXPECT_EQ(env.device.preset.name, "Simulated H200");
  EXPECT_EQ(env.device.preset.timing.l2_sectors_per_clock, find_preset("h200")->timing.l2_sectors_per_clock)
      << "the measured constants";
  EXPECT_FALSE(env.quiet || env.verbose);
  EXPECT_TRUE(env.report_file.empty() && env.complaints.empty());
}

TEST(Environment, ReadsEveryVariable) {
  const Environment env = parse({{"SIM_DEVICE", "RTX 4060"},
                                 {"SIM_DEVICES", "3"},
                                 {"SIM_THREADS", "2"},
                                 {"SIM_SCHEDULE_SEED", "7"},
                                 {"SIM_WATCHDOG", "1.5"},
                                 {"SIM_MODE", "counters,racecheck"},
                                 {"SIM_REPORT", "r.json"},
                                 {"SIM_VERBOSE", "1"},
                                 {"SIM_QUIET", "1"}});
  EXPECT_EQ(env.device.preset.name, "Simulated RTX 4060 (uncalibrated)");
  EXPECT_EQ(env.n_devices, 3);
  EXPECT_EQ(env.device.host_threads, 2);
  EXPECT_EQ(env.device.schedule_seed, 7u);
  EXPECT_DOUBLE_EQ(env.device.watchdog_seconds, 1.5);
  EXPECT_EQ(env.mode, sim::kCounters | sim::kRacecheck);
  EXPECT_EQ(env.report_file, "r.json");
  EXPECT_TRUE(env.quiet && env.verbose && env.complaints.empty());
}

TEST(Environment, ModeAllSelectsEveryCheckAndCounter) {
  EXPECT_EQ(parse({{"SIM_MODE", "all"}}).mode,
            sim::kCounters | sim::kDataflow | sim::kAllChecks | sim::kHostcheck);
}

TEST(Environment, EveryCheckerHasAWordInHelpAndChecks) {
  const std::string help = parse({{"SIM_MODE", "speed"}}).complaints.at(0);
  int n_checkers = 0;
  for (const sim::CheckerRow& row : sim::kCheckers) {
    if (row.mode == 0) continue;
    ++n_checkers;
    EXPECT_EQ(parse({{"SIM_MODE", row.name}}).mode, row.mode) << row.name;
    EXPECT_NE(parse({{"SIM_MODE", "checks"}}).mode & row.mode, 0u) << row.name;
    EXPECT_NE(parse({{"SIM_CHECK", "1"}}).mode & row.mode, 0u) << row.name;
    EXPECT_NE(help.find(row.name), std::string::npos) << help;
  }
  EXPECT_GE(n_checkers, 3);
}

TEST(Environment, ZeroDisablesAFlag) {
  EXPECT_FALSE(parse({{"SIM_QUIET", "0"}}).quiet);
}

TEST(Environment, ReportsAndIgnoresInvalidValues) {
  const Environment env = parse({{"SIM_DEVICE", "voodoo2"},
                                 {"SIM_DEVICES", "0"},
                                 {"SIM_THREADS", "many"},
                                 {"SIM_SCHEDULE_SEED", "-1"},
                                 {"SIM_WATCHDOG", "soon"},
                                 {"SIM_MODE", "counters,speed"}});
  EXPECT_EQ(env.device.preset.name, "Simulated H200");
  EXPECT_EQ(env.n_devices, 1);
  EXPECT_EQ(env.device.host_threads, 0);
  EXPECT_EQ(env.device.schedule_seed, 0u);
  EXPECT_EQ(env.mode, sim::kCounters);
  ASSERT_EQ(env.complaints.size(), 6u);
  EXPECT_NE(env.complaints[0].find("voodoo2"), std::string::npos);
  EXPECT_NE(env.complaints[0].find("h200"), std::string::npos) << "names what would be right";
}

TEST(Presets, AreFoundIgnoringCaseAndSeparators) {
  ASSERT_NE(find_preset("RTX-4060"), nullptr);
  EXPECT_EQ(find_preset("RTX-4060"), find_preset("rtx_4060"));
  EXPECT_EQ(find_preset("rtx"), nullptr);
}

TEST(Presets, AreConsistent) {
  for (const NamedPreset& named : presets()) {
    SCOPED_TRACE(named.key);
    const sim::DevicePreset& p = named.preset;
    EXPECT_LE(p.shared_per_block, p.shared_per_block_optin);
    EXPECT_LE(p.shared_per_block_optin + p.reserved_shared_per_block, p.shared_per_multiprocessor);
    EXPECT_EQ(p.max_threads_per_multiprocessor % 32, 0);
    EXPECT_GT(32 * p.timing.l2_sectors_per_clock * p.clock_ghz, p.memory_gb_per_s);
  }
}

}  // namespace
}  // namespace course::cudart
