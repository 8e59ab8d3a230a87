// SPDX-License-Identifier: MIT
// Chooses the device to grade on. "auto" chooses the GPU if one works: a child process tries the toolkit's
// CUDA runtime, so that a driver that crashes does no harm and one that hangs costs at most 30 s.
#pragma once

#include <string>

#include "base/result.hpp"
#include "layout.hpp"
#include "verifier/session.hpp"

namespace course::grader {

struct GpuProbe {
  bool works = false;
  std::string name;  // "NVIDIA H200"
  std::string why;   // why it does not work
};

// Probes in this process: loads libcudart.so from `toolkit_lib_dir` ("" for the loader's choice) and queries
// the devices.
GpuProbe probe_gpu_here(const std::string& toolkit_lib_dir);
// The same in a child process (this program's hidden command "probe-gpu").
GpuProbe probe_gpu(const Layout& layout);

struct ChosenDevice {
  lab::DeviceKind kind = lab::DeviceKind::sim;
  std::string name;  // of the GPU; "" for the simulator
};
// `wanted`: "auto", "sim" or "gpu". An Error if "gpu" is wanted and no GPU works.
Result<ChosenDevice> choose_device(const std::string& wanted, const Layout& layout);

// The GPU's current clocks from nvidia-smi: "1980 MHz, 3201 MHz" (multiprocessors, memory); "" if it fails.
std::string gpu_clocks();

}  // namespace course::grader
