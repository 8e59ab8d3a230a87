// SPDX-License-Identifier: MIT
// A runner without a GPU for the tests of Session. It computes d_out[i] = 2 · d_in[i] on the CPU. The
// variable EVIL selects one of the things that a hostile or broken program may do instead; session_test.cpp
// has the expected verdicts.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cudart/sim_control.h"
#include "lab/compare.hpp"
#include "lab/poison.hpp"
#include "protocol/go.hpp"
#include "protocol/packets.hpp"
#include "protocol/protocol.hpp"
#include "protocol/shared_memory.hpp"

namespace {

using namespace course::lab;
using namespace course::lab::protocol;

std::string_view evil;
bool is(std::string_view mode) {
  return evil == mode;
}

void use_processor(int seconds) {
  const std::clock_t begin = std::clock();
  while (std::clock() - begin < seconds * CLOCKS_PER_SEC) continue;
}

void raw_send(const void* data, std::size_t size) {
  static_cast<void>(send(kChannelFd, data, size, MSG_NOSIGNAL));
}

// Whether this process inherited any descriptor other than 0 to 3.
bool inherited_more() {
  bool more = false;
  DIR* listing = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(listing)) {
    const int fd = std::atoi(entry->d_name);
    if (fd > kChannelFd && fd != dirfd(listing)) more = true;
  }
  closedir(listing);
  return more;
}

