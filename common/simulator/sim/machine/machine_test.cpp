// SPDX-License-Identifier: MIT
// Runs the PTX that nvcc makes of machine_test.cu, and compares each kernel's results with results computed
// on the host.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "sim/grid/calm_schedule.hpp"
#include "sim/machine/source_places.hpp"
#include "sim/memory/texture.hpp"
#include "sim/testing/test_device.hpp"

namespace course::sim {
namespace {

using Shape = TestDevice::Shape;

const std::string& ptx() {
  static const std::string text = TestDevice::read(SIM_PTX_DIR "/machine_test.ptx");
  return text;
}

// With the kernels of machine_test.cu.
class Compiled : public testing::Test {
 protected:
  TestDevice t{ptx()};
};

// A kernel `k` with registers for `body`.
std::string kernel(std::string_view parameters, std::string_view body) {
  return fmt::format(
      ".visible .entry k({})\n{{\n  .reg .pred %p, %q;\n  .reg .b32 %r<9>;\n  .reg .b64 %rd<9>;\n{}  "
      "ret;\n}}\n",
      parameters, body);
}

// Compares each thread's result with what it should be.
void expect_each(const DeviceArray<int>& got, std::size_t first, std::size_t n,
                 const std::function<int(int)>& want) {
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_EQ(got[first + i], want(static_cast<int>(i))) << "thread " << i << " at offset " << first;
}

// --- launch requirements
// --------------------------------------------------------------------------------------

TEST(OwnPlace, IsTheInnermostLineInTheKernelsFile) {
  EXPECT_EQ(
      own_place({{"/usr/include/x.h", 1, "x"}, {"a.cu", 2, "f"}, {"b.hpp", 3, "g"}, {"a.cu", 4, "k"}}).line,
      2u);
  EXPECT_EQ(own_place({}).line, 0u);
}
TEST(OwnPlace, IsTheAuthorsInAKernelOfALibrary) {
  const std::string library = "/usr/include/cub/for.cuh";
  EXPECT_EQ(own_place({{"/usr/include/x.h", 1, "x"}, {"a.cu", 2, "lambda"}, {library, 3, "k"}}).line, 2u);
  EXPECT_EQ(own_place({{"/usr/include/x.h", 1, "x"}, {library, 3, "f"}, {library, 4, "k"}}).line, 3u);
}

TEST(FileAndLine, AreRelativeToTheCurrentDirectory) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(file_and_line(here + "/kernels/fold.cu", 31), "kernels/fold.cu:31");
  EXPECT_EQ(file_and_line(here + "s/fold.cu", 31), here + "s/fold.cu:31");
  EXPECT_EQ(file_and_line("fold.cu", 31), "fold.cu:31");
}

// Each kernel stores what a register holds before the thread has written it. A block writes 7 to it, which
// the next one must not get.
TEST(Machine, RegistersHoldNothingOfOtherBlocksForObservers) {
  const std::pair<std::string, std::string> kKernels[] = {
      {"its first op", "mov.u32 %v, %x;\n  mov.u32 %x, 7;"},
      {"in both halves", "cvt.u32.u64 %v, %w;\n  mov.u64 %w, 7;"},
      {"a predicate", "selp.u32 %v, 7, 0, %q;\n  setp.eq.u32 %q, %n, 99;"},
      {"a guard that is false", "@%odd mov.u32 %x, 7;\n  mov.u32 %v, %x;"},
      {"one way of two", "@!%odd bra over;\n  mov.u32 %x, 7;\nover:\n  mov.u32 %v, %x;"},
      {"a loop's first round",
       "mov.u32 %v, 0;\nagain:\n  add.u32 %v, %v, %x;\n  mov.u32 %x, 7;\n  sub.u32 %n, %n, 1;\n"
       "  setp.gt.s32 %p, %n, 100;\n  @%p bra again;"},
      {"lanes elsewhere",
       "mov.u32 %v, 0;\n  setp.lt.u32 %p, %n, 16;\n  @!%p bra over;\n  mov.u32 %x, 7;\n"
       "  shfl.sync.idx.b32 %v, %x, 31, 31, 0xffff;\n  bra end;\nover:\n  mov.u32 %x, 7;\nend:"},
      {"half of a vector's",
       "st.global.v2.u32 [%a+16], {%n, %x};\n  ld.global.u32 %v, [%a+20];\n"
       "  mov.u32 %x, 7;"},
      {"a value to add", "red.global.add.u32 [%a+24], %x;\n  ld.global.u32 %v, [%a+24];\n  mov.u32 %x, 7;"},
  };
  for (const auto& [what, body] : kKernels) {
    TestDevice t(
        ".visible .entry k(.param .u64 out)\n{\n  .reg .pred %p, %q, %odd;\n  .reg .b32 %v, %x, %n, %b;\n"
        "  .reg .b64 %a, %w;\n  ld.param.u64 %a, [out];\n  mov.u32 %b, %ctaid.x;\n"
        "  and.b32 %n, %b, 1;\n  setp.eq.u32 %odd, %n, 1;\n  mov.u32 %n, %laneid;\n"
        "  mad.wide.u32 %a, %b, 32, %a;\n  " +
        body + "\n  add.u32 %b, %v, 0;\n  st.global.u32 [%a], %b;\n  ret;\n}\n");
    t.device.set_mode(kRacecheck);
    const auto out = t.array<int>(8 * 64, 0);
    t.launch("k", 64, 32, out);
    // Every register starts with the same pattern, so each block gives what the first of its kind gave.
    for (std::size_t b = 0; b < 64; ++b) EXPECT_EQ(out[8 * b], out[8 * (b % 2)]) << what;
  }
}

// --- control flow ------------------------------------------------------------------------------------------

TEST_F(Compiled, NestedIfsReconverge) {
  auto out = t.array<int>(3 * 64, 0);
  t.launch("nested_ifs", 1, 64, out);
  const auto want = [](int i) {
    if (i % 2 == 0) return 1 + (i % 3 == 0 ? 10 + (i % 5 == 0 ? 100 : 200) : 20);
    return i % 7 == 0 ? -1 : 0;
  };
  expect_each(out, 0, 64, want);
  for (int i = 0; i < 64; ++i) {
    if (i % 2 == 0 && i % 3 != 0) {
      unsigned mask = 0;
      for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k)
        if (k % 2 == 0 && k % 3 != 0) mask |= 1u << k % 32;
      EXPECT_EQ(static_cast<unsigned>(out[static_cast<std::size_t>(64 + i)]), mask) << i;
    }
    EXPECT_EQ(out[static_cast<std::size_t>(128 + i)], -1) << "lanes did not meet again, thread " << i;
  }
}

TEST_F(Compiled, BreakAndContinueLeaveTheRightLoop) {
  std::vector<int> in(50);
  for (int k = 0; k < 50; ++k) in[static_cast<std::size_t>(k)] = k * 7 % 61;
  auto d_in = t.array(in);
  auto out = t.array<int>(2 * 96, 0);
  t.launch("break_and_continue", 1, 96, d_in, 50, out);
  expect_each(out, 0, 96, [&](int i) {
    int sum = 0;
    for (const int base : in) {
      const int v = base + i;
      if (v % 3 == 0) continue;
      if (v % 17 == 16) break;
      for (int j = 0; j < v % 4 && j != i % 5; ++j) sum += v * j + 1;
      sum += v;
    }
    return sum;
  });
  expect_each(out, 96, 96, [](int) { return -1; });
}

TEST_F(Compiled, SwitchReachesEveryCase) {
  auto out = t.array<int>(2 * 64, 0);
  t.launch("dense_switch", 1, 64, out);
  expect_each(out, 0, 64, [](int i) {
    switch (i % 11) {
      case 0: return i * 3;
      case 1: return (i + 7) ^ 0x55;
      case 2: return i ^ 0x55;
      case 3: return -i;
      case 4: return i << 3;
      case 5: return i * i;
      case 6: return i % 5;
      case 7: return i | 0x100;
      case 8: return i & 6;
      case 9: return i - 1000;
      default: return 42;
    }
  });
  expect_each(out, 64, 64, [](int) { return -1; });
}

TEST_F(Compiled, LoopWithTwoEntriesEnds) {
  auto out = t.array<int>(2 * 64, 0);
  t.launch("two_entries", 1, 64, out);
  expect_each(out, 0, 64, [](int i) {
    int v = i, steps = 0;
    bool skip = i % 2 == 0;
    do {
      if (!skip) {
        v = v * 3 + 1;
        ++steps;
      }
      skip = false;
      v /= 2;
      ++steps;
    } while (v > 3 && steps < 40);
    return v * 1000 + steps;
  });
  expect_each(out, 64, 64, [](int) { return -1; });
}

// --- locks and waiting -------------------------------------------------------------------------------------

TEST(Machine, LocksInsideAWarpMakeProgress) {
  for (const char* kernel : {"lane_lock_polite", "lane_lock_rude"}) {
    TestDevice t(ptx());
    auto lock = t.array<int>(1), counter = t.array<int>(1);
    t.launch(kernel, 3, 100, lock, counter);
    EXPECT_EQ(counter[0], 300) << kernel;
  }
}

TEST_F(Compiled, ABlockMayWaitForALaterOne) {
  auto flags = t.array<int>(100), out = t.array<int>(100 * 32);
  t.launch("wait_for_later_block", 100, 32, flags, out);
  expect_each(out, 0, 3200, [](int i) { return 100 - i / 32; });
}

// --- barriers ----------------------------------------------------------------------------------------------

TEST_F(Compiled, BarriersSeparateRounds) {
  auto out = t.array<int>(200);
  const auto result = t.launch("ping_pong", 1, 200, out, 37);
  expect_each(out, 0, 200, [](int i) { return (i + 37) % 200 + 37; });
  EXPECT_EQ(result.counters.barriers, 38u);
}

TEST_F(Compiled, BarriersDoNotWaitForExitedThreads) {
  auto out = t.array<int>(128, -1);
  t.launch("early_exit", 1, 256, out);
  expect_each(out, 0, 128, [](int i) { return 127 - i; });
}

TEST_F(Compiled, BarrierWorksFromDifferentLines) {
  auto out = t.array<int>(64);
  t.launch("barrier_in_both_arms", 1, 64, out);
  expect_each(out, 0, 64, [](int i) { return (i % 2 == 0 ? 1 : -1) * (63 - i) * (63 - i); });
}

