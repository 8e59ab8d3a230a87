// SPDX-License-Identifier: MIT
// What students and the public may see of a failed case: none of its inputs and results, in any format. Wrong
// outputs of every lab and task, as many kinds of mistakes produce them, go through the lab's own check into
// a result, and every report of it is searched for the numbers that the case has.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "lab/compare.hpp"
#include "lab/poison.hpp"
#include "registry.hpp"
#include "report/edition.hpp"
#include "report/formats.hpp"
#include "report/read_result.hpp"
#include "report/report_file.hpp"
#include "report/table.hpp"

namespace course::grader {
namespace {

// A case with its inputs and right outputs.
struct Tried {
  std::vector<lab::HostBuffer> inputs, outputs;
};
Tried tried(const lab::Problem& problem, const lab::Task& task, const lab::Case& c) {
  Tried t;
  t.inputs = lab::inputs_of(problem, task, c, 1);
  t.outputs = lab::buffers_of(problem.shape(task, c).outputs, lab::kPoison);
  problem.baseline(task, c, t.inputs, t.outputs);
  return t;
}

constexpr std::uint64_t kSeed = 7'654'321'987;
constexpr std::uint64_t kMaxItems = 2100;  // so that no index has as many digits as a secret
constexpr std::size_t kSecretDigits = 7;

using Elements = std::vector<std::vector<std::byte>>;

// Wrong outputs that plausible mistakes leave: what each does to the right ones. `inputs`: of the first
// array.
struct Mistake {
  const char* name;
  std::function<void(Elements& out, const Elements& inputs)> make;
};
const std::vector<Mistake>& mistakes() {
  const auto fill = [](std::byte with) {
    return [with](Elements& out, const Elements&) {
      for (auto& one : out) std::fill(one.begin(), one.end(), with);
    };
  };
  const auto set_if = [](auto index, std::byte with) {
    return [index, with](Elements& out, const Elements&) {
      for (std::size_t i = 0; i < out.size(); ++i)
        if (index(i, out.size())) std::fill(out[i].begin(), out[i].end(), with);
    };
  };
  const auto add_to = [](auto index) {
    return [index](Elements& out, const Elements&) {
      for (std::size_t i = 0; i < out.size(); ++i)
        if (index(i, out.size())) out[i][0] = std::byte(std::to_integer<unsigned>(out[i][0]) + 1U);
    };
  };
  using Size = std::size_t;
  static const std::vector<Mistake> kMistakes = {
      {"nothing written", fill(lab::kPoison)},
      {"all zero", fill(std::byte{0})},
      {"shifted right",
       [](Elements& out, const Elements&) { std::rotate(out.begin(), out.end() - 1, out.end()); }},
      {"shifted left",
       [](Elements& out, const Elements&) { std::rotate(out.begin(), out.begin() + 1, out.end()); }},
      {"reversed", [](Elements& out, const Elements&) { std::reverse(out.begin(), out.end()); }},
      {"sorted bytes", [](Elements& out, const Elements&) { std::sort(out.begin(), out.end()); }},
      {"first two exchanged", [](Elements& out, const Elements&) { std::swap(out[0], out[out.size() > 1]); }},
      {"halves exchanged",
       [](Elements& out, const Elements&) {
         std::rotate(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(out.size() / 2), out.end());
       }},
      {"all as the first",
       [](Elements& out, const Elements&) { std::fill(out.begin(), out.end(), Elements(1, out[0])[0]); }},
      {"all as the last",
       [](Elements& out, const Elements&) { std::fill(out.begin(), out.end(), Elements(1, out.back())[0]); }},
      {"one lost, its neighbour twice",
       [](Elements& out, const Elements&) { out[out.size() / 2] = out[out.size() / 3]; }},
      {"pairs alike",
       [](Elements& out, const Elements&) {
         for (Size i = 1; i < out.size(); i += 2) out[i] = out[i - 1];
       }},
      {"the input",
       [](Elements& out, const Elements& in) {
         std::copy_n(in.begin(), std::min(in.size(), out.size()), out.begin());
       }},
      {"the input, reversed",
       [](Elements& out, const Elements& in) {
         std::copy_n(in.rbegin(), std::min(in.size(), out.size()), out.begin());
       }},
      {"an input in the first place",
       [](Elements& out, const Elements& in) {
         if (!in.empty()) out[0] = in.back();
       }},
      {"an input in the last place",
       [](Elements& out, const Elements& in) {
         if (!in.empty()) out.back() = in[0];
       }},
      {"one more in all", add_to([](Size, Size) { return true; })},
      {"one more in the first", add_to([](Size i, Size) { return i == 0; })},
      {"one more in the last", add_to([](Size i, Size n) { return i + 1 == n; })},
      {"one more in every 32nd", add_to([](Size i, Size) { return i % 32 == 31; })},
      {"tail not written", set_if([](Size i, Size n) { return i >= n - n / 4; }, lab::kPoison)},
      {"tail zero", set_if([](Size i, Size n) { return i >= n - n / 4; }, std::byte{0})},
      {"head zero", set_if([](Size i, Size n) { return i < n / 4; }, std::byte{0})},
      {"every second zero", set_if([](Size i, Size) { return i % 2 == 1; }, std::byte{0})},
      {"first block only", set_if([](Size i, Size) { return i >= 256; }, lab::kPoison)},
  };
  return kMistakes;
}

Elements elements_of(const lab::HostBuffer& buffer) {
  const std::size_t size = lab::bytes_of(buffer.spec.dtype);
  Elements all;
  for (std::size_t at = 0; at + size <= buffer.bytes.size(); at += size)
    all.emplace_back(buffer.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     buffer.bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
  return all;
}

// The same items in elements of another size.
Elements resized(Elements all, std::size_t size) {
  for (auto& one : all) one.resize(size);
  return all;
}

using Numbers = std::set<std::string>;
// The numbers in a text, without their signs: digits, and what may stand between them.
Numbers numbers_in(std::string_view text) {
  const auto is_digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  Numbers numbers;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(i)) continue;
    const std::size_t begin = i;
    while (is_digit(i + 1) ||
           (i + 1 < text.size() && (text[i + 1] == '.' || text[i + 1] == 'e') && is_digit(i + 2)))
      ++i;
    numbers.emplace(text.substr(begin, i + 1 - begin));
  }
  return numbers;
}

void add_secrets(Numbers& secrets, const std::vector<lab::HostBuffer>& buffers) {
  for (const lab::HostBuffer& buffer : buffers)
    for (const auto& one : elements_of(buffer))
      for (const std::string& number : numbers_in(lab::print_element(buffer.spec.dtype, one.data())))
        if (number.size() >= kSecretDigits) secrets.insert(number);
}

struct Report {
  const char* name;
  std::string text;
};
// Every report that students or the public may get, of the students' edition and of the formats that make it
// themselves.
std::vector<Report> public_reports(const RunResult& result) {
  const RunResult students = for_students(result);
  nlohmann::json gradescope = nlohmann::json::parse(to_gradescope(result));
  gradescope["tests"].erase(gradescope["tests"].size() - 1);  // the one that only instructors see
  return {{"JSON", json_text(students)},
          {"HTML", to_html(students)},
          {"table", to_table(students, {})},
          {"CSV", to_csv(students)},
          {"JUnit", to_junit(students)},
          {"Gradescope", gradescope.dump()},
          {"step summary", to_step_summary(result)},
          {"annotations", to_annotations(result)}};
}

// The students' reports of the wrong outputs of one task, and what they must not contain.
class Leaks {
 public:
  explicit Leaks(const lab::Problem& problem) : problem_(problem) {
    result_.seed = kSeed;
    secrets_.insert(std::to_string(kSeed));
    result_.labs.emplace_back().id = problem.manifest().id;
  }

