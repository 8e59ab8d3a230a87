// SPDX-License-Identifier: MIT
// The device's process with a student's process that sends arbitrary packets, and reading of program files.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "cudart/code/host_lines.hpp"
#include "cudart/code/program_file.hpp"
#include "cudart/sim_parts.h"
#include "cudart/testing/container.hpp"
#include "nccl/operation/call.hpp"
#include "remote/device/host_link.hpp"
#include "remote/requests.hpp"
#include "sim/timing/timeline.hpp"

namespace course::remote {
namespace {

using lab::CallResult;
using lab::Packet;
using lab::PacketKind;
using lab::PacketReader;
using lab::PacketWriter;

constexpr const char* kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 table[4];
.visible .entry put(.param .u64 out, .param .u32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

using cudart::put;

std::string container_of(const std::string& ptx) {
  return cudart::ContainerWriter().add(cudart::FatbinKind::ptx, 80, ptx).bytes();
}

// An ELF file with the section names, and `n` sections of the same name with the same device code.
std::string program_with(const std::string& section, std::uint16_t n = 1) {
  const std::string names("\0.shstrtab\0.nv_fatbin\0", 22);
  std::string file(sizeof(Elf64_Ehdr), '\0');
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<std::uint16_t>(2 + n);
  header.e_shstrndx = 1;
  std::vector<Elf64_Shdr> sections(3);
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = file.size();
  sections[1].sh_size = names.size();
  file += names;
  sections[2].sh_name = 11;
  sections[2].sh_type = SHT_PROGBITS;
  sections[2].sh_offset = file.size();
  sections[2].sh_size = section.size();
  file += section;
  header.e_shoff = file.size();
  sections.resize(std::size_t{2} + n, sections[2]);
  file.append(reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof sections[0]);
  put(file, 0, header);
  return file;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(ProgramFile, ReturnsPtxOfEveryContainerWithPtx) {
  const std::string file =
      program_with(container_of("// one\n") + std::string(1, '\0') + container_of("// two\n"));
  const auto codes = cudart::code_of_program(bytes_of(file), 90);
  ASSERT_TRUE(codes) << codes.error().text;
  ASSERT_EQ(codes->size(), 2u);
  EXPECT_EQ(codes->front().ptx, "// one\n");
  EXPECT_EQ(codes->back().ptx, "// two\n");
}

TEST(ProgramFile, ReportsWhyNoPtxIsUsable) {
  EXPECT_EQ(cudart::code_of_program(bytes_of(program_with("")), 90)->size(), 0u);
  EXPECT_FALSE(cudart::code_of_program(bytes_of(program_with(container_of("// for 80\n"))), 75));
  EXPECT_FALSE(cudart::code_of_program(bytes_of("#!/bin/sh\n"), 90));
  EXPECT_FALSE(cudart::code_of_program({}, 90));
}

// Whatever another reader might take for code, or for its end, is an error.
TEST(ProgramFile, RefusesBytesOutsideOfContainers) {
  const std::string text = kPtx;
  const std::string code = container_of(text + std::string((8 - text.size() % 8) % 8, ' '));
  ASSERT_EQ(code.size() % 8, 0u);
  EXPECT_EQ(cudart::code_of_program(bytes_of(program_with(code + code)), 90)->size(), 2u);
  std::string other_magic = code, longer_entry = code, rest = code;
  put(other_magic, 0, std::uint32_t{0x466243B1});
  put(longer_entry, 8, std::uint64_t{code.size() - 16 - 8});
  rest += std::string(8, '\0');
  put(rest, 8, std::uint64_t{rest.size() - 16});
  const std::string zeros(8, '\0'), behind = zeros + code;
  for (const std::string& odd :
       {zeros + behind, behind, code + zeros, code + behind, code + "x", code.substr(0, code.size() - 1),
        other_magic, longer_entry, rest, container_of("// 7 b\n").append("x").append(code),
        std::string("\0\0\0\0", 4)})
    EXPECT_FALSE(cudart::code_of_program(bytes_of(program_with(odd)), 90)) << odd.size();
  EXPECT_FALSE(cudart::code_of_program(bytes_of(program_with(code, 2)), 90)) << "two sections";
}

// For any file contents, no byte outside the file is read (the build with sanitizers checks this) and the
// reader terminates.
TEST(ProgramFile, HandlesDamagedFiles) {
  const std::string whole = program_with(container_of(kPtx) + container_of("// two\n"));
  for (std::size_t n = 0; n < whole.size(); n += 3)
    static_cast<void>(cudart::code_of_program(bytes_of(whole.substr(0, n)), 90));
  std::mt19937 dice(7);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (int k = 0; k < 3; ++k) damaged[dice() % damaged.size()] = static_cast<char>(dice());
    static_cast<void>(cudart::code_of_program(bytes_of(damaged), 90));
  }
}

__attribute__((noinline)) int code_with_a_line(int x) {
  return x + 1;
}
constexpr std::uint32_t kLineOfCode = __LINE__ - 3;

struct OwnFile {
  std::string contents;
  std::uint64_t address = 0;  // of code_with_a_line, in the file
  OwnFile() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    contents.assign(std::istreambuf_iterator<char>(file), {});
    Dl_info object{};
    link_map* loaded = nullptr;
    const auto* code = reinterpret_cast<const void*>(&code_with_a_line);
    EXPECT_NE(dladdr1(code, &object, reinterpret_cast<void**>(&loaded), RTLD_DL_LINKMAP), 0);
    address = reinterpret_cast<std::uint64_t>(code) - loaded->l_addr;
  }
};

TEST(HostLines, FindsFileLineAndFunction) {
  const OwnFile own;
  const cudart::HostLine found = cudart::line_of_code(bytes_of(own.contents), own.address);
  EXPECT_TRUE(found.file.ends_with("common/harness/remote/remote_test.cpp")) << found.file;
  EXPECT_EQ(found.line, kLineOfCode);
  EXPECT_NE(found.function.find("code_with_a_line"), std::string::npos) << found.function;
  EXPECT_EQ(cudart::line_of_code(bytes_of(own.contents), 16).line, 0u);
  EXPECT_EQ(cudart::line_of_code({}, own.address).line, 0u);
}

// As for ProgramFile: whatever the debug information contains.
TEST(HostLines, HandlesDamagedFiles) {
  OwnFile own;
  const auto section = cudart::section_of(bytes_of(own.contents), ".debug_line");
  ASSERT_TRUE(section && !section->empty());
  const auto first =
      static_cast<std::size_t>(reinterpret_cast<const char*>(section->data()) - own.contents.data());
  // The first unit's header is hit often.
  const std::size_t reach = std::min<std::size_t>(section->size(), 400);
  std::mt19937 dice(5);
  for (int i = 0; i < 100; ++i) {
    const std::string before = own.contents.substr(first, reach);
    for (int k = 0; k < 3; ++k) own.contents[first + dice() % reach] = static_cast<char>(dice());
    static_cast<void>(cudart::line_of_code(bytes_of(own.contents), own.address));
    own.contents.replace(first, reach, before);
  }
}

// A device with one buffer of the verifier, and the two ends of the channel.
class DevicesProcess : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_.data()), 0);
    program_ = testing::TempDir() + "remote_test_program_" + std::to_string(getpid());
    std::ofstream(program_, std::ios::binary) << program_with(container_of(kPtx));
    sim::DeviceOptions options;
    options.preset.global_memory = std::uint64_t{64} << 20;
    options.host_threads = 1;
    for (std::size_t i = 0; i < kDevices; ++i) {
      devices_[i] = std::make_unique<sim::Device>(options);
      buffers_[i] = *devices_[i]->allocate(kBufferBytes, sim::MemoryKind::device);
      std::memset(reinterpret_cast<void*>(buffers_[i]), 0xa5, kBufferBytes);
    }
    buffer_ = buffers_[0];
    link_ = std::make_unique<HostLink>(ends_[0], program_, program_, kDevices,
                                       [&](std::uint32_t i) -> sim::Device& { return *devices_[i]; });
  }
  void TearDown() override {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
    std::remove(program_.c_str());
  }

  // For another call: a device, a program and a channel of their own.
  void again() {
    TearDown();
    SetUp();
  }
  // One call from the device's side, while `host` acts as the other process.
  CallResult call(const std::function<void()>& host) {
    std::thread other([&] {
      const auto packet = lab::receive_packet(ends_[1]);
      if (packet && *packet && (*packet)->kind == PacketKind::call) host();
      shutdown(ends_[1], SHUT_WR);
    });
    CallResult result = link_->run({});
    shutdown(ends_[0], SHUT_RDWR);
    other.join();
    return result;
  }
  void send(PacketKind kind, const PacketWriter& body = {}) {
    static_cast<void>(lab::send_packet(ends_[1], kind, body.body()));
  }
  // The answer if it reports success.
  std::optional<Packet> ask(PacketKind kind, const PacketWriter& body) {
    send(kind, body);
    auto packet = lab::receive_packet(ends_[1]);
    if (!packet || !*packet || (*packet)->kind != PacketKind::answer) return std::nullopt;
    PacketReader in(**packet);
    if (in.get<std::uint32_t>() != 1) return std::nullopt;
    return std::move(**packet);
  }
  // What it answers.
  template <typename T>
  T answer_to(PacketKind kind, const PacketWriter& body) {
    const auto packet = ask(kind, body);
    if (!packet) return static_cast<T>(~std::uint64_t{0});
    PacketReader in(*packet);
    in.get<std::uint32_t>();
    return in.get<T>();
  }
  // A call that ends as it should.
  CallResult finished(const std::function<void()>& host) {
    CallResult result = call([&] {
      host();
      finish();
    });
    EXPECT_EQ(result.end, CallResult::End::returned);
    return result;
  }
  // The begin of a request about a device.
  static PacketWriter about(std::uint32_t device = 0) { return PacketWriter().put(device); }
  static PacketWriter report(std::uint32_t device, const char* kind, const char* file, std::uint32_t line,
                             const char* message, const char* kernel) {
    return about(device).put_text(kind).put_text(file).put(line).put_text(message).put_text(kernel);
  }
  sim::KernelId find_put(std::uint32_t device = 0) {
    return answer_to<sim::KernelId>(PacketKind::find_kernel, about(device).put_text("put"));
  }
  static PacketWriter launch_of(sim::KernelId kernel, std::uint64_t address, std::uint32_t value,
                                std::uint32_t device = 0) {
    LaunchHead head;
    head.kernel = kernel;
    PacketWriter out = about(device);
    return out.put(head).put(address).put(value);
  }
  std::uint32_t launch(const PacketWriter& body) {
    send(PacketKind::launch, body);
    auto packet = lab::receive_packet(ends_[1]);
    if (!packet || !*packet) return ~0u;
    PacketReader in(**packet);
    return in.get<LaunchAnswer>().fault;
  }
  void finish() { send(PacketKind::finished, lab::encode_finished({})); }
  std::uint32_t first_word() const { return words(0, 1)[0]; }
  // Of a device's buffer.
  std::vector<std::uint32_t> words(std::size_t device, std::size_t n, std::uint64_t offset = 0) const {
    const auto* from = reinterpret_cast<const std::uint32_t*>(buffers_[device] + offset);
    return {from, from + n};
  }
  bool is_untouched(std::size_t device) const {
    return words(device, kBufferBytes / 4) == std::vector(kBufferBytes / 4, kUntouched);
  }

  static constexpr std::uint64_t kBufferBytes = 1024;
  static constexpr std::uint32_t kUntouched = 0xa5a5a5a5;
  std::array<int, 2> ends_{-1, -1};
  std::string program_;
  static constexpr std::uint32_t kDevices = 2;
  std::array<std::unique_ptr<sim::Device>, kDevices> devices_;
  std::array<std::uint64_t, kDevices> buffers_{};
  std::unique_ptr<HostLink> link_;
  std::uint64_t buffer_ = 0;
};

