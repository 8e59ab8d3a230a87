// SPDX-License-Identifier: MIT
// Compiles and screens one submission's file in a folder of its own, in a sandbox that sees the file, the lab's headers and the
// toolchain: no other submission, no solution. A stage that can be repeated: what came out stands in the folder.
#pragma once

#include <string>

#include "batch/harness.hpp"
#include "build.hpp"

namespace course::grader::batch {

// work/runner is there when the verdict is ok. `source` is copied to work/<lab>.cu first.
BuildOutcome compile_file(const Layout& layout, const Recipe& recipe, const std::string& lab,
                          const std::string& source, const std::string& work, const BuildOptions& options);

// The outcome of an earlier compile_file in this folder, whole or not at all; else compiles.
BuildOutcome compile_once(const Layout& layout, const Recipe& recipe, const std::string& lab,
                          const std::string& source, const std::string& work, const BuildOptions& options);

// Names of temporary files are other ones each time; the same file must get the same words.
std::string without_chance(const std::string& text);

}  // namespace course::grader::batch
