// SPDX-License-Identifier: MIT
// Finds system calls that get an address in memory of the device, such as write(fd, d_data, n), fread and
// large fwrite: without this, they only fail with EFAULT, which few programs notice. A filter (seccomp)
// raises SIGSYS for calls of the C library with such an argument, and for those with lists of buffers
// (writev). The handler adds a finding ("host-access") and executes the call, which fails with EFAULT as with
// a GPU. Only on linux/x86-64, and where the system allows such filters. Programs that this one starts are
// not concerned, because their C library is at another address.
#pragma once

#include <cstddef>
#include <span>

namespace course::cudart {

// For an address range of a device. Must be called once for each, while no other thread runs.
void watch_system_calls(std::span<const std::byte> memory);

}  // namespace course::cudart
