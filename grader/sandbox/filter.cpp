// SPDX-License-Identifier: MIT
// Reading order: load_filter, then the three lists of system calls.
#include "sandbox/filter.hpp"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/words.hpp"

namespace course::grader::sandbox {
namespace {

// Calls that only an attack makes: access to other processes, new namespaces, kernel administration.
constexpr std::string_view kHostile =
    "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd pidfd_open pidfd_send_signal mount umount2 "
    "pivot_root chroot move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr unshare setns bpf "
    "userfaultfd perf_event_open keyctl add_key request_key io_uring_setup io_uring_enter kexec_load "
    "kexec_file_load init_module finit_module delete_module acct swapon swapoff reboot quotactl "
    "settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname name_to_handle_at "
    "fanotify_init iopl ioperm vhangup syslog open_by_handle_at";

// Further calls that only an attack makes in a runner on the simulator.
constexpr std::string_view kHostileRunner =
    "fork vfork execveat kill tkill rt_sigqueueinfo rt_tgsigqueueinfo setrlimit socket socketpair connect "
    "bind listen accept accept4 setsid setpgid setuid setgid setresuid setresgid setreuid setregid "
    "setgroups mknod mknodat chmod fchmod fchmodat chown fchown lchown fchownat";

// The calls that a program with threads, files and a channel needs, whichever C library it is linked with.
constexpr std::string_view kOfARunner =
    "read write readv writev pread64 pwrite64 preadv pwritev close close_range fstat newfstatat stat lstat "
    "statx statfs fstatfs lseek open openat openat2 access faccessat faccessat2 readlink readlinkat getcwd "
    "chdir getdents64 getdents unlink unlinkat mkdir mkdirat rmdir rename renameat renameat2 ftruncate "
    "truncate fallocate fsync fdatasync umask mmap munmap mprotect mremap madvise mlock munlock mincore "
    "msync brk memfd_create membarrier rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend "
    "rt_sigtimedwait sigaltstack restart_syscall pause alarm setitimer getitimer timer_create timer_settime "
    "timer_delete timerfd_create timerfd_settime futex futex_waitv futex_wake futex_wait futex_requeue "
    "set_robust_list get_robust_list rseq set_tid_address gettid getpid getppid getuid geteuid getgid "
    "getegid getgroups getresuid getresgid getpgrp getpgid getsid exit exit_group wait4 waitid nanosleep "
    "clock_nanosleep clock_gettime clock_getres gettimeofday time times getrandom sched_yield "
    "sched_getaffinity sched_setaffinity sched_getparam sched_getscheduler sched_get_priority_max "
    "sched_get_priority_min getpriority getcpu set_mempolicy get_mempolicy mbind arch_prctl uname sysinfo "
    "getrlimit getrusage poll ppoll select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait pipe "
    "pipe2 eventfd2 dup dup2 dup3 fcntl ioctl sendmsg recvmsg sendto recvfrom getsockopt getsockname "
    "shutdown prctl capget map_shadow_stack mseal";

class Rules {
 public:
  explicit Rules(std::uint32_t otherwise) : context_(seccomp_init(otherwise)) {}
  ~Rules() { seccomp_release(context_); }
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  // Skips names that this version of libseccomp or this architecture does not know.
  void add_all(std::uint32_t action, std::string_view names) {
    for (const std::string& name : words(names)) add(action, name.c_str());
  }
  void add(std::uint32_t action, const char* name) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number != __NR_SCMP_ERROR) note(seccomp_rule_add(context_, action, number, 0));
  }
  void add_if(std::uint32_t action, const char* name, const scmp_arg_cmp& condition) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number != __NR_SCMP_ERROR) note(seccomp_rule_add_array(context_, action, number, 1, &condition));
  }
  Result<void> load() {
    note(seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    note(seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1));
    if (problem_ == 0) note(seccomp_load(context_));
    if (problem_ == 0) return {};
    return Error{std::string("loading the system-call filter: ") + strerror(-problem_)};
  }

 private:
  void note(int result) {
    // libseccomp reports an error for a rule that repeats the default action; that is harmless.
    if (result < 0 && result != -EACCES && result != -EDOM && problem_ == 0) problem_ = result;
  }
  scmp_filter_ctx context_;
  int problem_ = 0;
};