// The report that the simulator would write.
std::string simulator_report(const CaseRequest& request) {
  if (is("bad_report")) return "{\"totals\": [[[[\x1b[31m";
  const bool checks = request.sim_mode != 0;
  std::string finding;
  if (is("wrong_with_old_value") || (is("wrong_by_old_value") && checks))
    finding =
        R"({"checker": "racecheck", "severity": "hint", "kind": "missing-fence",)"
        R"( "file": "lab.cu", "line": 31, "message": "thread 0 reads d_sums[0] and gets an old value"})";
  const bool by_order = is("unwritten_by_order") || is("unwritten_by_race");
  if (by_order && checks && (request.schedule_seed & SIM_CALM_SCHEDULE) == 0)
    finding = R"({"checker": "initcheck", "kind": "uninitialised-shared", "file": "lab.cu", "line": 31,)"
              R"( "message": "thread 0 reads s_values[0]"})";
  if (is("unwritten_by_race") && !finding.empty())
    finding +=
        R"(, {"checker": "racecheck", "kind": "shared-race", "file": "lab.cu", "line": 30, "message": ""})";
  if (is("race") || (is("wrong_with_race") && checks))
    finding = R"({"checker": "racecheck", "kind": "shared-race", "file": "/home/me/lab.cu", "line": 31,)"
              R"( "object": "s_data[17]", "message": "threads 3 and 35 race \u001b[31m", "times": 2})";
  return std::string("{") + (is("too_fast") ? R"("memory_gb_per_s": 0.001, )" : "") +
         R"("device": "Fake GPU", "modelled_us": 12.5, "launches": [], "totals": {"launches": )" +
         (is("no_kernel") ? "0" : "1") + R"(, "global_store_requests": )" +
         ((request.sim_mode & SIM_COUNTERS) != 0 ? "1" : "0") + R"(}, "findings": [)" + finding + "]}";
}

// Whether this is the first runner that the test's process has started; its file remembers that.
bool is_first_runner() {
  const std::string file = "/tmp/evil_runner_" + std::to_string(getppid());
  const int made = open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (made >= 0) close(made);
  return made >= 0;
}

// Does what a correct runner does with a case, on the CPU: fills the regions of every run and writes a
// report.
CaseReply honest(const CaseRequest& request, std::span<std::byte> shared) {
  CaseReply reply;
  reply.end = CaseEnd::done;
  static int n_before = 0;  // number of earlier cases; the first one is the warm-up
  while (is("aborts_or_spins"))
    if (request.sim_mode == 0) std::abort();
  static const bool slow = is("two_times_once") && is_first_runner();
  if (request.is_timed != 0) reply.time_us = (slow ? 1e6 : 9.0) + n_before;
  const Buffer& in = request.buffers[0];
  const Buffer& out = request.buffers[1];
  const std::size_t n_bytes = in.count * 4;
  const auto input = shared.subspan(in.data_offset, n_bytes);
  std::uint64_t key = 0;
  if (request.is_keyed != 0 && !is("skips_go")) {
    GoBlock& block = *GoBlock::at(shared, request.go_offset);
    for (const std::uint32_t round : {kRehearsal, kRun}) {
      block.set(round, GoStage::ready);
      while (!block.is(round, GoStage::go)) continue;
      key = block.key;
      if (round == kRehearsal) block.set(round, GoStage::done);
    }
  }
  if (request.is_keyed != 0) mask(input, key_of_buffer(key, 0));
  const auto put_whole = [&](const Buffer& buffer, std::uint64_t offset, std::span<const std::byte> data) {
    const auto whole = shared.subspan(offset, allocation_bytes(buffer, request.guard_bytes));
    std::fill(whole.begin(), whole.end(), kPoison);
    std::copy(data.begin(), data.end(), whole.begin() + request.guard_bytes + buffer.misalign);
  };
  std::vector<std::byte> result(n_bytes);
  const auto* const source = reinterpret_cast<const std::int32_t*>(input.data());
  auto* const target = reinterpret_cast<std::int32_t*>(result.data());
  for (std::size_t i = 0; i < n_bytes / sizeof(std::int32_t); ++i) target[i] = 2 * source[i];
  if (is("wrong_when_timed") && n_before == 1) target[0] += 1;
  if ((is("unwritten_by_order") || is("unwritten_by_race")) &&
      (request.schedule_seed & SIM_CALM_SCHEDULE) == 0)
    target[0] += 1;
  put_whole(out, out.back_offset, result);
  if (request.is_keyed != 0 && !is("skips_go")) {
    GoBlock& block = *GoBlock::at(shared, request.go_offset);
    block.digest = {};
    if (!is("finishes_late")) add_digest(block.digest, result, key_of_buffer(key, 1));
    block.set(kRun, GoStage::done);
  }
  ++n_before;
  put_whole(in, in.back_offset, input);
  std::uint64_t band_bytes = 0;
  for (const Band& band : bands_of(request)) band_bytes += band.n_bytes;
  const auto bands = shared.subspan(request.workspace_back_offset, band_bytes);
  std::fill(bands.begin(), bands.end(), kPoison);
  if (request.report_capacity > 0) {
    const std::string report = simulator_report(request);
    std::copy(report.begin(), report.end(), reinterpret_cast<char*>(shared.data()) + request.report_offset);
    reply.report_bytes = report.size();
  }
  return reply;
}

[[noreturn]] void sleep_forever() {
  for (;;) pause();
}

void misbehave_before_hello() {
  if (is("exit_before_hello")) _exit(0);
  if (is("speaks_as_bwrap") || is("speaks_as_sandbox")) {
    const bool bwrap = is("speaks_as_bwrap");
    std::puts(bwrap ? "bwrap: Creating new namespace failed" : "sandbox: joining a group: No such file");
    std::fflush(stdout);
    _exit(bwrap ? 1 : 125);
  }
  if (is("never_says_hello")) sleep_forever();
  if (is("garbage_hello")) {
    raw_send("hello", 5);
    sleep_forever();
  }
  if (is("inherits") && inherited_more()) _exit(99);
}

Hello hello() {
  Hello hello;
  hello.simulated = is("gpu") || is("skips_go") || is("finishes_late") || is("wrong_when_timed") ||
                            is("two_times_once") || is("writes_past_the_end") || is("writes_before") ||
                            is("writes_past_workspace")
                        ? 0
                        : 1;
  hello.multiprocessors = is("no_device") ? 0 : 4;
  hello.device.set(is("escape_in_name") ? "\x1b[31mred" : "Fake GPU");
  return hello;
}

// What may happen before a case is answered: the process ends, waits, or sends something else.
void misbehave_in_case(const Header& header, int n_cases) {
  if (is("exit_in_case")) std::exit(0);
  if (is("calls_device_function")) std::exit(1);
  if (is("prints_passed")) {
    std::puts("[  PASSED  ] 1 test.\n100/100");
    std::fflush(stdout);
    _exit(0);
  }
  if (is("prints_number")) {
    std::printf("case %d\nsimulator: a message", n_cases);
    std::fflush(stdout);
  }
  if (is("prints_much")) {
    for (int line = 0; line < 300'000; ++line) std::printf("line %d\n", line);
    std::fflush(stdout);
  }
  if (is("never_answers")) {
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) signal(number, SIG_IGN);
    sleep_forever();
  }
  if (is("spins")) {
    for (volatile bool forever = true; forever;) continue;
  }
  if (is("crashes") || (is("crashes_second") && n_cases == 2)) raise(SIGSEGV);
  if (is("killed")) raise(SIGKILL);
  if (is("floods")) {
    const std::string line(4096, 'x');
    for (;;) static_cast<void>(std::fwrite(line.data(), 1, line.size(), stdout));
  }
  if (is("floods_channel")) {
    for (;;) raw_send(&header, sizeof header);
  }
  if (is("short_packet")) raw_send("x", 1);
  if (is("long_packet")) {
    const std::vector<char> packet(sizeof(Message) + 100, 'x');
    raw_send(packet.data(), packet.size());
  }
  if (is("closes_channel")) {
    close(kChannelFd);
    sleep_forever();
  }
  if (is("leaves_a_child") && fork() == 0) sleep_forever();  // the child keeps the channel open
  if (is("leaves_a_child")) _exit(0);
  if (is("busy_device")) use_processor(1);
  if (is("busy_host"))
    for (;;) pause();
  if (is("shares_the_processor")) {  // twice the limit in wall-clock time, a quarter of which is CPU time
    for (int i = 0; i < 25; ++i) {
      const std::clock_t begin = std::clock();
      while (std::clock() - begin < CLOCKS_PER_SEC / 100) continue;
      usleep(70'000);
    }
  }
}

// The reply of a runner that does not compute the case; std::nullopt if this one does.
std::optional<CaseReply> reply_without_result(const CaseRequest& request, int memfd, int n_cases) {
  CaseReply reply;
  if (is("not_implemented")) {
    reply.end = CaseEnd::not_implemented;
  } else if (is("refuses")) {
    reply.end = CaseEnd::unsupported;
  } else if (is("cuda_error")) {
    reply.end = CaseEnd::cuda_error;
    reply.cuda_code = std::atoi(std::getenv("EVIL_CODE"));
    reply.text.set("cudaErrorSomething: some text");
  } else if (is("claims_done")) {  // with the right nonce
    reply.end = CaseEnd::done;
  } else if (is("truncates")) {
    static_cast<void>(ftruncate(memfd, 0) == 0);
    static_cast<void>(fallocate(memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                                static_cast<off_t>(request.shared_bytes)));
    reply.end = CaseEnd::done;
  } else if (is("no_memory_second") && n_cases == 2) {
    reply.end = CaseEnd::out_of_memory;
  } else if (is("harness_error_second") && n_cases == 2) {
    reply.end = CaseEnd::harness_error;
  } else {
    return std::nullopt;
  }
  return reply;
}

// Spoils the outputs or the reply of a case that was computed.
void spoil(const CaseRequest& request, std::span<std::byte> shared, int n_cases, CaseReply& reply) {
  const Buffer& in = request.buffers[0];
  const Buffer& out = request.buffers[1];
  std::byte* d_out = shared.data() + out.back_offset + request.guard_bytes;
  if (is("wrong") || is("wrong_with_race") || is("wrong_with_old_value") ||
      (is("wrong_by_old_value") && request.sim_mode != 0) || (is("wrong_in_later_cases") && n_cases > 1) ||
      (is("wrong_for_some_items") && (d_out[0] & std::byte{2}) != std::byte{0}))
    d_out[4 * 5] ^= std::byte{1};
  if (is("keeps_its_answer")) {
    static const std::vector<std::byte> first(d_out, d_out + out.count * 4);
    if (first.size() == out.count * 4) std::copy(first.begin(), first.end(), d_out);
  }
  if (is("changes_input")) shared[in.back_offset + request.guard_bytes + in.misalign + 8] ^= std::byte{1};
  if (is("writes_past_the_end")) d_out[out.count * 4 + 12] = std::byte{0};
  if (is("writes_before")) d_out[-4] = std::byte{0};
  if (is("writes_past_workspace")) shared[request.workspace_back_offset + request.guard_bytes] = std::byte{7};
  if (is("huge_report")) reply.report_bytes = ~std::uint64_t{0};
  if (is("impossible_time")) reply.time_us = -1;
  if (is("unknown_stage")) reply.end = static_cast<CaseEnd>(77);
  if (is("uses_another_stream")) reply.end = CaseEnd::unordered_work;
  if (is("refuses_after_a_launch")) reply.end = CaseEnd::unsupported;
  if (is("keeps_not_implemented")) reply.end = CaseEnd::not_implemented;
  if (is("repeats_the_schedule")) {  // outputs the schedule's seed for one case
    static std::uint64_t first = 0;
    if (first == 0) first = request.schedule_seed;
    if (request.schedule_seed == 0 || (n_cases > 1 && request.schedule_seed == first))
      d_out[0] ^= std::byte{1};
  }
}

int serve() {
  misbehave_before_hello();
  if (!send_message(kChannelFd, make_message(MessageKind::hello, 0, 0, hello()))) return 1;
  for (int n_cases = 1;; ++n_cases) {
    auto received = receive_message(kChannelFd, true);
    if (!received || received->eof) return 0;
    const int memfd = dup(received->fd);
    auto memory = SharedMemory::open(received->fd);
    if (!memory) return 1;
    const auto shared = memory->bytes();
    const auto request = parse_request(received->message, shared.size());
    if (!request) return 1;
    const Header header = received->message.header;
    const auto answer = [&](const CaseReply& reply, std::uint64_t sequence, std::uint64_t nonce) {
      static_cast<void>(send_message(kChannelFd, make_message(MessageKind::reply, sequence, nonce, reply)));
    };

    misbehave_in_case(header, n_cases);
    if (const auto reply = reply_without_result(*request, memfd, n_cases)) {
      answer(*reply, header.sequence, header.nonce);
      continue;
    }
    CaseReply reply = honest(*request, shared);
    spoil(*request, shared, n_cases, reply);
    answer(reply, header.sequence, is("wrong_nonce") ? header.nonce ^ 1 : header.nonce);
    if (is("answers_twice")) answer(reply, header.sequence, header.nonce);
    if (is("answers_ahead")) answer(reply, header.sequence + 1, 0);
    if (is("dies_after_answering")) raise(SIGSEGV);
    close(memfd);
  }
}

}  // namespace

// With kCalled as its argument, it is the host's process beside a device's process.
int main(int argc, char** argv) {
  const char* mode = std::getenv("EVIL");
  evil = mode == nullptr ? "" : mode;
  if (argc < 2 || argv[1] != std::string_view(kCalled)) return serve();
  if (is("busy_host")) use_processor(60);
  for (;;) pause();
}
