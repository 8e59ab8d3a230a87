// SPDX-License-Identifier: MIT
// TestDevice: a small simulated device for tests. It loads one PTX module, allocates buffers and launches
// kernels with C++ arguments. Errors become test failures.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/device.hpp"

namespace course::sim {

// Device memory of n elements, which host code can read and write in place. TestDevice owns the memory.
template <typename T>
struct DeviceArray {
  std::uint64_t address = 0;
  std::size_t n = 0;

  T* data() const { return reinterpret_cast<T*>(address); }
  T& operator[](std::size_t i) const { return data()[i]; }
  std::vector<T> values() const { return std::vector<T>(data(), data() + n); }
};

// Kernel arguments laid out as the ABI requires: each one at its natural alignment.
class Arguments {
 public:
  template <typename T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t at = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  template <typename T>
  void add(const DeviceArray<T>& array) {
    add(array.address);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class TestDevice {
 public:
  static DeviceOptions one_thread() {
    DeviceOptions options;
    options.host_threads = 1;
    options.preset.global_memory = std::uint64_t{256} << 20;
    options.watchdog_seconds = 60;
    return options;
  }

  // Loads `ptx`: a whole module, or functions only, to which the usual header is added.
  explicit TestDevice(std::string_view ptx, DeviceOptions options = one_thread())
      : device(std::move(options)) {
    std::string text(ptx);
    if (text.find(".version") == std::string::npos)
      text = ".version 9.0\n.target sm_90\n.address_size 64\n" + text;
    auto loaded = device.load_module(text);
    if (loaded)
      module = *loaded;
    else
      ADD_FAILURE() << "the module does not load: " << loaded.error().text;
  }

  // Contents of a PTX file that nvcc made from a .cu file of the tests. Empty if the file cannot be read.
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    if (!file) ADD_FAILURE() << "cannot read " << path;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  template <typename T>
  DeviceArray<T> array(std::size_t n, T value = T{}, MemoryKind kind = MemoryKind::device) {
    auto place = device.allocate(n * sizeof(T), kind);
    if (!place) {
      ADD_FAILURE() << place.error().text;
      return {};
    }
    DeviceArray<T> made{*place, n};
    for (std::size_t i = 0; i < n; ++i) made[i] = value;
    device.host_wrote(*place, n * sizeof(T));
    return made;
  }
  template <typename T>
  DeviceArray<T> array(const std::vector<T>& values, MemoryKind kind = MemoryKind::device) {
    auto made = array<T>(values.size(), T{}, kind);
    std::memcpy(made.data(), values.data(), values.size() * sizeof(T));
    return made;
  }

  struct Shape {
    Dim3 grid{}, block{};
    std::uint64_t dynamic_shared = 0;
    bool cooperative = false;
    Dim3 cluster{};
  };

  // Launches and returns the result, which may be a fault.
  template <typename... Args>
  LaunchResult try_launch(std::string_view kernel, const Shape& shape, const Args&... args) {
    auto id = device.find_kernel(module, kernel);
    if (!id) {
      ADD_FAILURE() << id.error().text;
      return {};
    }
    Arguments arguments;
    (arguments.add(args), ...);
    LaunchRequest request{.kernel = *id,
                          .grid = shape.grid,
                          .block = shape.block,
                          .cluster = shape.cluster,
                          .dynamic_shared = shape.dynamic_shared,
                          .parameters = arguments.bytes(),
                          .cooperative = shape.cooperative};
    return device.launch(request);
  }

  // Launches and expects no fault.
  template <typename... Args>
  LaunchResult launch(std::string_view kernel, const Shape& shape, const Args&... args) {
    LaunchResult result = try_launch(kernel, shape, args...);
    EXPECT_EQ(result.fault, Fault::none) << kernel << ": " << result.text;
    return result;
  }
  template <typename... Args>
  LaunchResult launch(std::string_view kernel, std::uint32_t blocks, std::uint32_t threads,
                      const Args&... args) {
    return launch(kernel, Shape{{blocks, 1, 1}, {threads, 1, 1}}, args...);
  }
  template <typename... Args>
  LaunchResult try_launch(std::string_view kernel, std::uint32_t blocks, std::uint32_t threads,
                          const Args&... args) {
    return try_launch(kernel, Shape{{blocks, 1, 1}, {threads, 1, 1}}, args...);
  }

  Device device;
  ModuleId module = 0;
};

}  // namespace course::sim