TEST_F(Compiled, NamedBarriersPassTilesAlong) {
  std::vector<int> in(32 * 20);
  std::iota(in.begin(), in.end(), 1000);
  auto d_in = t.array(in);
  auto out = t.array<int>(in.size());
  t.launch("producer_consumer", 1, 64, d_in, out, 20);
  expect_each(out, 0, in.size(), [](int i) { return 1000 + i / 32 * 32 + 31 - i % 32; });
}

// --- warps -------------------------------------------------------------------------------------------------

TEST_F(Compiled, ShufflesWaitForLateLanes) {
  auto out = t.array<int>(64);
  t.launch("shuffle_after_uneven_loops", 1, 32, out);
  const auto value = [](int i) {
    int v = i;
    for (int k = 0; k < i; ++k) v = v * 5 % 97;
    return v;
  };
  expect_each(out, 0, 32, [&](int i) { return value(i ^ 1); });
  expect_each(out, 32, 32, value);
}

// --- calls -------------------------------------------------------------------------------------------------

int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

TEST_F(Compiled, RecursiveFunctionsWork) {
  auto out = t.array<int>(64);
  t.launch("deep_recursion", 1, 64, out);
  expect_each(out, 0, 64, [](int i) { return (i * 3 % 2 == 0) * 1000 + ackermann(i % 3, i % 7); });
}

struct Triple {
  double a;
  int b[5];
  char c;
};

TEST_F(Compiled, StructsArePassedByValue) {
  auto out = t.array<Triple>(32);
  const Triple in{2.5, {1, 20, 300, 4000, 50000}, 'a'};
  t.launch("structs_by_value", 1, 32, in, out);
  for (int i = 0; i < 32; ++i) {
    const Triple& r = out[static_cast<std::size_t>(i)];
    EXPECT_EQ(r.a, 2.5 * (i % 7));
    for (int k = 0; k < 5; ++k) EXPECT_EQ(r.b[k], in.b[(k + i % 7) % 5]);
    EXPECT_EQ(r.c, static_cast<char>('a' + i % 7));
  }
}

TEST_F(Compiled, FunctionTablesAreCalledLaneByLane) {
  std::vector<int> choice(64);
  for (int i = 0; i < 64; ++i) choice[static_cast<std::size_t>(i)] = i * 5 % 3;
  auto d_choice = t.array(choice);
  auto out = t.array<int>(64);
  t.launch("function_tables", 1, 64, d_choice, out);
  expect_each(out, 0, 64, [](int i) {
    const int c = i * 5 % 3;
    const int a = c == 0 ? i + 3 : c == 1 ? i - 3 : i * 3;
    const int b = c == 0 ? i * 2 : c == 1 ? i + 2 : i - 2;
    return a * 1000 + b;
  });
}

// --- memory ------------------------------------------------------------------------------------------------

TEST_F(Compiled, ParametersAreReadThroughRegisters) {
  struct Big {
    int v[600];
  } big;
  for (int k = 0; k < 600; ++k) big.v[k] = k * 3 + 1;
  auto out = t.array<int>(128);
  t.launch("large_parameter", 1, 128, big, 11, out);
  expect_each(out, 0, 128, [&](int i) { return big.v[(11 + i * 7) % 600]; });
}

TEST_F(Compiled, EachThreadHasItsOwnLocalArray) {
  std::vector<int> index(40);
  for (int k = 0; k < 40; ++k) index[static_cast<std::size_t>(k)] = k * 13 % 40;
  auto d_index = t.array(index);
  auto out = t.array<int>(70);
  t.launch("local_array", 1, 70, d_index, out);
  expect_each(out, 0, 70, [&](int i) {
    std::array<int, 40> a{};
    for (int k = 0; k < 40; ++k) a[static_cast<std::size_t>(k)] = k * k + i;
    for (std::size_t k = 0; k < 40; ++k) a[static_cast<std::size_t>(index[k])] += a[39 - k];
    return a[static_cast<std::size_t>(index[static_cast<std::size_t>(i % 40)])];
  });
}

TEST_F(Compiled, StaticAndDynamicSharedMemoryDoNotOverlap) {
  auto out = t.array<int>(64);
  t.launch("shared_kinds", Shape{{1, 1, 1}, {64, 1, 1}, 64 * sizeof(int)}, out);
  expect_each(out, 0, 64, [](int i) { return -(63 - i) + i % 16 + i % 33 * 11 + (63 - i) * 3; });
}

TEST_F(Compiled, GridsAndBlocksHaveThreeDimensions) {
  const Dim3 grid{3, 4, 2}, block{5, 3, 3};  // 45 threads: the second warp is partial
  auto out = t.array<int>(24 * 45, -1);
  t.launch("three_dimensions", Shape{grid, block}, out);
  expect_each(out, 0, 24 * 45, [](int i) {
    const int b = i / 45, k = i % 45;
    return b % 3 + 10 * (b / 3 % 4) + 100 * (b / 12) + 1000 * (k % 5) + 10000 * (k / 5 % 3) +
           100000 * (k / 15);
  });
}

TEST_F(Compiled, KernelsAllocateAndFree) {
  const auto before = t.device.free_bytes();
  auto out = t.array<int>(40);
  const auto with_out = t.device.free_bytes();
  t.launch("heap_list", 1, 40, out, 9);
  expect_each(out, 0, 40, [](int i) {
    int sum = 0;
    for (int k = 8, weight = 1; k >= 0; --k) sum += k * i * weight++;
    return sum;
  });
  EXPECT_EQ(t.device.free_bytes(), with_out);
  EXPECT_LT(with_out, before);
}

TEST(Machine, BlocksOnManyHostThreadsFreeConcurrently) {
  DeviceOptions options = TestDevice::one_thread();
  options.host_threads = 8;
  TestDevice t(ptx(), options);
  auto kept = t.array<std::uint64_t>(64 * 32);
  const auto before = t.device.free_bytes();
  for (int round = 0; round < 20; ++round) {
    t.launch("heap_keep", 64, 32, kept, std::uint64_t{16});
    for (std::size_t i = 0; i < 64 * 32; ++i) ASSERT_NE(kept[i], 0u) << i;
    t.launch("heap_drop", 64, 32, kept);
    ASSERT_EQ(t.device.free_bytes(), before);
  }
}

TEST_F(Compiled, KernelsFreeOnlyWhatKernelsAllocated) {
  auto mine = t.array<int>(10, 3);
  auto pointers = t.array<std::uint64_t>(1, mine.address);
  const auto freed = t.try_launch("heap_drop", 1, 1, pointers);
  EXPECT_EQ(freed.fault, Fault::illegal_address);
  EXPECT_NE(freed.text.find("not allocated by a kernel"), std::string::npos) << freed.text;
  ASSERT_NE(t.device.find(mine.address), nullptr);
  EXPECT_EQ(mine[9], 3);
}

TEST_F(Compiled, HeapIsLimitedAndCanBeEmptied) {
  constexpr std::size_t kMany = 12 * 32;
  auto kept = t.array<std::uint64_t>(kMany);
  const auto before = t.device.free_bytes();
  const auto n_given = [&] {
    return static_cast<std::size_t>(
        std::count_if(kept.data(), kept.data() + kMany, [](std::uint64_t p) { return p != 0; }));
  };
  t.launch("heap_keep", 12, 32, kept, std::uint64_t{65536});
  EXPECT_EQ(n_given(), 127u) << "8 MiB, less what each allocation needs for itself";
  EXPECT_FALSE(t.device.set_heap_bytes(1 << 20)) << "in use";
  t.device.empty_heap();
  EXPECT_EQ(t.device.free_bytes(), before);
  EXPECT_TRUE(t.device.set_heap_bytes(1 << 20));
  t.launch("heap_keep", 12, 32, kept, std::uint64_t{65536});
  EXPECT_EQ(n_given(), 15u);
  t.launch("heap_keep", 1, 1, kept, ~std::uint64_t{0});
  EXPECT_EQ(kept[0], 0u);
  const auto fault = t.try_launch("heap_keep", 1, 1, std::uint64_t{0}, std::uint64_t{8});
  EXPECT_EQ(fault.fault, Fault::illegal_address);
  EXPECT_NE(fault.text.find("cudaLimitMallocHeapSize"), std::string::npos) << fault.text;
}

// --- determinism -------------------------------------------------------------------------------------------

// Launches run one after the other, so a grid that another one depends on has always ended.
TEST(Machine, DependentGridsNeedNotWait) {
  TestDevice t(
      ".visible .entry dependent(.param .u64 out) { .reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd0, [out];\n"
      "griddepcontrol.wait;\n"
      "st.global.u32 [%rd0], 7;\n"
      "griddepcontrol.launch_dependents;\n"
      "ret; }\n");
  auto out = t.array<int>(1);
  t.launch("dependent", 1, 1, out);
  EXPECT_EQ(out[0], 7);
}

// The number of registers in PTX is only an estimate; it must not refuse a block that the launch bounds
// allow.
TEST(Machine, LaunchBoundsLimitRegisters) {
  std::string body = "{ .reg .b64 %rd<1000>;\n";
  for (int k = 0; k < 1000; ++k) body += "mov.u64 %rd" + std::to_string(k) + ", 0;\n";
  body += "ret; }\n";
  TestDevice t(".visible .entry bounded() .maxntid 384, 1, 1 .minnctapersm 2 " + body +
               ".visible .entry unbounded() " + body);
  const auto registers = [&](const char* name) {
    return t.device.facts(*t.device.find_kernel(t.module, name)).registers;
  };
  EXPECT_EQ(registers("bounded"), 80);  // at most 65536 / 768
  EXPECT_EQ(registers("unbounded"), 64);
}

TEST(Machine, ResultsDoNotDependOnHostThreads) {
  std::string reference;
  std::vector<int> bins_of_one;
  for (const int threads : {1, 2, 5}) {
    DeviceOptions options = TestDevice::one_thread();
    options.host_threads = threads;
    TestDevice t(ptx(), options);
    std::vector<int> in(20000);
    for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<int>(k * 2654435761u >> 8) & 0x7fffffff;
    auto d_in = t.array(in);
    auto bins = t.array<int>(37);
    const auto r = t.launch("histogram", 40, 128, d_in, 20000, bins);
    const auto& c = r.counters;
    const std::string counters =
        fmt::format("{} {} {} {} {} {} {} {} {} {}", c.warp_instructions, c.lane_instructions, c.branches,
                    c.divergent_branches, c.global_load_sectors, c.global_store_sectors, c.global_load_bytes,
                    c.atomic_requests, c.atomic_turns, r.modelled_us);
    if (threads == 1) {
      reference = counters;
      bins_of_one = bins.values();
      EXPECT_EQ(std::accumulate(bins_of_one.begin(), bins_of_one.end(), 0), 20000);
    }
    EXPECT_EQ(counters, reference) << threads << " host threads";
    EXPECT_EQ(bins.values(), bins_of_one);
  }
}

