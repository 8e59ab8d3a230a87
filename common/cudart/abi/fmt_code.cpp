// SPDX-License-Identifier: MIT
// The fmt library's code, for a libcudart.so that needs no libfmt.so: compiled as headers only, with every
// inline function kept, so that object files compiled against the shared library find their symbols here.
#include <fmt/format.h>

namespace course::cudart {

// Templates are kept only when they are used.
std::string use_templates(double d, float f, long double l) {
  return fmt::format("{} {} {} {:.3f} {:.3f} {:a} {}", d, f, l, d, f, d, static_cast<const void*>(&d));
}

}  // namespace course::cudart
