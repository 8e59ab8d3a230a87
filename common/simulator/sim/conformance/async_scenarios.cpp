// SPDX-License-Identifier: MIT
// Asynchronous copies, mbarriers, clusters of one block, clocks.
#include "sim/conformance/format.hpp"

#include <cstring>

#include "base/rng.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

using Word = std::uint64_t;

constexpr std::uint32_t kThreads = 96;

// Registers and shared memory for the bodies below; %s is the address of the thread's own 64 bytes.
constexpr const char* kDeclarations =
    "  .reg .b32 %a, %b, %c, %d, %e, %s, %size, %bar, %bar2, %loop;\n  .reg .b64 %x, %y, %state, %state2, "
    "%q;\n"
    "  .reg .pred %p, %r, %first;\n"
    "  .shared .align 128 .b8 memory[8192];\n  .shared .align 8 .b8 object[64];\n";
constexpr const char* kStart =
    "  mov.u32 %s, memory;\n  mov.u32 %e, %tid.x;\n  mad.lo.u32 %s, %e, 64, %s;\n  mov.u32 %bar, object;\n"
    "  add.u32 %bar2, %bar, 8;\n  setp.eq.u32 %first, %e, 0;\n";

Scenario scenario(std::string name, std::vector<std::string> rows, const std::string& body, int in_words,
                  int out_words, int least_sm = 80) {
  Scenario s{.name = std::move(name),
             .rows = std::move(rows),
             .ptx = scenario_kernel(kDeclarations, kStart + body, in_words, out_words),
             .threads = kThreads,
             .least_sm = least_sm};
  Rng rng(body.size());
  s.in.resize(static_cast<std::size_t>(in_words) * kThreads);
  for (Word& w : s.in) w = rng();
  return s;
}

// Sets the `n` expected results of each thread.
template <typename Results>
Scenario with_results(Scenario s, int n, const Results& results) {
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const std::vector<Word> words = results(i);
    for (int k = 0; k < n; ++k) s.out.push_back(words[static_cast<std::size_t>(k)]);
  }
  return s;
}

std::string copy_out(int words) {
  std::string text;
  for (int k = 0; k < words; ++k)
    text += fmt::format("  ld.shared.u64 %x, [%s+{0}];\n  st.global.u64 [%out+{0}], %x;\n", 8 * k);
  return text;
}
std::string fill(int words) {
  std::string text;
  for (int k = 0; k < words; ++k) text += fmt::format("  st.shared.u64 [%s+{}], -1;\n", 8 * k);
  return text;
}

// --- cp.async ----------------------------------------------------------------------------------------------

// A copy of `size` bytes of which `read` are read (−1: no such operand). Waits for its group or for all
// copies.
Scenario small_copy(const std::string& how, int size, int read, bool all) {
  const std::string extra = read < 0 ? "" : read == 99 ? ", %size" : fmt::format(", {}", read);
  Scenario s = scenario(
      fmt::format("{} {}{} {}", how, size, extra, all ? "wait_all" : "wait_group"),
      {"cp.async", "cp.async.wait_group"},
      fill(2) + "  and.b32 %size, %e, 3;\n" + fmt::format("  {} [%s], [%in], {}{};\n", how, size, extra) +
          (all ? "  cp.async.wait_all;\n" : "  cp.async.commit_group;\n  cp.async.wait_group 0;\n") +
          copy_out(2),
      2, 2);
  return with_results(s, 2, [&](std::uint32_t i) {
    std::vector<Word> words(2, ~Word{0});
    std::uint8_t from[16], *to = reinterpret_cast<std::uint8_t*>(words.data());
    std::memcpy(from, &s.in[2 * i], 16);
    const int n = read < 0 ? size : read == 99 ? static_cast<int>(i & 3) : read;
    for (int k = 0; k < size; ++k) to[k] = k < n ? from[k] : 0;
    return words;
  });
}

Scenario ignored_source() {
  Scenario s = scenario("cp.async that ignores its source", {"cp.async"},
                        fill(1) +
                            "  and.b32 %a, %e, 1;\n  setp.eq.u32 %p, %a, 1;\n"
                            "  cp.async.ca.shared.global [%s], [%in], 8, %p;\n  cp.async.wait_all;\n" +
                            copy_out(1),
                        1, 1);
  return with_results(s, 1, [&](std::uint32_t i) { return std::vector<Word>{i % 2 == 1 ? 0 : s.in[i]}; });
}

