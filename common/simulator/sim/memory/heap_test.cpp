// SPDX-License-Identifier: MIT
// The heap of malloc() in kernels, and memory that is returned to the host.

#include <cinttypes>
#include <cstdio>

#include "sim/testing/test_device.hpp"

namespace course::sim {
namespace {

// A module with the kernel `k`, on a device with all checkers.
struct Bench {
  explicit Bench(const std::string& ptx) : test(ptx) {
    test.device.set_mode(kAllChecks);
    out = test.array<std::uint32_t>(64, 7u);
  }
  LaunchResult operator()(std::uint32_t n) { return test.try_launch("k", {}, out, n); }

  TestDevice test;
  DeviceArray<std::uint32_t> out;
};

// A sanitizer's own shadow and quarantine are resident, too.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Pages of physical memory in the large mappings of this process: the memory of devices, and its shadows.
std::uint64_t resident_pages() {
  constexpr std::uint64_t kLarge = 1 << 30, kPage = 4096;
  std::ifstream smaps("/proc/self/smaps");
  std::uint64_t pages = 0, size = 0;
  for (std::string line; std::getline(smaps, line);) {
    std::uint64_t from = 0, to = 0, rss_kb = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " ", &from, &to) == 2) size = to - from;
    if (std::sscanf(line.c_str(), "Rss: %" SCNu64, &rss_kb) == 1 && size >= kLarge)
      pages += rss_kb * 1024 / kPage;
  }
  return pages;
}

constexpr const char* kMallocs = R"(
.extern .func (.param .b64 r) malloc(.param .b64 n);
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p; ld.param.u64 %rd0, [out]; ld.param.u32 %r0, [n];
  LOOP: mov.u64 %rd1, 4096;
  { .param .b64 a; .param .b64 b; st.param.b64 [a], %rd1; call (b), malloc, (a); ld.param.b64 %rd2, [b]; }
  setp.eq.u64 %p, %rd2, 0; @%p bra DONE;
  st.u8 [%rd2], %r0; st.global.u64 [%rd0], %rd2; add.u32 %r0, %r0, -1; setp.ne.u32 %p, %r0, 0;
  @%p bra LOOP;
  DONE: ret;
}
)";

TEST(Heap, IsTheSameAfterItWasEmptied) {
  if (kSanitized) GTEST_SKIP() << "counts resident pages";
  Bench run(kMallocs);
  const std::uint64_t free_bytes = run.test.device.free_bytes();
  std::uint64_t first = 0, address = 0;
  run(1);
  std::memcpy(&first, run.out.data(), sizeof first);
  std::uint64_t pages = 0;
  for (int k = 0; k < 40; ++k) {
    run.test.device.empty_heap();
    if (k == 2) pages = resident_pages();
    EXPECT_EQ(run(100000).fault, Fault::none);
    EXPECT_EQ(run.test.device.free_bytes(), free_bytes) << "host code would see what kernels allocate";
  }
  run.test.device.empty_heap();
  constexpr std::uint64_t kPagesOfAHeap = 2048;  // 8 MiB
  EXPECT_GT(pages, 0u);
  EXPECT_LT(resident_pages(), pages + kPagesOfAHeap / 4);
  run(1);
  std::memcpy(&address, run.out.data(), sizeof address);
  EXPECT_EQ(address, first);
}

TEST(Heap, FreshMemoryCountsAsUninitialisedAgain) {
  const std::string reads = std::string(kMallocs).replace(std::string(kMallocs).find("st.u8 [%rd2], %r0;"),
                                                          18, "ld.u8 %r1, [%rd2]; st.u8 [%rd2+64], %r1;");
  Bench run(reads);
  for (int k = 0; k < 3; ++k) {
    run.test.device.empty_heap();
    run.test.device.reset_report();
    EXPECT_EQ(run(5).fault, Fault::none);
    ASSERT_EQ(run.test.device.findings().size(), 1u) << k;
    EXPECT_EQ(run.test.device.findings()[0].kind, "uninitialised-global");
  }
}

constexpr const char* kStores = R"(
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 %r; .reg .b64 %rd<2>; ld.param.u64 %rd0, [out]; mov.u32 %r, %tid.x;
  mad.wide.u32 %rd1, %r, 4, %rd0; st.global.u32 [%rd1], %r; ret;
}
)";

TEST(Memory, FreedAllocationsReturnTheirPagesAndShadows) {
  if (kSanitized) GTEST_SKIP() << "counts resident pages";
  Bench run(kStores);
  std::uint64_t pages = 0;
  for (int k = 0; k < 3000; ++k) {
    if (k == 200) pages = resident_pages();
    const auto buffer = run.test.array<std::uint32_t>(64);
    run.test.launch("k", 1, 64, buffer, 0u);
    EXPECT_TRUE(run.test.device.release(buffer.address));
  }
  EXPECT_GT(pages, 0u);
  EXPECT_LT(resident_pages(), pages + 2800) << "less than a page for each of them";
}

}  // namespace
}  // namespace course::sim
