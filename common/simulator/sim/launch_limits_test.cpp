// SPDX-License-Identifier: MIT
#include "sim/launch_limits.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/chips/presets.hpp"

namespace course::sim {
namespace {

const DevicePreset kChip = *cudart::find_preset("h100");

std::optional<LaunchRefusal> check(Dim3 grid, Dim3 block, Dim3 cluster = {}, std::uint64_t shared = 0,
                                   const LaunchSettings* settings = nullptr, bool cooperative = false) {
  KernelFacts facts;
  facts.registers = 128;
  facts.static_shared = 1024;
  LaunchRequest request;
  request.grid = grid;
  request.block = block;
  request.cluster = cluster;
  request.dynamic_shared = shared;
  request.cooperative = cooperative;
  return check_launch(kChip, facts, request, settings);
}

TEST(LaunchLimits, EachLimitHasItsOwnKind) {
  constexpr std::uint32_t kBig = 0xffffffff;
  const LaunchSettings plain;
  EXPECT_FALSE(check({1}, {512}));
  EXPECT_EQ(check({1}, {1024})->limit, LaunchLimit::resources) << "128 registers in each thread";
  EXPECT_EQ(check({0}, {32})->limit, LaunchLimit::configuration);
  EXPECT_EQ(check({1}, {kBig, kBig, kBig})->limit, LaunchLimit::configuration);
  EXPECT_EQ(check({1}, {1, 1, 65})->limit, LaunchLimit::configuration);
  EXPECT_EQ(check({1, 65536}, {32})->limit, LaunchLimit::configuration);
  EXPECT_EQ(check({kBig}, {32})->limit, LaunchLimit::configuration);
  EXPECT_EQ(check({1u << 31 >> 1}, {32})->limit, LaunchLimit::endless);
  EXPECT_EQ(check({16}, {32}, {}, 48 * 1024, &plain)->limit, LaunchLimit::value);
  EXPECT_FALSE(check({16}, {32}, {}, 48 * 1024)) << "without settings, the chip's own limit";
  EXPECT_EQ(check({16}, {32}, {}, ~std::uint64_t{0})->limit, LaunchLimit::value) << "the sum overflows";
  EXPECT_EQ(check({16}, {32}, {16}, 0, &plain)->limit, LaunchLimit::cluster);
  EXPECT_FALSE(check({16}, {32}, {16}));
  EXPECT_EQ(check({15}, {32}, {2})->limit, LaunchLimit::cluster);
  EXPECT_EQ(check({16}, {32}, {1u << 31, 1u << 31, 4})->limit, LaunchLimit::cluster) << "the product is 2⁶⁴";
  EXPECT_EQ(check({132 * 16 + 1}, {32}, {}, 0, nullptr, true)->limit, LaunchLimit::cooperative);
  EXPECT_FALSE(check({132 * 16}, {32}, {}, 0, nullptr, true));
}

TEST(LaunchLimits, EstimatedRegistersKeepTheLaunchBounds) {
  for (const auto& [name, chip] : cudart::presets()) {
    for (int warps = 1; warps <= 32; ++warps) {
      for (int min_blocks = 1; min_blocks <= 16; ++min_blocks) {
        SCOPED_TRACE(fmt::format("{}: {} warps, {} blocks", name, warps, min_blocks));
        KernelFacts facts;
        facts.max_threads = 32 * warps - 5;
        facts.registers =
            estimated_registers(chip, 10'000, facts.max_threads, static_cast<std::uint32_t>(min_blocks));
        LaunchRequest request;
        request.grid = {1};
        request.block = {static_cast<std::uint32_t>(facts.max_threads)};
        EXPECT_FALSE(check_launch(chip, facts, request, nullptr));
        EXPECT_EQ(most_threads_per_block(chip, facts), facts.max_threads);
        const bool fit = warps * min_blocks * 32 <= chip.max_threads_per_multiprocessor;
        const int blocks =
            fit ? min_blocks : 1;  // ptxas ignores a minimum that no chip of this kind can hold
        EXPECT_GE(blocks_per_multiprocessor(chip, facts.max_threads, facts.registers, 0), blocks);
        EXPECT_TRUE(facts.registers == 255 || chip.most_warps(facts.registers + 1) < warps * blocks)
            << "no fewer registers than the bounds need";
      }
    }
  }
}

}  // namespace
}  // namespace course::sim
