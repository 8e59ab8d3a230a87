// SPDX-License-Identifier: MIT
// The timing model must report the right limiter for kernels whose limiter is clear from first principles,
// with the H200's constants if no other chip is named.

#include <initializer_list>

#include "sim/chips/presets.hpp"
#include "sim/launch_limits.hpp"
#include "sim/testing/test_device.hpp"
#include "sim/timing/bounds.hpp"
#include "sim/timing/model.hpp"

namespace course::sim {
namespace {

// The start of all kernels: %r4 is the thread's index in the grid, %rd1 the data, %r5 a count.
constexpr std::string_view kHead = R"(
.const .align 4 .b32 table[1024];
.visible .entry k(.param .u64 data, .param .u32 n) {
  .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .pred %p<4>;
  .shared .align 16 .b32 cells[8192];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u64 %rd1, [data]; ld.param.u32 %r5, [n];
  mov.u32 %r6, cells; mov.u32 %r7, 0;
)";

struct Kernel {
  std::string body;
  std::uint32_t blocks, threads, n;
  std::uint64_t bytes;  // of data
};

const std::string kNoUnroll = ".pragma \"nounroll\";";

// Repeats `body` n times; %r7 is the loop counter.
std::string repeated(const std::string& body, const std::string& pragma = kNoUnroll) {
  return "again:\n" + pragma + body + "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r5; @%p1 bra again;\n";
}

// `ahead`: bytes that are allocated before the data.
LaunchResult run(const Kernel& k, std::uint64_t ahead = 0, const char* chip = "h200") {
  DeviceOptions options;
  options.preset = *cudart::find_preset(chip);
  options.preset.global_memory = std::uint64_t{256} << 20;
  options.host_threads = 1;
  Device device(options);
  const std::string ptx =
      ".version 9.0\n.target sm_90\n.address_size 64\n" + std::string(kHead) + k.body + "ret;\n}\n";
  const auto module = device.load_module(ptx, {{"k", {32}}});
  EXPECT_TRUE(module) << (module ? "" : module.error().text);
  if (!module) return {};
  if (ahead > 0) static_cast<void>(device.allocate(ahead, MemoryKind::device));
  const std::uint64_t data = *device.allocate(k.bytes, MemoryKind::device);
  Arguments arguments;
  arguments.add(data);
  arguments.add(k.n);
  LaunchRequest request;
  request.kernel = *device.find_kernel(*module, "k");
  request.grid.x = k.blocks;
  request.block.x = k.threads;
  request.parameters = arguments.bytes();
  LaunchResult result = device.launch(request);
  EXPECT_EQ(result.fault, Fault::none) << result.text;
  return result;
}

std::string bound_of(const Kernel& k, const char* chip = "h200") {
  return run(k, 0, chip).bound_by;
}

// All data also pass through the L2 cache. A profiler shows that on an H200 it is busier than the memory; on
// a chip with slow memory it is not.
TEST(Bottleneck, OfCopiesIsTheL2CacheOrTheMemoryBehindIt) {
  const Kernel copy{R"(mul.wide.u32 %rd2, %r4, 16; add.u64 %rd3, %rd1, %rd2;
    ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd3];
    st.global.v4.u32 [%rd3 + 33554432], {%r10, %r11, %r12, %r13};)",
                    8192, 256, 0, 1 << 26};
  EXPECT_EQ(bound_of(copy), name_of(Bound::second_level_cache));
  EXPECT_EQ(bound_of(copy, "rtx4060"), name_of(Bound::memory));
}

// One word of each line: for 4 requested bytes 32 are moved.
TEST(Bottleneck, OfStridedReadsIsTheL2CacheOrTheMemoryBehindIt) {
  const Kernel strided{
      R"(mul.wide.u32 %rd2, %r4, 128; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r10, [%rd3];
    ld.global.u32 %r11, [%rd3 + 67108864]; add.u32 %r10, %r10, %r11; st.global.u32 [%rd3], %r10;)",
      512, 1024, 0, 1 << 27};
  EXPECT_EQ(bound_of(strided), name_of(Bound::second_level_cache));
  EXPECT_EQ(bound_of(strided, "rtx4060"), name_of(Bound::memory));
}

