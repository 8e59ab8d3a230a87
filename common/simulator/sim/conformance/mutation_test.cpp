// SPDX-License-Identifier: MIT
// Malformed PTX must give an error, never a crash: the conformance suite's kernels are changed (tokens
// exchanged, removed or repeated, numbers changed), loaded and, if that works, run.
#include <gtest/gtest.h>

#include <cctype>

#include "base/rng.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens;
  for (std::size_t k = 0; k < text.size();) {
    std::size_t end = k + 1;
    const auto in_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
    };
    if (in_word(text[k]))
      while (end < text.size() && in_word(text[end])) ++end;
    tokens.push_back(text.substr(k, end - k));
    k = end;
  }
  return tokens;
}

std::string mutated(const std::vector<std::string>& original, Rng& rng) {
  std::vector<std::string> tokens = original;
  const std::uint64_t n = 1 + rng.below(3);
  for (std::uint64_t m = 0; m < n; ++m) {
    const auto at = static_cast<std::size_t>(rng.below(tokens.size()));
    const auto other = static_cast<std::size_t>(rng.below(tokens.size()));
    static constexpr const char* kStrange[] = {
        "-1", "99999999999999999999", "{", "}", "[", ";", "%r", "b128", "pred", "0x"};
    switch (rng.below(5)) {
      case 0: std::swap(tokens[at], tokens[other]); break;
      case 1: tokens[at].clear(); break;
      case 2: tokens[at] += tokens[at]; break;
      case 3: tokens[at] = kStrange[rng.below(std::size(kStrange))]; break;
      default: tokens[at] = tokens[other];
    }
  }
  std::string text;
  for (const std::string& t : tokens) text += t;
  return text;
}

TEST(MutatedPtx, GivesErrorsAndNeverCrashes) {
  constexpr int kMutants = 3000;
  DeviceOptions options;
  options.host_threads = 1;
  options.preset.global_memory = std::uint64_t{64} << 20;
  options.watchdog_seconds = 1;
  options.patience = 1 << 16;
  const std::vector<Scenario> all = all_scenarios();
  Rng rng(2026);
  int refused = 0, ran = 0, faulted = 0;
  std::unique_ptr<Device> device;
  for (int k = 0; k < kMutants; ++k) {
    if (k % 200 == 0) device = std::make_unique<Device>(options);
    const Scenario& s = all[static_cast<std::size_t>(rng.below(all.size()))];
    const std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n" + mutated(tokens_of(s.ptx), rng);
    const auto module = device->load_module(text);
    if (!module) {
      EXPECT_FALSE(module.error().text.empty());
      ++refused;
      continue;
    }
    const auto kernel = device->find_kernel(*module, "k");
    if (!kernel) continue;
    device->set_mode(k % 3 == 0 ? kCounters | kAllChecks : kCounters);
    struct {
      std::uint64_t in, out;
    } arguments{*device->allocate(1 << 16, s.in_kind), *device->allocate(1 << 16, MemoryKind::device)};
    LaunchRequest request;
    request.kernel = *kernel;
    request.block.x = s.threads;
    request.parameters = std::as_bytes(std::span(&arguments, 1));
    const LaunchResult result = device->launch(request);
    ++(result.fault == Fault::none ? ran : faulted);
    EXPECT_EQ(result.fault == Fault::none, result.text.empty());
    EXPECT_TRUE(device->release(arguments.in));
    EXPECT_TRUE(device->release(arguments.out));
  }
  // All three outcomes must occur, or the test is too weak.
  EXPECT_GT(refused, kMutants / 50);
  EXPECT_GT(ran, kMutants / 50);
  EXPECT_GT(faulted, kMutants / 50);
}

}  // namespace
}  // namespace course::sim
