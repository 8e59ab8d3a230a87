// SPDX-License-Identifier: MIT
#include "verifier/sim_report.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/checker.hpp"
#include "verifier/judge.hpp"

namespace course::lab {
namespace {

SimFinding finding_of(const char* checker, const char* kind, const std::string& message = "",
                      const char* kernel = "", bool is_hint = false) {
  SimFinding finding;
  finding.checker = checker;
  finding.kind = kind;
  finding.message = message;
  finding.kernel = kernel;
  finding.is_hint = is_hint;
  return finding;
}

TEST(SimReport, ReadsWhatTheSimulatorWrites) {
  const SimReport report =
      read_sim_report(R"({"device": "Simulated H200", "mode": 4, "modelled_us": 12.5, "launches": [{}],
    "totals": {"launches": 3}, "findings": [{"checker": "memcheck", "kind": "out-of-bounds-read",
    "kernel": "k", "file": "/a/b/lab.cu", "line": 12, "other_file": "", "other_line": 0,
    "object": "d_in, element 1000 of 1000", "message": "reads past the end", "times": 4,
    "other_thread": [3, 0, 0]}]})");
  EXPECT_TRUE(report.readable);
  EXPECT_EQ(report.device, "Simulated H200");
  EXPECT_EQ(report.modelled_us, 12.5);
  EXPECT_EQ(report.totals.launches, 3u);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].line, 12u);
  EXPECT_EQ(report.findings[0].other_thread[0], 3u);
  EXPECT_EQ(one_line(report.findings[0]),
            "memory access: lab.cu:12: reads past the end [d_in, element 1000 of 1000] (4 times)");
}

TEST(SimReport, TellsAFindingInAShortLine) {
  for (const sim::CheckerRow& row : sim::kCheckers) {
    const std::string label = row.label;
    EXPECT_EQ(one_line(finding_of(row.name, "", "what it saw")),
              label.empty() ? "what it saw" : label + ": what it saw");
  }
  for (const char* kernel : {"void a::k03<int, a::Sum<int> >(int const*, unsigned long)",
                             "(anonymous namespace)::k03(int)", "k03"})
    EXPECT_EQ(one_line(finding_of("", "", std::string(kernel) + ": does not end", kernel)),
              "k03: does not end");
  EXPECT_EQ(one_line(finding_of("", "", "waits at an unknown line (compile with -lineinfo to see it) for x")),
            "waits at an unknown line for x");
  SimFinding finding = finding_of("", "", "race on s[1] at lab.cu:7");
  finding.file = "/a/lab.cu", finding.other_file = "/b/lab.hpp", finding.line = 7, finding.object = "s[1]";
  EXPECT_EQ(one_line(finding), "race on s[1] at lab.cu:7") << "the message says where";
  finding.message = "/a/lab.cu:7, s[1] against ../b/lab.hpp:3 (in /c/bin/../x.hpp:9), a/b of 1/2";
  EXPECT_EQ(one_line(finding), "lab.cu:7, s[1] against lab.hpp:3 (in x.hpp:9), a/b of 1/2");
}

TEST(SimReport, ShortensPathsInLinearTime) {
  SimFinding finding;
  std::string text;
  for (int k = 0; k < 200000; ++k) text += "a/:";
  finding.message = text + "/lab.cu:7" + text;
  EXPECT_TRUE(one_line(finding).starts_with("lab.cu:7a"));
  finding.message = text;
  EXPECT_TRUE(one_line(finding).starts_with("a/:a/:"));
  EXPECT_LT(one_line(finding).size(), 420u) << "cut, although there is no blank";
}

TEST(SimReport, LongKernelNamesHideNothing) {
  for (const std::string& name :
       {std::string(3000, 'k') + "(int*)", "k<" + std::string(3000, 'T') + ">(int*)"}) {
    const nlohmann::json report = {
        {"totals", {{"launches", 1}}},
        {"findings",
         {{{"checker", "racecheck"},
           {"kernel", name},
           {"file", "lab.cu"},
           {"line", 7},
           {"message", name + ": thread (1,0,0) reads s[3] at lab.cu:7, thread (2,0,0) writes it"}}}}};
    const SimReport read = read_sim_report(report.dump());
    ASSERT_EQ(read.findings.size(), 1u);
    const std::string line = one_line(read.findings[0]);
    EXPECT_NE(line.find("lab.cu:7, thread (2,0,0) writes it"), std::string::npos) << line;
    EXPECT_LT(line.size(), 300u);
  }
}

TEST(SimReport, KeepsALongMessageToAFewLines) {
  SimFinding finding;
  for (int i = 0; i < 300; ++i) finding.message += "word ";
  EXPECT_LT(one_line(finding).size(), 410u);
  EXPECT_TRUE(one_line(finding).ends_with("word …"));
}

