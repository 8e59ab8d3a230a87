// SPDX-License-Identifier: MIT
#include "cudart/runtime/host/work_order.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "cudart/runtime/host/host_checks.hpp"
#include "cudart/runtime/memory/memory.hpp"

namespace course::cudart {
namespace {

// If there is more unfinished work than this, or its footprints take more memory, the oldest is forgotten.
constexpr std::size_t kMaxUnderWay = 512;
constexpr std::uint64_t kMaxMemory = std::uint64_t{256} << 20;  // bytes
constexpr std::size_t kLookedAt = 16;                           // free agents that are tried for reuse

// Work that the host does not know to have ended.
struct UnderWay {
  Moment when;
  int device;
  std::string what, where;
  bool is_copy;
  sim::Footprint footprint;
  std::vector<HostPage> host_pages;
  CallStack calls;
  std::vector<VainWait> vain_waits;
};

struct Ordering {
  std::mutex lock;
  Clock everything;  // all work ever submitted
  Clock waited;      // what the host has waited for
  Clock seen;        // … or may have waited for
  struct Fresh {
    std::uint64_t tick = 0;
    int device = 0;
  };
  std::map<Agent, Fresh> fresh;  // the last work of each agent since take_unordered_work()
  bool unordered = false;
  std::deque<UnderWay> under_way;
  std::map<Agent, Launched> launches;  // the last one of each agent
  std::deque<Agent> free_agents;
  Agent n_agents = 0;
};
Ordering& ordering() {
  static auto& all = *new Ordering;
  return all;
}

void drop_ended(Ordering& all) {
  std::erase_if(all.under_way, [&](const UnderWay& work) { return all.seen.covers(work.when); });
}

// Whether the page belongs to exactly one allocation, and that one is page-locked or managed.
bool is_host_page(std::uint64_t address) {
  constexpr std::uint64_t kStep = 256;  // alignment of allocations, in bytes
  std::optional<std::uint64_t> owner;
  for (std::uint64_t at = address; at < address + sim::kHostPage; at += kStep) {
    const auto place = locate(reinterpret_cast<const void*>(at));  // NOLINT: an address of our arena
    if (!place) continue;
    if (place->on_device_only() || (owner && *owner != place->base)) return false;
    owner = place->base;
  }
  return owner.has_value();
}

// The host pages that work has used. Empty if the work may signal its progress to the host by strong writes
// of system scope.
std::vector<HostPage> host_pages(const sim::Footprint& footprint) {
  std::vector<HostPage> pages;
  bool signals_host = false;
  footprint.for_each_page([&](std::uint64_t address, sim::Footprint::Use use) {
    if (signals_host || use == sim::Footprint::kStrongRead || use == sim::Footprint::kSystemRead ||
        !is_host_page(address))
      return;
    signals_host = use == sim::Footprint::kSystemWrite;
    pages.push_back({address, use != sim::Footprint::kRead});
  });
  return signals_host ? std::vector<HostPage>{} : pages;
}

// Two conflicting pieces of work, for a message.
struct ConflictingWork {
  std::string first_what, first_where;
  CallStack first_calls;
  sim::Footprint::Conflict where;
  std::string vain_wait;  // why a wait does not order them
};

sim::Finding report(const ConflictingWork& pair, const std::string& what, const std::string& where) {
  sim::Finding f;
  f.checker = sim::Checker::racecheck;
  f.kind = "stream-race";
  f.where = place_of(call_stack());
  f.other_where = place_of(pair.first_calls);
  const auto place =
      locate(reinterpret_cast<const void*>(pair.where.address));  // NOLINT: an address of our arena
  f.object = "memory";
  std::string bytes = fmt::format("{} byte{}", pair.where.n_bytes, pair.where.n_bytes == 1 ? "" : "s");
  if (place) {
    const std::string name = !place->name.empty()                              ? place->name
                             : place->kind == sim::MemoryKind::pinned_host     ? "page-locked memory"
                             : place->kind == sim::MemoryKind::module_variable ? "a __device__ variable"
                             : place->kind == sim::MemoryKind::managed         ? "managed memory"
                                                                               : "device memory";
    f.object = fmt::format("{} of {} bytes", name, place->size);
    bytes += pair.where.n_bytes == place->size
                 ? fmt::format(" of {}", name)
                 : fmt::format(", from byte {} of {} on", pair.where.address - place->base, f.object);
  }
  const auto does = [](const std::string& who, bool writes) {
    return who == kAllocates ? "allocates" : who == kFrees ? "frees" : writes ? "writes" : "reads";
  };
  const std::string remedy =
      pair.where.only_scope     ? "the scope of their atomic operations is one device: use system scope "
                                  "(atomicAdd_system, cuda::thread_scope_system)"
      : !pair.vain_wait.empty() ? pair.vain_wait
      : where.starts_with("a graph") && where == pair.first_where
          ? "nothing orders the two: add a dependency between their nodes"
          : "nothing orders the two: use one stream, or call cudaEventRecord after the first and "
            "cudaStreamWaitEvent before the second";
  f.message = fmt::format("{} ({}) {} and {} ({}) {} the same {}, but {}", pair.first_what, pair.first_where,
                          does(pair.first_what, pair.where.first_writes), what, where,
                          does(what, pair.where.second_writes), bytes, remedy);
  return f;
}

thread_local Work* t_work = nullptr;

// Must be called under the lock.
Work begin(Ordering& all, Agent agent, Clock before, std::string where) {
  before.join(all.waited);
  const Moment now{agent, all.everything.tick_of(agent) + 1};
  all.everything.join(now);
  Clock after = before;
  after.join(now);
  return {now, std::move(before), std::move(after), std::move(where)};
}

// Of the waits before `second`, or before `first`, one that may have been meant to order the two.
std::string vain_wait_between(const UnderWay& first, const Work& second) {
  for (const auto& [waits, other] :
       {std::pair{&second.vain_waits, first.when}, {&first.vain_waits, second.now}})
    for (const VainWait& wait : *waits)
      if (wait.missed->covers(other)) return wait.why;
  return "";
}

}  // namespace

void Clock::join(const Clock& other) {
  for (const auto& [agent, tick] : other.ticks_) join(Moment{agent, tick});
}

void Clock::join(Moment moment) {
  std::uint64_t& tick = ticks_[moment.agent];
  tick = std::max(tick, moment.tick);
}

std::uint64_t Clock::tick_of(Agent agent) const {
  const auto found = ticks_.find(agent);
  return found == ticks_.end() ? 0 : found->second;
}

bool Clock::covers(const Clock& other) const {
  return std::ranges::all_of(other.ticks_, [&](const auto& tick) {
    return covers(Moment{tick.first, tick.second});
  });
}

bool Clock::covers(Moment moment) const {
  return moment.tick <= tick_of(moment.agent);
}

namespace {

// A free agent whose work the host knows to have ended, or a new one. With unfinished work, later work would
// seem to be ordered after it.
Agent take_agent() {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  for (std::size_t i = std::min(kLookedAt, all.free_agents.size()); i > 0; --i) {
    const Agent agent = all.free_agents.front();
    all.free_agents.pop_front();
    if (all.waited.covers({agent, all.everything.tick_of(agent)})) return agent;
    all.free_agents.push_back(agent);
  }
  return ++all.n_agents;
}

}  // namespace

OwnAgent::OwnAgent() : number_(take_agent()) {}
OwnAgent::~OwnAgent() {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  all.free_agents.push_back(number_);
}

Work begin_work(Agent agent, Clock before, std::string where, int device, std::vector<VainWait> vain_waits) {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  Work work = begin(all, agent, std::move(before), std::move(where));
  work.vain_waits = std::move(vain_waits);
  all.unordered =
      all.unordered || std::ranges::any_of(all.fresh, [&](const auto& other) {
        return other.second.device == device && !work.before.covers({other.first, other.second.tick});
      });
  all.fresh[agent] = {work.now.tick, device};
  return work;
}

Work begin_part(const Work& whole, Agent agent, Clock before) {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  Work part = begin(all, agent, std::move(before), whole.where);
  part.vain_waits = whole.vain_waits;
  return part;
}

CurrentWork::CurrentWork(Work& work) : outer_(std::exchange(t_work, &work)) {}
CurrentWork::~CurrentWork() {
  t_work = outer_;
}
Work* CurrentWork::current() {
  return t_work;
}

void work_accessed(Context& context, const std::string& what, bool is_copy, sim::Footprint footprint) {
  if (t_work == nullptr || footprint.empty()) return;
  const Work& work = *t_work;
  std::vector<HostPage> pages = host_pages(footprint);
  std::vector<ConflictingWork> conflicts;
  Ordering& all = ordering();
  {
    const std::lock_guard guard(all.lock);
    drop_ended(all);
    for (const UnderWay& earlier : all.under_way)
      if (!work.before.covers(earlier.when))
        if (const auto conflict =
                earlier.footprint.conflict_with(footprint, earlier.device == context.ordinal))
          conflicts.push_back(
              {earlier.what, earlier.where, earlier.calls, *conflict, vain_wait_between(earlier, work)});
    all.under_way.push_back({work.now, context.ordinal, what, work.where, is_copy, std::move(footprint),
                             std::move(pages), call_stack(), work.vain_waits});
    std::uint64_t memory = 0;
    for (const UnderWay& w : all.under_way) memory += w.footprint.memory_bytes();
    while (memory > kMaxMemory || all.under_way.size() > kMaxUnderWay) {
      memory -= all.under_way.front().footprint.memory_bytes();
      all.under_way.pop_front();
    }
  }
  // The last work first: its conflict is shown. Not under this lock, because locks of contexts are taken.
  std::ranges::reverse(conflicts);
  for (const ConflictingWork& pair : conflicts) {
    sim::Finding finding = report(pair, what, work.where);
    const std::lock_guard guard(context.lock);
    context.device().add_finding(std::move(finding));
  }
}

void pool_used(Context& context, const char* what, std::uint64_t address, std::uint64_t n_bytes) {
  if (!checks_host(context)) return;
  sim::Footprint footprint;
  footprint.add(address, std::min(n_bytes, std::uint64_t{1} << 20), sim::Footprint::kWrite);
  work_accessed(context, what, false, std::move(footprint));
}

void kernel_launched(Context& context, const std::string& kernel) {
  if (t_work == nullptr) return;
  Launched launch{t_work->now, &context, kernel, t_work->where, call_stack()};
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  all.launches[t_work->now.agent] = std::move(launch);
}

std::vector<Launched> launches_not_waited_for() {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  std::vector<Launched> left;
  for (const auto& [agent, launch] : all.launches)
    if (!all.seen.covers(launch.when)) left.push_back(launch);
  return left;
}

void forget_accesses(std::uint64_t address, std::uint64_t n_bytes) {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  for (UnderWay& work : all.under_way) work.footprint.forget(address, n_bytes);
}

void host_waited_for(const Clock& clock) {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  all.waited.join(clock);
  all.seen.join(clock);
}

bool host_may_have_waited_for_all(const Clock& clock) {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  return all.seen.covers(clock);
}

void host_may_have_waited_for(const Clock& clock) {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  all.seen.join(clock);
}

void host_may_have_waited() {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  all.seen = all.everything;
}

std::optional<Unfinished> unfinished_use(std::uint64_t address, bool host_writes) {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  drop_ended(all);
  for (const UnderWay& work : all.under_way) {
    if (work.host_pages.empty()) continue;
    const bool writes = work.footprint.uses(address, 1, sim::Footprint::kWrite) ||
                        work.footprint.uses(address, 1, sim::Footprint::kStrongWrite);
    if (writes || (host_writes && work.footprint.uses(address, 1, sim::Footprint::kRead)))
      return Unfinished{work.what, work.where, work.is_copy, writes};
  }
  return std::nullopt;
}

std::vector<HostPage> unfinished_host_pages() {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  drop_ended(all);
  std::vector<HostPage> pages;
  for (const UnderWay& work : all.under_way)
    pages.insert(pages.end(), work.host_pages.begin(), work.host_pages.end());
  return pages;
}

bool take_unordered_work(const Clock& clock) {
  Ordering& all = ordering();
  const std::lock_guard guard(all.lock);
  const bool left = std::ranges::any_of(all.fresh, [&](const auto& work) {
    const Moment moment{work.first, work.second.tick};
    return !all.waited.covers(moment) && !clock.covers(moment);
  });
  all.fresh.clear();
  return std::exchange(all.unordered, false) || left;
}

}  // namespace course::cudart
