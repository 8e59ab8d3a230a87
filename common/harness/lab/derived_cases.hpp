// SPDX-License-Identifier: MIT
// Cases that are derived from a task's list. Those with fewer and simpler items are not graded; they are used
// to find the smallest input that a submission gets wrong. graded_cases() varies the list for a grade, and
// adds to it. Each case can be named on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lab/problem.hpp"

namespace course::lab {

// Cases with the operator, the type and the parameters of `like`, from 1 item up to the length of `like`,
// but at least to 9; 0 comes after 9, because there is nothing to see. Those of one length go from simple
// items (3 1 7 0 …) to random ones, the pattern of `like` last. The last case is `like` itself.
std::vector<Case> smaller_cases(const Problem& problem, const Task& task, const Case& like);

// One case of each variant (CaseWords::variant) of the task, in the order of its cases, without those that it
// must refuse: one with random items, if there is one.
std::vector<Case> variants(const Problem& problem, const Task& task);

// The same case with inputs at an aligned address; std::nullopt if they are aligned already.
std::optional<Case> aligned(const Case& c);

// The task's cases as they are graded, with what only the seed determines: cases that are neither measured
// nor have an offset already get inputs at drawn addresses (with items of 4 bytes, three of four are no
// longer at a multiple of 16 bytes), and after them come up to three cases of drawn lengths, some for one or
// two multiprocessors. A submission that is right for the addresses or lengths
// in the task's list alone is not right.
std::vector<Case> graded_cases(const Problem& problem, const Task& task, std::uint64_t seed);

// The case with this name: one of the task's cases, an example, or one of them with another length or at
// another address.
std::optional<Case> find_case(const Problem& problem, const Task& task, std::string_view name);

}  // namespace course::lab
