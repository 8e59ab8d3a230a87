// SPDX-License-Identifier: MIT
// The device's process with a student's process that sends arbitrary packets, and reading of program files.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include <elf.h>

#include "cudart/code/program_file.hpp"
#include "remote/device/host_link.hpp"
#include "remote/questions.hpp"

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

template <typename T>
void put(std::string& bytes, std::size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::string container_of(const std::string& ptx) {
  std::string bytes(16 + 64, '\0');
  put(bytes, 0, std::uint32_t{0xBA55ED50});
  put(bytes, 4, std::uint16_t{1});
  put(bytes, 6, std::uint16_t{16});
  put(bytes, 8, std::uint64_t{64 + ptx.size()});
  put(bytes, 16, std::uint16_t{1});
  put(bytes, 16 + 4, std::uint32_t{64});
  put(bytes, 16 + 8, std::uint64_t{ptx.size()});
  put(bytes, 16 + 28, std::uint32_t{80});
  return bytes + ptx;
}

// An ELF file with two sections: the section names, and device code.
std::string program_with(const std::string& section) {
  const std::string names("\0.shstrtab\0.nv_fatbin\0", 22);
  std::string file(sizeof(Elf64_Ehdr), '\0');
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  std::array<Elf64_Shdr, 3> sections{};
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
  file.append(reinterpret_cast<const char*>(sections.data()), sizeof sections);
  put(file, 0, header);
  return file;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(ProgramFile, ReturnsPtxOfEveryContainerWithPtx) {
  const std::string file =
      program_with(container_of("// one\n") + std::string(5, '\0') + container_of("// two\n"));
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
    device_ = std::make_unique<sim::Device>(options);
    buffer_ = *device_->allocate(kBufferBytes, sim::MemoryKind::device);
    std::memset(reinterpret_cast<void*>(buffer_), 0xa5, kBufferBytes);
    link_ = std::make_unique<HostLink>(ends_[0], program_, *device_);
  }
  void TearDown() override {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
    std::remove(program_.c_str());
  }

  // One call from the device's side, while `host` acts as the other process.
  CallResult call(const std::function<void()>& host) {
    std::thread other([&] {
      const auto packet = lab::receive_packet(ends_[1]);
      if (packet && *packet && (*packet)->kind == PacketKind::call) host();
      shutdown(ends_[1], SHUT_WR);
    });
    const CallResult result = link_->run({});
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
  sim::KernelId find_put() {
    const auto packet = ask(PacketKind::find_kernel, PacketWriter().put_text("put"));
    if (!packet) return ~0u;
    PacketReader in(*packet);
    in.get<std::uint32_t>();
    return in.get<sim::KernelId>();
  }
  static PacketWriter launch_of(sim::KernelId kernel, std::uint64_t address, std::uint32_t value) {
    LaunchHead head;
    head.kernel = kernel;
    PacketWriter out;
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
  std::uint32_t first_word() const { return *reinterpret_cast<const std::uint32_t*>(buffer_); }

  static constexpr std::uint64_t kBufferBytes = 1024;
  std::array<int, 2> ends_{-1, -1};
  std::string program_;
  std::unique_ptr<sim::Device> device_;
  std::unique_ptr<HostLink> link_;
  std::uint64_t buffer_ = 0;
};

TEST_F(DevicesProcess, LaunchesRequestedKernels) {
  const CallResult result = call([&] {
    EXPECT_EQ(launch(launch_of(find_put(), buffer_, 42)), 0u);
    finish();
  });
  EXPECT_EQ(result.end, CallResult::End::returned);
  EXPECT_EQ(result.status, lab::Status::ok);
  EXPECT_EQ(first_word(), 42u);
}

TEST_F(DevicesProcess, FillsAndStoresOnlyInsideAllocations) {
  const CallResult result = call([&] {
    EXPECT_TRUE(ask(PacketKind::fill, PacketWriter().put(FillQuestion{buffer_, 2, 7, 4})));
    EXPECT_TRUE(ask(PacketKind::store, PacketWriter().put(buffer_ + 8).put(std::uint32_t{9})));
    EXPECT_FALSE(ask(PacketKind::fill, PacketWriter().put(FillQuestion{buffer_, 257, 0, 4})));
    EXPECT_FALSE(
        ask(PacketKind::fill, PacketWriter().put(FillQuestion{buffer_, ~std::uint64_t{0} / 2, 0, 4})));
    EXPECT_FALSE(ask(PacketKind::store, PacketWriter().put(buffer_ + 1022).put(std::uint32_t{9})));
    EXPECT_FALSE(ask(PacketKind::store, PacketWriter().put(std::uint64_t{0x1000}).put(std::uint32_t{9})));
    EXPECT_FALSE(ask(PacketKind::release, PacketWriter().put(buffer_))) << "it is not theirs";
    finish();
  });
  EXPECT_EQ(result.end, CallResult::End::returned);
  const auto* words = reinterpret_cast<const std::uint32_t*>(buffer_);
  EXPECT_EQ(words[0], 7u);
  EXPECT_EQ(words[1], 7u);
  EXPECT_EQ(words[2], 9u);
  EXPECT_EQ(words[3], 0xa5a5a5a5u);
}

// The device's process detects a kernel's fault, whatever the other process reports, and runs no kernel after
// it.
TEST_F(DevicesProcess, ReportsKernelFaultsItself) {
  const CallResult result = call([&] {
    const sim::KernelId kernel = find_put();
    EXPECT_NE(launch(launch_of(kernel, 64, 1)), 0u);
    EXPECT_NE(launch(launch_of(kernel, buffer_, 42)), 0u);
    finish();
  });
  EXPECT_EQ(result.end, CallResult::End::returned);
  EXPECT_EQ(result.cuda_code, 700);
  EXPECT_EQ(first_word(), 0xa5a5a5a5u);
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
      {PacketKind::find_kernel, PacketWriter().put(std::uint32_t{1000})},
      {PacketKind::launch, PacketWriter().put(everything)},
      {PacketKind::launch, launch_of(12345, buffer_, 1)},
      {PacketKind::occupancy, PacketWriter().put(OccupancyQuestion{12345, 128, 0})},
      {PacketKind::fill, PacketWriter().put(FillQuestion{buffer_, 1, 0, 3})},
      {PacketKind::store, PacketWriter().put(std::uint16_t{1})},
  };
  for (const Bad& bad : all) {
    SCOPED_TRACE(static_cast<unsigned>(bad.kind));
    const CallResult result = call([&] { send(bad.kind, bad.body); });
    EXPECT_EQ(result.end, CallResult::End::protocol_error);
    TearDown();
    SetUp();
  }
}

TEST_F(DevicesProcess, RejectsUnexpectedPackets) {
  finish();
  EXPECT_EQ(link_->run({}).end, CallResult::End::protocol_error);
}

TEST_F(DevicesProcess, DistinguishesEndBeforeAndDuringTheCall) {
  EXPECT_EQ(call([] {}).end, CallResult::End::ended_before_call);
  TearDown();
  SetUp();
  EXPECT_EQ(call([&] {
              EXPECT_TRUE(ask(PacketKind::free_bytes, {}));
              shutdown(ends_[1], SHUT_RDWR);
            }).end,
            CallResult::End::lost);
}

// Launches of all shapes and random packets: the buffer changes only where the kernel writes.
TEST_F(DevicesProcess, SurvivesRandomPackets) {
  std::mt19937 dice(11);
  for (int round = 0; round < 300; ++round) {
    const CallResult result = call([&] {
      const sim::KernelId kernel = find_put();
      LaunchHead head;
      head.kernel = kernel;
      for (std::uint32_t* word : {&head.grid.x, &head.grid.y, &head.grid.z, &head.block.x, &head.block.y,
                                  &head.block.z, &head.cluster.x, &head.cooperative})
        *word = dice() % 3 == 0 ? static_cast<std::uint32_t>(dice()) : static_cast<std::uint32_t>(dice() % 3);
      head.grid.x %= 4096;
      head.dynamic_shared = dice() % 2 == 0 ? ~std::uint64_t{0} - dice() % 4096 : dice() % 100000;
      send(PacketKind::launch, PacketWriter().put(head).put(buffer_).put(std::uint32_t{0xa5a5a5a5}));
      PacketWriter noise;
      for (auto n = dice() % 40; n > 0; --n) noise.put(static_cast<std::uint32_t>(dice()));
      send(static_cast<PacketKind>(dice() % 16), noise);
      send(static_cast<PacketKind>(dice() % 16), noise);
      shutdown(ends_[1], SHUT_WR);
    });
    EXPECT_NE(result.end, CallResult::End::out_of_memory);
    for (std::uint64_t i = 0; i < kBufferBytes; ++i)
      ASSERT_EQ(reinterpret_cast<const unsigned char*>(buffer_)[i], 0xa5u) << round;
    TearDown();
    SetUp();
  }
}

}  // namespace
}  // namespace course::remote
