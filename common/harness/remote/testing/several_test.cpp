// SPDX-License-Identifier: MIT
// A submission for several devices under the verifier: the devices are in a process of their own, the NCCL
// calls in the submission's. RUNNER is the runner of several.cu, in the folder with simulated_device.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "remote/testing/problem.hpp"
#include "verifier/session.hpp"

namespace course::several {
namespace {

class Several : public testing::Test {
 protected:
  Several()
      : session_([] {
          SessionOptions options;
          options.runner = std::getenv("RUNNER");
          options.simulator_dir = std::filesystem::path(options.runner).parent_path().parent_path();
          options.device_program = options.simulator_dir + "/simulated_device";
          return options;
        }()) {}
  Outcome run(How how, int n_devices, std::uint64_t n, const Measure& measure = {}) {
    return session_.run(problem_, kTasks[0], make(how, n_devices, n), 1, measure);
  }

  Sums problem_;
  Session session_;
};

TEST_F(Several, RightOnesAreRight) {
  for (const How how : {How::reduced, How::gathered, How::copied}) {
    for (const int n_devices : {1, 2, 3, 4, 8}) {
      for (const std::uint64_t n : {0u, 1u, 1001u}) {
        const Outcome outcome = run(how, n_devices, n, {.checks = true});
        EXPECT_EQ(outcome.verdict, Verdict::ok) << outcome.message() << outcome.printed;
      }
    }
  }
}

TEST_F(Several, MistakesAreReportedWithRankAndLine) {
  struct Mistake {
    How how;
    Verdict verdict;
    const char* says;
  };
  const Mistake all[] = {
      {How::rank_is_missing, Verdict::time_limit, "rank 2 has made no call"},
      {How::memory_of_another, Verdict::wrong_answer,
       "it is memory of device 0, but the rank is on device 1"},
      {How::default_stream, Verdict::wrong_answer, "another stream"},
      {How::unset, Verdict::wrong_answer, "that were never written"},
  };
  for (const Mistake& mistake : all) {
    const Outcome outcome = run(mistake.how, 3, 100, {.checks = true, .only_verdict = true});
    EXPECT_EQ(outcome.verdict, mistake.verdict) << outcome.message() << outcome.printed;
    EXPECT_NE(outcome.message().find(mistake.says), std::string::npos)
        << mistake.says << "\n"
        << outcome.message() << outcome.printed;
    if (mistake.verdict == Verdict::time_limit) {
      EXPECT_NE(outcome.message().find("several.cu:"), std::string::npos) << outcome.message();
    }
    EXPECT_EQ(run(How::reduced, 3, 100).verdict, Verdict::ok) << "the next case is right again";
  }
}

// Messages and bytes are those of the device that sends most; times begin and end on all devices.
TEST_F(Several, ReportIsOneForAllDevices) {
  const Outcome outcome = run(How::gathered, 4, 100, {.counters = true, .timed_runs = 1});
  ASSERT_EQ(outcome.verdict, Verdict::ok) << outcome.message();
  const auto report = nlohmann::json::parse(outcome.sim_report);
  EXPECT_EQ(report.at("totals").at("launches"), 12);
  EXPECT_EQ(report.at("launches").size(), 12u);
  EXPECT_EQ(report.at("traffic").at("operations"), 1);
  EXPECT_EQ(report.at("traffic").at("messages"), 3);
  EXPECT_EQ(report.at("traffic").at("bytes_sent"), 24);
  ASSERT_EQ(outcome.times_us.size(), 1u);
  EXPECT_GT(outcome.times_us[0], 40) << "an all-gather takes that long by nccl/operation/model.cpp";
  EXPECT_LT(outcome.times_us[0], 200);
}

}  // namespace
}  // namespace course::several
