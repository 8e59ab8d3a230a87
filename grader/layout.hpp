// SPDX-License-Identifier: MIT
// The paths of the checkout, the build folder, a lab's runner and the two libcudarts. The `lab` script sets
// LAB_ROOT and LAB_BUILD. Prebuilt tools lie in a folder that looks like a build folder; what compiles
// students' files on this machine is then in its file toolchain.txt. Without LAB_BUILD the build folder is
// found from this program's path (build/grader/labcli); without LAB_ROOT the checkout is the one that was
// compiled.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace course::grader {

// The programs with which students' files are compiled and linked, a word each.
struct Toolchain {
  std::vector<std::string> nvcc, cxx;
  std::vector<std::string> gpu_archs;  // "90", for -gencode
  std::vector<std::string> folders;    // a sandboxed compiler sees these
};

// Those that this program was built with.
Toolchain toolchain_of_build();

// Reads the file that set-up writes for prebuilt tools: lines "nvcc WORD", "cxx WORD", "arch 90", "folder
// PATH" and one line "libraries PATH", the toolkit's, which goes into `toolkit_lib_dir`.
Result<Toolchain> read_toolchain(const std::string& path, std::string& toolkit_lib_dir);

struct Layout {
  std::string root;             // the checkout
  std::string build;            // its build folder
  std::string toolkit_lib_dir;  // the folder of the toolkit's libcudart.so; "" if the loader finds it
  Toolchain toolchain = toolchain_of_build();

  std::string simulator_dir() const { return build + "/common/simulator/cudart"; }
  // The libcudart for runners, which sends its calls to the device's process.
  std::string remote_dir() const { return build + "/common/harness/remote"; }
  std::string device_program() const { return remote_dir() + "/simulated_device"; }
  // The name of the ninja target.
  static std::string solution_target(const std::string& lab) { return "solutions/runner_" + lab; }
  std::string solution_runner(const std::string& lab) const { return build + "/" + solution_target(lab); }
};

Result<Layout> find_layout();

// `folders`, separated by colons, without those of the build folder. On LD_LIBRARY_PATH these would make
// NVIDIA's runtime load the simulator's libcuda.so.1. Every program that needs them gets them explicitly.
std::string without_built_libraries(const Layout& layout, std::string_view folders);

// The checkout's commit, with "+" if there are local changes; "" if it is not a git checkout.
std::string commit_of(const std::string& root);

}  // namespace course::grader