// Scattered words in 2 MiB: all are in the L2 cache, each in a sector that the warp has not loaded before.
TEST(Bottleneck, OfScatteredReadsIn2MiBIsL2) {
  EXPECT_EQ(
      bound_of(
          {repeated(R"(mad.lo.u32 %r8, %r7, 270336, %r4; mul.lo.u32 %r8, %r8, 5281; and.b32 %r8, %r8, 65535;
    mul.wide.u32 %rd2, %r8, 32; add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r10, [%rd3]; add.u32 %r11, %r11, %r10;)"),
           264, 1024, 64, 1 << 21}),
      name_of(Bound::second_level_cache));
}

TEST(Bottleneck, OfBankConflictsIsSharedMemory) {
  const std::string access =
      "ld.shared.u32 %r10, [%r8]; ld.shared.u32 %r11, [%r8 + 4]; add.u32 %r12, %r10, %r11; xor.b32 %r13, "
      "%r13, %r12;"
      "add.u32 %r14, %r13, %r11; xor.b32 %r15, %r14, %r12; add.u32 %r16, %r14, %r15; xor.b32 %r17, %r17, "
      "%r16;";
  const std::string in_one_bank = "and.b32 %r9, %r3, 31; mad.lo.u32 %r8, %r9, 128, %r6;\n";
  EXPECT_EQ(bound_of({in_one_bank + repeated(access), 264, 1024, 64, 256}),
            name_of(Bound::shared_memory_and_l1));
  const std::string side_by_side = "and.b32 %r9, %r3, 31; mad.lo.u32 %r8, %r9, 4, %r6;\n";
  EXPECT_EQ(bound_of({side_by_side + repeated(access), 264, 1024, 64, 256}), name_of(Bound::issue));
}

TEST(Bottleneck, OfArithmeticIsIssue) {
  EXPECT_EQ(bound_of({repeated("add.u32 %r10, %r10, %r4; xor.b32 %r11, %r11, %r10; add.u32 %r12, %r12, %r4;"),
                      264, 1024, 256, 256}),
            name_of(Bound::issue));
}

// On a GPU the assembler makes tens of instructions of each.
TEST(Bottleneck, RoutinesTakeAsLongAsTheirInstructions) {
  const auto us = [](const char* instruction) {
    return run({repeated(instruction), 132, 256, 512, 256}).modelled_us;
  };
  EXPECT_GT(us("fns.b32 %r10, %r4, %r7, 1;"), 4 * us("popc.b32 %r10, %r4;"));
  EXPECT_GT(us("div.u64 %rd3, %rd1, %rd2;"), 3 * us("div.u32 %r10, %r4, %r5;"));
  EXPECT_GT(us("rem.s64 %rd3, %rd1, %rd2;"), 3 * us("rem.s32 %r10, %r4, %r5;"));
  EXPECT_GT(us("{.reg .f32 %f<3>; sqrt.rn.f32 %f1, %f2;}"),
            us("{.reg .f32 %f<3>; sqrt.approx.f32 %f1, %f2;}"));
  for (const char* exact : {"div.rn.f64 %d1, %d2, %d3;", "sqrt.rn.f64 %d1, %d2;", "rcp.rn.f64 %d1, %d2;"})
    EXPECT_GT(us(std::string("{.reg .f64 %d<4>; ").append(exact).append("}").c_str()),
              4 * us("{.reg .f64 %d<4>; rcp.approx.ftz.f64 %d1, %d2;}"))
        << exact;
}

TEST(Bottleneck, OfAtomicsAtOneAddressIsTheirSerialisation) {
  EXPECT_EQ(bound_of({"red.global.add.u32 [%rd1], 1;", 512, 256, 0, 256}), name_of(Bound::global_atomics));
  EXPECT_EQ(
      bound_of({repeated("and.b32 %r12, %laneid, 0; add.u32 %r12, %r12, %r6; red.shared.add.u32 [%r12], %r4; "
                         "atom.shared.add.u32 %r10, [%r12 + 4], 1; add.u32 %r11, %r11, %r10;"),
                264, 1024, 16, 256}),
      name_of(Bound::shared_atomics));
}

