// SPDX-License-Identifier: MIT
// What every submission of a class is compiled and graded with, found once: for each lab the two commands that ninja would run
// for the student's file of the checkout, as templates, and the files they read. So submissions are compiled side by side,
// each in a folder of its own, and no build system runs over student code. As JSON it travels to the workers.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "layout.hpp"

namespace course::grader::batch {

// Shell commands, run in the build folder. {source}, {object} and {runner} stand for paths.
struct Recipe {
  std::string compile, link;
  std::vector<std::string> linked;   // objects and libraries of ours, below the build folder
  std::vector<std::string> headers;  // what a submission may include of the checkout
};

struct Harness {
  std::map<std::string, Recipe> labs;
  std::vector<std::string> programs;  // that decide a grade, besides a recipe's files
  std::string toolchain;              // what the compilers say of themselves
};

// Builds what is shared by all submissions, and reads the recipes. Nothing of labs/<lab>/<lab>.cu is compiled.
Result<Harness> find_harness(const Layout& layout, std::span<const std::string> labs);

// The pure part: the recipe of a lab in ninja's compilation database.
Result<Recipe> recipe_in(const nlohmann::json& database, const std::string& lab);

// `text` with the names in braces replaced by quoted paths.
std::string fill_in(std::string text, const std::string& source, const std::string& object,
                    const std::string& runner);

nlohmann::json to_json(const Harness& harness);
Result<Harness> harness_from(const nlohmann::json& json);

}  // namespace course::grader::batch