TEST_F(DevicesProcess, LaunchesRequestedKernels) {
  const CallResult result = finished([&] { EXPECT_EQ(launch(launch_of(find_put(), buffer_, 42)), 0u); });
  EXPECT_EQ(result.status, lab::Status::ok);
  EXPECT_EQ(first_word(), 42u);
}

// Counts of what is sent, but not the items.
TEST_F(DevicesProcess, ReadsFewBytesOnlyInsideAllocations) {
  for (int round = 0; round < 2; ++round) {  // each call may read as much
    finished([&] {
      EXPECT_FALSE(ask(PacketKind::read, about().put(ReadRequest{0x1000, 4})));
      EXPECT_FALSE(ask(PacketKind::read, about().put(ReadRequest{buffer_ + 1020, 8})));
      EXPECT_FALSE(ask(PacketKind::read, about().put(ReadRequest{buffer_, ~std::uint64_t{0}})));
      for (std::uint64_t n_bytes = 0; n_bytes < kMaxBytesRead; n_bytes += kBufferBytes) {
        const auto packet = ask(PacketKind::read, about().put(ReadRequest{buffer_, kBufferBytes}));
        ASSERT_TRUE(packet);
        PacketReader in(*packet);
        in.get<std::uint32_t>();
        EXPECT_EQ(in.rest().size(), kBufferBytes);
      }
      EXPECT_FALSE(ask(PacketKind::read, about().put(ReadRequest{buffer_, 1}))) << "that was all";
    });
    again();
  }
}