// The assembler makes loops of compare-and-swap of all others.
TEST(Bottleneck, OnlyAdditionsOf32BitIntegersAreOneInstructionInSharedMemory) {
  const auto us = [](const char* addition) {
    return run({repeated(addition), 264, 1024, 64, 256}).modelled_us;
  };
  const double integers = us("red.shared.add.u32 [%r6], %r4;");
  EXPECT_GT(us("{.reg .f32 %f<2>; mov.f32 %f1, 0f3f800000; red.shared.add.f32 [%r6], %f1;}"), 3 * integers);
  EXPECT_GT(us("red.shared.add.u64 [%r6], %rd3;"), 3 * integers);
}

// The others return at once, so a GPU takes as long as without them.
TEST(Bottleneck, FewBlocksThatDoAllTakeAsLongAsWithoutTheOthers) {
  const std::string returns = "setp.ge.u32 %p2, %r1, 4; @%p2 ret; ";
  struct Work {
    const char* body;
    std::uint32_t rounds;
  };
  for (const Work& work :
       {Work{"add.u32 %r10, %r10, %r4; xor.b32 %r11, %r11, %r10; add.u32 %r12, %r12, %r4;", 512},
        Work{"mad.lo.u32 %r8, %r3, 128, %r6; and.b32 %r8, %r8, 16383; ld.shared.u32 %r10, [%r8];", 64},
        Work{"red.shared.add.u32 [%r6], %r4;", 64}}) {
    const auto us = [&](std::uint32_t blocks) {
      return run({returns + repeated(work.body), blocks, 1024, work.rounds, 1 << 24}).modelled_us;
    };
    EXPECT_GT(us(264), 0.98 * us(4)) << work.body;
    EXPECT_LT(us(264), 1.1 * us(4)) << work.body;
  }
}

// A multiprocessor gets at most 64 bytes per clock, however many are in flight.
TEST(Bottleneck, FewBlocksLoadSlowly) {
  const auto us = [](std::uint32_t blocks) {  // for 16 MiB
    const std::uint32_t step = blocks * 1024;
    std::string loads = "mad.lo.u32 %r8, %r7, " + std::to_string(8 * step) +
                        ", %r4; mul.wide.u32 %rd2, %r8, 16; add.u64 %rd3, %rd1, %rd2;";
    for (std::uint32_t k = 0; k < 8; ++k)
      loads += "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd3 + " + std::to_string(16 * k * step) + "];";
    return run({repeated(loads), blocks, 1024, 128 / blocks, 1 << 24}).modelled_us;
  };
  EXPECT_GT(us(4), 4 * us(128));
}

// Dependent reads in one warp.
TEST(Bottleneck, OfDependentReadsIsLatency) {
  EXPECT_EQ(
      bound_of(
          {"mov.u32 %r10, 0;" +
               repeated(
                   R"(mul.wide.u32 %rd2, %r10, 4096; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r10, [%rd3];)"),
           1, 32, 64, 1 << 20}),
      name_of(Bound::latency));
}

TEST(Bottleneck, OfLittleWorkIsTheLaunch) {
  EXPECT_EQ(bound_of({"", 1, 32, 0, 256}), name_of(Bound::launch));
  EXPECT_EQ(bound_of({"mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r4;", 4,
                      256, 0, 4096}),
            name_of(Bound::launch));
}

TEST(Bottleneck, OfManyEmptyBlocksIsStartingBlocks) {
  EXPECT_EQ(bound_of({"", 65536, 32, 0, 256}), name_of(Bound::starting_blocks));
}

// Clocks of a warp for each iteration that reads new lines. `body` in parts.
double clocks_of(std::initializer_list<std::string> parts, const std::string& pragma = kNoUnroll) {
  std::string body;
  for (const std::string& part : parts) body += part;

  const std::string address =
      "mad.lo.u32 %r8, %r7, 4096, %r4; mul.wide.u32 %rd2, %r8, 4; add.u64 %rd3, %rd1, %rd2;"
      "setp.lt.u32 %p2, %r8, 100000000;";
  constexpr std::uint32_t kRounds = 64;
  const LaunchResult result = run({repeated(address + body, pragma), 1, 32, kRounds, 1 << 21});
  return static_cast<double>(result.counters.chain_clocks) / kRounds;
}

double clocks_of(const std::string& body) {
  return clocks_of({body});
}

const std::string kLoad = "ld.global.u32 %r10, [%rd3]; add.u32 %r11, %r11, %r10;";