TEST(Machine, BlocksStartInOrderWithoutASeed) {
  const auto order = [](std::uint64_t seed, int threads, std::uint32_t mode = kFast) {
    DeviceOptions options = TestDevice::one_thread();
    options.host_threads = threads;
    TestDevice t(ptx(), options);
    t.device.set_mode(mode);
    t.device.set_schedule(seed);
    auto next = t.array<int>(1), log = t.array<int>(100, -1);
    t.launch("order_of_blocks", 100, 32, next, log);
    return log.values();
  };
  std::vector<int> natural(100);
  std::iota(natural.begin(), natural.end(), 0);
  EXPECT_EQ(order(0, 1), natural);
  EXPECT_EQ(order(0, 4), natural);
  const auto shaken = order(7, 1);
  EXPECT_NE(shaken, natural);
  EXPECT_NE(shaken, order(8, 1));
  EXPECT_EQ(shaken, order(7, 3));
  auto sorted = shaken;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, natural);
  EXPECT_NE(order(7, 1, kCounters), natural) << "a kernel must not recognise a counted launch";
  EXPECT_EQ(order(7 | kCalmSchedule, 1, kCounters), order(7 | kCalmSchedule, 1));
  EXPECT_EQ(order(7 | kCalmSchedule, 1, kCounters), order(7 | kCalmSchedule, 1, kAllChecks));
}

TEST(Machine, TimersAreTheSameInEveryRun) {
  const auto times = [](std::uint64_t seed, std::uint32_t mode) {
    TestDevice t(
        ".visible .entry timer(.param .u64 log) {\n"
        ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<5>; ld.param.u64 %rd1, [log]; mov.u32 %r1, %ctaid.x;\n"
        "mov.u32 %r2, 0; again: add.u32 %r2, %r2, 1; nanosleep.u32 20; setp.le.u32 %p, %r2, %r1; @%p bra "
        "again;\n"
        "mul.wide.u32 %rd2, %r1, 8; add.u64 %rd3, %rd1, %rd2; mov.u64 %rd4, %globaltimer;\n"
        "st.global.u64 [%rd3], %rd4; ret; }\n");
    t.device.set_mode(mode);
    t.device.set_schedule(seed);
    auto log = t.array<std::uint64_t>(16);
    t.launch("timer", 16, 32, log);
    return log.values();
  };
  const auto counted = times(7, kCounters);
  EXPECT_EQ(counted, times(7, kAllChecks));
  EXPECT_EQ(counted, times(8, kAllChecks));
  EXPECT_EQ(counted, times(7 | kCalmSchedule, kFast));
}

// In each of several rounds, each warp records itself in a log in the order of turns, and the lanes of one
// atomic get tickets.
TEST(Machine, ScheduleSeedPermutesWarpsAndLanes) {
  const std::string kRounds = kernel(".param .u64 log", R"(
  .shared .align 4 .u32 s_next; ld.param.u64 %rd1, [log]; mov.u32 %r1, %tid.x; setp.eq.u32 %p, %r1, 0;
  @%p st.shared.u32 [s_next], 0; mov.u32 %r2, 0;
  again: bar.sync 0; atom.shared.add.u32 %r3, [s_next], 1; mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 3;
  @%p bra again;
)");
  const auto rounds = [&](std::uint64_t seed, std::uint32_t mode = kFast) {
    TestDevice t(kRounds);
    t.device.set_mode(mode);
    t.device.set_schedule(seed);
    auto log = t.array<int>(3 * 256, -1);
    t.launch("k", 1, 256, log);
    std::vector<std::vector<int>> each;
    for (int k = 0; k < 3; ++k) each.emplace_back(log.data() + 256 * k, log.data() + 256 * (k + 1));
    return each;
  };
  const auto natural = rounds(0);
  for (std::size_t k = 0; k < natural.size(); ++k) {
    // The warp that completes the barrier continues at once; the others follow in their order.
    for (int i = 0; i < 256; ++i)
      EXPECT_EQ(natural[k][static_cast<std::size_t>(i)], (i + 32 * (7 - static_cast<int>(k))) % 256);
  }
  EXPECT_EQ(rounds(7, kCounters), natural) << "what is counted keeps the natural order";
  const auto shaken = rounds(7);
  EXPECT_EQ(shaken, rounds(7)) << "the same in every run";
  EXPECT_NE(shaken, rounds(8));
  const auto warps = [](const std::vector<int>& one) {
    std::vector<int> order;
    for (int k = 0; k < 8; ++k) order.push_back(one[static_cast<std::size_t>(32 * k)] / 32);
    return order;
  };
  EXPECT_NE(warps(shaken[0]), warps(shaken[1])) << "another order in each round";
  EXPECT_NE(warps(shaken[1]), warps(shaken[2]));
  int turned = 0;
  for (int k = 0; k < 8; ++k) turned += shaken[0][static_cast<std::size_t>(32 * k)] % 32 != 0 ? 1 : 0;
  EXPECT_GE(turned, 4) << "lanes take their tickets in another order";
  for (auto one : shaken) {
    std::sort(one.begin(), one.end());
    for (int i = 0; i < 256; ++i) EXPECT_EQ(one[static_cast<std::size_t>(i)], i) << "each thread once";
  }
}

// How often a block of a chain found its predecessor not started, running, and finished.
std::vector<int> met(std::uint32_t mode, std::uint64_t seed = 0) {
  constexpr int kBlocks = 200;
  DeviceOptions options = TestDevice::one_thread();
  options.schedule_seed = seed;
  TestDevice t(ptx(), options);
  auto next = t.array<int>(1), state = t.array<int>(kBlocks), prefix = t.array<int>(kBlocks),
       seen = t.array<int>(3);
  t.device.set_mode(mode);
  t.launch("chain_of_blocks", kBlocks, 32, next, state, prefix, seen);
  EXPECT_EQ(prefix[kBlocks - 1], kBlocks * (kBlocks - 1) / 2);
  EXPECT_TRUE(t.device.findings().empty());
  return seen.values();
}

TEST(Machine, CheckedBlocksAreInterleavedInEveryState) {
  EXPECT_EQ(met(kCounters), (std::vector<int>{0, 0, 199}));
  constexpr std::uint32_t kNoOldValues = kAllChecks | kTrace;  // loads return the present state
  const auto interleaved = met(kNoOldValues);
  for (const int times : interleaved) EXPECT_GT(times, 0);
  EXPECT_EQ(interleaved, met(kNoOldValues)) << "the same in every run";
}

// The blocks of the chain are numbered as they start, and each has one warp, so a seed can only change how
// their turns are interleaved.
TEST(Machine, ScheduleSeedChangesTheTurnsOfBlocks) {
  EXPECT_EQ(met(kAllChecks, 7), met(kAllChecks, 7));
  std::set<std::vector<int>> interleavings;
  for (const unsigned seed : {0u, 1u, 2u, 7u, 8u}) interleavings.insert(met(kAllChecks, seed));
  EXPECT_GE(interleavings.size(), 4u);
}

// Each warp adds 1 to the word of its block `n` times, without an atomic operation: a load, an addition and a
// store in one basic block. The block's sum in `out`. `load` and `store` are of `word`.
std::string counting_kernel(const std::string& load, const std::string& store, const std::string& word) {
  return kernel(".param .u64 out, .param .u32 n", R"(
  .shared .align 4 .u32 s_sum; ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2; and.b32 %r4, %r2, 31;
  setp.eq.u32 %p, %r2, 0; @%p st.shared.u32 [s_sum], 0; bar.sync 0; setp.ne.u32 %p, %r4, 0; @%p bra all;
  mov.u32 %r5, 0;
  again:
  )" + load + " %r6, [" + word + R"(];
  add.u32 %r6, %r6, 1;
  )" + store + " [" + word + R"(], %r6;
  add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, %r1; @%p bra again;
  all: bar.sync 0; setp.ne.u32 %p, %r2, 0; @%p bra end;
  )" + (word == "s_sum" ? "ld.shared.u32 %r7, [s_sum];\n  st.global.u32 [%rd3], %r7;" : "") +
                                                      "\nend:\n");
}

TEST(Machine, ChecksLetOtherWarpsRunBetweenAStrongLoadAndAStore) {
  constexpr std::uint32_t kBlocks = 12;
  constexpr int kTimes = 20, kWarps = 4;
  const auto sums = [&](const std::string& text, std::uint32_t mode, std::uint64_t seed, int threads = 1) {
    DeviceOptions options;
    options.host_threads = threads;
    TestDevice t(text, options);
    t.device.set_mode(mode);
    t.device.set_schedule(seed);
    auto out = t.array<int>(kBlocks);
    t.launch("k", kBlocks, kWarps * 32, out, kTimes);
    return out.values();
  };
  const std::vector<int> right(kBlocks, kTimes * kWarps);
  const std::tuple<const char*, const char*, const char*> forms[] = {
      {"ld.volatile.shared.u32", "st.volatile.shared.u32", "s_sum"},
      {"ld.relaxed.cta.shared.u32", "st.relaxed.cta.shared.u32", "s_sum"},
      {"ld.relaxed.gpu.global.u32", "st.relaxed.gpu.global.u32", "%rd3"},
      {"ld.volatile.global.u32", "st.volatile.global.u32", "%rd3"},
  };
  for (const auto& [load, store, word] : forms) {
    const std::string text = counting_kernel(load, store, word);
    for (const std::uint64_t seed : {0u, 1u, 2u, 3u}) {
      const auto lost = sums(text, kAllChecks, seed);
      // One of the blocks may be right by chance.
      EXPECT_LE(std::ranges::count(lost, kTimes * kWarps), 1) << load << ", seed " << seed;
      EXPECT_EQ(lost, sums(text, kAllChecks, seed)) << "the same in every run";
      EXPECT_EQ(lost, sums(text, kAllChecks, seed, 3)) << "on any number of host threads";
      EXPECT_EQ(sums(text, kAllChecks | kCounters, seed), right) << "what is counted is not interleaved";
    }
    EXPECT_NE(sums(text, kFast, 1), right) << "another schedule, without checks";
  }
}

