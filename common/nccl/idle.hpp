// SPDX-License-Identifier: MIT
// Whether a wait in this process can still end. Some thread has to make the call that others wait for, so a
// wait is hopeless when no other thread has been running for kIdleSeconds: all of them sleep, according to
// /proc, and none has made an NCCL call. A thread that is ready to run counts as running, so a loaded machine
// does not matter. A program that lets a thread sleep for longer than that is reported wrongly.
#pragma once

namespace course::nccl {

constexpr double kIdleSeconds = 2;
constexpr int kPollMs = 20;  // a waiting thread calls is_idle() as often as that

// Must be called when a thread makes a call that others may wait for.
void note_activity();
// Called again and again by threads that wait or that poll: whether the process has been idle.
bool is_idle();

}  // namespace course::nccl
