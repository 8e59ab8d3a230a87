// SPDX-License-Identifier: MIT
#include "grading/planning/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lab/derived_cases.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

std::string plain_name(std::string name) {
  // "labs/reduction/", as the shell completes it, means the lab.
  while (!name.empty() && name.back() == '/') name.pop_back();
  const std::size_t slash = name.find_last_of('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

// A hint if a task's name was given in place of a lab's: "; did you mean …?", or "".
std::string did_you_mean_a_task(Problems all, const std::string& name) {
  for (const lab::Problem* problem : all) {
    const lab::Manifest& manifest = problem->manifest();
    std::vector<std::string> tasks;
    for (const lab::Task& task : manifest.tasks) tasks.emplace_back(task.id);
    if (const auto near = close_matches(name, tasks); !near.empty())
      return fmt::format("; did you mean {} --task {}?", manifest.id, near.front());
  }
  return "";
}

}  // namespace

Result<std::vector<const lab::Problem*>> select_labs(Problems all, const std::vector<std::string>& names) {
  if (all.empty()) return Error{"This build has no labs."};
  if (names.empty()) return std::vector<const lab::Problem*>(all.begin(), all.end());
  std::vector<std::string> known;
  for (const lab::Problem* problem : all) known.emplace_back(problem->manifest().id);
  std::set<std::string> wanted;
  for (const std::string& name : names) {
    const std::string plain = plain_name(name);
    if (std::ranges::find(known, plain) == known.end()) {
      std::string meant = close_matches(plain, known).empty() ? did_you_mean_a_task(all, plain) : "";
      if (meant.empty()) meant = did_you_mean(plain, known);
      return Error{fmt::format("There is no lab \"{}\"{}", tame(name), meant)};
    }
    wanted.insert(plain);
  }
  std::vector<const lab::Problem*> selected;
  for (const lab::Problem* problem : all)
    if (wanted.count(std::string(problem->manifest().id)) != 0) selected.push_back(problem);
  return selected;
}

void take_task(Problems all, std::vector<std::string>& names, std::string& task) {
  if (names.size() != 2 || !task.empty()) return;
  for (const lab::Problem* problem : all) {
    const lab::Manifest& manifest = problem->manifest();
    if (manifest.id != plain_name(names[0]) || lab::find_task(manifest, names[1]) == nullptr) continue;
    task = names[1];
    names.pop_back();
    return;
  }
}

Result<void> check_task(Problems labs, const std::string& task, bool further) {
  std::vector<std::string> known;
  for (const lab::Problem* problem : labs) {
    for (const auto* list : {&problem->manifest().tasks, &problem->manifest().further_rungs}) {
      if (list == &problem->manifest().further_rungs && !further) continue;
      for (const lab::Task& one : *list) {
        if (one.id == task) return {};
        known.emplace_back(one.id);
      }
    }
  }
  const std::string where = labs.size() == 1 ? fmt::format(" in {}", labs[0]->manifest().id) : "";
  return Error{fmt::format("There is no task \"{}\"{}{}", tame(task), where, did_you_mean(task, known))};
}

Result<void> check_case(Problems labs, const std::string* task, const std::string& case_name) {
  std::set<std::string> known;
  for (const lab::Problem* problem : labs) {
    for (const lab::Task& one : problem->manifest().tasks) {
      if (task != nullptr && one.id != *task) continue;
      if (lab::find_case(*problem, one, case_name)) return {};
      for (const lab::Case& c : problem->cases(one)) known.insert(c.name);
    }
  }
  const std::vector<std::string> names(known.begin(), known.end());
  std::string meant = did_you_mean(case_name, names);
  if (meant.empty() && !names.empty())
    meant = fmt::format("; they are called like {}, and the message of one that fails names it",
                        names[names.size() / 2]);
  return Error{fmt::format("There is no case \"{}\"{}", tame(case_name), meant)};
}

}  // namespace course::grader
