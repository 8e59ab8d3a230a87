// SPDX-License-Identifier: MIT
// From a student's file to a runner, in stages: compiled in a sandbox that sees the file, the lab's headers and the toolchain and may
// write to one folder of its own; what came out is copied and screened; only then is it linked, in a sandbox of its own with one folder.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/build.hpp"
#include "compile/recipe.hpp"

namespace course::grader {

// work/runner is there when the verdict is ok, work/object.o when it was compiled. `source` is copied to work/<lab>.cu first. Nothing in
// `work` but two folders below it can be written by what a student's file makes a compiler do.
BuildOutcome compile_file(const Layout& layout, const Recipe& recipe, const std::string& lab,
                          const std::string& source, const std::string& work, const BuildOptions& options);

// Its last stage, again if need be with another recipe: links work/object.o, which has been screened, to work/runner.
BuildOutcome link_object(const Layout& layout, const Recipe& recipe, const std::string& lab,
                         const std::string& work, const BuildOptions& options);

// The outcome of an earlier compile_file in this folder, whole or not at all; else compiles. A stage that can be repeated.
BuildOutcome compile_once(const Layout& layout, const Recipe& recipe, const std::string& lab,
                          const std::string& source, const std::string& work, const BuildOptions& options);

// Copies a file of a sandbox's, which may be anything by now: a plain file is all that is taken.
Result<void> take_file(const std::string& from, const std::string& to, std::uintmax_t most_bytes,
                       unsigned permissions);

// The source with the other tasks' branches of its given lines ("case Rung::scan: return scan(job);") answering "unsupported", so that
// no compiler makes kernels of their templates. As it is where it has no such line for this task.
std::string only_for_task(std::string_view source, std::string_view task);

// Names of temporary files are other ones each time; the same file must get the same words.
std::string without_chance(const std::string& text);

}  // namespace course::grader
