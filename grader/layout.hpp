// SPDX-License-Identifier: MIT
// Where things are: the checkout, the build folder, a lab's files and runner, the two libcudarts. The `lab`
// script sets LAB_ROOT and LAB_BUILD; without them both are found from where this program stands
// (build/grader/labcli).
#pragma once

#include <string>

#include "base/result.hpp"

namespace course::grader {

struct Layout {
  std::string root;             // the checkout
  std::string build;            // its build folder
  std::string toolkit_lib_dir;  // with the toolkit's libcudart.so; "" when the loader finds it by itself

  std::string simulator_dir() const { return build + "/common/cudart"; }
  // Of runners: their libcudart asks the device's process.
  std::string remote_dir() const { return build + "/common/remote"; }
  std::string device_program() const { return remote_dir() + "/simulated_device"; }
  // As ninja knows it.
  static std::string solution_target(const std::string& lab) { return "solutions/runner_" + lab; }
  std::string solution_runner(const std::string& lab) const { return build + "/" + solution_target(lab); }
};

Result<Layout> find_layout();

// The checkout's commit, with "+" when there are local changes; "" when it is no git checkout.
std::string commit_of(const std::string& root);

}  // namespace course::grader