TEST_F(DevicesProcess, CountsWhatHostCodeCarriesFromOneDeviceToAnother) {
  const auto has_sent = [&](std::size_t device, const std::string& traffic) {
    const std::string report = devices_[device]->report_json();
    EXPECT_NE(report.find(traffic), std::string::npos) << report;
  };
  finished([&] {
    const auto store = [&](std::uint32_t device) {
      return ask(PacketKind::store, about(device).put(buffers_[device]).put(std::uint64_t{9}));
    };
    EXPECT_TRUE(store(0));  // before it has read anything
    EXPECT_TRUE(ask(PacketKind::read, about(1).put(ReadRequest{buffers_[1], 4})));
    EXPECT_TRUE(store(1));  // back to the same device
    EXPECT_TRUE(store(0));
  });
  has_sent(1, R"("messages":1,"bytes_sent":8)");
  has_sent(0, R"("messages":0,"bytes_sent":0)");
}

TEST_F(DevicesProcess, StoresTakeModelledTime) {
  const double before = devices_[0]->timeline().device();
  finished([&] { EXPECT_TRUE(ask(PacketKind::store, about().put(buffer_).put(std::uint32_t{9}))); });
  EXPECT_GT(devices_[0]->timeline().device(), before);
}

// The time of a call ends with the last kernel or fill.
TEST_F(DevicesProcess, FillsCountAsWorkEvenIfNothingFollows) {
  const double before = devices_[0]->timeline().work_ended();
  finished([&] { EXPECT_TRUE(ask(PacketKind::fill, about().put(FillRequest{buffer_, 2, 7, 4}))); });
  EXPECT_GT(devices_[0]->timeline().work_ended(), before);
}