TEST(SimReport, SaysWhatAWildAccessComesOf) {
  SimReport report;
  for (const char* checker : {"memcheck", "leakcheck", "racecheck", "initcheck"}) {
    report.findings.push_back(finding_of(checker, "", std::string("found by ") + checker, "k"));
  }
  Judgement judgement;
  judge_report(report, false, false, judgement);
  EXPECT_EQ(cause_of(judgement.failure),
            "race: found by racecheck\n    then: memory access: found by memcheck");
  EXPECT_TRUE(judgement.failure.proved);
  report.findings[2].kernel = "another";  // the same kernel's comes first
  judge_report(report, false, false, judgement);
  EXPECT_EQ(judgement.failure.findings[0].checker, "initcheck");
  report.findings[3].kernel = "another";
  judge_report(report, false, false, judgement);
  EXPECT_EQ(judgement.failure.findings[0].checker, "racecheck");
}

TEST(SimReport, OnlyTimingMakesRightAnswersLuck) {
  const auto headline = [](const char* checker, const char* kind) {
    SimReport report;
    report.findings.push_back(finding_of(checker, kind));
    Judgement judgement;
    judgement.verdict = Verdict::ok;
    judge_report(report, false, false, judgement);
    EXPECT_EQ(judgement.verdict, Verdict::wrong_answer);
    return judgement.failure.headline;
  };
  EXPECT_EQ(headline("memcheck", "written-input"), "gives the right answer, but writes to its input");
  EXPECT_EQ(headline("racecheck", "global-race"), "gives the right answer this time, but only by luck");
}

TEST(SimReport, ProvedHangIsNotCalledSlow) {
  const auto headline = [](const char* kind) {
    SimReport report;
    report.findings.push_back(finding_of("execution", kind));
    Judgement judgement = judge_cuda_error(702, "");  // cudaErrorLaunchTimeout
    judge_report(report, false, false, judgement);
    EXPECT_EQ(judgement.verdict, Verdict::time_limit);
    return judgement.failure.headline;
  };
  EXPECT_EQ(headline("no-progress"), "does not end: its kernel can make no more progress");
  EXPECT_EQ(headline("nccl-deadlock"), "does not end: calls of NCCL wait for calls that nobody makes");
  EXPECT_EQ(headline("nccl-missing-rank"), headline("nccl-deadlock"));
  EXPECT_EQ(headline("nccl-missing-group"), "may wait forever: calls of NCCL are not in one group");
  EXPECT_EQ(headline("nccl-mismatch"), "may wait forever: the ranks' calls of NCCL do not match");
  EXPECT_NE(headline("time-limit").find("or is only slow"), std::string::npos);
}

TEST(SimReport, FailedCallComesBeforeItsConsequences) {
  SimReport report;
  report.findings = {
      finding_of("initcheck", "", "reads d_spare"),
      finding_of("memcheck", "api-error", "<<<>>> fails: void course::k03<int>(int*): too many threads",
                 "void course::k03<int>(int*)", true)};
  Judgement judgement = judge_cuda_error(9, "");
  judge_report(report, false, false, judgement);
  EXPECT_EQ(cause_of(judgement.failure), "failed call: <<<>>> fails: k03: too many threads");
  judgement = {};
  judgement.verdict = Verdict::ok;
  report.findings.erase(report.findings.begin());
  judge_report(report, false, false, judgement);
  EXPECT_EQ(judgement.verdict, Verdict::ok) << "an error that the program takes into account";
}

TEST(SimReport, StorePastTheEndComesBeforeWhatItLeavesUnwritten) {
  for (const bool same : {true, false}) {
    SimReport report;
    report.findings = {
        finding_of("memcheck", "out-of-bounds-shared", "thread 1 writes s_keys, element 9 of 9"),
        finding_of("initcheck", "uninitialised-shared", "reads s_keys[0]")};
    report.findings[0].object = "s_keys, element 9 of 9";
    report.findings[1].object = same ? "s_keys[0]" : "s_other[0]";
    Judgement judgement;
    judgement.verdict = Verdict::wrong_answer;
    judge_report(report, false, false, judgement);
    EXPECT_EQ(judgement.failure.findings.front().checker, same ? "memcheck" : "initcheck");
  }
}

// It was seen; the other cause is guessed from the output.
TEST(SimReport, LostUpdateComesBeforeGuesses) {
  SimReport report;
  for (const char* kind : {"shuffle-offset", "lost-update"})
    report.findings.push_back(finding_of("racecheck", kind, kind, "", true));
  Judgement judgement;
  judge_report(report, false, false, judgement);
  EXPECT_EQ(judgement.verdict, Verdict::ok) << "a hint";
  judgement.verdict = Verdict::wrong_answer;
  judgement.failure.explain("0 is the identity", false);
  judge_report(report, false, false, judgement);
  EXPECT_EQ(cause_of(judgement.failure), "lost update: lost-update");
  EXPECT_FALSE(judgement.failure.proved);
}

