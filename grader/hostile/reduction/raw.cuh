// SPDX-License-Identifier: MIT
#pragma once

#include "../common/raw.cuh"

namespace course::reduction::hostile {
using attack::address_of;
using attack::raw_call;
}  // namespace course::reduction::hostile