TEST_F(DevicesProcess, FillsAndStoresOnlyInsideAllocations) {
  finished([&] {
    EXPECT_TRUE(ask(PacketKind::fill, about().put(FillRequest{buffer_, 2, 7, 4})));
    EXPECT_TRUE(ask(PacketKind::store, about().put(buffer_ + 8).put(std::uint32_t{9})));
    EXPECT_FALSE(ask(PacketKind::fill, about().put(FillRequest{buffer_, 257, 0, 4})));
    EXPECT_FALSE(ask(PacketKind::fill, about().put(FillRequest{buffer_, ~std::uint64_t{0} / 2, 0, 4})));
    EXPECT_FALSE(ask(PacketKind::store, about().put(buffer_ + 1022).put(std::uint32_t{9})));
    EXPECT_FALSE(ask(PacketKind::store, about().put(std::uint64_t{0x1000}).put(std::uint32_t{9})));
    EXPECT_FALSE(ask(PacketKind::release, about().put(buffer_))) << "it is not theirs";
  });
  EXPECT_EQ(words(0, 4), (std::vector<std::uint32_t>{7, 7, 9, kUntouched}));
}

// One all-reduce of the first words of both buffers, and its variations.
SimOperand operand_of(int rank, std::uint64_t buffer) {
  SimOperand one{};
  one.kind = static_cast<unsigned>(nccl::Kind::all_reduce);
  one.type = ncclUint32;
  one.reduction = ncclSum;
  one.rank = one.device = rank;
  one.n_ranks = 2;
  one.send = buffer;
  one.receive = buffer + 512;
  one.count = 3;
  return one;
}
PacketWriter operation_of(std::span<const SimOperand> operands) {
  PacketWriter out;
  out.put(static_cast<std::uint32_t>(operands.size()));
  for (const SimOperand& one : operands) out.put(one);
  return out;
}

TEST_F(DevicesProcess, HasCodeOnEveryDevice) {
  finished([&] {
    EXPECT_EQ(launch(launch_of(find_put(0), buffers_[0], 42, 0)), 0u);
    EXPECT_EQ(launch(launch_of(find_put(1), buffers_[1], 43, 1)), 0u);
  });
  for (std::uint32_t i = 0; i < kDevices; ++i) EXPECT_EQ(words(i, 1)[0], 42 + i);
}