TEST(SimReport, LostUpdateIsNoFaultOfRightOutputs) {
  SimReport report;
  report.findings.push_back(finding_of("racecheck", "lost-update", "lost-update"));
  Judgement judgement;
  judge_report(report, false, false, judgement);
  EXPECT_EQ(judgement.verdict, Verdict::ok);
  judgement.verdict = Verdict::wrong_answer;
  judge_report(report, false, false, judgement);
  EXPECT_EQ(cause_of(judgement.failure), "lost update: lost-update");
  EXPECT_TRUE(judgement.failure.proved);
}

TEST(SimReport, WritesOfOneValueExplainNothing) {
  SimReport report;
  for (const char* kind : {"shared-write-write-same-value", "shuffle-offset"})
    report.findings.push_back(finding_of("", kind, kind, "", true));
  Judgement judgement;
  judgement.verdict = Verdict::wrong_answer;
  judge_report(report, false, false, judgement);
  EXPECT_EQ(cause_of(judgement.failure), "shuffle-offset");
}

// What a report makes of a right answer; `must_launch`: the case has outputs.
Judgement judge_right(const std::string& report, bool needs_report = true, bool must_launch = true) {
  Judgement judgement;
  judge_report(read_sim_report(report), needs_report, must_launch, judgement);
  return judgement;
}

TEST(SimReport, RightAnswerNeedsKernelOrMemset) {
  EXPECT_EQ(judge_right(R"({"totals": {"launches": 1}})").verdict, Verdict::ok);
  EXPECT_EQ(judge_right(R"({"totals": {}, "fills": 1})").verdict, Verdict::ok);
  EXPECT_EQ(judge_right(R"({"totals": {}})", true, false).verdict, Verdict::ok);
  const Judgement lazy = judge_right(R"({"totals": {}})");
  EXPECT_EQ(lazy.verdict, Verdict::wrong_answer);
  EXPECT_EQ(cause_of(lazy.failure), "no kernel was launched");
}

TEST(SimReport, UnreadableReportIsNoEvidence) {
  EXPECT_EQ(judge_right("{", true, false).verdict, Verdict::wrong_answer);
  EXPECT_EQ(judge_right("{", false, false).verdict, Verdict::ok) << "a refused case has no report";
}

TEST(SimReport, WeighsEveryKindOfFinding) {
  const auto weight = [](const char* checker, const char* severity) {
    const SimReport report = read_sim_report(std::string(R"({"totals": {}, "findings": [{"checker": ")") +
                                             checker + R"(", "severity": ")" + severity + "\"}]}");
    return weight_of(report.findings.at(0));
  };
  for (const char* checker : {"memcheck", "racecheck", "initcheck", "synccheck", "execution", "unheard of"})
    for (const char* severity : {"error", "", "anything"})
      EXPECT_EQ(weight(checker, severity), Weight::fault);
  EXPECT_EQ(weight("racecheck", "hint"), Weight::hint);
  EXPECT_EQ(weight("synccheck", "hint"), Weight::hint);
  EXPECT_EQ(weight("leakcheck", "error"), Weight::shown);
}

// A counter that the parser ignores would always count as 0.
TEST(SimReport, ReadsEveryCounter) {
  std::istringstream names(
      "launches warp_instructions lane_instructions branches divergent_branches global_load_requests "
      "global_load_sectors global_load_bytes global_store_requests global_store_sectors "
      "global_store_bytes shared_requests shared_wavefronts shared_conflicts local_requests "
      "local_sectors atomic_requests atomic_lanes atomic_turns shared_atomic_requests "
      "shared_atomic_wavefronts barriers global_lines near_sectors memory_read_sectors "
      "memory_write_sectors partial_sectors global_atomic_passes hottest_atomics shared_atomic_passes "
      "shared_loop_passes chain_clocks");
  nlohmann::json totals;
  std::uint64_t value = 1;
  for (std::string name; names >> name;) totals[name] = value++;
  for (const char* name : sim::kInstructionNames) totals["mix"][name] = value++;
  for (const char* name : {"work", "steps"}) totals[name] = value++;
  ASSERT_EQ(sizeof(sim::Counters), (value - 1) * sizeof(std::uint64_t)) << "name the new counter here";
  auto parsed = read_sim_report(nlohmann::json{{"totals", totals}}.dump());
  ASSERT_TRUE(parsed.readable);
  const auto* words = reinterpret_cast<const std::uint64_t*>(&parsed.totals);
  for (std::size_t i = 0; i + 1 < value; ++i) EXPECT_EQ(words[i], i + 1) << i;
}