  void try_all(const lab::Task& task, const lab::Case& c) {
    const Tried right = tried(problem_, task, c);
    add_secrets(secrets_, right.inputs), add_secrets(secrets_, right.outputs);
    for (const Mistake& mistake : mistakes()) {
      Tried wrong = right;
      for (lab::HostBuffer& buffer : wrong.outputs) {
        Elements out = elements_of(buffer);
        if (out.empty()) continue;
        mistake.make(out, resized(elements_of(wrong.inputs[0]), out[0].size()));
        buffer.bytes.clear();
        for (const auto& one : out) buffer.bytes.insert(buffer.bytes.end(), one.begin(), one.end());
      }
      if (auto mismatch = problem_.check(task, c, wrong.inputs, wrong.outputs))
        add(task, c, mistake.name, std::move(*mismatch), wrong);
    }
  }

  void search() {
    result_.labs[0].max_points = result_.labs[0].points = 0;
    const RunResult stored = *parse_result(json_text(result_));
    for (const Report& report : public_reports(stored))
      for (const std::string& number : numbers_in(report.text))
        EXPECT_EQ(secrets_.count(number), 0U)
            << report.name << " contains " << number << ": " << around(report.text, number);
    EXPECT_GT(n_tried_, 20) << problem_.manifest().id;
    // The search finds what is there.
    const std::string all = json_text(stored);
    EXPECT_TRUE(std::any_of(secrets_.begin(), secrets_.end(),
                            [&](const std::string& one) { return all.find(one) != std::string::npos; }));
  }

