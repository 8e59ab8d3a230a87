// SPDX-License-Identifier: MIT
// Called by the generated stubs: reports once that `call` is missing, and returns cudaErrorNotSupported.
#pragma once

namespace course::cudart {

int not_implemented(const char* call);

}  // namespace course::cudart
