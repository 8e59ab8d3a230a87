// SPDX-License-Identifier: MIT
// Lets ranks of other processes take part in the communicators of this process's unique ids. A thread accepts
// connections and looks for calls that cannot end; each connection has a thread that receives its messages.
#pragma once

#include <cstdint>

namespace course::nccl {

// Starts the server at the first call. Returns the number that makes its address; 0: other processes can't
// connect, because this one may not open sockets.
std::uint64_t serve();
// At the end of the process: waits as long as other processes run that are connected.
void wait_for_others();

}  // namespace course::nccl
