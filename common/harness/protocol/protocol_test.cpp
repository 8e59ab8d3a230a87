// SPDX-License-Identifier: MIT
#include "protocol/protocol.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "protocol/call.hpp"
#include "protocol/shared_memory.hpp"

namespace course::lab::protocol {
namespace {

CaseRequest a_request() {
  CaseRequest r{.n_inputs = 1, .n_outputs = 1, .guard_bytes = 256, .n = 10};
  r.buffers[0].count = 10;
  r.buffers[0].dtype = static_cast<std::uint32_t>(DType::i32);
  r.buffers[0].back_offset = 4096;
  r.buffers[1] = r.buffers[0];
  r.buffers[1].back_offset = 8192;
  r.workspace_back_offset = 12288;
  r.shared_bytes = 16384;
  return r;
}

bool accepted(const CaseRequest& request) {
  return static_cast<bool>(parse_request(make_message(MessageKind::request, 1, 2, request), 16384));
}

TEST(ParseRequest, AcceptsValidRequests) {
  EXPECT_TRUE(accepted(a_request()));
}

TEST(ParseRequest, RefusesOffsetsOutsideTheMemory) {
  const auto refused_with = [](auto change) {
    CaseRequest request = a_request();
    change(request);
    return !accepted(request);
  };
  constexpr auto kHuge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.shared_bytes = 999; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.n_inputs = 17; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) {
    r.n_inputs = 0xffffffffu;
    r.n_outputs = 2;
  }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.is_timed = 2; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.dtype = 99; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.guard_bytes = 100; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.buffers[1].dtype = 99; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.buffers[0].count = kHuge / 4; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.buffers[0].data_offset = kHuge; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.buffers[0].back_offset = 16384 - 100; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.workspace_back_offset = 16384; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) {
    r.report_offset = 16000;
    r.report_capacity = 1000;
  }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.workspace_bytes = kHuge; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.n_devices = 0; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.n_devices = kMaxDevices + 1; }));
  EXPECT_FALSE(refused_with([](CaseRequest& r) { r.n_devices = kMaxDevices; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) { r.n_parts = kMaxParts + 1; }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) {
    r.n_parts = 1;
    r.workspace_bytes = 100;
    r.parts[0].dtype = static_cast<std::uint32_t>(DType::i32);
    r.parts[0].count = 26;
  }));
  EXPECT_FALSE(refused_with([](CaseRequest& r) {
    r.n_parts = 1;
    r.workspace_bytes = 100;
    r.parts[0].dtype = static_cast<std::uint32_t>(DType::i32);
    r.parts[0].count = 25;
  }));
  EXPECT_TRUE(refused_with([](CaseRequest& r) {
    r.n_parts = 2;
    r.workspace_bytes = 100;
    r.parts[0].count = 20;
    r.parts[1].first_byte = 19;
    r.parts[1].count = 1;
  }));
}

TEST(Bands, SurroundEachArrayOfTheWorkspace) {
  CaseRequest r = a_request();
  r.workspace_bytes = 5000;
  ASSERT_EQ(bands_of(r).size(), 2u);
  EXPECT_EQ(bands_of(r)[1].first_byte, 256u + 5000);
  r.n_parts = 2;
  r.parts[0].count = 100;  // bytes
  r.parts[1].first_byte = 4200;
  r.parts[1].count = 700;
  const auto bands = bands_of(r);
  ASSERT_EQ(bands.size(), 3u);
  EXPECT_EQ(bands[0].n_bytes, 256u);
  EXPECT_EQ(bands[1].first_byte, 256u + 100);
  EXPECT_EQ(bands[1].n_bytes, 4100u);
  EXPECT_EQ(bands[2].first_byte, 256u + 4900);
  EXPECT_EQ(bands[2].n_bytes, 100u + 256);
  r.guard_bytes = 0;
  EXPECT_TRUE(bands_of(r).empty());
}

