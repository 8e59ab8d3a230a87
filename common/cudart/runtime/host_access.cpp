// SPDX-License-Identifier: MIT
#include "cudart/runtime/host_access.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cudart/code/host_lines.hpp"
#include "cudart/runtime/memory.hpp"
#include "cudart/runtime/order.hpp"

namespace course::cudart {
namespace {

constexpr std::size_t kMostAccesses = 64;  // the most that are recorded between two calls of the runtime
// Protected at once; the operating system limits the mappings of a process.
constexpr std::size_t kMostRanges = 1000;

struct Access {
  std::uint64_t address = 0;
  const void* code = nullptr;
  bool writes = false;
};
struct Range {
  // Whole pages: address of the first byte, and of the byte after the last.
  std::uint64_t first = 0, last = 0;
  int allowed = 0;  // access rights for mprotect
};

struct Protection {
  std::mutex lock;
  int n_inside = 0;  // threads that are in a call of the runtime
  // Everything below is shared with the signal handler, which takes only this lock. A thread that holds it
  // must not access a protected page.
  std::atomic_flag busy;
  std::vector<Range> ranges;
  std::array<Access, kMostAccesses> accesses;
  std::size_t n_accesses = 0;
  struct sigaction before {};  // the program's handler, for other faults
};
Protection& protection() {
  static auto& all = *new Protection;
  return all;
}

class Busy {
 public:
  Busy() {
    while (protection().busy.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~Busy() { protection().busy.clear(std::memory_order_release); }
};

void protect(const Range& range, int allowed) {
  (void)mprotect(reinterpret_cast<void*>(range.first), range.last - range.first,
                 allowed);  // NOLINT: our arena
}

bool was_write(const void* context) {
#if defined(__x86_64__)
  constexpr greg_t kWrite = 2;  // of the page fault's error code
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & kWrite) != 0;
#elif defined(__aarch64__)
  return aarch64_fault_was_write(
      std::as_bytes(std::span(static_cast<const ucontext_t*>(context)->uc_mcontext.__reserved)));
#else
  (void)context;
  return false;
#endif
}

const void* code_of(const void* context) {
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);  // NOLINT
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);  // NOLINT
#else
  return nullptr;
#endif
}

void on_fault(int, siginfo_t* info, void* context) {
  const std::uint64_t address = address_of(info->si_addr);
  Protection& all = protection();
  const Busy busy;
  for (const Range& range : all.ranges) {
    if (address < range.first || address >= range.last) continue;
    const std::uint64_t page = address / sim::kHostPage * sim::kHostPage;
    protect({page, page + sim::kHostPage, 0}, PROT_READ | PROT_WRITE);
    if (all.n_accesses < kMostAccesses)
      all.accesses[all.n_accesses++] = {address, code_of(context),
                                        range.allowed == PROT_READ || was_write(context)};
    return;
  }
  sigaction(SIGSEGV, &all.before, nullptr);  // the access is repeated and faults again
}

void handle_faults() {
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  struct sigaction present {};
  sigaction(SIGSEGV, nullptr, &present);
  if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == on_fault) return;
  protection().before = present;
  sigaction(SIGSEGV, &ours, nullptr);
}

void judge(const Access& access) {
  const std::optional<Unfinished> work = unfinished_use(access.address, access.writes);
  const std::optional<Place> place =
      locate(reinterpret_cast<const void*>(access.address));  // NOLINT: our arena
  if (!work || !place) return;
  sim::Finding f;
  f.checker = sim::Checker::racecheck;
  f.kind = access.writes && work->is_copy && !work->writes ? "host-writes-during-copy" : "host-race";
  f.where = place_of_code(access.code);
  f.object = fmt::format("{} of {} bytes",
                         place->kind == sim::MemoryKind::managed ? "managed memory" : "page-locked memory",
                         place->size);
  f.message = fmt::format(
      "the host {} byte {} of {} while {} ({}), which {} it, may still be under way, because the host has "
      "not waited: "
      "call cudaDeviceSynchronize, cudaStreamSynchronize or cudaEventSynchronize first{}",
      access.writes ? "writes" : "reads", access.address - place->base, f.object, work->what, work->where,
      work->writes ? "writes" : "reads", access.writes ? ", or use a second buffer" : "");
  const std::lock_guard guard(place->context->lock);
  place->context->device().add_finding(std::move(f));
}

