// SPDX-License-Identifier: MIT
// Reading order: describe_hang, Polls.
#include "sim/grid/describe_hang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/machine/access.hpp"
#include "sim/machine/describe.hpp"
#include "sim/machine/mbarrier.hpp"
#include "sim/machine/source_places.hpp"
#include "sim/machine/write_history.hpp"

namespace course::sim {
namespace {

constexpr std::int64_t kWatch = 20'000;  // warp instructions for which each warp is observed
constexpr std::size_t kMaxListed = 3;    // blocks in the description
constexpr std::size_t kMaxSaid = 4;      // groups of threads in it

// What warps poll: for each lane the address that it read last, preferring strong reads and atomics to weak
// ones.
class Polls final : public Observer {
 public:
  struct Look {
    const MicroOp* op = nullptr;
    std::uint64_t address = 0;
    std::uint32_t times = 0;
    bool strong = false;
  };

  Polls() : Observer(false) {}
  void before(Warp& w, const MicroOp& op) override {
    const bool reads = op.kind == OpKind::load || op.kind == OpKind::atomic || op.kind == OpKind::mbarrier;
    if (!reads || op.space == MemorySpace::local || op.space == MemorySpace::constant) return;
    if (op.dst[0] == MicroOp::kNoSlot) return;
    const bool strong = op.kind == OpKind::atomic || (op.order & kOrderMask) != kWeak;
    const Addresses a = addresses_of(w, op);
    for (const int lane : EachLane{w.mask}) {
      Look& look = looks_[{&w, lane}];
      if (look.strong && !strong) continue;
      const bool same = look.op == &op && look.address == a.at[lane];
      // If a loop has several atomics and loads, the most frequent one is the most informative.
      if (same || look.times == 0 || (strong && !look.strong)) {
        look = {&op, a.at[lane], same ? look.times + 1 : 1, strong};
      } else {
        --look.times;
      }
    }
  }
  const Look* of(const Warp& w, int lane) const {
    const auto it = looks_.find({&w, lane});
    return it == looks_.end() || it->second.op == nullptr ? nullptr : &it->second;
  }

