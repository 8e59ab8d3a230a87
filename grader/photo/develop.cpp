// SPDX-License-Identifier: MIT
#include "photo/develop.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace course::grader {
namespace {

using lab::Case;
using lab::HostBuffer;
using lab::Problem;
using lab::Task;

// A lab's problem whose items are given, and which keeps what the kernel wrote.
class WithItems : public Problem {
 public:
  WithItems(const Problem& lab, std::span<const std::span<const std::byte>> items)
      : lab_(lab), items_(items) {}
  const lab::Manifest& manifest() const override { return lab_.manifest(); }
  std::vector<Case> cases(const Task& task) const override { return lab_.cases(task); }
  lab::Shape shape(const Task& task, const Case& c) const override { return lab_.shape(task, c); }
  void fill(const Task&, const Case&, std::uint64_t, std::span<HostBuffer> inputs) const override {
    for (std::size_t i = 0; i < inputs.size(); ++i) std::ranges::copy(items_[i], inputs[i].bytes.begin());
  }
  std::optional<lab::Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                     std::span<const HostBuffer> outputs) const override {
    kept.assign(outputs.begin(), outputs.end());
    return lab_.check(task, c, inputs, outputs);
  }
  void baseline(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    lab_.baseline(task, c, inputs, outputs);
  }
  lab::Ideal ideal(const Task& task, const Case& c) const override { return lab_.ideal(task, c); }
  Case example(const Task& task, std::uint64_t n) const override { return lab_.example(task, n); }

  mutable std::vector<HostBuffer> kept;

 private:
  const Problem& lab_;
  std::span<const std::span<const std::byte>> items_;
};

class StageKernels : public lab::Kernels {
 public:
  StageKernels(DevelopedStage& stage, const RunCase& run_case) : stage_(stage), run_case_(run_case) {}
  std::vector<HostBuffer> run(std::initializer_list<std::string_view> tasks, const Case& c,
                              std::initializer_list<std::span<const std::byte>> inputs) override {
    const Problem& lab = stage_.stage->problem();
    for (const std::string_view id : tasks) {
      const Task& task = *lab::find_task(lab.manifest(), id);
      const WithItems problem(lab, {inputs.begin(), inputs.size()});
      lab::Outcome outcome = run_case_(problem, task, c);
      if (outcome.verdict == lab::Verdict::not_implemented) continue;
      stage_.task = id;
      stage_.processor_seconds += outcome.processor_seconds;
      if (!outcome.times_us.empty()) stage_.time_us += outcome.times_us.front();
      if (outcome.verdict != lab::Verdict::ok && stage_.verdict == lab::Verdict::ok) {
        outcome.failure.case_name.clear(), outcome.failure.command.clear();  // ./lab grade has no such case
        stage_.verdict = outcome.verdict;
        stage_.message = outcome.message();
      }
      if (problem.kept.empty()) throw lab::NoOutput();
      return std::move(problem.kept);
    }
    stage_.verdict = lab::Verdict::not_implemented;
    throw lab::NoOutput();
  }

 private:
  DevelopedStage& stage_;
  const RunCase& run_case_;
};

}  // namespace

DevelopedStage develop(const lab::PhotoStage& stage, lab::Photo& photo, const RunCase& run_case) {
  DevelopedStage result;
  result.stage = &stage;
  StageKernels kernels(result, run_case);
  lab::Photo next = photo;
  try {
    stage.develop(next, kernels);
    photo = std::move(next);
  } catch (const lab::NoOutput&) {
  }
  result.shown = {photo.width, photo.height,
                  photo.shown.empty() ? photo.rgb : std::exchange(photo.shown, {})};
  return result;
}

}  // namespace course::grader
