// SPDX-License-Identifier: MIT
// What an observer does not follow completely. Each observer has functions that return it for a row of the
// op table, for a launch, and so on; observation/subset.hpp asks all of them.
#pragma once

namespace course::sim {

// A clause: "the carry flag is not followed". nullptr: everything is followed.
using Gap = const char*;

}  // namespace course::sim
