// SPDX-License-Identifier: MIT
// What the generated stubs call: says once that `call` is missing, and returns cudaErrorNotSupported.
#pragma once

namespace course::cudart {

int not_implemented(const char* call);

}  // namespace course::cudart
