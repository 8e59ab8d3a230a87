// SPDX-License-Identifier: MIT
// The chips that SIM_DEVICE can select, one file of data per chip in this folder. The timing of a chip is
// either fitted to measurements (common/simulator/sim/calibration) or scaled from data sheets. In the second
// case its name ends with "(uncalibrated)".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/types.hpp"

namespace course::cudart {

struct NamedPreset {
  std::string key;  // the value of SIM_DEVICE, in lower case
  sim::DevicePreset preset;
};

const std::vector<NamedPreset>& presets();
// The preset with that name, or nullptr. Case, spaces, '-' and '_' are ignored: "RTX 4060" finds rtx4060.
const sim::DevicePreset* find_preset(std::string_view name);

}  // namespace course::cudart
