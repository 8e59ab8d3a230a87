// SPDX-License-Identifier: MIT
// How a lab's file is compiled and linked: the shell commands, which run in a sandbox, and the files that
// they read. No build system runs on student code. parallel_script.hpp makes the compilation shorter.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "layout.hpp"

namespace course::grader {

// Shell commands, run in the checkout. {source}, {object}, {folder} (the object's) and {runner} stand for
// paths.
struct Recipe {
  std::string compile, link;
  std::vector<std::string> linked;   // objects of the course, relative to the build folder
  std::vector<std::string> headers;  // files of the checkout that a lab's file may include
  bool several_devices = false;      // the lab is for several devices: its file may call NCCL
};

bool is_for_several_devices(const std::string& lab);

Result<Recipe> recipe_for(const Layout& layout, const std::string& lab);

// The output of the recipes' compilers for --version.
std::string toolchain_versions(const Toolchain& toolchain);

// `text` with the placeholders of a Recipe's commands replaced by quoted paths.
std::string fill_in(std::string text, const std::string& source, const std::string& object,
                    const std::string& runner);

}  // namespace course::grader