// A warp sets a flag before it stores what the flag is for. With a schedule's seed, the other one can see
// that.
TEST(Machine, ChecksLetOtherWarpsRunBetweenTwoStrongStores) {
  for (const char* set : {"st.volatile.shared.u32 [s_flag], 1;", "red.shared.add.u32 [s_flag], 1;",
                          "atom.shared.exch.b32 %r5, [s_flag], 1;"}) {
    const std::string text = kernel(".param .u64 out", std::string(R"(
  .shared .align 4 .b32 s_flag; .shared .align 4 .b32 s_data; mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [out]; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;
  setp.ne.u32 %p, %r1, 0; @%p bra second;
  st.volatile.shared.u32 [s_flag], 0; st.volatile.shared.u32 [s_data], 0;
  second: bar.sync 0; @%p bra other;
  )") + set + R"(
  st.volatile.shared.u32 [s_data], 7; bra end;
  other: setp.ne.u32 %p, %r1, 32; @%p bra end;
  wait: ld.volatile.shared.u32 %r3, [s_flag]; setp.eq.u32 %p, %r3, 0; @%p bra wait;
  ld.volatile.shared.u32 %r4, [s_data]; st.global.u32 [%rd3], %r4;
  end:
)");
    std::size_t n_early = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      TestDevice t(text);
      t.device.set_mode(kAllChecks);
      t.device.set_schedule(seed);
      auto out = t.array<int>(32, -1);
      t.launch("k", 32, 64, out);
      for (const int value : out.values()) {
        EXPECT_TRUE(value == 0 || value == 7) << value;
        n_early += value == 0 ? 1 : 0;
      }
    }
    EXPECT_GT(n_early, 8u) << set;
    EXPECT_LT(n_early, 250u) << set;
  }
}

// Lanes store different values in one place. Which one stays depends on the schedule.
TEST(Machine, AnyLaneMayBeTheLastToStoreInOnePlace) {
  const std::string kKernel = kernel(".param .u64 out", R"(
  mov.u32 %r1, %laneid; ld.param.u64 %rd1, [out]; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2; st.volatile.global.u32 [%rd3], %r1;
)");
  const auto last = [&](std::uint64_t seed) {
    TestDevice t(kKernel);
    t.device.set_mode(kAllChecks);
    t.device.set_schedule(seed);
    auto out = t.array<int>(32, -1);
    t.launch("k", 32, 32, out);
    const std::vector<int> values = out.values();
    return std::set<int>(values.begin(), values.end());
  };
  EXPECT_EQ(last(0), std::set<int>{31});
  EXPECT_GT(last(1).size(), 8u);
}

// The most blocks that a block of a chain finds without a prefix, one after the other, when it looks back.
int farthest_look(std::uint32_t mode, std::uint64_t seed) {
  const std::string kLookBack = kernel(".param .u64 ticket, .param .u64 state, .param .u64 out", R"(
  mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0; @%p bra end;
  ld.param.u64 %rd1, [ticket]; ld.param.u64 %rd2, [state]; ld.param.u64 %rd3, [out];
  atom.global.add.u32 %r2, [%rd1], 1; mul.wide.u32 %rd4, %r2, 4; add.u64 %rd5, %rd2, %rd4;
  mov.u32 %r3, 0;
  work: add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 50; @%p bra work;
  st.relaxed.gpu.global.u32 [%rd5], 1; mov.u64 %rd6, %rd5; mov.u32 %r3, 0;
  look: setp.eq.u64 %p, %rd6, %rd2; @%p bra found;
  ld.relaxed.gpu.global.u32 %r4, [%rd6 + -4]; setp.eq.u32 %p, %r4, 0; @%p bra look;
  add.u32 %r3, %r3, 1; sub.u64 %rd6, %rd6, 4; setp.eq.u32 %p, %r4, 1; @%p bra look;
  found: st.relaxed.gpu.global.u32 [%rd5], 2; add.u64 %rd7, %rd3, %rd4; st.global.u32 [%rd7], %r3;
  end:
)");
  constexpr int kBlocks = 200;
  TestDevice t(kLookBack);
  t.device.set_mode(mode);
  t.device.set_schedule(seed);
  auto ticket = t.array<int>(1), state = t.array<int>(kBlocks), out = t.array<int>(kBlocks, -1);
  t.launch("k", kBlocks, 32, ticket, state, out);
  for (std::size_t b = 0; b < kBlocks; ++b)
    EXPECT_TRUE(b == 0 ? out[b] == 0 : out[b] > 0 && out[b] <= static_cast<int>(b));
  return *std::max_element(out.data(), out.data() + kBlocks);
}

TEST(Machine, HeldBlockMakesOthersLookFarBackInSomeSchedules) {
  int far = 0;
  constexpr int kSeeds = 24;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const int farthest = farthest_look(kAllChecks, seed);
    EXPECT_EQ(farthest, farthest_look(kAllChecks, seed)) << "the same in every run";
    far += farthest > 32 ? 1 : 0;
  }
  EXPECT_GE(far, kSeeds / 3);
  EXPECT_LT(far, kSeeds);
  EXPECT_EQ(farthest_look(kCounters, 1), 1) << "what is counted runs block by block";
}

// --- counters that a kernel cannot deceive
// ------------------------------------------------------------------

TEST(Machine, ForgedTextureDescriptorIsRefused) {
  const std::string kFetch = kernel(".param .u64 handle, .param .u64 out", R"(
  ld.param.u64 %rd1, [handle]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}]; mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], %r2;
)");
  TestDevice t(kFetch);
  t.device.set_mode(kCounters);
  std::vector<int> values(256);
  std::iota(values.begin(), values.end(), 7);
  auto texels = t.array<int>(values);
  TextureDescriptor d{.mark = TextureDescriptor::kTextureMark,
                      .base = texels.address,
                      .width = 256,
                      .kind = ChannelKind::is_signed};
  auto out = t.array<int>(256);
  auto forged = t.array<TextureDescriptor>(1, d);
  const auto refused = t.try_launch("k", 1, 256, forged, out);
  EXPECT_EQ(refused.fault, Fault::illegal_address);
  EXPECT_NE(refused.text.find("this is not a texture object"), std::string::npos) << refused.text;
  auto made = t.array<TextureDescriptor>(1, d, MemoryKind::texture);
  const auto result = t.launch("k", 1, 256, made, out);
  EXPECT_EQ(out.values(), values);
  EXPECT_EQ(result.counters.global_load_sectors, 256u * 4 / 32);
  EXPECT_EQ(result.counters.global_load_requests, 8u);
  EXPECT_EQ(result.counters.memory_read_sectors, 256u * 4 / 32);
}

TEST(Machine, MbarrierPhaseCountsAsBarrier) {
  const std::string kMeet = kernel("", R"(
  .shared .align 8 .b64 s_bar; mov.u32 %r1, %tid.x; setp.eq.u32 %p, %r1, 0;
  @%p mbarrier.init.shared.b64 [s_bar], 64; bar.sync 0; mbarrier.arrive.shared.b64 %rd1, [s_bar];
  again: mbarrier.test_wait.shared.b64 %q, [s_bar], %rd1; @!%q bra again;
)");
  TestDevice t(kMeet);
  t.device.set_mode(kCounters);
  EXPECT_EQ(t.launch("k", 3, 64).counters.barriers, 3u * 2);
}

// Before PTX 6.4, and for chips before sm_70, votes and shuffles have no mask: the active lanes take part.
std::string votes_without_sync(const char* head) {
  return std::string(head) + "\n.address_size 64\n" + kernel(".param .u64 data", R"(
  .reg .pred %odd; ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2; and.b32 %r2, %r1, 1; setp.ne.u32 %odd, %r2, 0; setp.lt.u32 %p, %r1, 8;
  mov.u32 %r3, 0; @%odd vote.ballot.b32 %r3, %p; @%odd bra both;
  vote.all.pred %q, !%p; shfl.idx.b32 %r3, %r1, 30, 31; @%q add.u32 %r3, %r3, 1000;
  both: st.global.u32 [%rd3], %r3;
)");
}

TEST(Machine, VotesWithoutSyncTakeTheActiveLanes) {
  for (const char* head : {".version 6.3\n.target sm_70", ".version 8.0\n.target sm_60"}) {
    TestDevice t(votes_without_sync(head));
    auto data = t.array<int>(32, 0);
    t.launch("k", 1, 32, data);
    for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(data[i], i % 2 != 0 ? 0xaa : 30) << head << ", lane " << i;
  }
}

TEST(Machine, VotesWithoutSyncAreRefusedWherePtxHasNone) {
  TestDevice t(votes_without_sync(".version 6.4\n.target sm_70"));
  auto data = t.array<int>(32, 0);
  const LaunchResult refused = t.try_launch("k", {.grid = {1}, .block = {32}}, data);
  EXPECT_EQ(refused.fault, Fault::illegal_instruction);
  EXPECT_NE(refused.text.find("from PTX 6.4 on"), std::string::npos) << refused.text;
}

TEST(Machine, VoteCombinesItsLanesInOneOperation) {
  const std::string kVotes = kernel(".param .u64 data", R"(
  ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3]; setp.ne.u32 %p, %r2, 0; vote.sync.ballot.b32 %r3, %p, 0xffffffff;
  add.u32 %r4, %r2, %r3; st.global.u32 [%rd3], %r4;
)");
  TestDevice t(kVotes);
  t.device.set_mode(kCounters | kDataflow);
  auto data = t.array<int>(32, 1);
  t.device.name_buffer(data.address, 32 * 4, 4, "data", true);
  const Counters counters = t.launch("k", 1, 32, data).counters;
  EXPECT_EQ(counters.work, 1u + 32) << "the vote, and an addition in each lane";
  EXPECT_EQ(counters.steps, 2u);
}

TEST(Machine, LocalMemoryIsCountedInSectors) {
  const std::string kLocal = kernel("", R"(
  .local .align 4 .b8 mine[64];
  mov.u32 %r1, %tid.x; mov.u64 %rd1, mine;
  st.local.u32 [%rd1], %r1;
  and.b32 %r2, %r1, 1; mul.wide.u32 %rd2, %r2, 32; add.u64 %rd2, %rd1, %rd2;
  st.local.u32 [%rd2], %r1;
)");
  TestDevice t(kLocal);
  t.device.set_mode(kCounters);
  const Counters counters = t.launch("k", 1, 32).counters;
  EXPECT_EQ(counters.local_requests, 2u);
  EXPECT_EQ(counters.local_sectors, 4u + 8u) << "one word of all lanes; two words, each of half of the lanes";
}