// The assembler replaces a branch over few instructions by guards and issues both loads before the first sum.
TEST(Latency, OfIndependentLoadsIsCountedOnce) {
  const double one = clocks_of(kLoad);
  const std::string other = "ld.global.u32 %r12, [%rd3 + 1048576]; add.u32 %r11, %r11, %r12;";
  EXPECT_LT(clocks_of(kLoad + other), 1.2 * one);
  EXPECT_LT(clocks_of(kLoad + "@!%p2 bra over;" + other + "over:"), 1.2 * one);
}

// The assembler unrolls a small loop that only computes and loads, unless each load needs the one before.
TEST(Latency, OfLoadsInASmallLoopIsSharedByFourIterations) {
  const double one = clocks_of(kLoad);
  EXPECT_LT(clocks_of({kLoad}, ""), 0.5 * one);
  const std::string chain =
      "and.b32 %r13, %r13, 1; mul.wide.u32 %rd4, %r13, 4; add.u64 %rd5, %rd3, %rd4; ld.global.u32 %r13, "
      "[%rd5];";
  std::string many;
  for (int k = 0; k < 50; ++k) many += "add.u32 %r20, %r20, 1;";
  for (const std::string& other :
       {chain, many, std::string("st.global.u32 [%rd3], %r11;"), std::string("red.global.add.u32 [%rd3], 1;"),
        std::string("ld.volatile.global.u32 %r12, [%rd3];"), std::string("bar.sync 0;")})
    EXPECT_GT(clocks_of({kLoad, other}, ""), 0.9 * one) << other;
}

TEST(Latency, OfDependentLoadsIsCountedForEach) {
  const double one = clocks_of(kLoad);
  const std::string other =
      "and.b32 %r12, %r10, 1; mul.wide.u32 %rd4, %r12, 4; add.u64 %rd5, %rd3, %rd4;"
      "ld.global.u32 %r12, [%rd5 + 1048576]; add.u32 %r11, %r11, %r12;";
  EXPECT_GT(clocks_of(kLoad + other), 1.8 * one);
  EXPECT_GT(clocks_of(kLoad + "@!%p2 bra over;" + other + "over:"), 1.8 * one);
}

// The store may be to the address of the second load, unless that load says that nothing writes there.
TEST(Latency, OfALoadIncludesAnEarlierStoresOperand) {
  const double one = clocks_of(kLoad);
  const std::string store = "st.global.u32 [%rd3], %r11;";
  EXPECT_GT(clocks_of(kLoad + store + "ld.global.u32 %r12, [%rd3 + 1048576]; add.u32 %r11, %r11, %r12;"),
            1.8 * one);
  EXPECT_LT(clocks_of(kLoad + store + "ld.global.nc.u32 %r12, [%rd3 + 1048576]; add.u32 %r11, %r11, %r12;"),
            1.2 * one);
}

TEST(Latency, OfGuardedLoadsAfterAShuffleIsCountedAgain) {
  const std::string sum = "shfl.sync.down.b32 %r12, %r10, 1, 31, -1; add.u32 %r11, %r11, %r12;";
  const std::string other =
      "@!%p2 bra over; ld.global.u32 %r12, [%rd3 + 1048576]; add.u32 %r11, %r11, %r12; over:";
  EXPECT_GT(clocks_of(kLoad + sum + other), 1.8 * clocks_of(kLoad + sum));
}

TEST(ModelledTimes, DoNotDependOnAddresses) {
  const std::string two_arrays =
      "mad.lo.u32 %r8, %r7, 65536, %r4; and.b32 %r8, %r8, 262143; mul.wide.u32 %rd2, %r8, 4;"
      "add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r10, [%rd3]; ld.global.u32 %r11, [%rd3 + 1048576];"
      "add.u32 %r10, %r10, %r11; st.global.u32 [%rd3 + 2097152], %r10; red.global.add.u32 [%rd3], 1;";
  const std::string scattered =
      "mad.lo.u32 %r8, %r7, 270336, %r4; mul.lo.u32 %r8, %r8, 5281; and.b32 %r8, %r8, 524287;"
      "mul.wide.u32 %rd2, %r8, 4; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r10, [%rd3];"
      "and.b32 %r10, %r8, 1023; mul.wide.u32 %rd4, %r10, 4; add.u64 %rd4, %rd1, %rd4; red.global.add.u32 "
      "[%rd4], 1;";
  for (const std::string& body : {two_arrays, scattered}) {
    const Kernel kernel{repeated(body), 128, 256, 16, 4 << 20};
    const double us = run(kernel).modelled_us;
    for (const std::uint64_t ahead : {256u, 512u, 4096u + 256u, 1u << 20, (3u << 20) + 256u})
      EXPECT_EQ(run(kernel, ahead).modelled_us, us) << ahead;
  }
}