// The pages to protect while host code runs. If one operation reads a page and another one writes it, it gets
// the stricter protection.
std::vector<Range> wanted_ranges() {
  std::map<std::uint64_t, bool> pages;  // by address: may be read
  for (const HostPage& page : unfinished_host_pages()) {
    auto [entry, fresh] = pages.try_emplace(page.address, !page.written);
    entry->second = entry->second && !page.written;
  }
  std::vector<Range> ranges;
  for (const auto& [address, readable] : pages) {
    const int allowed = readable ? PROT_READ : PROT_NONE;
    if (!ranges.empty() && ranges.back().last == address && ranges.back().allowed == allowed)
      ranges.back().last += sim::kHostPage;
    else if (ranges.size() < kMostRanges)
      ranges.push_back({address, address + sim::kHostPage, allowed});
  }
  return ranges;
}

}  // namespace

// The register ESR_EL1 describes the fault. Source: Arm Architecture Reference Manual for A-profile, section
// "ESR_EL1, Exception Syndrome Register (EL1)".
bool aarch64_fault_was_write(std::span<const std::byte> records) {
  struct Head {
    std::uint32_t magic, n_bytes;
  };
  constexpr std::uint32_t kEsrMagic = 0x45535201;
  constexpr std::uint64_t kDataAbort = 0x24, kClassShift = 26, kClassMask = 0x3F;
  constexpr std::uint64_t kWrite = 1u << 6, kCacheMaintenance = 1u << 8;  // the latter sets kWrite, too
  Head head{};
  while (records.size() >= sizeof head) {
    std::memcpy(&head, records.data(), sizeof head);
    if (head.n_bytes < sizeof head || head.n_bytes > records.size()) return false;  // the terminator has 0
    std::uint64_t esr = 0;
    if (head.magic == kEsrMagic && head.n_bytes >= sizeof head + sizeof esr) {
      std::memcpy(&esr, records.data() + sizeof head, sizeof esr);
      return (esr >> kClassShift & kClassMask) == kDataAbort &&
             (esr & (kWrite | kCacheMaintenance)) == kWrite;
    }
    records = records.subspan(head.n_bytes);
  }
  return false;
}

std::vector<sim::SourcePlace> place_of_code(const void* code) {
  Dl_info object{};
  link_map* loaded = nullptr;
  if (code == nullptr ||
      dladdr1(code, &object, reinterpret_cast<void**>(&loaded), RTLD_DL_LINKMAP) ==
          0 ||  // NOLINT: of the call
      object.dli_fname == nullptr)
    return {};
  std::ifstream file(object.dli_fname, std::ios::binary);
  const std::string contents{std::istreambuf_iterator<char>(file), {}};
  const HostLine line = line_of_code(std::as_bytes(std::span(contents)), address_of(code) - loaded->l_addr);
  if (line.line == 0) return {};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(line.function.c_str(), nullptr, nullptr, &status), std::free);
  return {{line.file, line.line, readable != nullptr ? readable.get() : line.function}};
}

InsideRuntime::InsideRuntime() {
  Protection& all = protection();
  std::vector<Access> accesses;
  {
    const std::lock_guard guard(all.lock);
    if (all.n_inside++ > 0) return;
    const Busy busy;
    for (const Range& range : all.ranges) protect(range, PROT_READ | PROT_WRITE);
    all.ranges.clear();
    accesses.assign(all.accesses.begin(), all.accesses.begin() + static_cast<std::ptrdiff_t>(all.n_accesses));
    all.n_accesses = 0;
  }
  for (const Access& access : accesses) judge(access);
}

InsideRuntime::~InsideRuntime() {
  Protection& all = protection();
  const std::lock_guard guard(all.lock);
  if (--all.n_inside > 0) return;
  std::vector<Range> ranges = wanted_ranges();
  if (ranges.empty()) return;
  handle_faults();
  const Busy busy;
  all.ranges = std::move(ranges);
  for (const Range& range : all.ranges) protect(range, range.allowed);
}

}  // namespace course::cudart