TEST_F(DevicesProcess, OperatesOnSeveralDevices) {
  finished([&] {
    for (std::uint32_t i = 0; i < kDevices; ++i)
      EXPECT_TRUE(ask(PacketKind::fill, about(i).put(FillRequest{buffers_[i], 3, i + 1, 4})));
    const std::array both{operand_of(0, buffers_[0]), operand_of(1, buffers_[1])};
    EXPECT_TRUE(ask(PacketKind::operate, operation_of(both)));
  });
  for (std::uint32_t i = 0; i < kDevices; ++i) {
    EXPECT_EQ(words(i, 4, 512), (std::vector<std::uint32_t>{3, 3, 3, kUntouched}));
    EXPECT_NE(devices_[i]->report_json().find("\"operations\":1"), std::string::npos);
  }
}

// One rank's operation would be a copy of device memory that no kernel makes and no counter sees.
TEST_F(DevicesProcess, LabsOfOneDeviceHaveNoOperations) {
  link_ = std::make_unique<HostLink>(ends_[0], program_, program_, 1,
                                     [&](std::uint32_t i) -> sim::Device& { return *devices_[i]; });
  SimOperand copy = operand_of(0, buffer_);
  copy.n_ranks = 1;
  const std::array alone{copy};
  EXPECT_EQ(call([&] { send(PacketKind::operate, operation_of(alone)); }).end,
            CallResult::End::protocol_error);
  EXPECT_TRUE(is_untouched(0));
}

TEST_F(DevicesProcess, RejectsInvalidOperations) {
  using Change = void (*)(SimOperand&);
  const Change all[] = {
      [](SimOperand& one) { one.kind = 10; },
      [](SimOperand& one) { one.kind = static_cast<unsigned>(nccl::Kind::all_gather); },
      [](SimOperand& one) { one.kind = static_cast<unsigned>(nccl::Kind::send); },
      [](SimOperand& one) { one.type = ncclNumTypes; },
      [](SimOperand& one) { one.reduction = ncclNumOps; },
      [](SimOperand& one) { one.rank = 0; },
      [](SimOperand& one) { one.rank = -1; },
      [](SimOperand& one) { one.n_ranks = 3; },
      [](SimOperand& one) { one.peer = 2; },
      [](SimOperand& one) { one.device = 0; },
      [](SimOperand& one) { one.device = 7; },
      [](SimOperand& one) { one.count = 4; },
      [](SimOperand& one) { one.count = 129; },
      [](SimOperand& one) { one.count = ~0ull / 4 + 2; },
      [](SimOperand& one) { one.send = 64; },
      [](SimOperand& one) { one.receive = reinterpret_cast<std::uint64_t>(&one); },
      [](SimOperand& one) { one.receive += 1024 - 512 - 8; },
  };
  for (std::size_t i = 0; i < std::size(all); ++i) {
    SCOPED_TRACE(i);
    std::array both{operand_of(0, buffers_[0]), operand_of(1, buffers_[1])};
    all[i](both[1]);
    const CallResult result = call([&] { send(PacketKind::operate, operation_of(both)); });
    EXPECT_EQ(result.end, CallResult::End::protocol_error);
    ASSERT_TRUE(is_untouched(0));
    again();
  }
}

// Without a partner, of another length, or with a partner of another count, a message is refused.
TEST_F(DevicesProcess, MatchesMessages) {
  const auto message = [&](nccl::Kind kind, int rank, std::uint64_t count) {
    SimOperand one = operand_of(rank, buffers_[static_cast<std::size_t>(rank)]);
    one.kind = static_cast<unsigned>(kind);
    one.peer = 1 - rank;
    one.count = count;
    return one;
  };
  const std::array right{message(nccl::Kind::send, 0, 3), message(nccl::Kind::receive, 1, 3)};
  finished([&] {
    EXPECT_TRUE(ask(PacketKind::fill, about(0).put(FillRequest{buffers_[0], 3, 5, 4})));
    EXPECT_TRUE(ask(PacketKind::operate, operation_of(right)));
  });
  EXPECT_EQ(words(1, 1, 512)[0], 5u);
  const std::array unequal{message(nccl::Kind::send, 0, 3), message(nccl::Kind::receive, 1, 2)};
  for (const std::span<const SimOperand> wrong :
       {std::span<const SimOperand>(unequal), std::span<const SimOperand>(right).first(1),
        std::span<const SimOperand>(right).last(1)}) {
    again();
    EXPECT_EQ(call([&] { send(PacketKind::operate, operation_of(wrong)); }).end,
              CallResult::End::protocol_error);
  }
}