 private:
  static std::string around(const std::string& text, const std::string& number) {
    const std::size_t at = text.find(number);
    return text.substr(at > 200 ? at - 200 : 0, 300);
  }

  void add(const lab::Task& task, const lab::Case& c, const char* mistake, lab::Mismatch mismatch,
           const Tried& wrong) {
    ++n_tried_;
    add_secrets(secrets_, wrong.outputs);
    lab::Failure failure;
    failure.headline = "is wrong";
    failure.name_case(problem_.manifest(), task, c, kSeed, "");
    failure.diagnosis = {mismatch.causes};
    failure.printed = {"expected " + mismatch.expected, "got " + mismatch.got};
    failure.mismatch = std::move(mismatch);
    CaseRecord record;
    record.name = c.name;
    record.verdict = lab::Verdict::wrong_answer;
    set_failure(record, std::move(failure));
    TaskResult one;
    one.id = task.id;
    one.title = mistake;
    one.verdict = record.verdict;
    one.message = record.message;
    one.cases = {record};
    one.cases_run = one.cases_failed = one.cases_planned = 1;
    result_.labs[0].tasks.push_back(std::move(one));
  }

  const lab::Problem& problem_;
  RunResult result_;
  Numbers secrets_;
  int n_tried_ = 0;
};

// Cases with an array long enough for blocks and rows, one of each kind of items.
std::vector<lab::Case> cases_to_try(const lab::Problem& problem, const lab::Task& task) {
  std::vector<lab::Case> some;
  for (const lab::Case& c : problem.cases(task)) {
    const auto is_alike = [&](const lab::Case& other) {
      return other.op == c.op && other.dtype == c.dtype && other.pattern == c.pattern;
    };
    const lab::Shape shape = problem.shape(task, c);
    if (c.n > 300 && c.n <= kMaxItems && !problem.refuses(task, c) && shape.inputs[0].count <= kMaxItems &&
        std::none_of(some.begin(), some.end(), is_alike))
      some.push_back(c);
  }
  some.resize(std::min<std::size_t>(some.size(), 3));
  return some;
}

TEST(StudentReports, ContainNoInputAndNoResult) {
  for (const lab::Problem* problem : lab::all_problems()) {
    Leaks leaks(*problem);
    // Each task of a lab has its cases, but all have the same rules.
    for (const lab::Task& task : problem->manifest().tasks)
      for (const lab::Case& c : cases_to_try(*problem, task)) leaks.try_all(task, c);
    leaks.search();
  }
}

}  // namespace
}  // namespace course::grader
