// SPDX-License-Identifier: MIT
#include "nccl/clique/idle.hpp"

#include <dirent.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "nccl/clique/message.hpp"

namespace course::nccl {
namespace {

using Clock = std::chrono::steady_clock;

struct Activity {
  std::mutex lock;
  Clock::time_point last = Clock::now();      // when something happened
  Clock::time_point looked = Clock::now();    // when is_idle() last looked
  std::map<pid_t, Clock::time_point> asking;  // threads in is_idle(): they only wait
  std::multiset<pid_t> others;                // processes that are connected
  int n_threads = 0;
  Clock::time_point looked_at_strangers;
};
Activity& activity() {
  static auto& all = *new Activity;
  return all;
}

// Of /proc/…/stat: the state's letter follows the name in parentheses; then the parent, group and session.
struct Stat {
  char state = 'S';
  int parent = 0, session = 0;
  bool runs() const { return state == 'R' || state == 'D' || state == 't' || state == 'T'; }
};
Stat stat_of(const std::string& folder) {
  Stat stat;
  std::array<char, 512> text{};
  std::FILE* file = std::fopen((folder + "/stat").c_str(), "r");
  if (file == nullptr) return stat;
  const std::size_t n = std::fread(text.data(), 1, text.size() - 1, file);
  std::fclose(file);
  if (const char* name_ends = n > 0 ? std::strrchr(text.data(), ')') : nullptr)
    std::sscanf(name_ends + 1, " %c %d %*d %d", &stat.state, &stat.parent, &stat.session);
  return stat;
}

// Calls use(number) for each thread of a process ("/proc/1/task"), or each process ("/proc").
template <typename Use>
void each_number(const std::string& folder, Use use) {
  const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir(folder.c_str()), closedir);
  if (files == nullptr) return;
  while (const dirent* entry = readdir(files.get()))
    if (const int number = std::atoi(entry->d_name); number != 0) use(number);
}

bool another_thread_runs(Activity& all, Clock::time_point now) {
  int n = 0;
  bool runs = false;
  std::set<pid_t> processes(all.others.begin(), all.others.end());
  processes.insert(getpid());
  for (const pid_t process : processes) {
    const std::string folder = "/proc/" + std::to_string(process) + "/task";
    each_number(folder, [&](pid_t thread) {
      ++n;
      const auto asked = all.asking.find(thread);
      const bool waits = asked != all.asking.end() && now - asked->second < std::chrono::seconds(1);
      runs = runs || (!waits && stat_of(folder + "/" + std::to_string(thread)).runs());
    });
  }
  const bool changed = n != all.n_threads;
  all.n_threads = n;
  return runs || changed;
}

// The processes that have made unique ids, by the names of their sockets (message.cpp).
std::set<pid_t> servers() {
  std::set<pid_t> all;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);)
    if (const std::size_t at = line.find(kSocketName); at != line.npos)
      all.insert(std::atoi(line.c_str() + at + std::strlen(kSocketName)));
  return all;
}

// A launcher's processes are of one session; or (MPICH) each begins a session, and all have one parent. Jobs
// that have one parent, and begin a session each for their ranks, are not of one launcher.
bool of_one_launcher(pid_t process, const Stat& stat, pid_t other, const Stat& others) {
  const bool both_begin = process == stat.session && other == others.session;
  return stat.session == others.session || (both_begin && stat.parent == others.parent && stat.parent > 1);
}

// Whether a process of this program and launcher runs that may still join: one that is not connected, and has
// not made a unique id of its own. (Those that have look at each other here.)
bool a_stranger_runs(Activity& all, Clock::time_point now) {
  if (now - all.looked_at_strangers < std::chrono::milliseconds(200)) return false;
  all.looked_at_strangers = now;
  const auto program_of = [](const std::string& folder) {
    std::array<char, 4096> path{};
    const ssize_t n = readlink((folder + "/exe").c_str(), path.data(), path.size());
    return std::string(path.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  };
  const std::string program = program_of("/proc/self");
  const Stat own = stat_of("/proc/self");
  const std::set<pid_t> known = servers();
  bool runs = false;
  each_number("/proc", [&](pid_t process) {
    const std::string folder = "/proc/" + std::to_string(process);
    if (process == getpid() || all.others.contains(process) || known.contains(process) ||
        program_of(folder) != program || !of_one_launcher(getpid(), own, process, stat_of(folder)))
      return;
    each_number(folder + "/task", [&](pid_t thread) {
      runs = runs || stat_of(folder + "/task/" + std::to_string(thread)).runs();
    });
  });
  return runs;
}

}  // namespace

void note_activity() {
  Activity& all = activity();
  const std::lock_guard guard(all.lock);
  all.last = Clock::now();
}

void note_asking(pid_t thread) {
  Activity& all = activity();
  const std::lock_guard guard(all.lock);
  all.asking[thread] = Clock::now();
}

void watch_process(pid_t process, bool joins) {
  Activity& all = activity();
  const std::lock_guard guard(all.lock);
  all.last = Clock::now();
  if (joins)
    all.others.insert(process);
  else
    all.others.extract(process);
}

bool is_idle(bool for_ranks) {
  note_asking(gettid());
  Activity& all = activity();
  const std::lock_guard guard(all.lock);
  const Clock::time_point now = Clock::now();
  if (now - all.looked < std::chrono::milliseconds(kPollMs / 2)) return false;
  // After a pause between two calls it is not known what ran in between, so the time starts again.
  if (now - all.looked > std::chrono::milliseconds(500)) all.last = now;
  all.looked = now;
  if (another_thread_runs(all, now) || (for_ranks && a_stranger_runs(all, now))) all.last = now;
  return now - all.last > std::chrono::duration<double>(for_ranks ? kMissingSeconds : kIdleSeconds);
}

}  // namespace course::nccl
