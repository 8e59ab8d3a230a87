// SPDX-License-Identifier: MIT
// Compiles a file faster than nvcc does: the device part and the host part in parallel, with the commands
// that nvcc would run one after the other.
#pragma once

#include <string>
#include <string_view>

namespace course::grader {

// A script of the commands that "nvcc --dryrun … -o {object} -c `source`" prints, as far as possible in
// parallel; "" if nvcc's output does not have the expected form, as a newer version's may. {source}, {object}
// and {folder} (the object's) stand for paths.
std::string parallel_script(std::string_view dryrun, const std::string& source);

}  // namespace course::grader