 private:
  std::map<std::pair<const Warp*, int>, Look> looks_;
};

// A value as text; of 4 or 8 bytes also as a signed number: "4294967289 (as a signed number -7)".
std::string print_value(const std::byte* memory, std::uint64_t n_bytes) {
  const std::uint64_t value = value_at(memory, n_bytes);
  if (n_bytes < 4) return fmt::format("{}", value);
  const bool word = n_bytes == 4;
  if (value == (word ? 0xA5A5A5A5u : 0xA5A5A5A5A5A5A5A5u))
    return "0xA5 in every byte, which is what memory holds that nothing has written yet";
  const auto as_signed = word ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
  return as_signed < 0 ? fmt::format("{} (as a signed number {})", value, as_signed)
                       : fmt::format("{}", value);
}

// Only a strong read can be waiting for another thread's write; an endless loop may read anything.
std::string describe_read(const std::string& line, const std::string& object, bool strong,
                          const std::string& value, const std::string& change) {
  if (strong) return fmt::format(" waits at {} for {} to change: it holds {}{}", line, object, value, change);
  return fmt::format(" runs in a loop that reads {} at {}: it holds {}", object, line, value);
}

std::string describe_mbarrier(const std::string& line, const std::string& object, std::uint64_t word) {
  const Mbarrier r = Mbarrier::of(word);
  std::string missing;
  if (r.pending != 0) missing = fmt::format("{} of {} arrivals", r.pending, r.expected);
  if (r.bytes > 0) missing += fmt::format("{}{} announced bytes", missing.empty() ? "" : " and ", r.bytes);
  return fmt::format(" waits at {} for the phase of the mbarrier {} to end: {} are missing", line, object,
                     missing);
}

// The line in the file of the kernel, without the functions of other files that it calls. If it belongs to a
// function of this file, the line in the kernel where that was called, too.
std::string line_of(const std::vector<SourcePlace>& places) {
  if (places.empty()) return one_line(places);
  const SourcePlace own = own_place(places), &kernels = places.back();
  const bool is_called = kernels.file == own.file && kernels.line != own.line;
  return one_line({own}) + (is_called ? fmt::format(" (called at line {})", kernels.line) : "");
}

std::string name_threads(const LaunchRequest& launch, const Block& block, const Warp& w,
                         std::uint32_t lanes) {
  const std::uint32_t first = w.number * kLanes + static_cast<std::uint32_t>(std::countr_zero(lanes));
  std::string text = describe_thread(thread_of(launch, block.linear, first));
  if (const int n = std::popcount(lanes); n > 1) text += fmt::format(" and {} more of its warp", n - 1);
  return text;
}

// "; thread 0 of block 1 changed it last, at x.cu:12, which has ended since".
std::string name_change(const HangScene& scene, const Block& block, const Polls::Look& look) {
  auto* keeper = dynamic_cast<KeepsHistory*>(scene.worker.observer);
  WriteHistory* history = keeper == nullptr ? nullptr : keeper->history();
  if (history == nullptr || !history->keeps()) return "";
  const WriteHistory::Change* change = history->last(block, look.address);
  if (change == nullptr) return "; no atomic and no volatile or release store of this launch has changed it";
  const Program& program = *scene.worker.program;
  std::string fate = "which has ended since";
  for (const Block* b : scene.resident) {
    if (b->linear != change->block) continue;
    const Warp& w = b->warps[change->thread / kLanes];
    for (const Group& g : w.groups) {
      if ((g.mask >> (change->thread % kLanes) & 1) == 0) continue;
      const BasicBlock& at = program.blocks[g.block];
      fate = fmt::format("which is now at {}",
                         line_of(g.wait == Wait::none ? places_of(program, at.function, at.ptx_index)
                                                      : places_of(program, program.ops[at.first])));
    }
  }
  return fmt::format("; {} changed it last, at {}, {}",
                     describe_thread(thread_of(*scene.worker.launch, change->block, change->thread)),
                     line_of(places_of(program, program.ops[change->op])), fate);
}

// The running groups of a block: their threads, and what each of them reads.
std::vector<std::pair<std::string, std::string>> describe_polls(const HangScene& scene, const Polls& polls,
                                                                Block& block, Hang& hang) {
  const Program& program = *scene.worker.program;
  const LaunchRequest& launch = *scene.worker.launch;
  std::vector<std::pair<std::string, std::string>> groups;
  for (Warp& w : block.warps) {
    for (const Group& g : w.groups) {
      if (g.wait != Wait::none) continue;
      // Lanes that read the same address are reported together.
      for (std::uint32_t left = g.mask; left != 0;) {
        const int lane = std::countr_zero(left);
        const Polls::Look* look = polls.of(w, lane);
        std::uint32_t same = 0;
        for (const int other_lane : EachLane{left}) {
          const Polls::Look* other = polls.of(w, other_lane);
          if (other == look || (other != nullptr && look != nullptr && other->address == look->address &&
                                other->op == look->op))
            same |= 1u << other_lane;
        }
        left &= ~same;
        const BasicBlock& b = program.blocks[g.block];
        const bool first = hang.op == nullptr && look != nullptr;
        if (first) {
          hang.warp = &w;
          hang.op = look->op;
          hang.lanes = same;
        }
        std::string text;
        if (look == nullptr) {
          text += fmt::format(" still runs at {}, and reads no memory that other threads could change",
                              line_of(places_of(program, b.function, b.ptx_index)));
        } else {
          const Arena& arena = *scene.worker.arena;
          const std::string object = describe_address(program, arena, look->address, look->op->width);
          const std::string line = line_of(places_of(program, *look->op));
          const std::byte* const memory = memory_at(arena, block, look->address, look->op->width);
          text += look->op->kind == OpKind::mbarrier ? describe_mbarrier(line, object, value_at(memory, 8))
                  : object.starts_with("grid barrier")
                      ? fmt::format(" waits in grid.sync() at {} for the other blocks of the grid", line)
                      : describe_read(line, object, look->strong, print_value(memory, look->op->width),
                                      name_change(scene, block, *look));
        }
        if (first && scene.worker.arena->contains(look->address)) {
          hang.address = look->address;
          hang.wait = name_threads(launch, block, w, same) + text;
        }
        groups.emplace_back(name_threads(launch, block, w, same), std::move(text));
      }
    }
  }
  return groups;
}

}  // namespace

Hang first_waiting(Block& block, bool running_too) {
  for (Warp& w : block.warps)
    for (const Group& g : w.groups)
      if (running_too || g.wait != Wait::none) {
        const BasicBlock& b = w.program->blocks[g.block];
        return {"", &w, b.first == b.last ? nullptr : &w.program->ops[b.first], g.mask, 0, {}};
      }
  return {};
}

Hang describe_hang(const HangScene& scene) {
  Worker& worker = scene.worker;
  worker.launch_warp = nullptr;
  std::vector<Block*> blocks = scene.resident;
  std::ranges::sort(blocks, [](const Block* a, const Block* b) { return a->linear < b->linear; });

  Polls polls;
  Observer* const observer = worker.observer;
  worker.observer = &polls;
  for (std::size_t k = 0; k < std::min(blocks.size(), kMaxListed); ++k) {
    for (Warp& w : blocks[k]->warps) {
      const std::uint32_t observed = w.observed;
      w.observed = ~0u;
      try {
        if (!w.groups.empty()) scene.engine.run_observed(w, kWatch);
      } catch (const DeviceFault&) {  // the launch is about to end anyway
      }
      w.observed = observed;
    }
  }
  worker.observer = observer;
  worker.launch_warp = nullptr;

  Hang hang;
  std::string& text = hang.text;
  if (scene.n_started != 0 && scene.n_started < scene.n_blocks)
    text = fmt::format("; {} of {} blocks have not started, since there is no room until others end",
                       scene.n_blocks - scene.n_started, scene.n_blocks);
  std::size_t n_described = 0, n_said = 0, n_more = 0;
  std::set<std::string> said;
  for (Block* block : blocks) {
    if (n_described == kMaxListed) break;
    if (block->live_threads == 0) continue;
    ++n_described;
    for (const auto& [threads, what] : describe_polls(scene, polls, *block, hang))
      if (n_said < kMaxSaid && said.insert(what).second)
        text += "; " + threads + what, ++n_said;
      else
        ++n_more;
    if (const std::string waits = describe_waits(*block, false); !waits.empty())
      text += fmt::format("; in block {}, {}", block->linear, waits);
  }
  for (Block* block : blocks)
    for (const bool running_too : {false, true})
      if (hang.op == nullptr && block->live_threads != 0) {
        const Hang waits = first_waiting(*block, running_too);
        hang = {std::move(text), waits.warp, waits.op, waits.lanes, 0, {}};
      }
  if (blocks.size() > n_described)
    text += fmt::format("; {} more blocks have not ended either", blocks.size() - n_described);
  if (n_more > 0) text += fmt::format("; {} more group(s) of threads of these blocks wait, too", n_more);
  if (scene.n_started == 0) return hang;
  const std::uint64_t n_ended = scene.n_started - blocks.size();
  if (n_ended > 0) text += fmt::format("; {} of {} blocks have ended", n_ended, scene.n_blocks);
  return hang;
}

}  // namespace course::sim
