// SPDX-License-Identifier: MIT
// Checked launches have the same findings, counters and memory contents on any number of host threads.
#include "sim/checkers/parallel.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/rng.hpp"
#include "ptx/parser/parser.hpp"
#include "sim/checkers/kernel_cases.hpp"
#include "sim/decode/decode.hpp"
#include "sim/machine/op_table.hpp"

namespace course::sim::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 kNone = ~0u, kWords = 1 << 15, kMaxBlocks = 64, kBlockWords = 128;

std::string ptx() {
  std::ifstream file(std::string(SIM_KERNEL_PTX) + "/parallel.ptx");
  return {std::istreambuf_iterator<char>(file), {}};
}

// In each step most blocks access only words of their own; sometimes a thread accesses a random word.
struct Script {
  u32 blocks, threads;
  std::vector<u32> what = {}, at = {};
};

Script random_script(u64 seed, bool astray) {
  Rng rng(seed);
  Script s{.blocks = astray ? kMaxBlocks : 2 + static_cast<u32>(rng.below(12)), .threads = 32};
  const u64 n_steps = 1 + rng.below(5);
  const u64 one_stray_in = 20 * s.blocks;
  const bool apart = astray || rng.below(4) != 0, strays = astray || rng.below(3) == 0,
             reads_alike = rng.below(2) == 0;
  for (u64 k = 0; k < n_steps; ++k) {
    const auto todo = static_cast<u32>(k % 2 == 1 ? 0 : 1 + rng.below(7));
    s.what.push_back(todo);
    const u64 spread = todo == 7 ? 4 : 1 + rng.below(2);
    for (u32 b = 0; b < s.blocks; ++b)
      for (u32 t = 0; t < s.threads; ++t) {
        u64 word = (apart ? b * kBlockWords : 0u) + t * spread;
        if (todo == 1 && reads_alike)
          word = kWords - 32 + t;  // the same words in all blocks, which only random accesses write
        if (strays && rng.below(one_stray_in) == 0) word = rng.below(s.blocks * kBlockWords);
        s.at.push_back(rng.below(50) == 0 ? kNone : static_cast<u32>(word % kWords));
      }
  }
  return s;
}

struct Seen {
  std::string report;  // counters and findings
  std::vector<u32> memory;
  bool clean = false;
};

class ParallelDevice {
 public:
  explicit ParallelDevice(int host_threads) : device_(options(host_threads)) {
    device_.set_mode(kCounters | kAllChecks);
    module_ = *device_.load_module(ptx());
    what_ = *device_.allocate(4096, MemoryKind::pinned_host);
    at_ = *device_.allocate(1 << 18, MemoryKind::pinned_host);
  }

  // Launches twice, so that the second launch finds what the first one left in memory and in the checkers.
  Seen run(const Script& s, const char* kernel, int n_idle) {
    device_.reset_report();
    const u64 memory = *device_.allocate(kWords * 4, MemoryKind::device);
    std::memset(reinterpret_cast<void*>(memory), 0, kWords * 4);
    device_.host_wrote(memory, kWords * 3);  // three quarters of it
    std::memcpy(reinterpret_cast<void*>(what_), s.what.data(), s.what.size() * 4);
    std::memcpy(reinterpret_cast<void*>(at_), s.at.data(), s.at.size() * 4);
    struct {
      u64 what, at, memory;
      int n_steps, n_idle;
    } arguments{what_, at_, memory, static_cast<int>(s.what.size()), n_idle};
    std::byte parameters[32];
    std::memcpy(parameters, &arguments, sizeof parameters);
    LaunchRequest request;
    request.kernel = *device_.find_kernel(module_, kernel);
    request.grid.x = s.blocks;
    request.block.x = s.threads;
    request.parameters = parameters;
    for (int k = 0; k < 2; ++k) EXPECT_EQ(device_.launch(request).fault, Fault::none);
    const auto* words = reinterpret_cast<const u32*>(memory);
    Seen seen{device_.report_json(), {words, words + kWords}, device_.findings().empty()};
    EXPECT_TRUE(device_.release(memory));
    return seen;
  }

 private:
  static DeviceOptions options(int host_threads) {
    DeviceOptions o;
    o.preset.global_memory = std::uint64_t{1} << 28;
    o.host_threads = host_threads;
    return o;
  }
  Device device_;
  ModuleId module_ = 0;
  u64 what_ = 0, at_ = 0;
};

