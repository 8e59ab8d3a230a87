// SPDX-License-Identifier: MIT
#include "cudart/runtime/host/freed_memory.hpp"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace course::cudart {
namespace {

std::atomic<std::size_t> n_watched{0};

struct Watched {
  std::mutex lock;
  std::multimap<std::uint64_t, std::weak_ptr<HostMemory>> by_address;
};
Watched& watched() {
  static auto& all = *new Watched;
  return all;
}

// While a thread is in this file: what it frees itself is not looked at.
thread_local bool t_inside = false;
class Inside {
 public:
  Inside() { t_inside = true; }
  ~Inside() { t_inside = false; }
};

// Whether the address was in the frame of a function of this thread that has returned.
bool frame_has_ended(std::uint64_t address) {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t n_bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  pthread_attr_getstack(&attributes, &lowest, &n_bytes);
  pthread_attr_destroy(&attributes);
  return address >= reinterpret_cast<std::uint64_t>(lowest) &&  // NOLINT: of the stack
         address < reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
}

}  // namespace

std::shared_ptr<const HostMemory> watch_host_memory(const void* address) {
  const Inside inside;
  const auto memory =
      std::make_shared<HostMemory>(HostMemory{reinterpret_cast<std::uint64_t>(address)});  // NOLINT
  Watched& all = watched();
  const std::lock_guard guard(all.lock);
  std::erase_if(all.by_address, [](const auto& entry) { return entry.second.expired(); });
  all.by_address.emplace(memory->address, memory);
  n_watched = all.by_address.size();
  return memory;
}

void host_memory_freed(std::uint64_t address, std::uint64_t n_bytes) {
  if (n_watched == 0 || t_inside) return;
  const Inside inside;
  Watched& all = watched();
  std::unique_lock guard(all.lock);
  std::vector<std::shared_ptr<HostMemory>> found;
  const auto end = all.by_address.lower_bound(address + n_bytes);
  for (auto it = all.by_address.lower_bound(address); it != end; ++it)
    if (auto memory = it->second.lock(); memory != nullptr && !memory->freed)
      found.push_back(std::move(memory));
  if (found.empty()) return;
  guard.unlock();  // the loader's lock is not taken under this one
  const CallStack calls = call_stack();
  guard.lock();
  for (const auto& memory : found) {
    memory->freed = true;
    memory->freed_by = calls;
  }
}

std::string fate_of(const HostMemory& memory) {
  std::unique_lock guard(watched().lock);
  const bool freed = memory.freed;
  const CallStack calls = memory.freed_by;
  guard.unlock();
  if (!freed) return frame_has_ended(memory.address) ? ", a variable of a function that has returned" : "";
  const std::string line = text_of(place_of(calls));
  return line.empty() ? ", which has been freed" : ", freed at " + line;
}

}  // namespace course::cudart

// A sanitizer has a free() of its own, and calls it before this code may run.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// The program's calls of the C library's free() come here, if no other library of the program has one: its
// version is not the default one, so that no program is linked with it.
extern "C" __attribute__((visibility("default"))) void sim_free(void* memory) {
  using Free = void (*)(void*);
  static std::atomic<Free> next{nullptr};
  if (next == nullptr) next = reinterpret_cast<Free>(dlsym(RTLD_NEXT, "free"));  // NOLINT: of dlsym
  if (course::cudart::n_watched != 0 && memory != nullptr)
    course::cudart::host_memory_freed(reinterpret_cast<std::uint64_t>(memory),  // NOLINT
                                      malloc_usable_size(memory));
  next.load()(memory);
}
#if defined(__x86_64__)
__asm__(".symver sim_free, free@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver sim_free, free@GLIBC_2.17");
#endif
#endif
