// SPDX-License-Identifier: MIT
#include "cudart/presets.hpp"

#include <cctype>

namespace course::cudart {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr int kMiB = 1 << 20;

// Found by common/sim/calibration on an H200; the other chips start from it.
const sim::Timing kH200Timing = {
#include "cudart/timing_h200.inc"
};

sim::DevicePreset h200() {
  sim::DevicePreset p;
  p.timing = kH200Timing;
  return p;
}

sim::DevicePreset a100() {
  sim::DevicePreset p;
  p.name = "Simulated A100";
  p.compute_major = 8;
  p.compute_minor = 0;
  p.multiprocessors = 108;
  p.shared_per_multiprocessor = 167936;
  p.shared_per_block_optin = 166912;
  p.l2_bytes = 40 * kMiB;
  p.clock_ghz = 1.41;
  p.memory_gb_per_s = 1400;
  p.timing.l2_sectors_per_clock = 4500 / (32 * p.clock_ghz);
  return p;
}

sim::DevicePreset h100() {
  sim::DevicePreset p;
  p.name = "Simulated H100";
  p.memory_gb_per_s = 3000;
  p.timing.l2_sectors_per_clock = 8000 / (32 * p.clock_ghz);
  return p;
}

sim::DevicePreset t4() {
  sim::DevicePreset p;
  p.name = "Simulated T4";
  p.compute_major = 7;
  p.compute_minor = 5;
  p.multiprocessors = 40;
  p.max_threads_per_multiprocessor = 1024;
  p.max_blocks_per_multiprocessor = 16;
  p.shared_per_multiprocessor = 65536;
  p.shared_per_block_optin = 65536;
  p.reserved_shared_per_block = 0;
  p.global_memory = 15 * kGiB;
  p.l2_bytes = 4 * kMiB;
  p.clock_ghz = 1.59;
  p.memory_gb_per_s = 270;
  p.timing.l2_sectors_per_clock = 1200 / (32 * p.clock_ghz);
  return p;
}

sim::DevicePreset rtx4060() {
  sim::DevicePreset p;
  p.name = "Simulated RTX 4060";
  p.compute_major = 8;
  p.compute_minor = 9;
  p.multiprocessors = 24;
  p.max_threads_per_multiprocessor = 1536;
  p.max_blocks_per_multiprocessor = 24;
  p.shared_per_multiprocessor = 102400;
  p.shared_per_block_optin = 101376;
  p.global_memory = 8 * kGiB;
  p.l2_bytes = 24 * kMiB;
  p.clock_ghz = 2.46;
  p.memory_gb_per_s = 245;
  p.timing.l2_sectors_per_clock = 1600 / (32 * p.clock_ghz);
  return p;
}

std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != ' ' && c != '-' && c != '_') {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

}  // namespace

const std::vector<NamedPreset>& presets() {
  static const std::vector<NamedPreset> all = {
      {"h200", h200()}, {"h100", h100()}, {"a100", a100()}, {"rtx4060", rtx4060()}, {"t4", t4()},
  };
  return all;
}

const sim::DevicePreset* find_preset(std::string_view name) {
  const std::string wanted = folded(name);
  for (const NamedPreset& candidate : presets()) {
    if (candidate.key == wanted) return &candidate.preset;
  }
  return nullptr;
}

}  // namespace course::cudart
