// SPDX-License-Identifier: MIT
// Everything that all submissions of a class are compiled and graded with, found once and passed to the
// workers as JSON.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "compile/recipe.hpp"
#include "layout.hpp"

namespace course::grader {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Recipe, compile, link, linked, headers, several_devices)
}

namespace course::grader::batch {

struct Harness {
  std::map<std::string, Recipe> labs;
  // What the evidence about a submission depends on, besides the files of a recipe and of `judging`.
  std::vector<std::string> programs;
  // For each lab: the sources of its cases and answers.
  std::map<std::string, std::vector<std::string>> judging;
  std::string toolchain;  // the versions of the compilers
  std::string commit;     // of the checkout
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Harness, labs, programs, judging, toolchain, commit)

// Builds what all submissions share, and reads the recipes. It does not compile labs/<lab>/<lab>.cu.
Result<Harness> find_harness(const Layout& layout, std::span<const std::string> labs);

}  // namespace course::grader::batch
