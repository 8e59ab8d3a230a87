// SPDX-License-Identifier: MIT
#include "cudart/runtime/host/host_access.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cudart/runtime/call_stack.hpp"
#include "cudart/runtime/host/host_checks.hpp"
#include "cudart/runtime/host/work_order.hpp"
#include "cudart/runtime/memory/memory.hpp"

namespace course::cudart {
namespace {

constexpr std::size_t kMaxAccesses = 64;  // the most that are recorded between two calls of the runtime
// Protected at once; the operating system limits the mappings of a process.
constexpr std::size_t kMaxRanges = 1000;
constexpr std::uint64_t kOpenedAtOnce = std::uint64_t{256} << 10;  // bytes of a device's memory

struct Range {
  // Whole pages: address of the first byte, and of the byte after the last.
  std::uint64_t first = 0, last = 0;
  int allowed = 0;  // access rights for mprotect
  bool contains(std::uint64_t address) const { return first <= address && address < last; }
  bool operator==(const Range&) const = default;
};
// Accesses of one instruction, one after the other, to pages of the same range.
struct Access {
  Range range;
  std::uint64_t first = 0;  // the lowest address
  std::uint64_t n_pages = 0;
  const void* code = nullptr;
  bool writes = false;
};

struct Protection {
  std::mutex lock;
  std::atomic<int> n_inside = 0;  // threads that are in a call of the runtime
  // Everything below is shared with the signal handler, which takes only this lock unless it reports an
  // access that ends the program. A thread that holds it must not access a protected page.
  std::atomic_flag busy;
  std::vector<Range> ranges;
  std::vector<Range> device;  // memory of devices: inaccessible, except for what is …
  std::vector<Range> opened;  // … opened during calls of the runtime
  std::array<Access, kMaxAccesses> accesses;
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

bool protect(const Range& range, int allowed) {
  return mprotect(reinterpret_cast<void*>(range.first), range.last - range.first,  // NOLINT: our arena
                  allowed) == 0;
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

// Continues the record of the last access, or begins one if there is room. Must be called under `busy`.
void record(const Range& range, std::uint64_t address, const void* code, bool writes) {
  Protection& all = protection();
  if (all.n_accesses > 0) {
    Access& last = all.accesses[all.n_accesses - 1];
    if (last.range == range && last.writes == writes && last.code == code) {
      last.first = std::min(last.first, address);
      ++last.n_pages;
      return;
    }
  }
  if (all.n_accesses < kMaxAccesses) all.accesses[all.n_accesses++] = {range, address, 1, code, writes};
}

// Opens memory of a device around an address that a call of the runtime accesses. Not all of it, because that
// takes milliseconds for each GiB. Must be called under `busy`.
void open_device(Protection& all, const Range& device, std::uint64_t address) {
  const std::uint64_t first = address / kOpenedAtOnce * kOpenedAtOnce;
  Range part{std::max(first, device.first), std::min(first + kOpenedAtOnce, device.last), 0};
  if (!protect(part, PROT_READ | PROT_WRITE)) {  // too many mappings
    part = device;
    protect(part, PROT_READ | PROT_WRITE);
  }
  all.opened.push_back(part);
}

// Must be called under `busy`.
void close_device(Protection& all) {
  std::ranges::sort(all.opened, {}, &Range::first);
  for (std::size_t i = 0; i < all.opened.size();) {
    Range joined = all.opened[i++];
    for (; i < all.opened.size() && all.opened[i].first <= joined.last; ++i)
      joined.last = std::max(joined.last, all.opened[i].last);
    protect(joined, PROT_NONE);
  }
  all.opened.clear();
}

// True if the access can be repeated now.
bool open_for(std::uint64_t address, const void* context) {
  Protection& all = protection();
  const Busy busy;
  for (const Range& range : all.ranges) {
    if (!range.contains(address)) continue;
    const std::uint64_t page = address / sim::kHostPage * sim::kHostPage;
    protect({page, page + sim::kHostPage, 0}, PROT_READ | PROT_WRITE);
    record(range, address, code_of(context), range.allowed == PROT_READ || was_write(context));
    return true;
  }
  const bool is_ours = all.n_inside > 0 && InsideHostFunction::n_active == 0;
  for (const Range& range : all.device)
    if (is_ours && range.contains(address)) {
      open_device(all, range, address);
      return true;
    }
  return false;
}

void on_fault(int, siginfo_t* info, void* context) {
  const std::uint64_t address = address_of(info->si_addr);
  if (open_for(address, context)) return;
  if (is_protected(address)) {
    const bool writes = was_write(context);
    report_host_access({address, code_of(context), writes ? "the host writes" : "the host reads", writes});
  }
  sigaction(SIGSEGV, &protection().before, nullptr);  // the access is repeated and faults again
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

// What the accesses of a finding have in common.
struct Cause {
  std::uint64_t allocation = 0;
  bool writes = false;
  std::string line, work;
  auto operator<=>(const Cause&) const = default;
};
struct Race {
  Access access;
  Place place;
  Unfinished work;
};

void report(const Race& race) {
  const auto& [access, place, work] = race;
  sim::Finding f;
  f.checker = sim::Checker::racecheck;
  f.kind = access.writes && work.is_copy && !work.writes ? "host-writes-during-copy" : "host-race";
  f.where = place_of(call_stack_from(access.code));
  f.object = fmt::format("{} of {} bytes",
                         place.kind == sim::MemoryKind::managed ? "managed memory" : "page-locked memory",
                         place.size);
  const std::uint64_t byte = access.first - place.base;
  f.message = fmt::format(
      "the host {} {} of {} while {} ({}), which {} it, may still be under way: call "
      "cudaStreamSynchronize, cudaEventSynchronize or the like first{}",
      access.writes ? "writes" : "reads",
      access.n_pages == 1 ? fmt::format("byte {}", byte)
                          : fmt::format("{} pages, from byte {} on,", access.n_pages, byte),
      f.object, work.what, work.where, work.writes ? "writes" : "reads",
      access.writes ? ", or use a second buffer" : "");
  const std::lock_guard guard(place.context->lock);
  place.context->device().add_finding(std::move(f));
}

// Reports each cause once, however many pages of an allocation were accessed.
void judge(const std::vector<Access>& accesses) {
  std::map<Cause, Race> races;
  for (const Access& access : accesses) {
    const std::optional<Unfinished> work = unfinished_use(access.first, access.writes);
    const std::optional<Place> place =
        locate(reinterpret_cast<const void*>(access.first));  // NOLINT: our arena
    if (!work || !place) continue;
    const Cause cause{place->base, access.writes, text_of(place_of({access.code})), work->what + work->where};
    const auto [race, fresh] = races.try_emplace(cause, Race{access, *place, *work});
    if (fresh) continue;
    race->second.access.first = std::min(race->second.access.first, access.first);
    race->second.access.n_pages += access.n_pages;
  }
  for (const auto& [cause, race] : races) report(race);
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
    else if (ranges.size() < kMaxRanges)
      ranges.push_back({address, address + sim::kHostPage, allowed});
  }
  return ranges;
}

// Makes all memory of the devices that are checked inaccessible.
void close_device_memory() {
  Protection& all = protection();
  std::vector<Range> wanted;
  for (Context* const context : runtime().created()) {
    if (!checks_host(*context)) continue;
    const std::lock_guard guard(context->lock);
    const std::span<std::byte> memory = context->device().device_only_memory();
    if (memory.empty()) continue;
    wanted.push_back({address_of(memory.data()), address_of(memory.data()) + memory.size(), PROT_NONE});
  }
  const Busy busy;
  close_device(all);
  if (wanted == all.device) return;
  for (const Range& range : all.device) protect(range, PROT_READ | PROT_WRITE);
  all.device = std::move(wanted);
  for (const Range& range : all.device) protect(range, range.allowed);
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

InsideRuntime::InsideRuntime() {
  Protection& all = protection();
  std::vector<Access> accesses;
  {
    const std::lock_guard guard(all.lock);
    if (all.n_inside++ > 0) return;
    if (!all.device.empty()) handle_faults();  // the program may have set its own handler
    const Busy busy;
    for (const Range& range : all.ranges) protect(range, PROT_READ | PROT_WRITE);
    all.ranges.clear();
    accesses.assign(all.accesses.begin(), all.accesses.begin() + static_cast<std::ptrdiff_t>(all.n_accesses));
    all.n_accesses = 0;
  }
  if (!accesses.empty()) judge(accesses);
}

InsideRuntime::~InsideRuntime() {
  Protection& all = protection();
  const std::lock_guard guard(all.lock);
  if (--all.n_inside > 0) return;
  std::vector<Range> ranges = wanted_ranges();
  close_device_memory();
  if (ranges.empty() && all.device.empty()) return;
  handle_faults();
  const Busy busy;
  all.ranges = std::move(ranges);
  for (const Range& range : all.ranges) protect(range, range.allowed);
}

void open_device_memory() {
  Protection& all = protection();
  const Busy busy;
  for (const Range& range : all.device) {
    protect(range, PROT_READ | PROT_WRITE);
    all.opened.push_back(range);
  }
}

InsideHostFunction::InsideHostFunction() {
  ++n_active;
  close_device_memory();
}
InsideHostFunction::~InsideHostFunction() {
  --n_active;
}

bool is_protected(std::uint64_t address) {
  Protection& all = protection();
  if (all.n_inside > 0 && InsideHostFunction::n_active == 0) return false;
  const Busy busy;
  return std::ranges::any_of(all.device, [&](const Range& range) { return range.contains(address); });
}

void report_host_access(const HostAccess& access) {
  const CallStack calls = call_stack_from(access.code);
  const InsideRuntime inside;
  for (Context* const context : runtime().created()) {
    const std::lock_guard guard(context->lock);
    const std::span<std::byte> memory = context->device().device_only_memory();
    if (access.address - address_of(memory.data()) < memory.size())
      add_host_access(*context, access, place_of(calls));
  }
}

}  // namespace course::cudart
