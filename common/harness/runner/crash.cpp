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
#include <iterator>
#include <span>

#include "protocol/packets.hpp"

extern const char __executable_start, etext;  // NOLINT: the linker's names

namespace course::lab {
namespace {

// The handler's own stack, because the thread's may be full.
constexpr std::size_t kOwnStackBytes = 64 * 1024;
alignas(16) std::array<std::byte, kOwnStackBytes> own_stack;

constexpr std::uintptr_t kMaxBelow = std::uintptr_t{1} << 32;  // bytes that a local array may be too large
// Above the part of the stack that is known there are the program's arguments and its environment.
constexpr std::uintptr_t kUnknownBytes = 256 * 1024;
constexpr std::size_t kWordsSearched = 128 * 1024;  // of the stack, for return addresses

struct Known {
  int channel = -1;
  // The frame of note_crashes(), and the stack's limit below it: up to kUnknownBytes too low; 0: no limit.
  std::uintptr_t lowest = 0, highest = 0;
  std::uintptr_t loaded_at = 0;  // the program, relative to its file's addresses
};
Known known;

struct Registers {
  std::uintptr_t instruction = 0, stack = 0, frame = 0;
};

Registers registers_of(const void* context) {
  const auto& all = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto get = [&](int number) { return static_cast<std::uintptr_t>(all.gregs[number]); };  // NOLINT
  return {get(REG_RIP), get(REG_RSP), get(REG_RBP)};
#elif defined(__aarch64__)
  return {all.pc, all.sp, all.regs[29]};
#else
  return {};
#endif
}

bool is_in_program(std::uintptr_t code) {
  return code >= reinterpret_cast<std::uintptr_t>(&__executable_start) &&
         code < reinterpret_cast<std::uintptr_t>(&etext);
}

// Whether the address follows a direct call: not just any pointer to code.
bool is_return_address(std::uintptr_t code) {
#if defined(__x86_64__)
  constexpr std::size_t kCallBytes = 5;
  return is_in_program(code - kCallBytes) && is_in_program(code) &&
         *reinterpret_cast<const std::uint8_t*>(code - kCallBytes) == 0xe8;  // NOLINT: of this program
#elif defined(__aarch64__)
  constexpr std::size_t kCallBytes = 4;
  return code % kCallBytes == 0 && is_in_program(code - kCallBytes) && is_in_program(code) &&
         *reinterpret_cast<const std::uint32_t*>(code - kCallBytes) >> 26 == 0x25;  // NOLINT: of this program
#else
  return false;
#endif
}

// Host code is compiled without optimisation, so each function stores its caller's frame, then the return
// address. The libraries' functions need not: of those that fault, only the caller of a leaf is known.
void find_calls(const Registers& at, CrashNote& note) {
  std::size_t n = 0;
  const auto add = [&](std::uintptr_t code) {
    if (is_in_program(code) && n < std::size(note.calls)) note.calls[n++] = code - known.loaded_at;
  };
  const auto word = [](std::uintptr_t address) {
    return *reinterpret_cast<const std::uintptr_t*>(address);  // NOLINT: of this thread's stack
  };
  const auto is_on_stack = [&](std::uintptr_t address) {
    return address % sizeof(std::uintptr_t) == 0 && address >= at.stack && known.highest >= 16 &&
           address <= known.highest - 16;
  };
  add(at.instruction);
#if defined(__x86_64__)
  if (n == 0 && is_on_stack(at.stack) && is_return_address(word(at.stack))) add(word(at.stack) - 1);
#endif
  if (n == 0) return;
  std::uintptr_t frame = at.frame;
  while (n < std::size(note.calls) && is_on_stack(frame)) {
    add(word(frame + sizeof frame) - 1);
    const std::uintptr_t outer = word(frame);
    if (outer <= frame) return;
    frame = outer;
  }
}

// The return address that occurs most often in the part of the stack that was used last, into a function that
// calls itself again and again.
void find_recursion(std::uintptr_t from, CrashNote& note) {
  struct Seen {
    std::uintptr_t address = 0;
    std::uint32_t times = 0;
  };
  static std::array<Seen, 1024> table;
  const std::size_t n = std::min((known.highest - from) / sizeof(std::uintptr_t), kWordsSearched);
  const auto* const words = reinterpret_cast<const std::uintptr_t*>(from);  // NOLINT: this thread's stack
  const Seen* most = nullptr;
  for (std::size_t k = 0; k < n; ++k) {
    if (!is_return_address(words[k])) continue;
    Seen& seen = table[words[k] / 2 % table.size()];
    if (seen.times == 0) seen.address = words[k];
    if (seen.address != words[k]) continue;
    ++seen.times;
    if (most == nullptr || seen.times > most->times) most = &seen;
  }
  if (most == nullptr) return;
  note.repeated_call = most->address - 1 - known.loaded_at;  // the call, not where it returns
  note.n_repeats = most->times;
}

void send_note(const siginfo_t* info, const void* context) {
  CrashNote note;
  note.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const Registers at = registers_of(context);
  const std::uintptr_t top = at.stack;
  // Beyond the lowest address, but not below what the function has reserved.
  const std::uintptr_t end = known.lowest + kUnknownBytes;
  if (known.lowest != 0 && top < end && note.address < end && note.address + kMaxBelow > end &&
      note.address + kUnknownBytes > top) {
    note.overflows_stack = 1;
    note.missing_bytes = end - top;
    find_recursion(std::max((top + 7) / 8 * 8, end), note);
  } else {
    find_calls(at, note);
  }
  static_cast<void>(send_packet(known.channel, PacketKind::crashed, std::as_bytes(std::span(&note, 1))));
}

void on_crash(int, siginfo_t* info, void* context) {
  // Signals that a process sends, and addresses that no memory can have, come without an address.
  if (info->si_code == SEGV_MAPERR || info->si_code == SEGV_ACCERR) send_note(info, context);
  signal(SIGSEGV, SIG_DFL);  // an access is repeated and ends the process
  if (info->si_code <= 0) raise(SIGSEGV);
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
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace course::lab
