// SPDX-License-Identifier: MIT
// Contains the fmt library's code, so that libcudart.so does not need libfmt.so. It is compiled header-only
// and keeps every inline function, because object files compiled for the shared library refer to these
// symbols.
#include <fmt/format.h>

namespace course::cudart {

// Instantiates the templates that are needed.
std::string use_templates(double d, float f, long double l) {
  return fmt::format("{} {} {} {:.3f} {:.3f} {:a} {}", d, f, l, d, f, d, static_cast<const void*>(&d));
}

}  // namespace course::cudart