TEST(Machine, ConstantsAreNoGlobalTraffic) {
  TestDevice t(
      ".const .align 4 .b32 table[32];\n"
      ".visible .entry reads() { .reg .b32 %r<3>; .reg .b64 %rd<4>; mov.u32 %r1, %tid.x;\n"
      "mov.u64 %rd1, table; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
      "ld.const.u32 %r2, [%rd3]; ld.const.u32 %r2, [%rd1]; ret; }\n");
  t.device.set_mode(kCounters);
  const Counters c = t.launch("reads", 1, 32).counters;
  EXPECT_EQ(c.global_load_bytes + c.global_load_sectors + c.memory_read_sectors, 0u);
  EXPECT_EQ(c.global_lines, 32u + 1u) << "one address at a time";
}

// Each of 70 threads stores and loads what no variable of its frame explains: the variables take 32 bytes, as
// frames are aligned to 16. Only what L1 has no room for moves to L2.
TEST(Machine, SpilledRegistersCountAsLocalAccesses) {
  const std::string kVariable = kernel("", R"(
  .local .align 8 .b8 mine[24];
  mov.u64 %rd1, mine;
)");
  const auto counted = [&](std::uint32_t frame) {
    TestDevice t("");
    t.device.set_mode(kCounters);
    t.module = *t.device.load_module(".version 9.0\n.target sm_90\n.address_size 64\n" + kVariable,
                                     {{"k", {32, frame}}});
    return t.launch("k", 2, 70);
  };
  const LaunchResult without = counted(24), little = counted(32 + 40);
  EXPECT_EQ(without.counters.local_requests, 0u);
  EXPECT_EQ(little.counters.local_requests, 2u * 2 * 3 * 10) << "stores and loads of 3 warps in 2 blocks";
  EXPECT_EQ(little.counters.local_sectors, 0u);
  EXPECT_EQ(little.counters.warp_instructions, without.counters.warp_instructions);
  EXPECT_GT(little.modelled_us, without.modelled_us);
  const auto in_l1 = static_cast<std::uint32_t>(TestDevice("").device.options().preset.near_bytes / 70);
  EXPECT_EQ(counted(32 + in_l1 + 40).counters.local_sectors, 2u * 2 * 9 * 10) << "eight lanes share a sector";
}

// The machine code has no frame, so the variable is in a register.
TEST(Machine, LocalVariablesInRegistersCostNothing) {
  const std::string kVariable = kernel(".param .u64 out", R"(
  .local .align 4 .b8 mine[16];
  ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1]; mov.u64 %rd2, mine;
  cvta.local.u64 %rd3, %rd2;
  st.local.u32 [%rd2+4], %r1;
  ld.local.u32 %r2, [%rd2+4];
  ld.u32 %r3, [%rd3+4]; add.u32 %r2, %r2, %r3; st.global.u32 [%rd1], %r2;
)");
  const auto counted = [&](const ResourceTable& compiled) {
    TestDevice t("");
    t.device.set_mode(kCounters);
    t.module = *t.device.load_module(".version 9.0\n.target sm_90\n.address_size 64\n" + kVariable, compiled);
    auto out = t.array<std::uint32_t>(1, 21);
    const LaunchResult result = t.launch("k", 1, 1, out);
    EXPECT_EQ(out.values()[0], 42u);
    return result;
  };
  const LaunchResult in_memory = counted({{"k", {32, 16}}}), in_registers = counted({{"k", {32, 0}}});
  EXPECT_EQ(in_memory.counters.local_sectors, 2u) << "a generic access counts as one to global memory";
  EXPECT_EQ(in_memory.counters.global_load_sectors, 2u);
  EXPECT_EQ(in_registers.counters.global_load_sectors, 1u);
  EXPECT_EQ(counted({}).counters.local_sectors, 2u) << "without machine code, as PTX says";
  EXPECT_EQ(in_registers.counters.local_requests + in_registers.counters.local_sectors, 0u);
  EXPECT_LT(in_registers.modelled_us, in_memory.modelled_us);
  EXPECT_LT(in_registers.counters.chain_clocks, in_memory.counters.chain_clocks);
}

TEST(Machine, TooMuchLocalDataIsRefused) {
  // The last size does not fit in 32 bits.
  for (const char* bytes : {"524289", "1073741824", "4294967296"}) {
    TestDevice t(
        fmt::format(".visible .entry big()\n{{\n  .local .align 4 .b8 big[{}];\n  .reg .b32 %r;\n"
                    "  ld.local.b32 %r, [big];\n  ret;\n}}\n",
                    bytes));
    const LaunchResult result = t.try_launch("big", 1, 32);
    EXPECT_NE(result.fault, Fault::none) << bytes;
    EXPECT_NE(result.text.find("'big' uses too much local data"), std::string::npos) << result.text;
  }
}

// The counters of one warp that runs `body`. In lane i, %a points to global memory, and %s and %g (a generic
// address) to shared memory, each 128 · i bytes from the start.
Counters counted(const std::string& body) {
  TestDevice t(
      ".visible .entry k(.param .u64 in)\n{\n  .reg .pred %p;\n  .reg .b32 %lane, %r, %s;\n"
      "  .reg .b64 %a, %g, %none;\n  .shared .align 128 .b8 s_data[4096];\n"
      "  mov.u32 %lane, %laneid;\n  mov.u32 %s, s_data;\n  mad.lo.u32 %s, %lane, 128, %s;\n"
      "  cvt.u64.u32 %g, %s;\n  cvta.shared.u64 %g, %g;\n  ld.param.u64 %a, [in];\n"
      "  mad.wide.u32 %a, %lane, 128, %a;\n  mov.u64 %none, 64;\n" +
      body + "\n  ret;\n}\n");
  t.device.set_mode(kCounters);
  const auto in = t.array<int>(1024, 0);
  return t.launch("k", 1, 32, in).counters;
}

TEST(Machine, BankConflictsOfAllInstructionsAreCounted) {
  const std::pair<const char*, std::uint64_t> kBodies[] = {
      {"ld.shared.u32 %r, [%s];", 31},
      {"st.shared.v4.u32 [%s], {%r, %r, %r, %r};", 28},  // 16 bytes per lane need at least four
      {"shl.b32 %s, %lane, 4; mov.u32 %r, s_data; add.u32 %s, %s, %r; st.shared.v4.u32 [%s], {%r, %r, %r, "
       "%r};",
       0},
      {"atom.shared.add.u32 %r, [%s], 1;", 31},
      {"red.shared.add.u32 [%s], 1;", 31},
      {"atom.add.u32 %r, [%g], 1;", 31},
      {"cp.async.ca.shared.global [%s], [%a], 4;", 31},
      {"mbarrier.init.shared.b64 [%s], 1;", 30},  // 8 bytes per lane need at least two wavefronts
      // One lane reads global memory; the conflicts of the other lanes remain.
      {"setp.eq.u32 %p, %lane, 0; selp.b64 %g, %a, %g, %p; ld.u32 %r, [%g];", 30},
      {"setp.eq.u32 %p, %lane, 0; selp.b64 %g, %a, %g, %p; atom.add.u32 %r, [%g], 1;", 30},
      {"red.shared.add.u32 [s_data], 1;", 0},  // one address is contention, not a conflict
  };
  for (const auto& [body, conflicts] : kBodies) EXPECT_EQ(counted(body).shared_conflicts, conflicts) << body;
}

// Lane i stores `bytes` bytes in shared and in global memory, at (i · factor ^ flip) % 4096 rounded down to a
// multiple of `bytes`. Lanes whose number has a bit of `off` store nothing.
TEST(Machine, PatternsOfAddressesAreCountedExactly) {
  struct Pattern {
    std::uint32_t factor, flip, off, bytes;
  };
  const auto check = [](const Pattern& p) {
    std::set<std::uint32_t> sectors;
    std::uint32_t wavefronts = 0;
    const std::uint32_t lanes_per_pass = 128 / p.bytes;
    for (std::uint32_t start = 0; start < 32; start += lanes_per_pass) {
      std::map<std::uint32_t, std::set<std::uint32_t>> words_of_bank;
      std::size_t most = 0;
      for (std::uint32_t lane = start; lane < start + lanes_per_pass; ++lane) {
        if ((lane & p.off) != 0) continue;
        const std::uint32_t address = (lane * p.factor ^ p.flip) & (4096 - p.bytes);
        sectors.insert(address / 32);
        for (std::uint32_t word = address / 4; word < (address + p.bytes) / 4; ++word) {
          words_of_bank[word % 32].insert(word);
          most = std::max(most, words_of_bank[word % 32].size());
        }
      }
      wavefronts += static_cast<std::uint32_t>(most);
    }
    const char* form = p.bytes == 4   ? "u32 [{0}], %r;"
                       : p.bytes == 8 ? "u64 [{0}], %none;"
                                      : "v4.u32 [{0}], {{%r, %r, %r, %r}};";
    const auto store = [&](const char* space, const char* at) {
      return fmt::format("  @%p st.{}.", space) + fmt::format(fmt::runtime(form), at) + "\n";
    };
    const Counters c =
        counted(fmt::format("  mul.lo.u32 %r, %lane, {};\n  xor.b32 %r, %r, {};\n  and.b32 %r, %r, {};\n"
                            "  mov.u32 %s, s_data;\n  add.u32 %s, %s, %r;\n  ld.param.u64 %a, [in];\n"
                            "  cvt.u64.u32 %g, %r;\n  add.u64 %a, %a, %g;\n  and.b32 %r, %lane, {};\n"
                            "  setp.eq.u32 %p, %r, 0;\n",
                            p.factor, p.flip, 4096 - p.bytes, p.off) +
                store("shared", "%s") + store("global", "%a"));
    EXPECT_EQ(c.shared_wavefronts, wavefronts) << p.factor << " " << p.flip << " " << p.off << " " << p.bytes;
    EXPECT_EQ(c.global_store_sectors, sectors.size())
        << p.factor << " " << p.flip << " " << p.off << " " << p.bytes;
  };
  for (const std::uint32_t factor : {0u, 4u, 8u, 12u, 20u, 32u, 64u, 128u, 136u, 272u, 1000u, 2064u, 4092u})
    for (const std::uint32_t flip : {0u, 64u, 1028u})
      for (const std::uint32_t off : {0u, 1u, 6u, 16u, 31u})
        for (const std::uint32_t bytes : {4u, 8u, 16u}) check({factor, flip, off, bytes});
}

