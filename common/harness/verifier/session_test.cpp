// SPDX-License-Identifier: MIT
// Session with a runner that behaves like hostile and broken programs (testing/evil_runner.cpp).
#include "verifier/session.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/clock.hpp"
#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "verifier/judge_times.hpp"

namespace course::lab {
namespace {

constexpr Task kTasks[] = {{"double", "Doubling", "", 100, {}, {}}};
constexpr Manifest kManifest{"doubling", "Doubling", "", "handouts/00.md", kTasks};

class Doubling : public Problem {
 public:
  explicit Doubling(double ideal_bytes = 0) : ideal_bytes_(ideal_bytes) {}
  const Manifest& manifest() const override { return kManifest; }
  std::vector<Case> cases(const Task&) const override { return {}; }
  Shape shape(const Task&, const Case& c) const override {
    return {{{"d_in", DType::i32, c.n}},
            {{"d_out", DType::i32, c.n}},
            Workspace().add("d_first", DType::u8, 64).add("d_second", DType::u8, 64)};
  }
  void fill(const Task&, const Case&, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    Rng rng(seed);
    for (auto& x : inputs[0].as<std::int32_t>()) x = static_cast<std::int32_t>(1 + rng.below(1000));
  }
  std::optional<Mismatch> check(const Task&, const Case&, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    std::vector<HostBuffer> expected(1);
    expected[0].bytes.resize(outputs[0].bytes.size());
    baseline({}, {}, inputs, expected);
    return compare_integers(outputs[0].spec, expected[0].bytes, outputs[0].bytes);
  }
  void baseline(const Task&, const Case&, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    const auto in = inputs[0].as<std::int32_t>();
    const auto out = outputs[0].as<std::int32_t>();
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = 2 * in[i];
  }
  bool refuses(const Task&, const Case& c) const override { return c.name == "too_long"; }
  Ideal ideal(const Task&, const Case&) const override { return {.bytes = ideal_bytes_}; }
  Case example(const Task&, std::uint64_t) const override { return {}; }