// Three groups; the threads first wait for all but the last one, then for the last one.
Scenario groups() {
  Scenario s =
      scenario("cp.async in three groups", {"cp.async", "cp.async.commit_group", "cp.async.wait_group"},
               fill(3) +
                   "  cp.async.ca.shared.global [%s], [%in], 8;\n  cp.async.commit_group;\n"
                   "  cp.async.ca.shared.global [%s+8], [%in+8], 8, 8;\n  cp.async.commit_group;\n"
                   "  cp.async.ca.shared.global [%s+16], [%in+16], 8;\n  cp.async.commit_group;\n"
                   "  cp.async.wait_group 1;\n" +
                   copy_out(2) + "  cp.async.wait_group 0;\n" + copy_out(3),
               3, 3);
  return with_results(s, 3, [&](std::uint32_t i) {
    return std::vector<Word>{s.in[3 * i], s.in[3 * i + 1], s.in[3 * i + 2]};
  });
}

// --- mbarrier ----------------------------------------------------------------------------------------------

constexpr const char* kInit =
    "  @%first mbarrier.init.shared.b64 [%bar], 96;\n  @%first mbarrier.init.shared::cta.b64 [%bar2], 192;\n "
    " bar.sync 0;\n";

// Twice: each thread writes a value, which a thread of the next warp reads after the phase.
Scenario exchange(const std::string& arrive, const std::string& wait, const std::string& row) {
  std::string body = kInit;
  for (int phase = 0; phase < 2; ++phase) {
    std::string w = wait;
    if (const auto at = w.find('#'); at != std::string::npos) w.replace(at, 1, std::to_string(phase));
    body += fmt::format(
        "  ld.global.u64 %x, [%in+{0}];\n  st.shared.u64 [%s+{0}], %x;\n{1}again{2}:\n{3}  @!%p bra "
        "again{2};\n",
        8 * phase, arrive, phase, w);
    body +=
        "  add.u32 %a, %e, 32;\n  rem.u32 %a, %a, 96;\n  mov.u32 %b, memory;\n  mad.lo.u32 %a, %a, 64, "
        "%b;\n" +
        fmt::format("  ld.shared.u64 %y, [%a+{0}];\n  st.global.u64 [%out+{0}], %y;\n", 8 * phase);
  }
  Scenario s = scenario(arrive + wait, {"mbarrier.init", "mbarrier.arrive", row}, body, 2, 2,
                        wait.find("try_wait") != std::string::npos ? 90 : 80);
  return with_results(s, 2, [&](std::uint32_t i) {
    const std::uint32_t j = (i + 32) % kThreads;
    return std::vector<Word>{s.in[2 * j], s.in[2 * j + 1]};
  });
}

// The first thread alone uses an mbarrier for 5 arrivals. Each test that must succeed gives 1.
Scenario counting(const std::string& name, const std::vector<std::string>& rows, const std::string& body,
                  const std::vector<Word>& wanted, int least_sm = 80) {
  const int n = static_cast<int>(wanted.size());
  Scenario s = scenario(
      name, rows,
      "  @%first mbarrier.init.shared.b64 [%bar], 5;\n  bar.sync 0;\n  @!%first bra end;\n" + body + "end:\n",
      1, n, least_sm);
  return with_results(s, n, [&](std::uint32_t i) {
    return i == 0 ? wanted : std::vector<Word>(static_cast<std::size_t>(n), 0);
  });
}
std::string set_bit_if_true(int k) {  // %p
  return fmt::format("  selp.u32 %a, 1, 0, %p;\n  st.global.u32 [%out+{}], %a;\n", 8 * k);
}
std::string pending(int k) {
  return fmt::format("  mbarrier.pending_count.b64 %a, %state;\n  st.global.u32 [%out+{}], %a;\n", 8 * k);
}