TEST(SimReport, RefusesOtherTexts) {
  for (const std::string& text :
       std::vector<std::string>{"", "{", "null", "[]", "7", "{}", "{\"totals\":[]}", "{\"totals\":3}",
                                "{\"totals\":null}", "\xff\xfe", std::string(100000, '[')})
    EXPECT_FALSE(read_sim_report(text).readable) << text;
}

TEST(SimReport, IgnoresImpossibleMembers) {
  auto parsed = read_sim_report(
      R"({"device":[1],"modelled_us":"fast","totals":{"work":-5,"steps":1e300,"launches":"2",
    "branches":18446744073709551615,"barriers":2.0},
    "findings":[1,null,[],{"line":99999999999,"block":"x","thread":[-1,{}],
    "checker":7,"times":-3}]})");
  ASSERT_TRUE(parsed.readable);
  EXPECT_EQ(parsed.totals.work, 0U);
  EXPECT_EQ(parsed.totals.steps, 0U);
  EXPECT_EQ(parsed.totals.launches, 0U);
  EXPECT_EQ(parsed.totals.branches, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parsed.totals.barriers, 2U);
  ASSERT_EQ(parsed.findings.size(), 1U);
  EXPECT_EQ(parsed.findings[0].line, 0U);
  EXPECT_EQ(parsed.findings[0].times, 1U);
}

TEST(SimReport, MergesThoseOfSeveralDevices) {
  const std::string merged = merged_report(
      R"([{"totals": {"launches": 2, "steps": 7, "mix": {"add": 1}}, "modelled_us": 5.5, "fills": 1,
           "traffic": {"operations": 1, "messages": 3, "bytes_sent": 24}, "findings": [{"line": 1}]},
          {"totals": {"launches": 3, "steps": 9, "mix": {"add": 4}}, "modelled_us": 4, "fills": 2,
           "traffic": {"operations": 1, "messages": 1, "bytes_sent": 40}, "findings": [{"line": 2}]}])");
  const SimReport report = read_sim_report(merged);
  EXPECT_TRUE(report.readable);
  EXPECT_EQ(report.totals.launches, 5u);
  EXPECT_EQ(report.fills, 3u);
  EXPECT_EQ(report.modelled_us, 5.5);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[1].line, 2u);
  for (const char* part : {"\"steps\":9", "\"add\":5", "\"messages\":3", "\"bytes_sent\":40"})
    EXPECT_NE(merged.find(part), std::string::npos) << part;
  for (const char* rubbish : {"", "[", "{}", "[]", "[1]", "[{}]", "[{\"totals\": {}}]"})
    EXPECT_EQ(merged_report(rubbish), "") << rubbish;
}

TEST(SimReport, AddsTheCostOfALineOverDevices) {
  const auto device = [](const std::string& lines) {
    return R"({"totals": {}, "traffic": {}, "lines": [)" + lines + "]}";
  };
  const auto line = [](const char* kernel, int number, int instructions) {
    return R"({"kernel": ")" + std::string(kernel) + R"(", "file": "a.cu", "line": )" +
           std::to_string(number) + R"(, "warp_instructions": )" + std::to_string(instructions) + "}";
  };
  const std::string merged = merged_report("[" + device(line("k", 7, 1) + "," + line("k", 8, 2)) + "," +
                                           device("3," + line("k", 8, 4) + "," + line("j", 7, 8)) + "]");
  const nlohmann::json expected =
      nlohmann::json::parse("[" + line("k", 7, 1) + "," + line("k", 8, 6) + "," + line("j", 7, 8) + "]");
  EXPECT_EQ(nlohmann::json::parse(merged).at("lines"), expected);
}

TEST(SimReport, JoinsTheLinesOfAMessage) {
  const SimReport report = read_sim_report(
      R"({"totals": {}, "findings": [{"checker": "nccl", "message": "they wait:\n  rank 0 in a\n  rank 1 in b"}]})");
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].message, "they wait: rank 0 in a; rank 1 in b");
}

TEST(SimReport, TakesTerminalEscapesOutOfTexts) {
  const SimReport report = read_sim_report("{\"totals\": {}, \"device\": \"a\\u001b[2Jb\\n\"}");
  EXPECT_EQ(report.device, "a?[2Jb?");
}

TEST(KernelNames, LoseScopesAndParameters) {
  EXPECT_EQ(short_kernel_name("void fake::k01_fold<int>(int const*)"), "k01_fold");
  EXPECT_EQ(short_kernel_name("void fake::(anonymous namespace)::k01_fold<int>(int const*)"), "k01_fold");
  EXPECT_EQ(short_kernel_name("fake::(anonymous namespace)::fold(int)"), "fold");
  EXPECT_EQ(short_kernel_name("fold"), "fold");
}

}  // namespace
}  // namespace course::lab
