// SPDX-License-Identifier: MIT
#pragma once

#include "../shared/raw.cuh"

namespace course::reduction::hostile {
using attack::address_of;
using attack::raw_call;
}  // namespace course::reduction::hostile
