// SPDX-License-Identifier: MIT
// The chips that SIM_DEVICE can name: a file of data each in chips/. What the timing model knows of one is
// either fitted to measurements (common/sim/calibration) or scaled from data sheets; then its name ends in
// "(uncalibrated)", wherever it is shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/device.hpp"

namespace course::cudart {

struct NamedPreset {
  std::string key;  // what SIM_DEVICE says, lower case
  sim::DevicePreset preset;
};

const std::vector<NamedPreset>& presets();
// nullptr when nobody has that name. Case, spaces, '-' and '_' do not matter: "RTX 4060" finds rtx4060.
const sim::DevicePreset* find_preset(std::string_view name);

}  // namespace course::cudart
