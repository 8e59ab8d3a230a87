// SPDX-License-Identifier: MIT
// Clusters of several blocks: ranks, barriers over all of them, each other's shared memory, atomics and
// mbarriers there.
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

using Word = std::uint64_t;

constexpr std::uint32_t kClusters = 3, kRanks = 4, kThreads = 32;

// A kernel that is launched with clusters of kRanks blocks; only thread 0 gets input.
Scenario of_clusters(const std::string& name, const std::vector<std::string>& rows, const std::string& body,
                     int n_out) {
  Scenario s{.name = name, .rows = rows, .blocks = kClusters * kRanks, .threads = kThreads, .least_sm = 90};
  s.ptx = scenario_kernel(
      "  .reg .b32 %rank, %other, %at, %mine, %t<6>;\n  .reg .b64 %q, %there;\n  .reg .pred %p, %done;\n"
      "  .shared .align 8 .b8 cells[128];\n  .shared .align 8 .b64 count;\n  .shared .align 8 .b64 "
      "barrier;\n",
      "  mov.u32 %rank, %cluster_ctarank;\n  add.u32 %other, %rank, 1;\n  rem.u32 %other, %other, 4;\n"
      "  shl.b32 %mine, %lane, 2;\n  mov.u32 %at, cells;\n  add.u32 %mine, %mine, %at;\n" +
          body,
      1, n_out);
  const std::string header = ")\n{";
  s.ptx.replace(s.ptx.find(header), header.size(), ")\n.explicitcluster\n.reqnctapercluster 4, 1, 1\n{");
  s.in.assign(kClusters * kRanks * kThreads, 0);
  return s;
}

template <typename Expected>
Scenario with_results(Scenario s, const Expected& expected) {
  for (std::uint32_t block = 0; block < kClusters * kRanks; ++block)
    for (std::uint32_t lane = 0; lane < kThreads; ++lane)
      for (const Word w : expected(block, lane)) s.out.push_back(w);
  return s;
}

const std::string kMeet =
    "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n";

Scenario neighbours() {
  return with_results(
      of_clusters(
          "shared memory of the next block",
          {"mapa.u32", "mapa.u64", "barrier", "ld.shared.u32", "ld.generic.u32"},
          "  st.shared.u32 [%mine], %i;\n" + kMeet +
              "  mapa.shared::cluster.u32 %at, %mine, %other;\n  ld.shared::cluster.u32 %t0, [%at];\n"
              "  getctarank.shared::cluster.u32 %t1, %at;\n"
              "  cvt.u64.u32 %q, %mine;\n  cvta.shared.u64 %q, %q;\n  mapa.u64 %there, %q, %rank;\n  ld.u32 "
              "%t2, [%there];\n"
              "  mapa.u64 %there, %q, 3;\n  mapa.u64 %there, %there, %other;\n  ld.u32 %t3, [%there];\n"
              "  getctarank.u64 %t4, %there;\n" +
              kMeet + "  st.shared::cluster.u32 [%at+0], %rank;\n" + kMeet +
              "  ld.shared.u32 %t5, [%mine];\n" +
              "  st.global.u32 [%out], %t0;\n  st.global.u32 [%out+8], %t1;\n  st.global.u32 [%out+16], "
              "%t2;\n"
              "  st.global.u32 [%out+24], %t3;\n  st.global.u32 [%out+32], %t4;\n  st.global.u32 [%out+40], "
              "%t5;\n",
          6),
      [](std::uint32_t block, std::uint32_t lane) {
        const std::uint32_t rank = block % kRanks, next = (rank + 1) % kRanks,
                            next_block = block - rank + next;
        const Word there = next_block * kThreads + lane;
        return std::vector<Word>{there, next, block * kThreads + lane,
                                 there, next, (rank + kRanks - 1) % kRanks};
      });
}

Scenario counting() {
  return with_results(
      of_clusters(
          "atomics and an mbarrier of block 2",
          {"mbarrier.init", "mbarrier.arrive", "mbarrier.test_wait.parity", "atom.shared.add.u32"},
          "  setp.eq.u32 %p, %lane, 0;\n  mov.u32 %t0, 0;\n  @%p st.shared.u32 [count], %t0;\n"
          "  @%p mbarrier.init.shared.b64 [barrier], 128;\n" +
              kMeet +
              "  mov.u32 %at, count;\n  mapa.shared::cluster.u32 %at, %at, 2;\n  "
              "atom.shared::cluster.add.u32 %t1, [%at], 1;\n"
              "  red.shared::cluster.add.u32 [%at], 2;\n"
              "  mov.u32 %at, barrier;\n  mapa.shared::cluster.u32 %at, %at, 2;\n"
              "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%at];\n"
              "  setp.ne.u32 %p, %rank, 2;\n  @%p bra over;\n"
              "again:\n  mbarrier.test_wait.parity.shared.b64 %done, [barrier], 0;\n  @!%done bra "
              "again;\nover:\n" +
              kMeet +
              "  ld.shared.u32 %t2, [count];\n  st.global.u32 [%out], %t2;\n"
              "  mov.u32 %t0, %clusterid.x;\n  st.global.u32 [%out+8], %t0;\n  mov.u32 %t0, %nclusterid.x;\n"
              "  st.global.u32 [%out+16], %t0;\n  mov.u32 %t0, %cluster_nctarank;\n  st.global.u32 "
              "[%out+24], %t0;\n" +
              kMeet,
          4),
      [](std::uint32_t block, std::uint32_t) {
        return std::vector<Word>{block % kRanks == 2 ? 3 * kRanks * kThreads : 0, block / kRanks, kClusters,
                                 kRanks};
      });
}

}  // namespace

std::vector<Scenario> cluster_scenarios() {
  return {neighbours(), counting()};
}

}  // namespace course::sim