TEST_F(DevicesProcess, KeepsReportsAboutNccl) {
  finished([&] {
    const PacketWriter body = report(1, "nccl-mismatch", "lab.cu", 31, "rank 0 \x01", "");
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(ask(PacketKind::report, body));
  });
  ASSERT_EQ(devices_[1]->findings().size(), 1u) << "the same finding is kept once";
  EXPECT_EQ(devices_[1]->findings()[0].message, "rank 0 ?");
  EXPECT_EQ(devices_[1]->findings()[0].where.at(0).line, 31u);
}

TEST_F(DevicesProcess, ReportsFailedCallsAsHints) {
  finished(
      [&] { EXPECT_TRUE(ask(PacketKind::report, report(0, "api-error", "", 0, "<<<>>> fails", "put"))); });
  ASSERT_EQ(devices_[0]->findings().size(), 1u);
  EXPECT_EQ(devices_[0]->findings()[0].kind, "api-error");
  EXPECT_EQ(devices_[0]->findings()[0].kernel, "put");
  EXPECT_EQ(devices_[0]->findings()[0].severity, sim::Severity::hint);
}

TEST_F(DevicesProcess, NamesWhatCrashedHostCodeAccessed) {
  const auto why = [&](lab::CrashNote note, bool in_buffer = false) {
    again();
    if (in_buffer) note.address += buffers_[1];
    devices_[1]->name_buffer(buffers_[1] + 16, 64, 4, "d_in", false);
    const CallResult result = call([&] { send(PacketKind::crashed, PacketWriter().put(note)); });
    EXPECT_EQ(result.end, CallResult::End::crashed);
    return result.why;
  };
  EXPECT_EQ(why({.address = 24}, true),
            "host code accesses element 2 of d_in. This is memory of the device: only kernels can access it");
  EXPECT_EQ(why({.address = 8}), "host code uses a null pointer");
  EXPECT_EQ(why({.address = 0x123456789}),
            "host code accesses the address 0x123456789, where the program has no memory");
  EXPECT_EQ(why({.overflows_stack = 1, .n_repeats = 100}),
            "the host's stack is full: a function calls itself without end, or far too often");
  EXPECT_NE(why({.overflows_stack = 1, .missing_bytes = 64 << 20}).find("65536 KiB are missing"),
            std::string::npos);
}

// The device's process detects a kernel's fault, whatever the other process reports, and runs no kernel after
// it.
TEST_F(DevicesProcess, ReportsKernelFaultsItself) {
  const CallResult result = finished([&] {
    const sim::KernelId kernel = find_put();
    EXPECT_EQ(launch(launch_of(kernel, 64, 1)), 0u) << "the other process does not see it";
    EXPECT_EQ(launch(launch_of(kernel, buffer_, 42)), 0u);
  });
  EXPECT_EQ(result.cuda_code, 700);
  EXPECT_TRUE(is_untouched(0));
}

// What a kernel does must not reach the other process during the call: neither by an answer nor by the time
// that it takes.
TEST_F(DevicesProcess, RunsKernelsAfterTheCall) {
  finished([&] {
    EXPECT_EQ(launch(launch_of(find_put(), buffer_, 42)), 0u);
    EXPECT_TRUE(ask(PacketKind::fill, about().put(FillRequest{buffer_ + 4, 1, 7, 4})));
    EXPECT_TRUE(ask(PacketKind::store, about().put(buffer_ + 8).put(std::uint32_t{9})));
    EXPECT_TRUE(is_untouched(0));
  });
  EXPECT_EQ(words(0, 3), (std::vector<std::uint32_t>{42, 7, 9}));
}

TEST_F(DevicesProcess, DoesRecordedWorkBeforeItIsRead) {
  finished([&] {
    EXPECT_EQ(launch(launch_of(find_put(), buffer_, 42)), 0u);
    EXPECT_EQ(answer_to<std::uint32_t>(PacketKind::read, about().put(ReadRequest{buffer_, 4})), 42u);
    EXPECT_EQ(launch(launch_of(find_put(), buffer_, 43)), 0u);
  });
  EXPECT_EQ(first_word(), 43u);
}

