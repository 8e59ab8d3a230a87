// SPDX-License-Identifier: MIT
// What a sandboxed program sees of the file system, and the bubblewrap arguments that make it so. Pure but
// for looking which system folders there are.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace course::grader::sandbox {

struct View {
  std::vector<std::string> read_only;  // shown at their own paths; those that are not there are left out
  std::vector<std::string> writable;   // on top of those
  std::vector<std::pair<std::string, std::string>> placed;    // folders and where they are shown, writable
  std::vector<std::pair<std::string, std::string>> shown_as;  // files and where they are shown, read-only
  std::vector<std::string> empty;                             // folders shown as empty, on top of all that
  std::vector<std::string> shown;                             // files of empty ones that are shown, read-only
  std::vector<std::string> devices;                           // device files, and folders of them
  bool proc = true;
  std::string folder = "/tmp";  // where the program starts
};

// How namespaces can be had.
enum class Namespaces : unsigned char {
  none,
  by_root,  // root makes them and gives up being root inside
  by_user,  // in a user namespace of one's own
};

// bwrap with everything up to the program: `… -- `.
std::vector<std::string> bwrap_arguments(const std::string& bwrap, Namespaces how, bool disable_userns,
                                         const View& view);

// The GPU's device files of this machine.
std::vector<std::string> gpu_devices();

}  // namespace course::grader::sandbox
