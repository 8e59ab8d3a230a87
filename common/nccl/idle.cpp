// SPDX-License-Identifier: MIT
#include "nccl/idle.hpp"

#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

namespace course::nccl {
namespace {

using Clock = std::chrono::steady_clock;

struct Activity {
  std::mutex lock;
  Clock::time_point last = Clock::now();    // when something happened
  Clock::time_point looked = Clock::now();  // when is_idle() last looked
  std::map<int, Clock::time_point> asking;  // threads in is_idle(): they only wait
  int n_threads = 0;
};
Activity& activity() {
  static auto& all = *new Activity;
  return all;
}

// The state letter of /proc/…/stat, which follows the name in parentheses.
char state_of(int thread) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return 'S';
  char before = 0, state = 'S';
  for (int c; (c = std::fgetc(file)) != EOF;) {
    if (before == ')' && c == ' ') {
      state = static_cast<char>(std::fgetc(file));
      break;
    }
    before = static_cast<char>(c);
  }
  std::fclose(file);
  return state;
}

bool another_thread_runs(Activity& all, Clock::time_point now) {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), closedir);
  if (tasks == nullptr) return false;
  int n = 0;
  bool runs = false;
  while (const dirent* entry = readdir(tasks.get())) {
    const int thread = std::atoi(entry->d_name);
    if (thread == 0) continue;
    ++n;
    const auto asked = all.asking.find(thread);
    const bool waits = asked != all.asking.end() && now - asked->second < std::chrono::seconds(1);
    const char state = state_of(thread);
    runs = runs || (!waits && (state == 'R' || state == 'D'));
  }
  const bool changed = n != all.n_threads;
  all.n_threads = n;
  return runs || changed;
}

}  // namespace

void note_activity() {
  Activity& all = activity();
  const std::lock_guard guard(all.lock);
  all.last = Clock::now();
}

bool is_idle() {
  Activity& all = activity();
  const std::lock_guard guard(all.lock);
  const Clock::time_point now = Clock::now();
  all.asking[gettid()] = now;
  if (now - all.looked < std::chrono::milliseconds(kPollMs / 2)) return false;
  // After a pause between two calls it is not known what ran in between, so the time starts again.
  if (now - all.looked > std::chrono::milliseconds(500)) all.last = now;
  all.looked = now;
  if (another_thread_runs(all, now)) all.last = now;
  return now - all.last > std::chrono::duration<double>(kIdleSeconds);
}

}  // namespace course::nccl
