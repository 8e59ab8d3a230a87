// SPDX-License-Identifier: MIT
// A device's part of an operation of several devices (sim_parts.h). A stream that has such a part executes no
// later work until the part has ended. So every function that submits work to a stream or waits for it calls
// wait_for_parts() first. Parts are the only work that a stream may have pending.
#pragma once

#include <string>

#include "cudart/runtime/host/work_order.hpp"
#include "cudart/sim_parts.h"

struct CUstream_st;

struct SimPart {
  course::cudart::Context* context = nullptr;
  CUstream_st* stream = nullptr;
  course::cudart::Work work;
  std::string what;
  SimWait wait = nullptr;
  void* user = nullptr;
  unsigned long long id = 0;
};

namespace course::cudart {

// Waits for the parts that the stream's next work must wait for: those of the stream itself and, for the
// legacy default stream and streams that synchronise with it, those of each other. Returns the device's error
// if one of them has failed. No lock may be held.
Status wait_for_parts(CUstream_st& stream);
// Waits for all parts of the device.
void wait_for_parts(Context& context);
// Whether the stream itself has a part that has not ended. Does not wait.
bool has_parts(CUstream_st& stream);

}  // namespace course::cudart