std::vector<Scenario> counts() {
  const std::string test0 = "  mbarrier.test_wait.parity.shared.b64 %p, [%bar], 0;\n";
  const std::string test1 = "  mbarrier.test_wait.parity.shared.b64 %p, [%bar], 1;\n";
  const std::string inval = "  mbarrier.inval.shared.b64 [%bar];\n";
  std::vector<Scenario> all;
  all.push_back(counting(
      "mbarrier counts arrivals",
      {"mbarrier.arrive", "mbarrier.test_wait", "mbarrier.test_wait.parity", "mbarrier.pending_count",
       "mbarrier.arrive.noComplete", "mbarrier.inval"},
      "  mbarrier.arrive.noComplete.shared.b64 %state, [%bar], 2;\n" + pending(0) + test0 +
          set_bit_if_true(1) + test1 + set_bit_if_true(2) +
          "  mbarrier.arrive.noComplete.shared.b64 %state, [%bar], 1;\n" + pending(3) +
          "  mbarrier.test_wait.shared.b64 %p, [%bar], %state;\n" + set_bit_if_true(4) +
          "  mbarrier.arrive.shared.b64 %state2, [%bar];\n  mbarrier.arrive.shared.b64 %state2, [%bar];\n" +
          test0 + set_bit_if_true(5) + test1 + set_bit_if_true(6) +
          "  mbarrier.test_wait.shared.b64 %p, [%bar], %state;\n" + set_bit_if_true(7) +
          "  mbarrier.arrive.noComplete.shared.b64 %state, [%bar], 1;\n" + pending(8) + inval,
      {5, 0, 1, 3, 0, 1, 0, 1, 5}));
  all.push_back(counting(
      "mbarrier.arrive_drop lowers the count", {"mbarrier.arrive_drop", "mbarrier.arrive_drop.noComplete"},
      "  mbarrier.arrive_drop.noComplete.shared.b64 %state, [%bar], 2;\n"
      "  mbarrier.arrive_drop.shared.b64 %state, [%bar];\n  mbarrier.arrive.noComplete.shared.b64 %state, "
      "[%bar], 1;\n" +
          test0 + set_bit_if_true(0) + "  mbarrier.arrive.shared.b64 %state, [%bar];\n" + test0 +
          set_bit_if_true(1) + "  mbarrier.arrive.noComplete.shared.b64 %state, [%bar], 1;\n" + pending(2) +
          "  mbarrier.arrive.shared.b64 %state, [%bar];\n" + test1 + set_bit_if_true(3) + inval,
      {0, 1, 2, 1}));
  all.push_back(counting(
      "an mbarrier waits for bytes", {"mbarrier.expect_tx", "mbarrier.complete_tx", "mbarrier.arrive"},
      "  mbarrier.arrive.shared.b64 _, [%bar], 4;\n  mbarrier.expect_tx.relaxed.cta.shared.b64 [%bar], 48;\n"
      "  mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], 16;\n" +
          test0 + set_bit_if_true(0) + "  mbarrier.complete_tx.relaxed.cta.shared.b64 [%bar], 60;\n" + test0 +
          set_bit_if_true(1) + "  mbarrier.complete_tx.relaxed.cta.shared.b64 [%bar], 4;\n" + test0 +
          set_bit_if_true(2) + "  mbarrier.try_wait.shared.b64 %p, [%bar], %state;\n" + set_bit_if_true(3) +
          inval,
      {0, 0, 1, 1}, 90));
  return all;
}

// Copies of all threads whose completion an mbarrier signals.
Scenario signalled_copies(bool counted) {
  const std::string arrive = counted ? "  cp.async.mbarrier.arrive.noinc.shared.b64 [%bar2];\n  "
                                       "mbarrier.arrive.shared.b64 %state, [%bar2];\n"
                                     : "  cp.async.mbarrier.arrive.shared::cta.b64 [%bar];\n  "
                                       "mbarrier.arrive.shared.b64 %state, [%bar];\n";
  Scenario s = scenario(
      counted ? "cp.async.mbarrier.arrive.noinc" : "cp.async.mbarrier.arrive",
      {counted ? "cp.async.mbarrier.arrive.noinc" : "cp.async.mbarrier.arrive"},
      kInit + fill(2) + "  cp.async.cg.shared.global [%s], [%in], 16;\n" + arrive +
          fmt::format("again:\n  mbarrier.test_wait.shared.b64 %p, [{}], %state;\n  @!%p bra again;\n",
                      counted ? "%bar2" : "%bar") +
          "  add.u32 %a, %e, 32;\n  rem.u32 %a, %a, 96;\n  mov.u32 %b, memory;\n  mad.lo.u32 %s, %a, 64, "
          "%b;\n" +
          copy_out(2),
      2, 2);
  return with_results(s, 2, [&](std::uint32_t i) {
    const std::uint32_t j = (i + 32) % kThreads;
    return std::vector<Word>{s.in[2 * j], s.in[2 * j + 1]};
  });
}

