// SPDX-License-Identifier: MIT
// How a lab's file is compiled and linked: the commands of a sandboxed shell and the files that they read. No build system runs over
// student code. The device's and the host's half are compiled side by side, as nvcc itself would compile them one after the other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "layout.hpp"

namespace course::grader {

// Shell commands, run in the checkout. {source}, {object}, {folder} (the object's) and {runner} stand for paths.
struct Recipe {
  std::string compile, link;
  std::vector<std::string> linked;   // objects of ours, below the build folder
  std::vector<std::string> headers;  // what a file may include of the checkout
};

Result<Recipe> recipe_for(const Layout& layout, const std::string& lab);

// What the compilers of recipes say of their versions.
std::string toolchain_versions();

// `text` with the names in braces replaced by quoted paths.
std::string fill_in(std::string text, const std::string& source, const std::string& object,
                    const std::string& runner);

// --- The pure part.

// A path or word as a shell takes it literally.
std::string shell_word(std::string_view word);

// The script that does what "nvcc --dryrun … -o {object} -c `source`" says, as far as possible side by side; "" when nvcc's words are
// not what is expected, as a new version's may be.
std::string side_by_side(std::string_view dryrun, const std::string& source);

}  // namespace course::grader
