// SPDX-License-Identifier: MIT
// The part of the file system that a sandboxed program sees, and the matching arguments of bubblewrap.
// Besides the arguments, only the existing system folders and the targets of symbolic links are looked at.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace course::grader::sandbox {

struct View {
  std::vector<std::string> read_only;  // at their own paths; missing ones are left out
  // folders and the paths at which they appear, writable
  std::vector<std::pair<std::string, std::string>> placed;
  // files and the paths at which they appear, read-only
  std::vector<std::pair<std::string, std::string>> shown_as;
  std::vector<std::string> devices;  // device files and folders with device files
  bool proc = true;
  std::string folder = "/tmp";  // the working directory
};

// How namespaces are created.
enum class Namespaces : unsigned char {
  none,
  by_root,  // by root, who becomes another user inside
  by_user,  // in a new user namespace
};

// The bwrap command up to the program: `… -- `.
std::vector<std::string> bwrap_arguments(const std::string& bwrap, Namespaces how, bool disable_userns,
                                         const View& view);

// The device files of this machine's GPUs.
std::vector<std::string> gpu_devices();

}  // namespace course::grader::sandbox