// --- bulk copies -------------------------------------------------------------------------------------------

// Thread 0 copies all input, every thread adds one, thread 0 copies the result back.
Scenario bulk(const std::string& space) {
  Scenario s = scenario(
      "cp.async.bulk there (" + space + ") and back",
      {"cp.async.bulk", "prefetch", "cp.async.bulk.commit_group", "cp.async.bulk.wait_group",
       "mbarrier.test_wait.parity"},
      "  @%first mbarrier.init.shared.b64 [%bar], 1;\n  @%first fence.mbarrier_init.release.cluster;\n"
      "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  @!%first bra wait;\n"
      "  mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], 768;\n  mov.u32 %a, memory;\n  mov.u32 %size, "
      "512;\n" +
          fmt::format(
              "  cp.async.bulk.{0}.global.mbarrier::complete_tx::bytes [%a], [%in], %size, [%bar];\n"
              "  cp.async.bulk.prefetch.L2.global [%in], 256;\n  prefetch.global.L2 [%in];\n"
              "  prefetchu.L1 [%in];\n"
              "  cp.async.bulk.{0}.global.mbarrier::complete_tx::bytes [%a+512], [%in+512], 256, [%bar];\n",
              space) +
          "wait:\n  mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0, 1000;\n  @!%p bra wait;\n"
          "  mov.u32 %a, memory;\n  mad.lo.u32 %a, %e, 8, %a;\n  ld.shared.u64 %x, [%a];\n  add.u64 %x, %x, "
          "1;\n"
          "  st.shared.u64 [%a], %x;\n  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  @!%first bra end;\n"
          "  cp.async.bulk.global.shared::cta.bulk_group [%out], [memory], 512;\n  "
          "cp.async.bulk.commit_group;\n"
          "  cp.async.bulk.global.shared::cta.bulk_group [%out+512], [memory+512], 256;\n  "
          "cp.async.bulk.commit_group;\n"
          "  cp.async.bulk.wait_group.read 1;\n  cp.async.bulk.wait_group 0;\nend:\n",
      1, 1, 90);
  return with_results(s, 1, [&](std::uint32_t i) { return std::vector<Word>{s.in[i] + 1}; });
}

// A bulk copy of no bytes accesses no memory, whatever its addresses, and does not change its mbarrier.
Scenario empty_bulk() {
  Scenario s = scenario(
      "cp.async.bulk of no bytes", {"cp.async.bulk"},
      fill(1) +
          "  @%first mbarrier.init.shared.b64 [%bar], 1;\n  bar.sync 0;\n  @!%first bra wait;\n"
          "  mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], 0;\n"
          "  mov.u32 %size, 0;\n  mov.u32 %a, memory;\n  mov.u64 %x, 0;\n  add.u64 %y, %out, 1099511627776;\n"
          "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a], [%x], %size, [%bar];\n"
          "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a], [%y], %size, [%bar];\n"
          "  add.u32 %a, %a, 1048576;\n"
          "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a], [%in], %size, [%bar];\n"
          "  cp.async.bulk.global.shared::cta.bulk_group [%y], [%a], %size;\n"
          "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n"
          "wait:\n  mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0;\n  @!%p bra wait;\n" +
          copy_out(1),
      1, 1, 90);
  return with_results(s, 1, [](std::uint32_t) { return std::vector<Word>{~Word{0}}; });
}

// --- clusters of one block, clocks -------------------------------------------------------------------------

