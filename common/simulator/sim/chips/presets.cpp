// SPDX-License-Identifier: MIT
#include "sim/chips/presets.hpp"

#include <cctype>
#include <utility>

namespace course::cudart {
namespace {

// The contents of a file in chips/.
struct Chip {
  const char* key;
  sim::DevicePreset preset;
  double l2_gb_per_s = 0;  // for chips that were not measured
  bool fitted = false;     // its timing is fitted to measurements
};

// Chips that were not measured use the H200's clock counts for everything that data sheets do not give, and
// their names say so.
NamedPreset complete(Chip chip, const sim::Timing& measured) {
  if (!chip.fitted) {
    chip.preset.timing = measured;
    chip.preset.timing.l2_sectors_per_clock = chip.l2_gb_per_s / (32 * chip.preset.clock_ghz);
    chip.preset.name += " (uncalibrated)";
  }
  return {chip.key, std::move(chip.preset)};
}

std::vector<NamedPreset> read_chips() {
  const Chip h200 = {
#include "sim/chips/h200.inc"
  };
  const std::vector<Chip> all = {
      h200,
      {
#include "sim/chips/h100.inc"
      },
      {
#include "sim/chips/a100.inc"
      },
      {
#include "sim/chips/rtx4060.inc"
      },
      {
#include "sim/chips/t4.inc"
      },
  };
  std::vector<NamedPreset> presets;
  for (const Chip& chip : all) presets.push_back(complete(chip, h200.preset.timing));
  return presets;
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
  static const std::vector<NamedPreset> all = read_chips();
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
