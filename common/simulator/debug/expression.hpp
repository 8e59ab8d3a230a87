// SPDX-License-Identifier: MIT
// C expressions over a kernel's variables, without side effects: what `print`, conditions and `watch` take.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "debug/inspect.hpp"

namespace course::debug {

// A lane of a stopped warp, and which of its frames (0: the innermost).
struct Scene {
  sim::Warp* warp = nullptr;
  int lane = 0;
  std::size_t frame = 0;
};

// Names: variables, then threadIdx, blockIdx, blockDim, gridDim (.x .y .z), warpSize, and the debugger's own
// numbers lane, warp, thread (in its block) and block (both counted along x, then y, then z), then members of
// *this. There are no casts and no calls; `&&` and `||` evaluate both sides.
Result<Value> evaluate(const Inspector& inspector, const Scene& scene, const std::string& expression);
// Whether a condition holds. One that cannot be evaluated here does not.
bool holds(const Inspector& inspector, const Scene& scene, const std::string& condition);

// As gdb writes it: 3, 2.5, 97 'a', {x = 1, y = 2}, {1, 2, 3}. At most `most` elements of an array.
std::string to_text(const Value& value, std::uint64_t most = 32);
std::string type_text(const Type* type);

}  // namespace course::debug