// Modelled times must show whether the chip was measured.
TEST(Chips, StateWhetherTheyWereMeasured) {
  int fitted = 0;
  for (const cudart::NamedPreset& chip : cudart::presets()) {
    const bool says_so = chip.preset.name.ends_with("(uncalibrated)");
    EXPECT_EQ(says_so, chip.key != "h200") << chip.key;
    fitted += says_so ? 0 : 1;
    EXPECT_GT(chip.preset.timing.l2_sectors_per_clock, 1) << chip.key;
    EXPECT_EQ(chip.preset.timing.memory_latency, cudart::presets().front().preset.timing.memory_latency)
        << chip.key;
  }
  EXPECT_EQ(fitted, 1);
}

// The T4's preset reserves no shared memory for each block.
TEST(Occupancy, BlocksWithoutSharedMemoryFitOnEveryChip) {
  for (const cudart::NamedPreset& chip : cudart::presets())
    EXPECT_EQ(blocks_per_multiprocessor(chip.preset, 256, 32, 0),
              chip.preset.max_threads_per_multiprocessor / 256)
        << chip.key;
}

// The values are those of the CUDA toolkit's cuda_occupancy.h for compute capability 9.0.
TEST(Occupancy, PartitionsHoldRegistersOfWholeWarps) {
  const DevicePreset& chip = *cudart::find_preset("h100");
  EXPECT_EQ(blocks_per_multiprocessor(chip, 1024, 64, 0), 1);
  EXPECT_EQ(blocks_per_multiprocessor(chip, 1024, 65, 0), 0);
  EXPECT_EQ(blocks_per_multiprocessor(chip, 960, 66, 0), 0) << "65536 / (72 · 32) is 28 warps";
  EXPECT_EQ(blocks_per_multiprocessor(chip, 32, 88, 0), 20) << "5 warps in each partition";
  EXPECT_EQ(blocks_per_multiprocessor(chip, 256, 32, 0), 8);
}

// A copy that a thread waits for at once takes as long as a load.
TEST(Latency, OfCopiesEndsWithTheirWait) {
  const double one = clocks_of(kLoad);
  const std::string copy = "cp.async.ca.shared.global [%r6], [%rd3], 4; cp.async.commit_group;",
                    use = "ld.shared.u32 %r10, [%r6]; add.u32 %r11, %r11, %r10;";
  EXPECT_GT(clocks_of(copy + "cp.async.wait_group 0;" + use), 0.9 * one);
  EXPECT_GT(clocks_of(copy + "cp.async.wait_all;" + use), 0.9 * one);
  EXPECT_GT(clocks_of(copy + "bar.sync 0; cp.async.wait_all; bar.sync 0;" + use), 0.9 * one);
  const double ahead = clocks_of(copy + "cp.async.wait_group 4;" + use);
  EXPECT_LT(ahead, 0.4 * one) << "five copies are on their way";
  EXPECT_GT(ahead, 0.1 * one);
}

// More arithmetic in a row than a load takes.
std::string long_work() {
  std::string work;
  for (int k = 0; k < 250; ++k) work += "add.u32 %r20, %r20, %r21; xor.b32 %r21, %r21, %r20;\n";
  return work;
}

TEST(Latency, OfCopiesOverlapsWithWorkBeforeTheWait) {
  const std::string copy = "cp.async.ca.shared.global [%r6], [%rd3], 4;", wait = "cp.async.wait_all;";
  const double work = clocks_of(long_work());
  EXPECT_LT(clocks_of(copy + long_work() + wait), 1.2 * work);
  EXPECT_GT(clocks_of(long_work() + copy + wait), 1.2 * work);
  EXPECT_GT(clocks_of(long_work() + copy + "bar.sync 0;" + wait), 1.2 * work);
}