// Replaces SCMP_A0_64 and the similar macros: they are compound literals, which C++ does not have.
scmp_arg_cmp argument(unsigned which, scmp_compare how, scmp_datum_t a, scmp_datum_t b = 0) {
  return {which, how, a, b};
}

// Allows new threads but no new processes. glibc tries clone3 first and falls back to clone when clone3 does
// not exist; a filter can only examine the flags of clone.
void threads_only(Rules& rules, std::uint32_t refuse) {
  rules.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  rules.add_if(SCMP_ACT_ALLOW, "clone", argument(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  rules.add_if(refuse, "clone", argument(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
}

void itself_only(Rules& rules, std::uint32_t refuse) {
  const auto self = static_cast<scmp_datum_t>(getpid());
  rules.add_if(SCMP_ACT_ALLOW, "tgkill", argument(0, SCMP_CMP_EQ, self));  // abort(), raise()
  rules.add_if(refuse, "tgkill", argument(0, SCMP_CMP_NE, self));
  rules.add_if(SCMP_ACT_ALLOW, "prlimit64", argument(2, SCMP_CMP_EQ, 0));  // reading a limit
  rules.add_if(refuse, "prlimit64", argument(2, SCMP_CMP_NE, 0));
}

void one_program_only(Rules& rules, std::uint32_t refuse, const char* program) {
  const auto pointer = static_cast<scmp_datum_t>(reinterpret_cast<std::uintptr_t>(program));
  rules.add_if(SCMP_ACT_ALLOW, "execve", argument(0, SCMP_CMP_EQ, pointer));
  rules.add_if(refuse, "execve", argument(0, SCMP_CMP_NE, pointer));
}

void no_new_namespaces(Rules& rules, std::uint32_t refuse) {
  constexpr scmp_datum_t kNew = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                CLONE_NEWNET | CLONE_NEWCGROUP;
  rules.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  for (scmp_datum_t flag = 1; flag != 0 && flag <= kNew; flag <<= 1)
    if ((flag & kNew) != 0) rules.add_if(refuse, "clone", argument(0, SCMP_CMP_MASKED_EQ, flag, flag));
}

}  // namespace

Result<void> load_filter(Filter filter, const char* program) {
  if (filter == Filter::none) return {};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return Error{std::string("giving up new privileges: ") + strerror(errno)};
  Rules rules(filter == Filter::runner ? SCMP_ACT_ERRNO(ENOSYS) : SCMP_ACT_ALLOW);
  // A GPU driver tries many calls and works without those that fail, so a refused call must not end the
  // process.
  const bool on_gpu = filter == Filter::gpu_runner || filter == Filter::nccl_runner;
  const std::uint32_t refuse = on_gpu ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_KILL_PROCESS;
  rules.add_all(refuse, kHostile);
  switch (filter) {
    case Filter::runner:
      rules.add_all(refuse, kHostileRunner);
      rules.add_all(SCMP_ACT_ALLOW, kOfARunner);
      threads_only(rules, refuse);
      itself_only(rules, refuse);
      one_program_only(rules, refuse, program);
      break;
    case Filter::gpu_runner:
    case Filter::nccl_runner:
      // The driver talks to its own daemons over local sockets; other socket families are refused. NCCL lists
      // the network's interfaces (AF_NETLINK) and connects to itself (AF_INET).
      for (scmp_datum_t family = AF_UNIX + 1; family <= AF_NETLINK; ++family)
        if (filter == Filter::gpu_runner || (family != AF_INET && family != AF_INET6 && family != AF_NETLINK))
          rules.add_if(SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket", argument(0, SCMP_CMP_EQ, family));
      rules.add_if(SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket", argument(0, SCMP_CMP_GT, AF_NETLINK));
      for (const char* name : {"execveat", "kill", "tkill", "vfork", "fork"}) rules.add(refuse, name);
      threads_only(rules, refuse);
      itself_only(rules, refuse);
      one_program_only(rules, refuse, program);
      break;
    case Filter::compiler:
      rules.add_if(SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket", argument(0, SCMP_CMP_GT, 1));
      no_new_namespaces(rules, refuse);
      break;
    case Filter::none: break;
  }
  return rules.load();
}

}  // namespace course::grader::sandbox