// As nvcc 13.0's machine code for sm_90 has it: VOTEU or REDUX, and one access.
TEST(Machine, IntegerChangesOfOneAddressAreCombined) {
  const std::pair<const char*, std::uint64_t> kBodies[] = {
      {"red.shared.add.u32 [s_data], 1;", 1},  // lanes with the same address are combined
      {"atom.shared.add.u32 %r, [s_data], 1;", 1},
      {"red.shared.add.u32 [s_data], 2;", 1},
      {"red.shared.add.u32 [s_data], %lane;", 1},
      {"red.shared.max.u32 [s_data], 1;", 1},
      {"atom.shared.max.u32 %r, [s_data], 1; st.shared.u32 [%s], %r;", 32},  // the old values are used
      {"red.shared.inc.u32 [s_data], 1;", 32},
      {"red.shared.add.f32 [s_data], 0f3F800000;", 32},
      {"atom.shared.add.u32 %r, [s_data], 1; st.shared.u32 [%s], %r;", 1},
      {"and.b32 %r, %lane, 0; mov.u32 %s, s_data; add.u32 %s, %s, %r; red.shared.add.u32 [%s], 2;", 32},
      {"red.shared.add.u32 [%s], 1;", 32},  // 32 addresses in one bank
      {"ld.param.u64 %none, [in]; red.global.add.u32 [%none], 1;", 1},
      {"and.b32 %r, %lane, 0; ld.param.u64 %a, [in]; mad.wide.u32 %a, %r, 4, %a; red.global.add.u32 [%a], 1;",
       32},
      {"red.global.add.u32 [%a], 1;", 1},
  };
  for (const auto& [body, turns] : kBodies) EXPECT_EQ(counted(body).atomic_turns, turns) << body;
}

