// SPDX-License-Identifier: MIT
// Tells crashes of a student's host code apart: the handler of the signal sends what it knows to the device's
// process, which finds out the names (remote/device). It changes neither the signal nor the verdict.
#pragma once

namespace course::lab {

// From now on, a SIGSEGV of this thread sends a CrashNote (protocol/packets.hpp) to `channel` before
// it ends the process.
void note_crashes(int channel);

}  // namespace course::lab
