// SPDX-License-Identifier: MIT
// Whether a wait can still end. Some thread has to make the call that others wait for, so a wait is hopeless
// when no other thread of the processes of a communicator has been running for kIdleSeconds: all of them
// sleep, according to /proc, and none has made an NCCL call. A thread that is ready to run, or stopped by a
// debugger, counts as running, so a loaded machine does not matter. A program that lets a thread sleep for
// longer than that is reported wrongly.
// A rank that has not joined may be in a process that is only starting. So it is missing when, for
// kMissingSeconds, also no other process of the same program and launcher has run.
#pragma once

#include <sys/types.h>

namespace course::nccl {

constexpr double kIdleSeconds = 2, kMissingSeconds = 3;
constexpr int kPollMs = 20;  // a waiting thread calls is_idle() as often as that

// Must be called when a thread makes a call that others may wait for.
void note_activity();
// Called again and again by threads that wait or that poll: whether the processes have been idle.
// `for_ranks`: the wait is for ranks that have not joined.
bool is_idle(bool for_ranks = false);
// Says that a thread of another process only waits or polls. It holds for a second.
void note_asking(pid_t thread);
// Must be called when another process connects (`joins`) to join communicators of this one, and when it
// leaves.
void watch_process(pid_t process, bool joins);

}  // namespace course::nccl