TEST(Call, KeepsBuffersAndRanks) {
  std::array<std::byte, 8> memory{};
  const std::array<DeviceBuffer, 2> buffers{{{&memory[0], 5, DType::f32}, {&memory[1], 0, DType::u8}}};
  const std::array<Rank, 2> ranks{{{0, nullptr, nullptr, &memory[2]}, {1, nullptr, nullptr, &memory[3]}}};
  Request request{
      .inputs = std::span(buffers).first(1), .outputs = std::span(buffers).last(1), .ranks = ranks};
  const auto body = encode_call(request);
  Packet packet{PacketKind::call, {body.body().begin(), body.body().end()}};
  const auto call = decode_call(packet);
  ASSERT_TRUE(call) << call.error().text;
  ASSERT_EQ(call->request.inputs.size(), 1u);
  EXPECT_EQ(call->request.inputs[0].count, 5u);
  ASSERT_EQ(call->request.ranks.size(), 2u);
  EXPECT_EQ(call->request.ranks[1].device, 1);
  EXPECT_EQ(call->request.ranks[1].d_workspace, &memory[3]);
  packet.body.pop_back();
  EXPECT_FALSE(decode_call(packet));
}

TEST(ParseReply, RefusesRepliesOfOtherCasesOrVersions) {
  CaseRequest request;
  CaseReply reply;
  reply.end = CaseEnd::done;
  EXPECT_TRUE(parse_reply(make_message(MessageKind::reply, 3, 4, reply), 3, 4, request));
  EXPECT_FALSE(parse_reply(make_message(MessageKind::reply, 2, 4, reply), 3, 4, request));
  EXPECT_FALSE(parse_reply(make_message(MessageKind::reply, 3, 5, reply), 3, 4, request));
  EXPECT_FALSE(parse_reply(make_message(MessageKind::hello, 3, 4, reply), 3, 4, request));
  Message other = make_message(MessageKind::reply, 3, 4, reply);
  other.header.version = protocol::kVersion + 1;
  EXPECT_FALSE(parse_reply(other, 3, 4, request));
  other = make_message(MessageKind::reply, 3, 4, reply);
  other.header.magic = 0;
  EXPECT_FALSE(parse_reply(other, 3, 4, request));
}

