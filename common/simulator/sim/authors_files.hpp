// SPDX-License-Identifier: MIT
// Which source files a programmer wants to see when debugging: not those of the toolkit and the system.
#pragma once

#include <string>

namespace course::sim {

// Whether a source file is the program author's. A file of the toolkit is recognised by the headers beside or
// above it, because a toolkit may be installed anywhere, also inside of a checkout.
bool is_authors_file(const std::string& file);

}  // namespace course::sim
