// SPDX-License-Identifier: MIT
// What every submission of a class is compiled and graded with, found once. As JSON it travels to the
// workers.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "compile/recipe.hpp"
#include "layout.hpp"

namespace course::grader::batch {

struct Harness {
  std::map<std::string, Recipe> labs;
  std::vector<std::string> programs;  // that decide a grade, besides a recipe's files
  std::string toolchain;              // what the compilers say of themselves
};

// Builds what is shared by all submissions, and reads the recipes. Nothing of labs/<lab>/<lab>.cu is
// compiled.
Result<Harness> find_harness(const Layout& layout, std::span<const std::string> labs);

nlohmann::json to_json(const Harness& harness);
Result<Harness> harness_from(const nlohmann::json& json);

}  // namespace course::grader::batch