TEST(Latency, OfLoadsIsNotHiddenByPrefetchesJustBefore) {
  const double one = clocks_of(kLoad);
  for (const std::string before :
       {"prefetch.global.L1 [%rd3];", "prefetch.global.L2 [%rd3];", "prefetch.L1 [%rd3];",
        "prefetchu.L1 [%rd3];", "cp.async.bulk.prefetch.L2.global [%rd3], 128;",
        "cp.async.ca.shared.global [%r6], [%rd3], 4;"}) {
    EXPECT_GT(clocks_of({before, kLoad}), 0.9 * one) << before;
    EXPECT_GT(clocks_of({before, "bar.sync 0;", kLoad}), 0.9 * one) << before;
    EXPECT_GT(clocks_of({before, "@!%p2 bra over;", kLoad, "over:"}), 0.9 * one) << before;
  }
}

TEST(Latency, OfLoadsIsHiddenByPrefetchesFarAhead) {
  const double work = clocks_of(long_work());
  EXPECT_LT(clocks_of("prefetch.global.L1 [%rd3];" + long_work() + kLoad), work + 150);
  EXPECT_LT(clocks_of("prefetch.global.L1 [%rd3];" + long_work() + "bar.sync 0;" + kLoad), work + 150);
}

// Blocks that use atomics or strong accesses may wait for each other.
TEST(Latency, OfStrongLoadsIsThatOfTheirMemory) {
  const double one = clocks_of(kLoad);
  for (const std::string kind : {"volatile", "relaxed.gpu", "acquire.gpu", "relaxed.cta"})
    EXPECT_GT(clocks_of({"ld.", kind, ".global.u32 %r10, [%rd3]; add.u32 %r11, %r11, %r10;"}), 0.9 * one)
        << kind;
}

// One different word after the other.
TEST(Latency, OfConstantsGrowsWithTheNumberOfWords) {
  const auto clocks = [](const std::string& offset, const std::string& load = "u32 %r10") {
    return clocks_of({offset,
                      "cvt.u64.u32 %rd4, %r12; mov.u64 %rd5, table; add.u64 %rd4, %rd4, %rd5; ld.const.",
                      load, ", [%rd4]; add.u32 %r11, %r11, %r10;"});
  };
  const double one = clocks("and.b32 %r12, %r3, 0;");
  EXPECT_GE(clocks("mul.lo.u32 %r12, %r3, 4;"), one + 31);
  EXPECT_EQ(clocks("and.b32 %r12, %r3, 3;", "u8 %r10"), one);
}

// All later accesses come after an acquire, whatever they access.
TEST(Latency, OfAcquiresIsCountedForEach) {
  const auto clocks = [](const std::string& kind) {
    return clocks_of({"ld.", kind, ".gpu.global.u32 %r10, [%rd3]; ld.", kind,
                      ".gpu.global.u32 %r12, [%rd3 + 1048576]; add.u32 %r11, %r10, %r12;"});
  };
  EXPECT_GT(clocks("acquire"), 1.8 * clocks("relaxed"));
  EXPECT_GT(clocks_of("ld.acquire.gpu.global.u32 %r10, [%rd3];" + kLoad), 1.8 * clocks_of(kLoad));
  EXPECT_LT(clocks_of("ld.relaxed.gpu.global.u32 %r10, [%rd3];" + kLoad), 1.2 * clocks_of(kLoad));
}

// Reading the same word again is only waiting if the warp does nothing else meanwhile.
TEST(Latency, OfWorkBetweenTwoLooksIsCounted) {
  const double one = clocks_of(kLoad);
  for (const std::string look :
       {"ld.volatile.global.u32 %r12, [%rd1];", "atom.global.add.u32 %r12, [%rd1], 0;",
        "atom.global.cas.b32 %r12, [%rd1], 0, 0;"}) {
    EXPECT_GT(clocks_of({look, kLoad}), 0.9 * one) << look;
    // Lanes other than the first one read data with the same instruction.
    const std::string mixed =
        "setp.eq.u32 %p3, %r3, 0; selp.b64 %rd4, %rd1, %rd3, %p3;"
        "ld.volatile.global.u32 %r10, [%rd4]; add.u32 %r11, %r11, %r10;";
    EXPECT_GT(clocks_of(mixed), 0.9 * one);
  }
}

}  // namespace
}  // namespace course::sim
