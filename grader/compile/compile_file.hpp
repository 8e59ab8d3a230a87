// SPDX-License-Identifier: MIT
// Makes a runner from a student's file, in stages. The file is compiled in a sandbox that sees the file, the
// lab's headers and the toolchain and may write to one folder. The object is copied and screened. Only then
// is it linked, in another sandbox with another folder.
#pragma once

#include <string>
#include <string_view>

#include "compile/build.hpp"
#include "compile/recipe.hpp"

namespace course::grader {

// In the folder of a student's runner: the object that was screened, and then linked.
inline constexpr const char* kScreenedObject = "object.o";

// Copies `source` to work/<lab>.cu and compiles it to work/object.o. If the verdict is ok, the program is
// work/runner. The compilers, which a student's file may control, can only write to two folders below `work`.
BuildOutcome compile_file(const Layout& layout, const Recipe& recipe, const std::string& lab,
                          const std::string& source, const std::string& work, const BuildOptions& options);

// The complete outcome of an earlier compile_file in this folder, if there is one; otherwise compiles. (For
// stages that may be repeated.)
BuildOutcome compile_once(const Layout& layout, const Recipe& recipe, const std::string& lab,
                          const std::string& source, const std::string& work, const BuildOptions& options);

// Copies a file from a sandbox's folder, which may contain anything. An Error unless it is a regular file of
// at most `most_bytes`.
Result<void> take_file(const std::string& from, const std::string& to, std::uintmax_t most_bytes,
                       unsigned permissions);

// The source with the branches of the other tasks ("case Rung::scan: return scan(job);") replaced by "return
// Status::unsupported;", so that the compilers do not instantiate their kernels. Unchanged if there is no
// such line for this task.
std::string only_for_task(std::string_view source, std::string_view task);

// The text with the random parts of the names of temporary files replaced by "…", so that the same file
// always gets the same message.
std::string without_chance(const std::string& text);

}  // namespace course::grader