TEST(Machine, LooksThatFindNothingNewAreNoTraffic) {
  // Block 0 waits while block 1 runs through `rounds` rounds of a loop.
  const auto sectors = [](int rounds) {
    TestDevice t(
        ".visible .entry k(.param .u64 in)\n{\n  .reg .pred %p;\n  .reg .b32 %r, %n;\n  .reg .b64 %a;\n"
        "  ld.param.u64 %a, [in];\n  mov.u32 %r, %ctaid.x;\n  setp.eq.u32 %p, %r, 0;\n  @%p bra again;\n"
        "  mov.u32 %n, " +
        std::to_string(rounds) +
        ";\nwork:\n  sub.u32 %n, %n, 1;\n  setp.ne.u32 %p, %n, 0;\n  @%p bra work;\n"
        "  st.volatile.global.u32 [%a], %r;\n  ret;\n"
        "again:\n  ld.volatile.global.u32 %r, [%a];\n  setp.eq.u32 %p, %r, 0;\n  @%p bra again;\n"
        "  ret;\n}\n");
    t.device.set_mode(kCounters);
    return t.launch("k", 2, 32, t.array<int>(1, 0)).counters.global_load_sectors;
  };
  EXPECT_EQ(sectors(1), 2u) << "the first look and the one that finds the flag";
  EXPECT_EQ(sectors(100'000), 2u);
}

// Block 1 hands `n` values to block 0 through one word, which block 0 sets to zero when it has read them.
TEST(Machine, LooksThatFindNewValuesAreTraffic) {
  const auto sectors = [](int n) {
    TestDevice t(
        ".visible .entry k(.param .u64 in)\n{\n  .reg .pred %p;\n  .reg .b32 %r, %n, %none;\n"
        "  .reg .b64 %a;\n  ld.param.u64 %a, [in];\n  mov.u32 %none, 0;\n  mov.u32 %n, " +
        std::to_string(n) +
        ";\n  mov.u32 %r, %ctaid.x;\n  setp.eq.u32 %p, %r, 0;\n  @%p bra take;\n"
        "give:\n  st.volatile.global.u32 [%a], %n;\n"
        "given:\n  ld.volatile.global.u32 %r, [%a];\n  setp.ne.u32 %p, %r, 0;\n  @%p bra given;\n"
        "  sub.u32 %n, %n, 1;\n  setp.ne.u32 %p, %n, 0;\n  @%p bra give;\n  ret;\n"
        "take:\n  ld.volatile.global.u32 %r, [%a];\n  setp.eq.u32 %p, %r, 0;\n  @%p bra take;\n"
        "  st.volatile.global.u32 [%a], %none;\n  setp.ne.u32 %p, %r, 1;\n  @%p bra take;\n  ret;\n}\n");
    t.device.set_mode(kCounters);
    return t.launch("k", 2, 32, t.array<int>(1, 0)).counters.global_load_sectors;
  };
  EXPECT_GE(sectors(20), sectors(10) + 2 * 10);
}

// Other lanes read other words, or the same words change their lanes.
TEST(Machine, LooksAtOtherWordsAreTraffic) {
  const auto sectors = [](const std::string& next) {
    TestDevice t(
        ".visible .entry k(.param .u64 in)\n{\n  .reg .pred %p;\n  .reg .b32 %r, %n, %at;\n"
        "  .reg .b64 %a, %b;\n  ld.param.u64 %a, [in];\n  mov.u32 %n, 32;\n  mov.u32 %at, %laneid;\n"
        "again:\n  mad.wide.u32 %b, %at, 32, %a;\n  ld.volatile.global.u32 %r, [%b];\n  " +
        next + "\n  sub.u32 %n, %n, 1;\n  setp.ne.u32 %p, %n, 0;\n  @%p bra again;\n  ret;\n}\n");
    t.device.set_mode(kCounters);
    return t.launch("k", 1, 32, t.array<int>(32 * 8, 0)).counters.global_load_sectors;
  };
  EXPECT_EQ(sectors(""), 32u);
  EXPECT_EQ(sectors("xor.b32 %at, %at, 1;"), 32u * 32u);
  EXPECT_EQ(sectors("add.u32 %at, %at, 1; and.b32 %at, %at, 31;"), 32u * 32u);
}

// Each lane takes a word: the lock is that of lane 0, or that of lane 5 while others take words of their own.
TEST(Machine, BlocksWithALockTakeTheirTimeInTurn) {
  // `peeled`: the first attempt is outside the loop, where nvcc often puts it.
  const auto clocks = [](unsigned blocks, const std::string& lock, const std::string& unlock, bool peeled,
                         const std::string& lanes) {
    TestDevice t(
        ".visible .entry k(.param .u64 in)\n{\n  .reg .pred %p;\n"
        "  .reg .b32 %r, %one, %none, %top, %minus;\n  .reg .b16 %h, %h0, %h1;\n  .reg .b64 %a;\n"
        "  ld.param.u64 %a, [in];\n  mov.u32 %one, 1;\n  mov.u32 %none, 0;\n  mov.u32 %top, -1;\n"
        "  mov.u32 %minus, -1;\n  mov.u16 %h0, 0;\n  mov.u16 %h1, 1;\n  mov.u32 %r, %laneid;\n" +
        lanes + (peeled ? lock + "\n  setp.eq.u32 %p, %r, 0;\n  @%p bra free;\n" : "") + "again:\n  " + lock +
        "\n  setp.ne.u32 %p, %r, 0;\n  @%p bra again;\nfree:\n  " + unlock + "\n  ret;\n}\n");
    t.device.set_mode(kCounters);
    return t.launch("k", blocks, 32, t.array<int>(32 * 65, 0)).counters.chain_clocks;
  };
  const std::string one = "  setp.ne.u32 %p, %r, 0;\n  @%p exit;\n",
                    many =
                        "  setp.eq.u32 %p, %r, 5;\n  @%p bra again0;\n  mov.u32 %r, %ctaid.x;\n"
                        "  mad.lo.u32 %r, %r, 32, 32;\n  mad.wide.u32 %a, %r, 4, %a;\n"
                        "  mov.u32 %r, %laneid;\n  mad.wide.u32 %a, %r, 4, %a;\nagain0:\n"
                        "  bar.warp.sync -1;\n";
  const std::string store = "st.volatile.global.u32 [%a], %none;";
  const std::pair<std::string, std::string> kLocks[] = {
      {"atom.global.cas.b32 %r, [%a], %none, %one;", store},
      {"atom.global.cas.b32 %r, [%a], %none, %one;", "atom.global.exch.b32 %r, [%a], %none;"},
      {"atom.global.exch.b32 %r, [%a], %one;", store},
      {"atom.global.exch.b32 %r, [%a], %one;", "atom.global.exch.b32 %r, [%a], %none;"},
      {"atom.global.or.b32 %r, [%a], %one;", store},
      {"atom.global.or.b32 %r, [%a], %one;", "red.global.and.b32 [%a], %none;"},
      {"atom.global.max.u32 %r, [%a], %one;", "red.global.min.u32 [%a], %none;"},
      {"atom.global.add.u32 %r, [%a], %one;", "red.global.add.u32 [%a], %minus;"},
      {"atom.global.inc.u32 %r, [%a], %top;", store},
      {"atom.global.cas.b16 %h, [%a], %h0, %h1;\n  cvt.u32.u16 %r, %h;", store},
      {"atom.global.cas.b16 %h, [%a+2], %h0, %h1;\n  cvt.u32.u16 %r, %h;", store},
  };
  for (const auto& [lock, unlock] : kLocks) {
    for (const bool peeled : {false, true})
      for (const std::string& lanes : {one, many})
        EXPECT_GT(clocks(64, lock, unlock, peeled, lanes), 4 * clocks(8, lock, unlock, peeled, lanes))
            << lock << unlock << lanes;
  }
}

// Block b takes a number and waits until the block before it says so: in a word for all, or in its own one.
TEST(Machine, BlocksThatWaitForTheirNumberTakeTurns) {
  const auto clocks = [](unsigned blocks, const std::string& look, const std::string& signal) {
    TestDevice t(
        ".visible .entry k(.param .u64 in)\n{\n  .reg .pred %p;\n  .reg .b32 %r, %q, %n, %one;\n"
        "  .reg .b64 %a, %mine, %next;\n  .reg .b128 %free, %taken, %old;\n  ld.param.u64 %a, [in];\n  "
        "mov.u32 %one, 1;\n  mov.u32 %r, "
        "%laneid;\n"
        "  setp.ne.u32 %p, %r, 0;\n  @%p exit;\n  atom.global.add.u32 %n, [%a], 1;\n"
        "  mad.wide.u32 %mine, %n, 8, %a;\n  add.u64 %mine, %mine, 16;\n  add.u64 %next, %mine, 8;\n"
        "  setp.eq.u32 %p, %n, 0;\n  @%p bra work;\n"
        "again:\n  " +
        look + "\n  @%p bra again;\nwork:\n  " + signal + "\n  ret;\n}\n");
    t.device.set_mode(kCounters);
    return t.launch("k", blocks, 32, t.array<int>(4 * 65 + 32, 0)).counters.chain_clocks;
  };
  const std::string next = "st.volatile.global.u32 [%next+4], %one;";
  const std::pair<std::string, std::string> kTurns[] = {
      {"ld.volatile.global.u32 %r, [%a+8];\n  setp.ne.u32 %p, %r, %n;", "red.global.add.u32 [%a+8], 1;"},
      {"ld.volatile.global.u32 %r, [%mine+4];\n  setp.eq.u32 %p, %r, 0;", next},
      {"ld.volatile.global.v2.u32 {%q, %r}, [%mine];\n  setp.eq.u32 %p, %r, 0;", next},
      {"ld.volatile.global.u8 %r, [%mine+4];\n  setp.eq.u32 %p, %r, 0;", next},
      // Looks by an atomic, in a loop that also does something else.
      {"atom.global.add.u32 %r, [%mine+4], 0;\n  st.volatile.global.u32 [%a+4], %n;\n  setp.eq.u32 %p, %r, "
       "0;",
       "red.global.add.u32 [%next+4], 1;"},
      {"atom.global.or.b32 %r, [%mine+4], 0;\n  st.volatile.global.u32 [%a+4], %n;\n  setp.eq.u32 %p, %r, 0;",
       "red.global.or.b32 [%next+4], 1;"},
      // Of 16 bytes.
      {"mad.wide.u32 %mine, %n, 16, %a;\n  ld.volatile.global.u32 %r, [%mine+64];\n  setp.eq.u32 %p, %r, 0;",
       "mad.wide.u32 %next, %n, 16, %a;\n  mov.b64 %mine, 0;\n  mov.b128 %free, {%mine, %mine};\n  mov.b64 "
       "%mine, 1;\n  mov.b128 %taken, {%mine, %mine};\n  atom.global.cas.b128 %old, [%next+80], %free, "
       "%taken;"},
  };
  for (const auto& [look, signal] : kTurns)
    EXPECT_GT(clocks(64, look, signal), 4 * clocks(8, look, signal)) << look;
}

// Block b writes to its word twice, and between these waits for the first write of the block before it.
TEST(Machine, LooksByAnAtomicAreThoseOfALoad) {
  const auto counters = [](const std::string& look) {
    TestDevice t(
        ".visible .entry k(.param .u64 in)\n{\n  .reg .pred %p;\n  .reg .b32 %r, %n, %one;\n"
        "  .reg .b64 %a, %mine, %before;\n  ld.param.u64 %a, [in];\n  mov.u32 %one, 1;\n"
        "  mov.u32 %r, %laneid;\n  setp.ne.u32 %p, %r, 0;\n  @%p exit;\n  atom.global.add.u32 %n, [%a], 1;\n"
        "  mad.wide.u32 %before, %n, 4, %a;\n  add.u64 %mine, %before, 4;\n"
        "  st.volatile.global.u32 [%mine], %one;\n  setp.eq.u32 %p, %n, 0;\n  @%p bra work;\nagain:\n  " +
        look +
        "\n  setp.eq.u32 %p, %r, 0;\n  @%p bra again;\nwork:\n  st.volatile.global.u32 [%mine], 2;\n"
        "  ret;\n}\n");
    t.device.set_mode(kCounters);
    return t.launch("k", 64, 32, t.array<int>(65, 0)).counters;
  };
  const Counters load = counters("ld.volatile.global.u32 %r, [%before];");
  for (const std::string look :
       {"or.b32 %r, [%before], 0;", "xor.b32 %r, [%before], 0;", "add.u32 %r, [%before], 0;",
        "and.b32 %r, [%before], -1;", "cas.b32 %r, [%before], 0, 0;", "cas.b32 %r, [%before], %one, %one;"}) {
    const Counters atomic = counters("atom.global." + look);
    EXPECT_NEAR(static_cast<double>(atomic.chain_clocks), static_cast<double>(load.chain_clocks),
                0.25 * static_cast<double>(load.chain_clocks))
        << look;
  }
}

// The same with values beside their flag: an aggregate, and a prefix that takes its place.
TEST(Machine, LooksAtValuesBesideAFlagWaitForItsFirstWrite) {
  const auto clocks = [](const std::string& value) {
    TestDevice t(
        ".visible .entry k(.param .u64 in)\n{\n  .reg .pred %p;\n  .reg .b32 %r, %n, %one;\n"
        "  .reg .b64 %a, %mine, %before;\n  ld.param.u64 %a, [in];\n  mov.u32 %one, 1;\n"
        "  mov.u32 %r, %laneid;\n  setp.ne.u32 %p, %r, 0;\n  @%p exit;\n  atom.global.add.u32 %n, [%a], 1;\n"
        "  mad.wide.u32 %before, %n, 4, %a;\n  add.u64 %mine, %before, 4;\n"
        "  st.volatile.global.u32 [%mine+1024], %n;\n  st.volatile.global.u32 [%mine], %one;\n"
        "  setp.eq.u32 %p, %n, 0;\n  @%p bra work;\nagain:\n  ld.volatile.global.u32 %r, [%before];\n"
        "  setp.eq.u32 %p, %r, 0;\n  @%p bra again;\n  ld.volatile.global.u32 %r, [%before+" +
        value +
        "];\nwork:\n  st.volatile.global.u32 [%mine+2048], %r;\n  st.volatile.global.u32 [%mine], 2;\n"
        "  ret;\n}\n");
    t.device.set_mode(kCounters);
    return static_cast<double>(t.launch("k", 64, 32, t.array<int>(1024, 0)).counters.chain_clocks);
  };
  EXPECT_NEAR(clocks("2048"), clocks("1024"), 0.1 * clocks("1024"));
}

TEST(Machine, CountersAndTicketsTakeNoTurns) {
  for (const std::string op : {"atom.global.add.u32 %r, [%a], 3;", "atom.global.add.u32 %r, [%a], 0;",
                               "atom.global.inc.u32 %r, [%a], 1000000;", "red.global.max.u32 [%a], %one;"}) {
    const auto clocks = [&](unsigned blocks) {
      TestDevice t(
          ".visible .entry k(.param .u64 in)\n{\n  .reg .b32 %r, %one;\n  .reg .b64 %a;\n"
          "  ld.param.u64 %a, [in];\n  mov.u32 %one, 1;\n  " +
          op + "\n  " + op + "\n  ret;\n}\n");
      t.device.set_mode(kCounters);
      return t.launch("k", blocks, 32, t.array<int>(32, 0)).counters.chain_clocks;
    };
    EXPECT_LT(clocks(64), 2 * clocks(8)) << op;
  }
}

TEST(Machine, PrefetchesCountAsTraffic) {
  const std::string load = "ld.global.u32 %r, [%a];";
  const std::uint64_t from_memory = counted(load).memory_read_sectors;  // sectors are fetched in pairs
  EXPECT_GT(from_memory, 0u);
  const std::pair<std::string, std::uint64_t> kBodies[] = {
      {"prefetch.global.L2 [%a];", 32},
      {"prefetch.global.L1 [%a+16];", 32},
      {"prefetch.global.L2::evict_last [%a];", 32},
      {"prefetch.L2 [%a];", 32},
      {"prefetchu.L1 [%a];", 32},
      {"cp.async.bulk.prefetch.L2.global [%a], 64;", 2 * 32},
      {"prefetch.global.L2 [%none];", 0},  // neither a fault nor traffic
      {"prefetch.L2 [%g];", 0},
  };
  for (const auto& [body, sectors] : kBodies) {
    const Counters c = counted(body);
    EXPECT_EQ(c.global_load_sectors, sectors) << body;
    EXPECT_EQ(c.global_store_sectors, 0u) << body;
    EXPECT_EQ(c.memory_read_sectors, sectors > 0 ? from_memory : 0) << body;
    EXPECT_EQ(c.memory_write_sectors, 0u) << body;
    EXPECT_EQ(counted(body + load).memory_read_sectors, from_memory) << body << " brings what is then loaded";
  }
}

TEST(Machine, AsynchronousCopiesToSharedMemoryStoreNothing) {
  for (const char* body :
       {"cp.async.ca.shared.global [%s], [%a], 16;", "cp.async.ca.shared.global [%s+16], [%a+32], 16;",
        "cp.async.cg.shared.global [%s+16], [%a+32], 16;",
        "cp.async.cg.shared.global [%s], [%a], 16;\ncp.async.cg.shared.global [%s+16], [%a+32], 16;\n"
        "cp.async.commit_group;\ncp.async.wait_group 0;"}) {
    const Counters c = counted(body);
    EXPECT_EQ(c.global_load_sectors, 32u * c.global_load_requests) << body;
    EXPECT_EQ(c.global_store_sectors, 0u) << body;
    EXPECT_EQ(c.global_store_requests, 0u) << body;
  }
}

TEST(Machine, AsynchronousCopiesReachTheCaches) {
  Counters c = counted("cp.async.ca.shared.global [%s], [%a], 16;");
  EXPECT_EQ(c.memory_read_sectors, counted("ld.global.u32 %r, [%a];").memory_read_sectors);
  EXPECT_EQ(c.memory_write_sectors, 0u);
  c = counted(
      "mbarrier.init.shared.b64 [s_data], 1;\nmov.u32 %s, s_data;\nbar.warp.sync 0xffffffff;\n"
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s+128], [%a], 128, [s_data];");
  EXPECT_EQ(c.memory_read_sectors, 4 * 32u);
  EXPECT_EQ(c.memory_write_sectors, 0u);
  c = counted(
      "cp.async.bulk.global.shared::cta.bulk_group [%a], [%s], 128;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;");
  EXPECT_EQ(c.memory_read_sectors, 0u);
  EXPECT_EQ(c.memory_write_sectors, 4 * 32u);
}

// More instructions of a kind, and more dependent loads, than 16 and 8 bits can count.
TEST(Machine, LongBasicBlocksAreCountedInFull) {
  std::string body;
  for (int k = 0; k < 70000; ++k) body += "  add.u32 %r1, %r1, 1;\n";
  TestDevice adds(".visible .entry adds()\n{\n  .reg .b32 %r1;\n  mov.u32 %r1, %tid.x;\n" + body +
                  "  ret;\n}\n");
  adds.device.set_mode(kCounters);
  const Counters counters = adds.launch("adds", 1, 32).counters;
  EXPECT_EQ(std::accumulate(counters.mix.begin(), counters.mix.end(), std::uint64_t{0}),
            counters.warp_instructions);
  const auto clocks = [](int loads) {
    std::string chase;
    for (int k = 0; k < loads; ++k) chase += "  ld.global.u64 %rd1, [%rd1];\n";
    TestDevice t(
        ".visible .entry chase(.param .u64 start)\n{\n  .reg .b64 %rd1;\n  ld.param.u64 %rd1, [start];\n" +
        chase + "  st.global.u64 [%rd1], %rd1;\n  ret;\n}\n");
    t.device.set_mode(kCounters);
    auto cell = t.array<std::uint64_t>(1);
    cell[0] = cell.address;
    return static_cast<double>(t.launch("chase", 1, 32, cell).counters.chain_clocks);
  };
  EXPECT_GT(clocks(800), 1.8 * clocks(400));
}

// --- output and failure ------------------------------------------------------------------------------------

TEST_F(Compiled, PrintfKnowsTheFormats) {
  testing::internal::CaptureStdout();
  t.launch("formats", 2, 2);
  const std::string text = testing::internal::GetCapturedStdout();
  const std::string lines =
      "plain % text\n"
      "[-7|   42|42   |00042|+42]\n"
      "[4000000000|beef|BEEF|010]\n"
      "[-1099511627776|9223372036854775808|123456789abcdef]\n"
      "[1.500000|2.35| 1.235e+04|0.0001]\n"
      "[x|text|     right|left  |cu]\n"
      "[     7|3.142]\n"
      "[-3|-4|5|4]\n";
  EXPECT_EQ(text, lines + "0:0 0:1 " + lines + "1:0 1:1 ");
}

// What a launch prints after its first 64 MiB is dropped. It must not be formatted, because that takes a
// millisecond for each value with so many digits.
TEST_F(Compiled, PrintfFormatsOnlyWhatIsPrinted) {
  testing::internal::CaptureStdout();
  constexpr double kValue = 5e-324;
  constexpr int kDigits = 65536;
  t.launch("digits", 48, 32, kValue, kDigits);
  const std::string text = testing::internal::GetCapturedStdout();
  std::vector<char> one(2 * kDigits), other(4 * kDigits);
  std::snprintf(one.data(), one.size(), "%.*e", kDigits, kValue);
  std::snprintf(other.data(), other.size(), "[%.*g|%#.*g|%*.*G]", kDigits, kValue, kDigits, kValue, kDigits,
                kDigits, kValue);
  std::string expected;
  for (int lane = 0; lane < 32; ++lane) expected += one.data();
  EXPECT_TRUE(text.starts_with(expected + other.data()));
  EXPECT_GE(text.size(), std::size_t{64} << 20);
}

TEST_F(Compiled, FailedAssertionIsReportedWithItsText) {
  std::vector<int> in(64, 0);
  auto d_in = t.array(in);
  t.launch("checked", 1, 64, d_in);
  d_in[40] = 5;
  const auto r = t.try_launch("checked", 1, 64, d_in);
  EXPECT_EQ(r.fault, Fault::device_assert);
  EXPECT_NE(r.text.find("in[threadIdx.x] != 5"), std::string::npos) << r.text;
  EXPECT_NE(r.text.find("thread 40 of block 0"), std::string::npos) << r.text;
}

TEST_F(Compiled, FaultsNameLineThreadAndObject) {
  auto out = t.array<int>(32);
  t.device.name_buffer(out.address, 128, 4, "d_out", false);
  auto r = t.try_launch("trapped", 1, 32);
  EXPECT_EQ(r.fault, Fault::trap);
  r = t.try_launch("writes_past_end", 1, 32, out, 1);
  EXPECT_EQ(r.fault, Fault::illegal_address);
  EXPECT_NE(r.text.find("thread 31 of block 0"), std::string::npos) << r.text;
  EXPECT_NE(r.text.find("d_out, element 32 of 32"), std::string::npos) << r.text;
  EXPECT_NE(r.text.find("machine_test.cu:"), std::string::npos) << r.text;
  r = t.try_launch("reads_misaligned", 1, 4, out, out);
  EXPECT_EQ(r.fault, Fault::misaligned_address) << r.text;
  r = t.try_launch("shared_past_end", 1, 32, out, 4);
  EXPECT_EQ(r.fault, Fault::illegal_address);
  EXPECT_NE(r.text.find("thread 28"), std::string::npos) << r.text;
  EXPECT_NE(r.text.find("past the end of the block's 128 bytes of shared memory"), std::string::npos)
      << r.text;
}

TEST_F(Compiled, NegativeSharedIndexIsBeforeTheStart) {
  auto out = t.array<int>(32);
  const auto r = t.try_launch("shared_past_end", 1, 32, out, -1);
  EXPECT_EQ(r.fault, Fault::illegal_address);
  EXPECT_NE(r.text.find("before the start of the block's 128 bytes of shared memory"), std::string::npos)
      << r.text;
  EXPECT_NE(r.text.find("shared memory at byte -4, before its start"), std::string::npos) << r.text;
  EXPECT_EQ(r.text.find("past the end"), std::string::npos) << r.text;
}

// At −4, −64, …: an access ends at a small address, or addresses wrap around from lane to lane.
TEST(Machine, AccessesAroundTheAddressSpaceEndFault) {
  const char* const kAccesses[] = {"ld.global.u32 %r, [%a]",
                                   "st.global.u32 [%a], %r",
                                   "ld.u32 %r, [%a]",
                                   "st.u32 [%a], %r",
                                   "atom.add.u32 %r, [%a], 1",
                                   "ld.shared.u32 %r, [%a]",
                                   "st.shared.u32 [%a], %r",
                                   "atom.shared.add.u32 %r, [%a], 1",
                                   "st.local.u32 [%a], %r",
                                   "ld.local.u32 %r, [%a]",
                                   "red.global.add.u32 [%a], 1",
                                   "ld.global.v4.u32 {%r, %r, %r, %r}, [%a+-12]"};
  for (const char* access : kAccesses)
    for (const char* apart : {"0", "4"}) {
      TestDevice t(
          std::string(".visible .entry k()\n{\n  .reg .b32 %r;\n  .reg .b64 %a;\n  .shared .b32 cell;\n"
                      "  .local .b32 mine;\n  mov.u32 %r, %laneid;\n  mul.wide.u32 %a, %r, ") +
          apart + ";\n  sub.u64 %a, %a, " + (*apart == '0' ? "4" : "64") + ";\n  " + access +
          ";\n  ret;\n}\n");
      const auto r = t.try_launch("k", 1, 32);
      EXPECT_TRUE(r.fault == Fault::illegal_address || r.fault == Fault::misaligned_address)
          << access << ": " << r.text;
    }
}

// --- not simulated

// The reported line is the kernel's own, not that of the header that contains the call.
TEST(Machine, DeviceRuntimeCallsAreRefusedWithAMessage) {
  constexpr struct {
    const char *function, *words;
  } kCalls[] = {{"__cudaCDP2MemsetAsync_ptsz", "cudaMemsetAsync, called by a kernel,"},
                {"cudaGraphSetConditional", "conditional graph nodes"},
                {"mine", "the function 'mine' has no body"}};
  for (const auto& [function, words] : kCalls) {
    TestDevice t(
        fmt::format(".file 1 \"mine.cu\"\n.file 2 \"theirs.h\"\n.extern .func {0}();\n"
                    ".visible .entry k()\n{{\n  .loc 1 5 5\n"
                    "  .loc 2 727 5, function_name $name, inlined_at 1 5 5\n  call {0};\n  ret;\n}}\n"
                    ".section .debug_str\n{{\n$name:\n.b8 105,110,0\n}}\n",
                    function));
    const auto r = t.try_launch("k", 1, 32);
    EXPECT_EQ(r.fault, Fault::illegal_instruction);
    EXPECT_NE(r.text.find(words), std::string::npos) << r.text;
    EXPECT_NE(r.text.find("in k (mine.cu:5, through theirs.h:727)"), std::string::npos) << r.text;
    EXPECT_TRUE(r.not_simulated);
    ASSERT_EQ(t.device.findings().size(), 1u);
    EXPECT_EQ(t.device.findings()[0].kind, "not-simulated");
  }
}

// nvcc gives line 0 to what it moves out of a loop.
TEST(Machine, InstructionsOfLineZeroCountForTheNextLine) {
  TestDevice t(
      ".file 1 \"mine.cu\"\n.visible .entry k()\n{\n  .reg .b64 %rd<2>;\n  .loc 1 5 5\n  mov.b64 %rd1, 0;\n"
      "  .loc 1 0 5\n  st.global.b64 [%rd1], %rd1;\n  .loc 1 8 9\n  ret;\n}\n");
  const auto r = t.try_launch("k", 1, 1);
  EXPECT_EQ(r.fault, Fault::illegal_address);
  EXPECT_NE(r.text.find("mine.cu:8"), std::string::npos) << r.text;
}

TEST(Machine, SparseMatrixOperandIsRefused) {
  TestDevice t(
      ".visible .entry k()\n{\n  .reg .b32 %a<4>, %b<4>, %c<4>, %d<4>, %meta;\n"
      "  mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, "
      "{%b0,%b1,%b2,%b3}, {%c0,%c1,%c2,%c3}, %meta, 0x0;\n  ret;\n}\n");
  const auto r = t.try_launch("k", 1, 32);
  EXPECT_EQ(r.fault, Fault::illegal_instruction);
  EXPECT_NE(r.text.find("operand 5 (%meta): not supported: .sp, a sparse matrix"), std::string::npos)
      << r.text;
}

// More blocks than can be simulated; the program itself has no fault.
TEST_F(Compiled, TooManyBlocksAreReported) {
  for (const Dim3& grid : {Dim3{0x7fffffff, 65535, 65535}, Dim3{0x7fffffff, 1, 1}}) {
    const auto r = t.try_launch("trapped", Shape{grid, {1, 1, 1}});
    EXPECT_EQ(r.fault, Fault::launch_timeout);
    EXPECT_NE(r.text.find("blocks"), std::string::npos) << r.text;
  }
}

// --- reports of the host about memory

TEST_F(Compiled, ForgottenWritesCountAsUninitialised) {
  const auto in = t.array<int>(std::vector<int>{3, 1, 7, 0});
  auto out = t.array<int>(64, 0);
  t.launch("break_and_continue", 1, 32, in, 4, out);  // without a checker
  const std::vector<int> right = out.values();
  t.device.set_mode(kInitcheck);
  t.launch("break_and_continue", 1, 32, in, 4, out);
  EXPECT_TRUE(t.device.findings().empty()) << "nobody watched who wrote what";

  t.device.forget_writes(in.address + 8, 8);
  t.launch("break_and_continue", 1, 32, in, 4, out);
  ASSERT_FALSE(t.device.findings().empty());
  EXPECT_EQ(t.device.findings()[0].checker, Checker::initcheck);
  EXPECT_EQ(out.values(), right) << "the contents stay";
}

}  // namespace
}  // namespace course::sim
