// SPDX-License-Identifier: MIT
// Chooses the device to grade on. "auto" chooses the GPU if one works: a child process tries the toolkit's
// CUDA runtime, so that a driver that crashes does no harm and one that hangs costs at most 30 s.
#pragma once

#include <string>

#include "base/result.hpp"
#include "layout.hpp"
#include "verifier/request.hpp"

namespace course::grader {

struct GpuProbe {
  bool works = false;
  std::string name;  // "NVIDIA H200"
  std::string why;   // why it does not work
  int n_devices = 0;
  double memory_gb_per_s = 0;  // peak rate of its memory; 0: the driver does not say
};

// Probes in this process: loads libcudart.so from `toolkit_lib_dir` ("" for the loader's choice) and queries
// the devices.
GpuProbe probe_gpu_here(const std::string& toolkit_lib_dir);
// The same in a child process (this program's hidden command "probe-gpu").
GpuProbe probe_gpu(const Layout& layout);
// What the first probe of this process found.
const GpuProbe& known_gpu(const Layout& layout);

struct ChosenDevice {
  lab::DeviceKind kind = lab::DeviceKind::sim;
  std::string name;        // of the GPU; "" for the simulator
  unsigned n_devices = 8;  // of the kind; the simulator has as many as a lab may ask for
};
// `wanted`: "auto", "sim" or "gpu". An Error if "gpu" is wanted and no GPU works.
Result<ChosenDevice> choose_device(const std::string& wanted, const Layout& layout);

// The folder of NVIDIA's libnccl.so.2, for labs for several devices: NCCL_HOME/lib, the toolkit's, one of
// LD_LIBRARY_PATH, that of the package nvidia-nccl-cu12 or -cu13 in ./lab's Python environment, or one of the
// system. An Error if there is none.
Result<std::string> nccl_folder(const Layout& layout);
// An Error unless there are that many GPUs or simulated devices.
Result<void> check_devices(unsigned wanted, const ChosenDevice& device);

// The first GPU's current clocks from nvidia-smi: "1980 MHz, 3201 MHz" (multiprocessors, memory); "" if it
// fails.
std::string gpu_clocks();

}  // namespace course::grader
