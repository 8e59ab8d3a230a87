// SPDX-License-Identifier: MIT
// The model against the measurements that it is fitted to, and the bytes that ranks send.
#include "nccl/operation/model.hpp"

#include <gtest/gtest.h>

namespace course::nccl {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::vector<Call> calls_of(Kind kind, std::size_t n_bytes, int n_ranks) {
  std::vector<Call> calls;
  for (int rank = 0; rank < n_ranks; ++rank) {
    Call call{.kind = kind, .count = n_bytes, .rank = rank, .n_ranks = n_ranks};
    calls.push_back(call);
  }
  return calls;
}

Estimate estimate(const std::vector<Call>& calls, const Link& link = link_of("Simulated H200", nullptr)) {
  std::vector<const Call*> pointers;
  for (const Call& call : calls) pointers.push_back(&call);
  return estimate_of(pointers, link);
}

// What `rate` GB/s take for so many bytes, in microseconds.
double us(std::uint64_t n_bytes, double rate) {
  return static_cast<double>(n_bytes) / (rate * 1e3);
}

TEST(Model, AgreesWithMeasurementsOfTwoH200) {
  const std::pair<std::uint64_t, double> all_reduces[] = {
      {64 * kMiB, 262}, {1024 * kMiB, 332}, {4096 * kMiB, 348}};
  for (const auto& [n_bytes, rate] : all_reduces) {
    const double measured = us(n_bytes, rate);
    EXPECT_NEAR(estimate(calls_of(Kind::all_reduce, n_bytes, 2)).us, measured, 0.05 * measured) << n_bytes;
  }
  const std::pair<std::uint64_t, double> exchanges[] = {
      {64 * kMiB, 223}, {1024 * kMiB, 330}, {4096 * kMiB, 336}};
  for (const auto& [n_bytes, rate] : exchanges) {
    const double measured = us(n_bytes, rate);
    EXPECT_NEAR(estimate(calls_of(Kind::all_to_all, n_bytes, 2)).us, measured, 0.05 * measured) << n_bytes;
  }
  EXPECT_NEAR(estimate(calls_of(Kind::all_gather, 16, 2)).us, 43, 5);
}

TEST(Model, ChoosesTheFastestAlgorithm) {
  EXPECT_EQ(estimate(calls_of(Kind::all_reduce, 16, 8)).algorithm, Algorithm::direct);
  EXPECT_EQ(estimate(calls_of(Kind::all_reduce, 64 * kMiB, 8)).algorithm, Algorithm::ring);
  EXPECT_EQ(estimate(calls_of(Kind::all_to_all, 64 * kMiB, 8)).algorithm, Algorithm::pairs);
}

TEST(Model, PcieIsSlowerThanNvlink) {
  const auto calls = calls_of(Kind::all_reduce, 64 * kMiB, 4);
  EXPECT_GT(estimate(calls, link_of("Simulated H200", "pcie")).us, 10 * estimate(calls).us);
  EXPECT_EQ(&link_of("Simulated T4", nullptr), &link_of("", "pcie"));
}

std::uint64_t bytes_sent(Kind kind, Algorithm algorithm, std::size_t n_bytes, int n_ranks) {
  std::uint64_t sum = 0;
  for (const Call& call : calls_of(kind, n_bytes, n_ranks)) sum += sent_by(call, algorithm).n_bytes;
  return sum;
}

TEST(Traffic, IsThatOfTheAlgorithm) {
  // 10 bytes do not divide evenly among 4 ranks.
  EXPECT_EQ(bytes_sent(Kind::all_reduce, Algorithm::ring, 10, 4), 2u * 3 * 10);
  EXPECT_EQ(bytes_sent(Kind::all_reduce, Algorithm::direct, 10, 4), 4u * 3 * 10);
  EXPECT_EQ(bytes_sent(Kind::all_gather, Algorithm::ring, 10, 4), 4u * 3 * 10);
  EXPECT_EQ(bytes_sent(Kind::broadcast, Algorithm::ring, 10, 4), 3u * 10);
  EXPECT_EQ(bytes_sent(Kind::scatter, Algorithm::pairs, 10, 4), 3u * 10);
  EXPECT_EQ(bytes_sent(Kind::all_reduce, Algorithm::ring, 10, 1), 0u);
}

}  // namespace
}  // namespace course::nccl