Scenario cluster() {
  Scenario s = scenario(
      "a cluster of one block", {"mapa.u32", "mapa.u64", "barrier"},
      "  ld.global.u64 %x, [%in];\n  st.shared.u64 [%s], %x;\n  barrier.cluster.arrive;\n  "
      "barrier.cluster.wait;\n"
      "  add.u32 %a, %e, 32;\n  rem.u32 %a, %a, 96;\n  mov.u32 %b, memory;\n  mad.lo.u32 %a, %a, 64, %b;\n"
      "  mapa.shared::cluster.u32 %a, %a, 0;\n  ld.shared::cluster.u64 %y, [%a];\n  st.global.u64 [%out], "
      "%y;\n"
      "  cvta.shared.u64 %q, memory;\n  mapa.u64 %q, %q, 0;\n  barrier.cluster.arrive.release;\n"
      "  ld.u64 %y, [%q];\n  st.global.u64 [%out+8], %y;\n  barrier.cluster.wait.acquire;\n"
      "  mov.u32 %a, %cluster_ctarank;\n  st.global.u32 [%out+16], %a;\n  mov.u32 %a, %cluster_nctarank;\n"
      "  st.global.u32 [%out+24], %a;\n  getctarank.u64 %a, %q;\n  st.global.u32 [%out+32], %a;\n",
      1, 5, 90);
  return with_results(s, 5, [&](std::uint32_t i) {
    return std::vector<Word>{s.in[(i + 32) % kThreads], s.in[0], 0, 1, 0};
  });
}

Scenario clocks() {
  Scenario s = scenario(
      "clocks run forward",
      {"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi", "nanosleep"},
      "  mov.u64 %x, %clock64;\n  nanosleep.u32 100;\n  mov.u64 %y, %clock64;\n  setp.gt.u64 %p, %y, %x;\n" +
          set_bit_if_true(0) +
          "  mov.u64 %x, %globaltimer;\n  nanosleep.u32 5000;\n  mov.u64 %y, %globaltimer;\n  setp.ge.u64 "
          "%p, %y, %x;\n" +
          set_bit_if_true(1) +
          "  mov.u32 %b, %clock;\n  nanosleep.u32 100;\n  mov.u32 %c, %clock;\n  sub.u32 %c, %c, %b;\n  "
          "setp.ne.u32 %p, %c, 0;\n" +
          set_bit_if_true(2) +
          "  mov.u64 %x, %globaltimer;\n  mov.u32 %b, %globaltimer_hi;\n  mov.u32 %c, %globaltimer_lo;\n  "
          "mov.b64 %y, {%c, %b};\n"
          "  sub.u64 %y, %y, %x;\n  setp.lt.u64 %p, %y, 0x100000000;\n" +
          set_bit_if_true(3) + "  mov.u32 %b, %clock_hi;\n  setp.lt.u32 %p, %b, 0x40000000;\n" +
          set_bit_if_true(4),
      1, 5);
  return with_results(s, 5, [](std::uint32_t) { return std::vector<Word>(5, 1); });
}

}  // namespace

std::vector<Scenario> async_scenarios() {
  std::vector<Scenario> all;
  for (const bool wait_all : {false, true}) {
    for (const int size : {4, 8, 16}) {
      all.push_back(small_copy("cp.async.ca.shared.global", size, -1, wait_all));
      all.push_back(small_copy("cp.async.ca.shared::cta.global.L2::128B", size, size - 1, wait_all));
      all.push_back(small_copy("cp.async.ca.shared.global", size, 99, wait_all));
      all.push_back(small_copy("cp.async.ca.shared.global", size, 0, wait_all));
    }
    all.push_back(small_copy("cp.async.cg.shared.global", 16, -1, wait_all));
    all.push_back(small_copy("cp.async.cg.shared.global", 16, 7, wait_all));
  }
  all.push_back(ignored_source());
  all.push_back(groups());
  const std::string arrive = "  mbarrier.arrive.shared.b64 %state, [%bar];\n",
                    two = "  mbarrier.arrive.shared.b64 _, [%bar];\n";
  all.push_back(
      exchange(arrive, "  mbarrier.test_wait.shared.b64 %p, [%bar], %state;\n", "mbarrier.test_wait"));
  all.push_back(
      exchange(arrive, "  mbarrier.try_wait.shared.b64 %p, [%bar], %state;\n", "mbarrier.test_wait"));
  all.push_back(
      exchange(two, "  mbarrier.test_wait.parity.shared.b64 %p, [%bar], #;\n", "mbarrier.test_wait.parity"));
  all.push_back(exchange(arrive,
                         "  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p, [%bar], #, 20;\n",
                         "mbarrier.test_wait.parity"));
  for (auto& s : counts()) all.push_back(std::move(s));
  for (const bool counted : {false, true}) all.push_back(signalled_copies(counted));
  all.push_back(bulk("shared::cluster"));
  all.push_back(bulk("shared::cta"));
  all.push_back(empty_bulk());
  all.push_back(cluster());
  all.push_back(clocks());
  return all;
}

}  // namespace course::sim