// As CUDA does: the configuration is known before the kernel runs.
TEST_F(DevicesProcess, RefusesImpossibleLaunchesAtOnce) {
  finished([&] {
    LaunchHead head;
    head.kernel = find_put();
    head.block.x = 2048;
    EXPECT_EQ(launch(about().put(head).put(buffer_).put(std::uint32_t{1})),
              static_cast<std::uint32_t>(sim::Fault::invalid_configuration));
  });
  EXPECT_TRUE(is_untouched(0));
}

TEST_F(DevicesProcess, ReleasedMemoryIsUsableByEarlierWorkOnly) {
  const CallResult result = finished([&] {
    const auto free_bytes = [&] { return answer_to<std::uint64_t>(PacketKind::free_bytes, about()); };
    const std::uint64_t before = free_bytes();
    const auto address = answer_to<std::uint64_t>(PacketKind::allocate, about().put(AllocateRequest{4096}));
    EXPECT_LE(free_bytes(), before - 4096);
    EXPECT_EQ(launch(launch_of(find_put(), address, 42)), 0u);
    EXPECT_TRUE(ask(PacketKind::release, about().put(address)));
    EXPECT_FALSE(ask(PacketKind::release, about().put(address)));
    EXPECT_FALSE(ask(PacketKind::find, about().put(address)));
    EXPECT_FALSE(ask(PacketKind::fill, about().put(FillRequest{address, 1, 7, 4})));
    EXPECT_GE(free_bytes(), before - 1024);
  });
  EXPECT_EQ(result.cuda_code, 0);
}

TEST_F(DevicesProcess, EndsCallsThatRecordTooMuch) {
  const CallResult result = call([&] {
    const std::vector<std::byte> chunk(kChunkBytes);
    const auto address =
        answer_to<std::uint64_t>(PacketKind::allocate, about().put(AllocateRequest{kChunkBytes}));
    while (ask(PacketKind::store, about().put(address).put_bytes(chunk))) continue;
  });
  EXPECT_EQ(result.end, CallResult::End::out_of_memory);
}

TEST_F(DevicesProcess, RejectsInvalidPackets) {
  LaunchHead everything;
  std::memset(static_cast<void*>(&everything), 0xff, sizeof everything);
  struct Bad {
    PacketKind kind;
    PacketWriter body;
  };
  const Bad all[] = {
      {PacketKind::ready, {}},
      {PacketKind::call, {}},
      {PacketKind::answer, {}},
      {static_cast<PacketKind>(99), {}},
      {PacketKind::finished, {}},
      {PacketKind::finished,
       PacketWriter().put(std::uint32_t{0}).put(std::int32_t{77}).put(std::int32_t{0}).put(std::uint32_t{0})},
      {PacketKind::find_kernel, about().put(std::uint32_t{1000})},
      {PacketKind::find_kernel, about(kDevices).put_text("put")},
      {PacketKind::free_bytes, {}},
      {PacketKind::report, report(0, "leak", "", 0, "", "")},
      {PacketKind::launch, about().put(everything)},
      {PacketKind::launch, launch_of(12345, buffer_, 1)},
      {PacketKind::occupancy, about().put(OccupancyRequest{12345, 128, 0})},
      {PacketKind::fill, about().put(FillRequest{buffer_, 1, 0, 3})},
      {PacketKind::store, about().put(std::uint16_t{1})},
      {PacketKind::read, about().put(buffer_)},
  };
  for (const Bad& bad : all) {
    SCOPED_TRACE(static_cast<unsigned>(bad.kind));
    const CallResult result = call([&] { send(bad.kind, bad.body); });
    EXPECT_EQ(result.end, CallResult::End::protocol_error);
    again();
  }
}

TEST_F(DevicesProcess, RejectsUnexpectedPackets) {
  finish();
  EXPECT_EQ(link_->run({}).end, CallResult::End::protocol_error);
}

TEST_F(DevicesProcess, DistinguishesEndBeforeAndDuringTheCall) {
  EXPECT_EQ(call([] {}).end, CallResult::End::ended_before_call);
  again();
  EXPECT_EQ(call([&] {
              EXPECT_TRUE(ask(PacketKind::free_bytes, about()));
              shutdown(ends_[1], SHUT_RDWR);
            }).end,
            CallResult::End::lost);
}

