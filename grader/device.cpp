// SPDX-License-Identifier: MIT
#include "device.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <vector>

#include "base/cuda_versions.hpp"
#include "process.hpp"

namespace course::grader {
namespace {

constexpr double kProbeSeconds = 30;  // the first CUDA call on a machine with many GPUs takes several seconds

void* open_first(const std::string& folder, std::span<const char* const> names) {
  for (const char* name : names) {
    const std::string path = folder.empty() ? name : folder + "/" + name;
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// A GPU that works. The driver returns its name and its memory's rate without a structure whose layout
// differs between toolkits.
GpuProbe described(int n_devices) {
  GpuProbe probe{true, "GPU", "", n_devices};
  void* driver = open_first("", std::array{"libcuda.so.1"});
  if (driver == nullptr) return probe;
  const auto init = symbol<int (*)(unsigned)>(driver, "cuInit");
  const auto get_name = symbol<int (*)(char*, int, int)>(driver, "cuDeviceGetName");
  const auto get_attribute = symbol<int (*)(int*, int, int)>(driver, "cuDeviceGetAttribute");
  std::array<char, 256> name{};
  if (init == nullptr || get_name == nullptr || get_attribute == nullptr || init(0) != 0) return probe;
  if (get_name(name.data(), 255, 0) == 0) probe.name = name.data();
  constexpr int kMemoryClock = 36, kBusWidth = 37;  // CU_DEVICE_ATTRIBUTE_…
  int khz = 0, bits = 0;
  if (get_attribute(&khz, kMemoryClock, 0) == 0 && get_attribute(&bits, kBusWidth, 0) == 0)
    probe.memory_gb_per_s = 2e-6 * khz * bits / 8;  // two transfers a cycle
  return probe;
}

}  // namespace

GpuProbe probe_gpu_here(const std::string& toolkit_lib_dir) {
  void* runtime = open_first(toolkit_lib_dir, std::array{"libcudart.so"});
  if (runtime == nullptr) runtime = open_first(toolkit_lib_dir, kCudartSonames);
  if (runtime == nullptr) return {false, "", "the toolkit's libcudart.so was not found"};
  const auto count_devices = symbol<int (*)(int*)>(runtime, "cudaGetDeviceCount");
  const auto error_string = symbol<const char* (*)(int)>(runtime, "cudaGetErrorString");
  const auto free_memory = symbol<int (*)(void*)>(runtime, "cudaFree");
  if (count_devices == nullptr || error_string == nullptr || free_memory == nullptr) {
    return {false, "", "libcudart.so lacks cudaGetDeviceCount"};
  }
  int n_devices = 0;
  if (const int error = count_devices(&n_devices); error != 0) return {false, "", error_string(error)};
  if (n_devices == 0) return {false, "", "there is no CUDA device"};
  // Creates a context, which fails if the device is listed but does not work.
  if (const int error = free_memory(nullptr); error != 0) return {false, "", error_string(error)};
  return described(n_devices);
}

GpuProbe probe_gpu(const Layout& layout) {
  std::error_code ignored;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  ProcessOptions options;
  options.seconds = kProbeSeconds;
  // Otherwise our simulator on the library path could answer in place of the GPU.
  options.environment = {"LD_LIBRARY_PATH=" + layout.toolkit_lib_dir};
  const Result<ProcessResult> done = run_process({self, "probe-gpu"}, options);
  if (!done) return {false, "", done.error().text};
  if (done->timed_out)
    return {false, "", fmt::format("the driver did not answer within {:.0f} s", kProbeSeconds)};
  const std::size_t begin = done->output.find('{');
  const nlohmann::json answer =
      nlohmann::json::parse(begin == std::string::npos ? "" : done->output.substr(begin), nullptr, false);
  if (done->exit_code != 0 || !answer.is_object()) {
    return {false, "", fmt::format("trying the CUDA runtime ended with exit code {}", done->exit_code)};
  }
  return {answer.value("works", false), answer.value("name", ""), answer.value("why", ""),
          answer.value("devices", 0), answer.value("memory_gb_per_s", 0.0)};
}

const GpuProbe& known_gpu(const Layout& layout) {
  static const GpuProbe probe = probe_gpu(layout);
  return probe;
}

Result<ChosenDevice> choose_device(const std::string& wanted, const Layout& layout) {
  if (wanted == "sim") return ChosenDevice{};
  if (wanted == "auto") {
    // Without a driver there is no GPU.
    std::error_code ignored;
    const bool driver =
        std::filesystem::exists("/dev/nvidiactl", ignored) || std::filesystem::exists("/dev/dxg", ignored);
    if (!driver) return ChosenDevice{};
  }
  const GpuProbe& probe = known_gpu(layout);
  if (probe.works)
    return ChosenDevice{lab::DeviceKind::gpu, probe.name, static_cast<unsigned>(probe.n_devices)};
  if (wanted == "auto") return ChosenDevice{};
  return Error{fmt::format("No GPU can be used: {}. \"--device sim\" grades on the simulator.", probe.why)};
}

Result<std::string> nccl_folder(const Layout& layout) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> folders;
  if (const char* const home = std::getenv("NCCL_HOME"); home != nullptr)
    folders.push_back(fs::path(home) / "lib");
  folders.emplace_back(layout.toolkit_lib_dir);
  const char* const inherited = std::getenv("LD_LIBRARY_PATH");
  std::istringstream paths(inherited == nullptr ? "" : inherited);
  for (std::string folder; std::getline(paths, folder, ':');) folders.emplace_back(folder);
  if (const char* const venv = std::getenv("LAB_VENV"); venv != nullptr)
    for (const auto& python : fs::directory_iterator(fs::path(venv) / "lib", ignored))
      folders.push_back(python.path() / "site-packages/nvidia/nccl/lib");
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                             "/usr/local/lib", "/usr/lib"})
    folders.emplace_back(folder);
  for (const fs::path& folder : folders) {
    // The simulator's library does not run on GPUs.
    const bool ours = folder == layout.simulator_dir() || folder == layout.remote_dir();
    if (!folder.empty() && !ours && fs::exists(folder / "libnccl.so.2", ignored)) return folder.string();
  }
  return Error{
      "NVIDIA's libnccl.so.2 was not found. Install it with \".venv/bin/pip install nvidia-nccl-cu13\" "
      "(-cu12 for CUDA 12), or add its folder to LD_LIBRARY_PATH."};
}

Result<void> check_devices(unsigned wanted, const ChosenDevice& device) {
  if (wanted <= device.n_devices) return {};
  if (device.kind == lab::DeviceKind::sim)
    return Error{fmt::format("--gpus {}: the simulator has at most {} devices.", wanted, device.n_devices)};
  return Error{fmt::format("--gpus {}: this machine has {} GPU{}. \"--device sim\" simulates up to 8.",
                           wanted, device.n_devices, device.n_devices == 1 ? "" : "s")};
}

std::string gpu_clocks() {
  constexpr double kSeconds = 10;
  ProcessOptions options;
  options.seconds = kSeconds;
  const auto done =
      run_process({"nvidia-smi", "--query-gpu=clocks.sm,clocks.mem", "--format=csv,noheader"}, options);
  if (!done || done->exit_code != 0) return "";
  return done->output.substr(0, done->output.find('\n'));
}

}  // namespace course::grader