TEST(ParseReply, RefusesImpossibleNumbers) {
  CaseRequest request{.is_timed = 1, .report_capacity = 100};
  const auto accepted_with = [&](auto change) {
    CaseReply reply;
    reply.end = CaseEnd::done;
    change(reply);
    return static_cast<bool>(parse_reply(make_message(MessageKind::reply, 1, 1, reply), 1, 1, request));
  };
  EXPECT_TRUE(accepted_with([](CaseReply&) {}));
  EXPECT_FALSE(accepted_with([](CaseReply& r) { r.time_us = -1; }));
  EXPECT_FALSE(accepted_with([](CaseReply& r) { r.time_us = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_FALSE(accepted_with([](CaseReply& r) { r.report_bytes = 100; }));
  EXPECT_TRUE(accepted_with([](CaseReply& r) { r.report_bytes = 99; }));
  EXPECT_TRUE(accepted_with([](CaseReply& r) { r.end = CaseEnd::crashed; }));
  EXPECT_FALSE(accepted_with(
      [](CaseReply& r) { r.end = static_cast<CaseEnd>(static_cast<std::uint32_t>(CaseEnd::crashed) + 1); }));
}

// The fuzz target would reject messages of another version at once, and with them everything made from them.
// FUZZ_CORPUS_UPDATE=1 writes them anew.
TEST(FuzzCorpus, HasMessagesOfThisVersion) {
  const char* folder = std::getenv("FUZZ_CORPUS");
  if (folder == nullptr) GTEST_SKIP() << "FUZZ_CORPUS is the folder";
  constexpr std::uint64_t kShared = 1 << 20;  // as in fuzz_messages.cpp
  CaseRequest request = a_request();
  request.shared_bytes = kShared;
  CaseRequest timed = request;
  timed.is_timed = 1;
  timed.report_capacity = 4096;
  timed.n_devices = 2;
  CaseReply reply, error;
  reply.end = CaseEnd::done;
  error.end = CaseEnd::cuda_error;
  error.text.set("cudaErrorIllegalAddress");
  Hello hello;
  hello.multiprocessors = 132;
  hello.device.set("Simulated H200");
  const std::pair<const char*, Message> all[] = {
      {"hello", make_message(MessageKind::hello, 0, 0, hello)},
      {"request", make_message(MessageKind::request, 1, 2, request)},
      {"timed", make_message(MessageKind::request, 1, 2, timed)},
      {"reply", make_message(MessageKind::reply, 1, 2, reply)},
      {"error", make_message(MessageKind::reply, 1, 2, error)}};
  EXPECT_TRUE(parse_hello(all[0].second));
  EXPECT_TRUE(parse_request(all[1].second, kShared));
  EXPECT_TRUE(parse_request(all[2].second, kShared));
  EXPECT_TRUE(parse_reply(all[3].second, 1, 2, timed));
  EXPECT_TRUE(parse_reply(all[4].second, 1, 2, request));
  for (const auto& [name, message] : all) {
    const std::string path = std::string(folder) + "/" + name;
    const std::string bytes(reinterpret_cast<const char*>(&message), sizeof message);
    if (std::getenv("FUZZ_CORPUS_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << bytes;
    std::ifstream file(path, std::ios::binary);
    const std::string there{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(there == bytes) << name << " is of another version: run this test with FUZZ_CORPUS_UPDATE=1";
  }
}

TEST(Text, IsTruncatedAndSanitised) {
  Text<8> text;
  text.set("1234567890");
  EXPECT_EQ(text.str(), "1234567");
  text.chars = {'a', '\x1b', '\n', '\xff', 'b', 'c', 'd', 'e'};  // without NUL
  EXPECT_EQ(text.str(), "a???bcde");
}

class Channel : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_), 0); }
  void TearDown() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  int ends_[2] = {-1, -1};
};

TEST_F(Channel, TransfersMessagesWithDescriptors) {
  auto memory = SharedMemory::create(100);
  ASSERT_TRUE(memory);
  memory->bytes()[7] = std::byte{42};
  ASSERT_TRUE(send_message(ends_[0], make_message(MessageKind::request, 5, 6, a_request()), memory->fd()));
  const auto received = receive_message(ends_[1], true);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->message.header.sequence, 5u);
  const auto opened = SharedMemory::open(received->fd);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->bytes()[7], std::byte{42});
}

TEST_F(Channel, AcceptsNoDescriptorFromARunner) {
  const auto lowest_free = [] {
    const int fd = dup(0);
    close(fd);
    return fd;
  };
  auto memory = SharedMemory::create(100);
  const int before = lowest_free();
  ASSERT_TRUE(send_message(ends_[0], Message{}, memory->fd()));
  const auto received = receive_message(ends_[1], false);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->fd, -1);
  EXPECT_EQ(lowest_free(), before);
}

TEST_F(Channel, RefusesOtherPacketSizesAndDetectsTheEnd) {
  ASSERT_EQ(send(ends_[0], "x", 1, 0), 1);
  EXPECT_FALSE(receive_message(ends_[1], false));
  const std::vector<char> big(sizeof(Message) + 1);
  ASSERT_EQ(send(ends_[0], big.data(), big.size(), 0), static_cast<ssize_t>(big.size()));
  EXPECT_FALSE(receive_message(ends_[1], false));
  shutdown(ends_[0], SHUT_WR);
  const auto end = receive_message(ends_[1], false);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->eof);
}

TEST(SharedMemory, CannotBeResized) {
  const auto memory = SharedMemory::create(5000);
  ASSERT_TRUE(memory);
  EXPECT_NE(ftruncate(memory->fd(), 0), 0);
  EXPECT_NE(ftruncate(memory->fd(), 10000), 0);
  EXPECT_EQ(memory->bytes().size(), 5000u);
}

TEST(SharedMemory, RefusesShrinkableMemory) {
  const int fd = memfd_create("loose", MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  EXPECT_FALSE(SharedMemory::open(fd));
  EXPECT_FALSE(SharedMemory::open(-1));
}

}  // namespace
}  // namespace course::lab::protocol