// Requests of every kind in any order, with values at their limits, and noise. REMOTE_ROUNDS=N asks for more
// of them.
TEST_F(DevicesProcess, SurvivesHostileRequests) {
  const char* const asked = std::getenv("REMOTE_ROUNDS");
  const int rounds = asked != nullptr ? std::atoi(asked) : 300;
  std::mt19937_64 dice(13);
  const auto below = [&](std::uint64_t n) { return dice() % n; };
  const auto number = [&]() -> std::uint64_t {
    constexpr std::uint64_t kAll[] = {
        0,    1,       4,          8,          255,        1020,       1024,          4096,
        1025, 1 << 20, 0x7fffffff, 0xffffffff, 1ull << 32, 1ull << 40, ~0ull / 4 + 1, ~0ull};
    return kAll[below(std::size(kAll))];
  };
  std::uint64_t mine = 0;  // an allocation of this process
  const auto address = [&]() -> std::uint64_t {
    const std::uint64_t all[] = {buffers_[0], buffers_[1], buffers_[0] + kBufferBytes,
                                 mine,        mine + 64,   number()};
    return all[below(std::size(all))] + (below(3) == 0 ? number() : 0);
  };
  const auto narrow = [&] { return static_cast<std::uint32_t>(number()); };
  for (int round = 0; round < rounds; ++round) {
    call([&] {
      std::uint32_t kernel = find_put();
      for (std::uint64_t n = 1 + below(12); n > 0; --n) {
        PacketWriter body = about(below(20) == 0 ? narrow() : static_cast<std::uint32_t>(below(kDevices)));
        PacketKind kind = PacketKind::find;
        switch (below(12)) {
          case 0:
            kind = PacketKind::find_kernel,
            body.put_text(below(2) == 0 ? "put" : std::string(below(20000), 'x'));
            break;
          case 1: kind = PacketKind::find_symbol, body.put_text(below(2) == 0 ? "table" : ""); break;
          case 2: {
            LaunchHead head;
            head.kernel = below(8) == 0 ? narrow() : kernel;
            for (std::uint32_t* word :
                 {&head.grid.x, &head.grid.y, &head.block.x, &head.block.y, &head.cluster.x, &head.cluster.y})
              if (below(6) == 0) *word = narrow();
            head.dynamic_shared = below(4) == 0 ? number() : 0;
            head.cooperative = static_cast<std::uint32_t>(below(2));
            if (head.grid.count() > 4096) head.grid = {1, 1, 1};  // it would only take long
            kind = PacketKind::launch, body.put(head).put(address()).put(narrow());
            break;
          }
          case 3:
            kind = PacketKind::occupancy,
            body.put(OccupancyRequest{kernel, static_cast<std::int32_t>(narrow()), number()});
            break;
          case 4: {
            const auto got =
                answer_to<std::uint64_t>(PacketKind::allocate, body.put(AllocateRequest{number()}));
            if (got != ~std::uint64_t{0}) mine = got;
            continue;
          }
          case 5: kind = PacketKind::release, body.put(address()); break;
          case 6: kind = PacketKind::find, body.put(address()); break;
          case 7:
            kind = PacketKind::store, body.put(address()).put_bytes(std::vector<std::byte>(below(2000)));
            break;
          case 8:
            kind = PacketKind::fill, body.put(FillRequest{address(), number() % (1 << 24), narrow(),
                                                          below(9) == 0 ? narrow() : 1u << below(3)});
            break;
          case 9: kind = PacketKind::read, body.put(ReadRequest{address(), number()}); break;
          case 10:
            kind = static_cast<PacketKind>(below(18));
            for (std::uint64_t words = below(40); words > 0; --words) body.put(narrow());
            break;
          default: {
            SimOperand both[2] = {operand_of(0, buffers_[0]), operand_of(1, buffers_[1])};
            SimOperand& one = both[below(2)];
            one.kind = static_cast<unsigned>(below(12));
            one.type = static_cast<unsigned>(below(16));
            one.send = address(), one.receive = address(), one.count = number();
            if (below(2) == 0)
              both[0].kind = both[1].kind = one.kind, both[0].count = both[1].count = below(200);
            kind = PacketKind::operate,
            body = operation_of(std::span<const SimOperand>(both).first(1 + below(2)));
          }
        }
        static_cast<void>(ask(kind, body));
      }
      if (below(2) == 0) finish();
    });
    again();
    mine = 0;
  }
}

}  // namespace
}  // namespace course::remote
