// SPDX-License-Identifier: MIT
// Which device to grade on. "auto" takes the GPU when one works: a child process tries the toolkit's CUDA
// runtime, so that a driver that hangs or crashes costs seconds and no more.
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

// In this process: loads libcudart.so from `toolkit_lib_dir` ("" for the loader's choice) and asks it for
// devices.
GpuProbe probe_gpu_here(const std::string& toolkit_lib_dir);
// The same in a child (this program's hidden command "probe-gpu").
GpuProbe probe_gpu(const Layout& layout);

struct ChosenDevice {
  lab::DeviceKind kind = lab::DeviceKind::sim;
  std::string name;  // of the GPU; "" for the simulator
};
// `wanted`: "auto", "sim" or "gpu". An Error when a GPU is asked for and there is none that works.
Result<ChosenDevice> choose_device(const std::string& wanted, const Layout& layout);

// What the GPU's clocks are now, as nvidia-smi tells: "1980 MHz, 3201 MHz" (multiprocessors, memory); "" when
// it does not.
std::string gpu_clocks();

}  // namespace course::grader
