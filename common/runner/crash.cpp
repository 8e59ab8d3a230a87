// SPDX-License-Identifier: MIT
// The handler only calls functions that are safe in one: it may have interrupted malloc.
#include "runner/crash.hpp"

#include <link.h>
#include <signal.h>
#include <sys/resource.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/packets.hpp"

extern const char __executable_start, etext;  // NOLINT: the linker's names

namespace course::lab {
namespace {

// The handler's own stack, because the thread's may be full.
constexpr std::size_t kOwnStackBytes = 64 * 1024;
alignas(16) std::array<std::byte, kOwnStackBytes> own_stack;

constexpr std::uintptr_t kMostBelow = std::uintptr_t{1} << 32;  // bytes that a local array may be too large
// Above the part of the stack that is known there are the program's arguments and its environment.
constexpr std::uintptr_t kUnknownBytes = 256 * 1024;
constexpr std::size_t kWordsSearched = 128 * 1024;  // of the stack, for return addresses

struct Known {
  int channel = -1;
  std::uintptr_t lowest = 0, highest = 0;  // of the thread's stack
  std::uintptr_t loaded_at = 0;            // the program, relative to its file's addresses
};
Known known;

std::uintptr_t stack_pointer(const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);  // NOLINT
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.sp;
#else
  return 0;
#endif
}

// The return address that occurs most often in the part of the stack that was used last, into a function that
// calls itself again and again.
void find_recursion(std::uintptr_t from, CrashNote& note) {
  struct Seen {
    std::uintptr_t address = 0;
    std::uint32_t times = 0;
  };
  static std::array<Seen, 1024> table;
  const auto first = reinterpret_cast<std::uintptr_t>(&__executable_start);
  const auto last = reinterpret_cast<std::uintptr_t>(&etext);
  const std::size_t n = std::min((known.highest - from) / sizeof(std::uintptr_t), kWordsSearched);
  const auto* const words = reinterpret_cast<const std::uintptr_t*>(from);  // NOLINT: this thread's stack
  const Seen* most = nullptr;
  for (std::size_t k = 0; k < n; ++k) {
    if (words[k] < first || words[k] >= last) continue;
    Seen& seen = table[words[k] / 2 % table.size()];
    if (seen.times == 0) seen.address = words[k];
    if (seen.address != words[k]) continue;
    ++seen.times;
    if (most == nullptr || seen.times > most->times) most = &seen;
  }
  if (most == nullptr) return;
  note.repeated_call = most->address - known.loaded_at;
  note.n_repeats = most->times;
}

void on_crash(int number, siginfo_t* info, void* context) {
  CrashNote note;
  note.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::uintptr_t top = stack_pointer(context);
  // Beyond the lowest address, but not below what the function has reserved.
  const std::uintptr_t end = known.lowest + kUnknownBytes;
  if (known.lowest != 0 && top < end && note.address < end && note.address + kMostBelow > end &&
      note.address + kUnknownBytes > top) {
    note.overflows_stack = 1;
    note.missing_bytes = end - top;
    find_recursion(std::max((top + 7) / 8 * 8, end), note);
  }
  static_cast<void>(send_packet(known.channel, PacketKind::crashed, std::as_bytes(std::span(&note, 1))));
  signal(number, SIG_DFL);  // the access is repeated and ends the process
}

}  // namespace

void note_crashes(int channel) {
  known.channel = channel;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    known.highest = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) / 16 * 16;
    known.lowest = known.highest - limit.rlim_cur;
  }
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void*) {
        known.loaded_at = program->dlpi_addr;
        return 1;  // the first one is the program
      },
      nullptr);
  stack_t stack{};
  stack.ss_sp = own_stack.data();
  stack.ss_size = own_stack.size();
  if (sigaltstack(&stack, nullptr) != 0) return;
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS}) sigaction(number, &action, nullptr);
}

}  // namespace course::lab