class Devices {
 public:
  // Compares one host thread with several. Returns whether there were no findings.
  bool agree(u64 seed, bool astray, int n_idle) {
    const Script s = random_script(seed, astray);
    const char* const kernel = seed % 3 == 0 ? "updates" : "writes";
    const Seen alone = one_.run(s, kernel, n_idle);
    for (ParallelDevice* several : {&two_, &five_}) {
      const Seen parallel = several->run(s, kernel, n_idle);
      EXPECT_EQ(alone.report, parallel.report) << "seed " << seed;
      EXPECT_EQ(alone.memory, parallel.memory) << "seed " << seed;
    }
    return alone.clean;
  }

 private:
  ParallelDevice one_{1}, two_{2}, five_{5};
};

TEST(ParallelChecks, FindingsDoNotDependOnHostThreads) {
  Devices devices;
  int clean = 0, faulty = 0;
  for (u64 seed = 1; seed <= 200 && !HasFailure(); ++seed)
    (devices.agree(seed, false, 0) ? clean : faulty) += 1;
  EXPECT_GT(clean, 50);
  EXPECT_GT(faulty, 50);
}

// Many blocks, so slow that every host thread gets some; a few accesses go to words of other blocks.
TEST(ParallelChecks, ConflictsAcrossHostThreadsAreFound) {
  Devices devices;
  int faulty = 0;
  for (u64 seed = 1; seed <= 8 && !HasFailure(); ++seed) faulty += devices.agree(seed, true, 8000) ? 0 : 1;
  EXPECT_GT(faulty, 3);
}

class ParallelCases : public ::testing::TestWithParam<KernelCase> {};

TEST_P(ParallelCases, HaveTheSameFindings) {
  const KernelCase& c = GetParam();
  EXPECT_EQ(list(run(c, kCounters | kAllChecks, 0, 1)), list(run(c, kCounters | kAllChecks, 0, 3)));
}

INSTANTIATE_TEST_SUITE_P(Kernels, ParallelCases, ::testing::ValuesIn(all_cases()), name_of_case);

TEST(ParallelChecks, SuitsKernelsWhoseBlocksDoNotCommunicate) {
  const auto module = ptx::parse(ptx());
  ASSERT_TRUE(module);
  ModuleImage image;
  image.module = &*module;
  LaunchRequest many, one;
  many.grid.x = 2;
  const auto suits = [&](const char* kernel, const LaunchRequest& launch) {
    const auto program = decode(image, *module->find_function(kernel), *engine().table);
    EXPECT_TRUE(program) << kernel;
    return program && ParallelChecks::suits(*program, launch);
  };
  for (const char* kernel : {"writes", "updates"}) {
    EXPECT_TRUE(suits(kernel, many)) << kernel;
    EXPECT_FALSE(suits(kernel, one)) << kernel;
  }
  for (const char* kernel : {"both", "tickets", "within_block", "polls"})
    EXPECT_FALSE(suits(kernel, many)) << kernel;
}

// A page that is saved several times is restored as it was before the first write.
TEST(Undo, RestoresMemoryAndMarks) {
  Arena arena(std::uint64_t{1} << 24);
  const u64 place = *arena.allocate(3 * 4096, MemoryKind::device);
  std::vector<u64> marks((std::uint64_t{1} << 24) / 64, 7);
  Undo undo(arena, marks.data());
  auto* const words = reinterpret_cast<u32*>(place);
  for (int round = 0; round < 3; ++round) {
    std::fill_n(words, 3 * 1024, 5u);
    undo.begin();
    undo.keep(place + 4000, 4096);
    undo.keep(place + 4000, 4);
    std::fill_n(words + 1000, 1024, 9u);
    marks[(place - arena.base() + 4000) / 64] = 1;
    undo.keep(place + 4000, 8);
    undo.put_back();
    EXPECT_EQ(std::count(words, words + 3 * 1024, 5u), 3 * 1024);
    EXPECT_EQ(marks[(place - arena.base() + 4000) / 64], 7u);
  }
  undo.keep(0, 4);  // outside the arena
  undo.keep(arena.base() + arena.size() - 4, 8);
}

}  // namespace
}  // namespace course::sim::testing
