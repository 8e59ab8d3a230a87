// SPDX-License-Identifier: MIT
#include "cudart/runtime/host/system_calls.hpp"

#include "cudart/runtime/host/host_access.hpp"
#include "cudart/runtime/memory/memory.hpp"

#if defined(__x86_64__)
#include <dlfcn.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace course::cudart {
namespace {

// Calls whose second argument is the address of a buffer, or of a list of buffers.
struct Call {
  int number;
  const char* name;
  bool writes;  // to the buffer
  bool has_list = false;
};
constexpr Call kCalls[] = {
    {SYS_read, "read", true},
    {SYS_pread64, "pread", true},
    {SYS_recvfrom, "recv", true},
    {SYS_write, "write", false},
    {SYS_pwrite64, "pwrite", false},
    {SYS_sendto, "send", false},
    {SYS_readv, "readv", true, true},
    {SYS_preadv, "preadv", true, true},
    {SYS_writev, "writev", false, true},
    {SYS_pwritev, "pwritev", false, true},
};

// --- the filter --------------------------------------------------------------------------------------------

class Filter {
 public:
  enum Target { kAllow, kTrap, kHere, kNext };

  void load(std::size_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  void if_equal(std::uint32_t value, Target target) { jump(BPF_JEQ, value, target, kNext); }
  void if_differs(std::uint32_t value, Target target) { jump(BPF_JEQ, value, kNext, target); }
  // Compares the 64-bit number at the offset; its lower half comes first.
  void if_less(std::size_t offset, std::uint64_t bound, Target target) {
    const auto high = static_cast<std::uint32_t>(bound >> 32), low = static_cast<std::uint32_t>(bound);
    load(offset + 4);
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, high, 3, 0));  // not less
    jump(BPF_JEQ, high, kNext, target);
    load(offset);
    jump(BPF_JGE, low, kNext, target);
  }
  // To the next call of here().
  void if_equal_go_on(std::uint32_t value) { if_equal(value, kHere); }
  void if_less_go_on(std::size_t offset, std::uint64_t bound) { if_less(offset, bound, kHere); }
  void here() { go_to(kHere, code_.size()); }
  void end(Target target) {
    if (target == kTrap)
      code_.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
    else
      code_.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  bool install() {
    go_to(kAllow, code_.size());
    end(kAllow);
    go_to(kTrap, code_.size());
    end(kTrap);
    sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  }

 private:
  struct Fixup {
    std::size_t from;
    bool if_true;
    Target target;
  };
  void go_to(Target target, std::size_t at) {
    for (const Fixup& fixup : fixups_)
      if (fixup.target == target)
        (fixup.if_true ? code_[fixup.from].jt : code_[fixup.from].jf) =
            static_cast<std::uint8_t>(at - fixup.from - 1);
    std::erase_if(fixups_, [&](const Fixup& fixup) { return fixup.target == target; });
  }
  void jump(unsigned comparison, std::uint32_t value, Target if_true, Target if_false) {
    if (if_true != kNext) fixups_.push_back({code_.size(), true, if_true});
    if (if_false != kNext) fixups_.push_back({code_.size(), false, if_false});
    code_.push_back(BPF_JUMP(BPF_JMP | comparison | BPF_K, value, 0, 0));
  }
  std::vector<sock_filter> code_;
  std::vector<Fixup> fixups_;
};

// The machine code of the C library.
std::span<const std::byte> code_of_library() {
  struct Search {
    std::uint64_t address;
    std::span<const std::byte> found;
  };
  Search search{address_of(dlsym(RTLD_DEFAULT, "write")), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* user) {
        auto& wanted = *static_cast<Search*>(user);
        for (int i = 0; i < library->dlpi_phnum; ++i) {
          const auto& part = library->dlpi_phdr[i];
          const std::uint64_t first = library->dlpi_addr + part.p_vaddr;
          if (part.p_type == PT_LOAD && wanted.address - first < part.p_memsz)
            wanted.found = {reinterpret_cast<const std::byte*>(first), part.p_memsz};  // NOLINT
        }
        return 0;
      },
      &search);
  return search.found;
}

bool install(std::span<const std::byte> memory) {
  const std::span<const std::byte> library = code_of_library();
  if (library.empty()) return false;
  constexpr std::size_t kCaller = offsetof(seccomp_data, instruction_pointer);
  Filter filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.if_differs(AUDIT_ARCH_X86_64, Filter::kAllow);
  filter.if_less(kCaller, address_of(library.data()), Filter::kAllow);
  filter.if_less_go_on(kCaller, address_of(library.data()) + library.size());
  filter.end(Filter::kAllow);
  filter.here();
  filter.load(offsetof(seccomp_data, nr));
  for (const Call& call : kCalls)
    if (call.has_list) filter.if_equal(static_cast<std::uint32_t>(call.number), Filter::kTrap);
  for (const Call& call : kCalls)
    if (!call.has_list) filter.if_equal_go_on(static_cast<std::uint32_t>(call.number));
  filter.end(Filter::kAllow);
  filter.here();
  constexpr std::size_t kBuffer = offsetof(seccomp_data, args) + sizeof(std::uint64_t);
  filter.if_less(kBuffer, address_of(memory.data()), Filter::kAllow);
  filter.if_less(kBuffer, address_of(memory.data()) + memory.size(), Filter::kTrap);
  return filter.install();
}

// --- the handler -------------------------------------------------------------------------------------------

// Not by a function of the C library, whose calls are filtered.
long execute(long number, const greg_t* arguments) {
  long result = 0;
  register long r10 __asm__("r10") = arguments[3];
  register long r8 __asm__("r8") = arguments[4];
  register long r9 __asm__("r9") = arguments[5];
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(r10), "r"(r8),
                     "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// The address in memory of the device that the call gets; 0: none.
std::uint64_t protected_address(const Call& call, const greg_t* arguments) {
  if (!call.has_list) {
    const auto at = static_cast<std::uint64_t>(arguments[1]);
    return is_protected(at) ? at : 0;
  }
  const auto* buffers = reinterpret_cast<const iovec*>(arguments[1]);  // NOLINT: of the call
  for (greg_t i = 0; i < arguments[2]; ++i)
    if (const std::uint64_t at = address_of(buffers[i].iov_base); buffers[i].iov_len > 0 && is_protected(at))
      return at;
  return 0;
}

void on_system_call(int, siginfo_t* info, void* context) {
  auto* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const greg_t arguments[] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                              registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
  const auto* const call = std::ranges::find(kCalls, info->si_syscall, &Call::number);
  if (call != std::end(kCalls))
    if (const std::uint64_t address = protected_address(*call, arguments); address != 0)
      report_host_access({.address = address,
                          .code = info->si_call_addr,
                          .what = fmt::format("the system call {} gets the address of", call->name),
                          .writes = call->writes,
                          .ends_program = false});
  registers[REG_RAX] = execute(info->si_syscall, arguments);
}

}  // namespace

void watch_system_calls(std::span<const std::byte> memory) {
  struct sigaction ours {};
  ours.sa_sigaction = on_system_call;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  struct sigaction before {};
  if (sigaction(SIGSYS, &ours, &before) != 0) return;
  if (!install(memory)) sigaction(SIGSYS, &before, nullptr);
}

}  // namespace course::cudart

#else

namespace course::cudart {

void watch_system_calls(std::span<const std::byte>) {}

}  // namespace course::cudart

#endif