 private:
  double ideal_bytes_;
};

SessionOptions options_for(std::string mode, DeviceKind device = DeviceKind::sim) {
  SessionOptions options;
  options.runner = std::getenv("EVIL_RUNNER");
  options.device = device;
  options.launcher = {"/usr/bin/env", "EVIL=" + std::move(mode)};
  options.seconds_per_case = 1;
  options.seconds_to_start = 5;
  return options;
}

Case a_case(std::string name = "n100") {
  Case c;
  c.name = std::move(name);
  c.n = 100;
  return c;
}

Outcome run(Session& session, const Case& c = a_case(), const Measure& measure = {}) {
  static const Doubling kProblem;
  return session.run(kProblem, kTasks[0], c, 7, measure);
}

Outcome run_alone(const std::string& mode, DeviceKind device = DeviceKind::sim, const Measure& measure = {}) {
  Session session(options_for(mode, device));
  return run(session, a_case(), measure);
}

// Whether the case ended so, with these words in its message.
testing::AssertionResult ended(const Outcome& outcome, Verdict verdict, std::string_view words) {
  if (outcome.verdict == verdict && outcome.message().find(words) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << name_of(outcome.verdict) << ": " << outcome.message();
}

Measure timed(int runs) {
  Measure measure;
  measure.timed_runs = runs;
  return measure;
}

TEST(Session, GivesAnHonestRunnerItsDue) {
  Session session(options_for("honest"));
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = run(session);
    EXPECT_EQ(outcome.verdict, Verdict::ok) << outcome.message();
    EXPECT_EQ(outcome.message(), "");
    EXPECT_EQ(outcome.device, "Fake GPU");
  }
}

TEST(Session, HandsOverEveryAlignmentAndSizeIncludingNothing) {
  Session session(options_for("honest"));
  for (const std::uint64_t n : {0u, 1u, 1000u, 100000u}) {
    for (const std::uint32_t misalign : {0u, 4u, 12u}) {
      Case c = a_case();
      c.n = n;
      c.misalign = misalign;
      EXPECT_EQ(run(session, c).verdict, Verdict::ok) << n << " " << misalign;
    }
  }
}

TEST(Session, OutputsBeginLikeInputsIfTheLabSaysSo) {
  const Doubling problem;
  Case c = a_case();
  c.misalign = 12;
  Shape shape = problem.shape(kTasks[0], c);
  for (const bool like_inputs : {false, true}) {
    shape.misaligned_outputs = like_inputs;
    const auto request = Session::lay_out(problem, kTasks[0], c, shape, DeviceKind::sim, {});
    EXPECT_EQ(request.buffers[1].misalign, like_inputs ? 12u : 0u);
  }
}

TEST(Session, WantsNoKernelWhereThereIsNothingToWrite) {
  Session session(options_for("no_kernel"));
  EXPECT_EQ(run(session).verdict, Verdict::wrong_answer);
  Case c = a_case();
  c.n = 0;
  EXPECT_EQ(run(session, c).verdict, Verdict::ok);
}

TEST(Session, WantsARefusalWhereTheProblemDoesAndNowhereElse) {
  Session refusing(options_for("refuses")), answering(options_for("honest"));
  EXPECT_EQ(run(refusing, a_case("too_long")).verdict, Verdict::ok);
  EXPECT_EQ(run(answering, a_case("n100")).verdict, Verdict::ok);
  EXPECT_TRUE(ended(run(refusing), Verdict::wrong_answer, "was refused"));
  EXPECT_TRUE(ended(run(answering, a_case("too_long")), Verdict::wrong_answer, "must be refused"));
  Session late(options_for("refuses_after_a_launch"));
  const Outcome refused_late = run(late, a_case("too_long"));
  EXPECT_TRUE(ended(refused_late, Verdict::wrong_answer, "after a kernel had been launched"));
}

TEST(Session, TellsWhatToRunWhereItIsWrongAndWhatToRead) {
  SessionOptions options = options_for("wrong");
  options.rerun_flags = "--solutions";
  Session session(options);
  const Outcome outcome = run(session);
  EXPECT_EQ(outcome.verdict, Verdict::wrong_answer);
  ASSERT_TRUE(outcome.failure.mismatch.has_value());
  EXPECT_EQ(outcome.failure.mismatch->index, 5u);
  for (const char* line : {"doubling / double: case n100 is wrong\n", "1 of 100 elements are wrong",
                           "./lab grade doubling --task double --case n100 --seed 7 --solutions\n",
                           "read:  handouts/00.md#double\n"})
    EXPECT_TRUE(ended(outcome, Verdict::wrong_answer, line));
}

// --- Runners that cheat or fail. Each verdict must be the expected one, and the next case must be
// unaffected.
struct Evil {
  const char* mode;
  Verdict verdict;
  const char* says;  // contained in the message
};
void PrintTo(const Evil& evil, std::ostream* out) {
  *out << evil.mode;
}

class EvilRunner : public testing::TestWithParam<Evil> {};

TEST_P(EvilRunner, GetsNoPointsAndHurtsNobody) {
  const Evil& evil = GetParam();
  const Stopwatch watch;
  SessionOptions options = options_for(evil.mode);
  if (std::string_view(evil.mode) == "never_says_hello") options.seconds_to_start = 1;
  Session session(options);
  const Outcome outcome = run(session);
  EXPECT_TRUE(ended(outcome, evil.verdict, evil.says));
  EXPECT_NE(outcome.message().find("./lab grade doubling --task double --case n100 --seed 7"),
            std::string::npos);
  EXPECT_TRUE(outcome.times_us.empty());
  EXPECT_LT(watch.seconds(), 2 * LiveRunner::kWallFactor * options.seconds_per_case + 2)
      << "the limit does not hold";

  Session honest(options_for("honest"));
  EXPECT_EQ(run(honest).verdict, Verdict::ok);
}

INSTANTIATE_TEST_SUITE_P(
    Catalogue, EvilRunner,
    testing::Values(
        Evil{"exit_before_hello", Verdict::crash, "exit code 0"},
        Evil{"speaks_as_bwrap", Verdict::crash, "exit code 1"},
        Evil{"speaks_as_sandbox", Verdict::crash, "exit code 125"},
        Evil{"never_says_hello", Verdict::time_limit, "longer than 1 s"},
        Evil{"garbage_hello", Verdict::wrong_answer, "5 bytes"},
        Evil{"exit_in_case", Verdict::crash, "ended the program before it answered (exit code 0)"},
        Evil{"calls_device_function", Verdict::crash, "exit(1), or a __device__ function"},
        Evil{"prints_passed", Verdict::crash, "exit code 0"},
        Evil{"never_answers", Verdict::time_limit, "1 s without using the processor"},
        Evil{"spins", Verdict::time_limit, "longer than 1 s of processor time"},
        Evil{"crashes", Verdict::crash, "only kernels can use a device"},
        Evil{"killed", Verdict::memory_limit, "lack of memory"},
        Evil{"floods", Verdict::output_limit, "printed too much"},
        Evil{"floods_channel", Verdict::wrong_answer, "broke the protocol"},
        Evil{"short_packet", Verdict::wrong_answer, "a message of 1 bytes"},
        Evil{"long_packet", Verdict::wrong_answer, "broke the protocol"},
        Evil{"closes_channel", Verdict::wrong_answer, "closed its channel"},
        Evil{"leaves_a_child", Verdict::crash, "exit code 0"},
        Evil{"claims_done", Verdict::wrong_answer, "d_out[0]: expected"},
        Evil{"truncates", Verdict::wrong_answer, "d_out[0]: expected"},
        Evil{"changes_input", Verdict::wrong_answer, "d_in[2] is not what it was"},
        Evil{"bad_report", Verdict::wrong_answer, "can be read"},
        Evil{"race", Verdict::wrong_answer,
             "race: lab.cu:31: threads 3 and 35 race ?[31m [s_data[17]] (2 times)"},
        Evil{"huge_report", Verdict::wrong_answer, "impossible report size"},
        Evil{"impossible_time", Verdict::wrong_answer, "impossible time"},
        Evil{"unknown_stage", Verdict::wrong_answer, "unknown stage"},
        Evil{"wrong_nonce", Verdict::wrong_answer, "nonce"},
        Evil{"keeps_not_implemented", Verdict::wrong_answer, "Status::ok"},
        Evil{"wrong_with_race", Verdict::wrong_answer, "cause: race: lab.cu:31: threads 3 and 35 race"},
        Evil{"uses_another_stream", Verdict::wrong_answer, "gives work to another stream than job.stream"}),
    [](const auto& instance) { return std::string(instance.param.mode); });

TEST(Session, BlamesACrashOnItsCaseAlone) {
  Session session(options_for("crashes_second"));
  EXPECT_EQ(run(session, a_case("first")).verdict, Verdict::ok);
  EXPECT_EQ(run(session, a_case("second")).verdict, Verdict::crash);
  EXPECT_EQ(run(session, a_case("third")).verdict, Verdict::ok);
}

TEST(Session, DoesNotBlameACaseForADeathAfterTheOneBefore) {
  Session session(options_for("dies_after_answering"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(session).verdict, Verdict::ok);
    usleep(50'000);
  }
}

TEST(Session, IgnoresRepliesThatNobodyAskedFor) {
  for (const char* mode : {"answers_twice", "answers_ahead"}) {
    Session session(options_for(mode));
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(run(session).verdict, Verdict::ok) << mode;
      usleep(20'000);
    }
  }
}

TEST(Session, NotesWhenOnlyLaterCasesAreWrong) {
  Session session(options_for("wrong_in_later_cases"));
  EXPECT_EQ(run(session).verdict, Verdict::ok);
  EXPECT_TRUE(ended(run(session), Verdict::wrong_answer, "alone in a fresh process the case is right"));
}

// A rank in the order of arrival leaves an element unwritten.
TEST(Session, UnwrittenReadIsNotedToDependOnOrder) {
  const Outcome outcome = run_alone("unwritten_by_order");
  constexpr auto kWrong = Verdict::wrong_answer;
  EXPECT_TRUE(ended(outcome, kWrong, "its result depends on that order. No race was found"));
  EXPECT_TRUE(ended(outcome, kWrong, "cause: uninitialised read: lab.cu:31: thread 0 reads s_values[0]"));
  const Outcome with_race = run_alone("unwritten_by_race");
  EXPECT_TRUE(ended(with_race, kWrong, "its result depends on that order"));
  EXPECT_FALSE(ended(with_race, kWrong, "No race was found"));
}

TEST(Session, SecondCallWithOtherItemsRefutesKeptAnswers) {
  Measure once, twice;
  twice.twice = true;
  EXPECT_EQ(run_alone("keeps_its_answer", DeviceKind::sim, once).verdict, Verdict::ok);
  const Outcome kept = run_alone("keeps_its_answer", DeviceKind::sim, twice);
  EXPECT_TRUE(ended(kept, Verdict::wrong_answer, "second call in one process"));
  EXPECT_EQ(run_alone("honest", DeviceKind::sim, twice).verdict, Verdict::ok);
}

TEST(Session, SecondCallIsNotBlamedForItsItems) {
  Measure twice;
  twice.twice = true;
  const Doubling problem;
  int n_wrong = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    Session session(options_for("wrong_for_some_items"));
    const Outcome outcome = session.run(problem, kTasks[0], a_case(), seed, twice);
    n_wrong += outcome.verdict == Verdict::wrong_answer ? 1 : 0;
    EXPECT_EQ(outcome.message().find("second call"), std::string::npos) << outcome.message();
  }
  EXPECT_GT(n_wrong, 8) << "in some runs only the second call is wrong";
}

TEST(Session, TakesNoCauseFromARunThatEndedOtherwise) {
  const Outcome outcome = run_alone("aborts_or_spins");
  EXPECT_EQ(outcome.verdict, Verdict::crash);
  EXPECT_EQ(outcome.message().find("a loop that does not end"), std::string::npos) << outcome.message();
}

TEST(Session, BlamesAnOldValueThatMakesTheDifference) {
  Measure checks;
  checks.checks = true;
  EXPECT_EQ(run_alone("wrong_by_old_value").verdict, Verdict::ok) << "none is given without the checkers";
  EXPECT_TRUE(ended(run_alone("wrong_by_old_value", DeviceKind::sim, checks), Verdict::wrong_answer,
                    "  confirmed cause: missing fence: lab.cu:31: thread 0 reads d_sums[0]"));
  EXPECT_TRUE(ended(run_alone("wrong_with_old_value", DeviceKind::sim, checks), Verdict::wrong_answer,
                    "likely cause: missing fence:"));
}

TEST(Session, HoldsAModelledTimeBelowTheMemorysForAPerson) {
  Session session(options_for("too_fast"));
  static const Doubling kProblem(800);
  const Outcome outcome = session.run(kProblem, kTasks[0], a_case(), 7, timed(1));
  EXPECT_TRUE(ended(outcome, Verdict::suspect, "is faster than memory can be"));
  EXPECT_EQ(outcome.times_us, std::vector<double>{12.5});
  EXPECT_EQ(run_alone("honest", DeviceKind::sim, timed(1)).verdict, Verdict::ok);
}

TEST(Session, GivesEveryCaseAndSeedAScheduleOfItsOwn) {
  Session session(options_for("repeats_the_schedule"));
  static const Doubling kProblem;
  EXPECT_EQ(run(session, a_case("one")).verdict, Verdict::ok);
  EXPECT_EQ(run(session, a_case("two")).verdict, Verdict::ok);
  EXPECT_EQ(session.run(kProblem, kTasks[0], a_case("one"), 8, {}).verdict, Verdict::ok);
  EXPECT_EQ(run(session, a_case("one")).verdict, Verdict::wrong_answer) << "a rerun has the same";
}

TEST(Session, StartsAFreshProcessWhereAsked) {
  Session session(options_for("wrong_in_later_cases"));
  Measure fresh;
  fresh.fresh = true;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(session, a_case(), fresh).verdict, Verdict::ok);
  EXPECT_EQ(run(session).verdict, Verdict::wrong_answer);
}

TEST(Session, RunsTheCheckersOnCasesMadeForThem) {
  Case c = a_case();
  Session plain(options_for("wrong_with_race"));
  c.purpose = kCorrectness | kChecks;
  EXPECT_NE(run(plain, c).sim_report.find("racecheck"), std::string::npos);
}

TEST(Session, SaysWhatIsNotImplemented) {
  EXPECT_TRUE(
      ended(run_alone("not_implemented"), Verdict::not_implemented, "write it in labs/doubling/doubling.cu"));
}

TEST(Session, TellsCudaErrorsApart) {
  const std::pair<const char*, Verdict> codes[] = {
      {"700", Verdict::wrong_answer},                                 // illegal address
      {"716", Verdict::wrong_answer},                                 // misaligned address
      {"9", Verdict::wrong_answer},                                   // invalid configuration
      {"702", Verdict::time_limit},   {"710", Verdict::crash},        // assert
      {"719", Verdict::crash},                                        // trap
      {"2", Verdict::memory_limit},   {"98", Verdict::wrong_answer},  // cudaLaunchKernel(nullptr, ...)
      {"209", Verdict::wrong_answer},                                 // no code for this device
  };
  for (const auto& [code, verdict] : codes) {
    SessionOptions options = options_for("cuda_error");
    options.launcher.insert(options.launcher.begin() + 1, std::string("EVIL_CODE=") + code);
    Session session(options);
    EXPECT_TRUE(ended(run(session), verdict, "cudaErrorSomething: some text")) << code;
  }
}

TEST(Session, PassesNothingOfOursOn) {
  const int left_open = dup(0);  // inherited, because it is not close-on-exec
  EXPECT_EQ(run_alone("inherits").verdict, Verdict::ok);
  close(left_open);
}

TEST(Session, CleansWhatARunnerPrintsAndClaims) {
  EXPECT_EQ(run_alone("escape_in_name").device, "?[31mred");
  EXPECT_EQ(run_alone("prints_passed").printed, "[  PASSED  ] 1 test.\n100/100\n");
}

TEST(Session, ReturnsWhatOneCasePrintedAlone) {
  Session session(options_for("prints_number"));
  EXPECT_EQ(run(session).printed, "case 1\nsimulator: a message\n");
  EXPECT_EQ(run(session).printed, "case 2\nsimulator: a message\n");
}

TEST(Session, AcceptsMuchOutputAndKeepsBothEnds) {
  const Outcome outcome = run_alone("prints_much");
  EXPECT_EQ(outcome.verdict, Verdict::ok) << outcome.message();
  EXPECT_EQ(outcome.printed.find("line 0\nline 1\n"), 0u);
  EXPECT_NE(outcome.printed.find("…\nline "), std::string::npos);
  EXPECT_TRUE(outcome.printed.ends_with("line 299999\n"));
  EXPECT_LT(outcome.printed.size(), 200'000u);
}

TEST(Session, KeepsWrongOutputs) {
  const Outcome outcome = run_alone("wrong");
  ASSERT_EQ(outcome.outputs.size(), 1u);
  EXPECT_EQ(outcome.outputs[0].spec.name, "d_out");
  EXPECT_TRUE(run_alone("honest").outputs.empty());
}

// --- Guard bands and several runs, as on a GPU.
TEST(SessionOnGpu, ReturnsTheTimesOfTheTimedRunsAlone) {
  // On a loaded machine the two clocks differ, which is suspect and ends the runs (the tests JudgeTimes).
  Outcome outcome = run_alone("gpu", DeviceKind::gpu, timed(5));
  for (int again = 0; outcome.verdict == Verdict::suspect; ++again) {
    if (again == 5) GTEST_SKIP() << "the clocks of this machine differ: " << outcome.message();
    outcome = run_alone("gpu", DeviceKind::gpu, timed(5));
  }
  EXPECT_EQ(outcome.verdict, Verdict::ok) << outcome.message();
  EXPECT_EQ(outcome.events_us, (std::vector<double>{10, 11, 12, 13, 14}));
  EXPECT_EQ(outcome.times_us.size(), 5u);
  EXPECT_EQ(outcome.clock_us.size(), 5u);
}

TEST(SessionOnGpu, WantsTheWholeOutputWhenTheClockStops) {
  EXPECT_TRUE(ended(run_alone("finishes_late", DeviceKind::gpu, timed(2)), Verdict::wrong_answer,
                    "had not finished"));
}

TEST(SessionOnGpu, MeasuresAgainWhatHasTwoTimes) {
  const std::string file = "/tmp/evil_runner_" + std::to_string(getpid());
  std::filesystem::remove(file);
  const Outcome outcome = run_alone("two_times_once", DeviceKind::gpu, timed(2));
  EXPECT_TRUE(std::filesystem::remove(file)) << "no runner was slow";
  EXPECT_EQ(outcome.events_us, (std::vector<double>{10, 11})) << "of the runner that was not slow";
}

// Before GO the input is masked, so an answer computed from it is wrong.
TEST(SessionOnGpu, GivesNothingToWorkOnBeforeTheClockStarts) {
  EXPECT_EQ(run_alone("skips_go", DeviceKind::gpu, timed(2)).verdict, Verdict::wrong_answer);
}

constexpr double kH200 = 4900, kH100 = 3350;  // GB/s

TEST(JudgeTimes, HoldsDoubtfulTimesForAPerson) {
  const auto verdict = [](const std::vector<double>& clock, const std::vector<double>& events, double bytes) {
    return judge_times(borne_out(clock, events), clock, events, bytes, kH200).verdict;
  };
  const std::vector<double> fair{100, 102, 101}, short_events{1, 1, 1}, quick{0.5, 0.5, 0.5};
  EXPECT_EQ(verdict(fair, fair, 1e8), Verdict::ok);
  EXPECT_EQ(verdict(fair, short_events, 1e8), Verdict::suspect);
  EXPECT_EQ(verdict(short_events, fair, 1e6), Verdict::suspect);
  EXPECT_EQ(verdict(quick, quick, 1e8), Verdict::suspect) << "100 MB in half a microsecond";
}

TEST(JudgeTimes, AreComparedWithTheMemoryOfTheDevice) {
  const std::vector<double> us{60, 60, 60};
  const auto verdict = [&](double gb_per_s) { return judge_times(us, us, us, 1e9, gb_per_s).verdict; };
  EXPECT_EQ(verdict(kH200), Verdict::suspect) << "16.7 TB/s";
  EXPECT_EQ(verdict(20000), Verdict::ok) << "a GPU of later years";
  EXPECT_EQ(verdict(0), Verdict::ok) << "a GPU that does not say how fast its memory is";
}

TEST(JudgeTimes, SayThatTheMachineMayHaveBeenBusyIfTheClocksAgreeInSomeRuns) {
  const std::vector<double> events{38, 39, 38};
  const auto text = [&](const std::vector<double>& clock) {
    const Judgement judgement = judge_times(borne_out(clock, events), clock, events, 1e7, kH200);
    EXPECT_EQ(judgement.verdict, Verdict::suspect);
    return judgement.failure.notes.at(0);
  };
  EXPECT_NE(text({3800, 45, 6500}).find("in 1 of 3 runs both agree"), std::string::npos);
  EXPECT_EQ(text({3800, 2000, 6500}).find("agree"), std::string::npos);
}

// On an H100, a right scan of 16.8 MB once took 1.9 us by the clock. In other runs the clock was 6 to 9 us
// less than the events.
TEST(JudgeTimes, TakesAShortClockWithPlausibleEventsForTheEvents) {
  const std::vector<double> clock{1.9, 1.8, 2.0}, events{9, 10, 11};
  EXPECT_EQ(judge_times(borne_out(clock, events), clock, events, 33.6e6, kH100).verdict, Verdict::ok);
}

// Events that report less than the clock allows do not reduce the time.
TEST(JudgeTimes, BelievesEventsAsFarAsTheClockBearsThemOut) {
  const std::vector<double> clock{100, 100, 30}, events{95, 1, 40};
  EXPECT_EQ(borne_out(clock, events), (std::vector<double>{95, 92, 40}));
}

TEST(JudgeTimes, SubtractsTheCheapestRehearsal) {
  const std::vector<std::array<double, 2>> clocks{{60, 160}, {50, 149}, {70, 40}};
  EXPECT_EQ(without_rehearsal(clocks), (std::vector<double>{110, 99, 0}));
}

TEST(Go, MaskingTwiceGivesTheSameAndOnceNothingAlike) {
  std::vector<std::byte> bytes(101, std::byte{7}), masked = bytes;
  mask(masked, 5);
  EXPECT_LT(std::count(masked.begin(), masked.end(), std::byte{7}), 10);
  mask(masked, 5);
  EXPECT_EQ(masked, bytes);
}

TEST(Go, DigestsTellEveryByteAndItsPlace) {
  std::vector<std::byte> bytes(100, std::byte{1});
  const auto digest_of = [](const std::vector<std::byte>& of, std::uint64_t key) {
    Digest digest;
    add_digest(digest, of, key);
    return digest;
  };
  const Digest whole = digest_of(bytes, 9);
  EXPECT_FALSE(whole == digest_of(bytes, 10));
  bytes[99] = std::byte{2};
  const Digest last = digest_of(bytes, 9);
  EXPECT_FALSE(whole == last);
  std::swap(bytes[99], bytes[3]);
  EXPECT_FALSE(digest_of(bytes, 9) == last);
}

TEST(SessionOnGpu, ChecksEveryTimedRun) {
  EXPECT_TRUE(ended(run_alone("wrong_when_timed", DeviceKind::gpu, timed(5)), Verdict::wrong_answer,
                    "runs before it, on other items, were right"));
}

TEST(SessionOnGpu, FindsWritesAroundEveryBuffer) {
  const std::pair<const char*, const char*> modes[] = {
      {"writes_past_the_end", "12 bytes past the end of d_out"},
      {"writes_before", "4 bytes before the start of d_out"},
      {"writes_past_workspace", "0 bytes past the end of d_first"}};
  for (const auto& [mode, words] : modes)
    EXPECT_TRUE(ended(run_alone(mode, DeviceKind::gpu), Verdict::wrong_answer, words)) << mode;
}

TEST(Session, SaysInfraWhenTheFaultIsOurs) {
  SessionOptions options = options_for("honest");
  options.launcher.clear();
  options.runner = "/nonexistent/runner";
  Session session(options);
  EXPECT_TRUE(ended(run(session), Verdict::infra, "No such file"));
  EXPECT_EQ(run_alone("no_device").verdict, Verdict::infra);
  EXPECT_EQ(run_alone("honest", DeviceKind::gpu).verdict, Verdict::infra) << "the simulator in a GPU's place";
  options = options_for("honest");
  options.simulator_dir = "/nonexistent";
  Session without_library(options);
  EXPECT_TRUE(ended(run(without_library), Verdict::infra, "build the project first"));
}

TEST(Session, RunsWithTheRuntimeOfEitherMajorVersion) {
  namespace fs = std::filesystem;
  const std::string folder = testing::TempDir() + "runtime_of_cuda_12";
  fs::create_directories(folder);
  std::ofstream(folder + "/libcudart.so.12") << "";
  SessionOptions options = options_for("exit");
  options.simulator_dir = folder;
  Session session(options);
  const Outcome outcome = run(session);
  fs::remove_all(folder);
  EXPECT_EQ(outcome.message().find("build the project first"), std::string::npos) << outcome.message();
}

TEST(Session, BelievesNoProcessThatBlamesAWorkingDevice) {
  SessionOptions options = options_for("no_device");
  options.device_trouble = [] { return ""; };
  Session session(options);
  EXPECT_EQ(run(session).verdict, Verdict::crash);
  options.device_trouble = [] { return "the driver is gone"; };
  Session other(options);
  EXPECT_TRUE(ended(run(other), Verdict::infra, "the driver is gone"));
}

TEST(Session, HearsOfAFailedLaunchFromTheLauncherAlone) {
  SessionOptions options = options_for("honest");
  options.launchers_report = true;
  options.launcher = {"/bin/sh", "-c", "echo 'bwrap: no namespaces' >&2; exit 1"};
  Session never(options);
  EXPECT_TRUE(ended(run(never), Verdict::infra, "no namespaces"));
  options.launcher = {"/bin/sh", "-c",
                      "echo entered >&5; exec 5>&-; echo 'bwrap: no namespaces' >&2; exit 1"};
  Session entered(options);
  EXPECT_EQ(run(entered).verdict, Verdict::crash);
}

TEST(Session, TriesAgainInAFreshRunnerWhenAnEarlierCaseMayBeAtFault) {
  for (const char* mode : {"no_memory_second", "harness_error_second"}) {
    Session session(options_for(mode));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run(session).verdict, Verdict::ok) << mode << " " << i;
  }
}

TEST(Session, CountsTimeOnTheProcessorAlone) {
  const Outcome outcome = run_alone("shares_the_processor");
  EXPECT_EQ(outcome.verdict, Verdict::ok) << outcome.message();
  EXPECT_GE(outcome.processor_seconds, 0.2);
  EXPECT_LT(outcome.processor_seconds, 1);
}

// A session with two processes, of which one uses a second of CPU time or more; the limit is less.
Verdict run_with_busy(const char* mode, bool checks) {
  SessionOptions options = options_for(mode);
  options.device_program = options.runner;
  options.device_launcher = options.launcher;
  options.seconds_per_case = 0.4;
  Session session(options);
  Measure measure;
  measure.checks = checks;
  measure.only_verdict = true;
  return run(session, a_case(), measure).verdict;
}

TEST(Session, CheckersGetMoreTimeInsteadOfBeingLeftOut) {
  EXPECT_EQ(run_with_busy("busy_device", false), Verdict::time_limit);
  EXPECT_EQ(run_with_busy("busy_device", true), Verdict::ok);
}

TEST(Session, HostCodeGetsNoMoreTimeWithCheckers) {
  EXPECT_EQ(run_with_busy("busy_host", false), Verdict::time_limit);
  EXPECT_EQ(run_with_busy("busy_host", true), Verdict::time_limit);
}

// Processes whose command line contains `text`.
int processes_with(const std::string& text) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "environ");
    const std::string environment((std::istreambuf_iterator<char>(file)), {});
    if (environment.find(text) != std::string::npos) ++count;
  }
  return count;
}

TEST(Session, LeavesNoProcessBehind) {
  const std::string tag = "SIM_TEST_TAG=" + std::to_string(getpid());
  putenv(const_cast<char*>(tag.c_str()));
  for (const char* mode : {"leaves_a_child", "never_answers", "honest"}) {
    SessionOptions options = options_for(mode);
    {
      Session session(options);
      static_cast<void>(run(session));
    }
    usleep(20'000);
    EXPECT_EQ(processes_with(tag), 0) << mode;
  }
  unsetenv("SIM_TEST_TAG");
}

}  // namespace
}  // namespace course::lab
