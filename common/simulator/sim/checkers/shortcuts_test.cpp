// SPDX-License-Identifier: MIT
// The checkers process many lanes at once where they can. Runs random scripts of accesses, barriers and
// fences with and without these shortcuts; the findings must be equal.

#include <cstring>
#include <fstream>
#include <iterator>
#include <tuple>

#include "base/rng.hpp"
#include "sim/checkers/kernel_cases.hpp"
#include "sim/machine/source_places.hpp"

namespace course::sim::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 kNone = ~0u, kOperations = 20, kSharedWords = 256, kWords = 512;

struct Script {
  u32 blocks, threads;  // threads per block
  std::vector<u32> what = {}, at = {};
};

// The word that a thread accesses in one step.
u32 place(u32 pattern, u32 thread, u32 base, u32 step, Rng& rng) {
  switch (pattern) {
    case 0: return base / 32 * 32 + thread * step;
    case 1: return base + thread * step;
    case 2: return base;
    case 3: return base + 31 - thread % 32;
    case 4: return base + (thread ^ 1);
    default: return static_cast<u32>(rng.below(kWords));
  }
}

Script random_script(u64 seed) {
  Rng rng(seed);
  Script s{.blocks = 1 + static_cast<u32>(rng.below(2)),
           .threads = 32 * (1 + static_cast<u32>(rng.below(3)))};
  const u32 all = s.blocks * s.threads;
  const u64 n_steps = 2 + rng.below(8);
  const bool lines = rng.below(2) == 0;  // mostly whole lines of global memory
  for (u64 k = 0; k < n_steps; ++k) {
    const auto any = static_cast<u32>(rng.below(4) == 0 ? rng.below(3) : rng.below(kOperations));
    const u32 todo = lines && any > 2 ? static_cast<u32>(5 + rng.below(6)) : any;
    const bool regular = lines && rng.below(6) != 0;
    s.what.push_back(todo);
    // A vector access starts at a multiple of its length, so lanes that are `length` words apart are
    // adjacent.
    const u32 length = todo == 7 || todo == 8 || todo == 11    ? 2
                       : todo == 9 || todo == 10 || todo == 12 ? 4
                                                               : 1;
    const auto pattern = static_cast<u32>(regular ? 0 : rng.below(6)),
               base = static_cast<u32>(rng.below(lines ? 2 : 4) * 32 + rng.below(3));
    const u32 step = length << (!regular && rng.below(3) == 0 ? rng.below(4) : 0);
    const u64 active = regular ? 3 : rng.below(6);
    const auto some_lanes = static_cast<u32>(rng.below(u64{1} << 32));
    const bool by_block = rng.below(2) == 0;
    for (u32 t = 0; t < all; ++t) {
      const u32 lane = t % 32;
      const bool takes_part = active == 0   ? lane < 8
                              : active == 1 ? lane % 4 == 0
                              : active == 4 ? lane % 2 == t / 32 % 2
                              : active == 5 ? (some_lanes >> lane & 1) != 0
                                            : true;
      const u32 thread = by_block ? t % s.threads : t;
      const u32 word = place(pattern, thread, base, step, rng) % kWords;
      const bool shared = (todo >= 3 && todo <= 4) || (todo >= 11 && todo <= 13) || todo == 15 || todo == 19;
      s.at.push_back(!takes_part ? kNone : shared ? word % kSharedWords : word);
    }
  }
  return s;
}

class ScriptDevice {
 public:
  explicit ScriptDevice(bool without_shortcuts) : device_(options(without_shortcuts)) {
    device_.set_mode(kAllChecks);
    std::ifstream file(std::string(SIM_KERNEL_PTX) + "/script.ptx");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    module_ = *device_.load_module(text);
    kernel_ = *device_.find_kernel(module_, "script");
    what_ = *device_.allocate(4096, MemoryKind::pinned_host);
    at_ = *device_.allocate(1 << 18, MemoryKind::pinned_host);
    sink_ = *device_.allocate(4096, MemoryKind::device);
  }

  using Told = std::tuple<std::string, int, u32, u32>;
  // Kind, severity and lines of each finding.
  std::set<Told> run(const Script& s) {
    device_.reset_report();
    // New; the first half counts as written.
    const u64 memory = *device_.allocate(kWords * 4, MemoryKind::device);
    device_.host_wrote(memory, kWords * 2);
    std::memcpy(reinterpret_cast<void*>(what_), s.what.data(), s.what.size() * 4);
    std::memcpy(reinterpret_cast<void*>(at_), s.at.data(), s.at.size() * 4);
    struct {
      u64 what, at, memory, sink;
      int n_steps;
    } arguments{what_, at_, memory, sink_, static_cast<int>(s.what.size())};
    std::byte parameters[36];
    std::memcpy(parameters, &arguments, sizeof parameters);
    LaunchRequest request;
    request.kernel = kernel_;
    request.grid.x = s.blocks;
    request.block.x = s.threads;
    request.parameters = parameters;
    EXPECT_EQ(device_.launch(request).fault, Fault::none);
    EXPECT_TRUE(device_.release(memory));
    std::set<Told> told;
    for (const Finding& f : device_.findings())
      told.emplace(f.kind, static_cast<int>(f.severity), own_place(f.where).line,
                   own_place(f.other_where).line);
    return told;
  }

 private:
  static DeviceOptions options(bool without_shortcuts) {
    DeviceOptions o;
    o.preset.global_memory = std::uint64_t{1} << 28;
    o.host_threads = 1;
    o.check_without_shortcuts = without_shortcuts;
    return o;
  }
  Device device_;
  ModuleId module_ = 0;
  KernelId kernel_ = 0;
  u64 what_ = 0, at_ = 0, sink_ = 0;
};

TEST(Shortcuts, FindTheSameAsLaneByLane) {
  ScriptDevice quick(false), slow(true);
  u32 faulty = 0, clean = 0;
  for (u64 seed = 1; seed <= 5000; ++seed) {
    const Script s = random_script(seed);
    const auto a = quick.run(s), b = slow.run(s);
    (b.empty() ? clean : faulty) += 1;
    std::string text;
    for (const auto* told : {&a, &b})
      for (const auto& [kind, severity, line, other] : *told)
        text += (told == &a ? "with: " : "without: ") + kind + " " + std::to_string(line) + " " +
                std::to_string(other) + "\n";
    ASSERT_EQ(a, b) << "seed " << seed << "\n" << text;
  }
  EXPECT_GT(faulty, 1000u);
  EXPECT_GT(clean, 500u);
}

}  // namespace
}  // namespace course::sim::testing
