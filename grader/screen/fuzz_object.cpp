// SPDX-License-Identifier: MIT
// Fuzz target: the screening of an object file compiled from a student's file.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "screen/screen.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace course::grader::screen;
  static const int kFile = memfd_create("object", 0);
  static const std::string kPath = "/proc/self/fd/" + std::to_string(kFile);
  if (ftruncate(kFile, 0) != 0 || pwrite(kFile, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  const auto object = read_object(kPath);
  if (object) static_cast<void>(message_of(objections(*object, "reduction")));
  return 0;
}
