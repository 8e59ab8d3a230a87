// SPDX-License-Identifier: MIT
// The code and the variables that programs register: fat binaries, kernels, __device__ / __constant__ /
// __managed__ variables. Registration only records them. PTX is parsed at the first use on a device, because
// modules of template libraries are large.
// Invariant: objects exist until the process ends, so that handles in a program's static variables stay
// valid.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cudart/runtime/status.hpp"
#include "sim/device.hpp"

namespace course::cudart {

struct Context;
struct FatBinary;

// Attributes that cudaFuncSetAttribute can change.
struct FunctionSettings {
  int max_dynamic_shared = -1;  // bytes; -1 = the device's default
  int carveout = -1;
  int cluster[3] = {0, 0, 0};
  int cluster_must_be_set = 0;
  int nonportable_cluster = 0;
  int cluster_policy = 0;
};

// A kernel. Its address is the program's cudaKernel_t and cudaFunction_t.
struct Function {
  FatBinary* owner = nullptr;
  const void* host = nullptr;  // the stub's address; nullptr for kernels of cudaLibraryLoadData
  std::string name;            // mangled
  struct OnDevice {
    std::optional<sim::KernelId> kernel;
    FunctionSettings settings;
  };
  std::map<int, OnDevice> on_device;  // by ordinal; protected by that context's lock
};

struct Variable {
  FatBinary* owner = nullptr;
  const void* host = nullptr;
  std::string name;
  std::uint64_t bytes = 0;
  void** managed_pointer = nullptr;  // __managed__: the host code's pointer to the variable
};

// The variable's name without the namespaces that the compiler makes for a file's own variables.
std::string readable_name(std::string_view mangled);

// One registered image and its modules.
struct FatBinary {
  const void* image = nullptr;  // wrapper, container or PTX text
  std::string owned_image;      // of cudaLibraryLoadData: a copy, unless it was given a wrapper
  std::atomic<bool> removed = false;
  std::vector<Function*> functions;
  std::vector<Variable*> variables;
  struct OnDevice {
    std::optional<sim::ModuleId> module;
    Status failure;  // why loading failed; reported in full only the first time
  };
  std::map<int, OnDevice> on_device;  // by ordinal; protected by that context's lock
};

class Registry {
 public:
  FatBinary* add_image(const void* image);
  // Its kernels and variables are no longer found. Modules loaded on devices stay, because other threads may
  // still run kernels when a program removes its images at exit.
  void remove_image(FatBinary* image);
  // Also unloads its modules from all devices. The caller must hold no context's lock.
  void unload_image(FatBinary* image);
  Function* add_function(FatBinary* owner, const void* host, std::string_view name);
  Variable* add_variable(FatBinary* owner, const void* host, std::string_view name, std::uint64_t bytes,
                         void** managed_pointer);

  // Finds a kernel by stub address or by handle; else nullptr.
  Function* find_function(const void* key);
  Variable* find_variable(const void* host);
  // Whether the host function at this address launches a kernel; also after its image has been removed.
  bool is_stub(const void* host);
  // The variable whose name stands, in host code, for memory of the host that contains `pointer`; nullptr:
  // none. __managed__ variables have no such memory.
  const Variable* find_shadow(const void* pointer);
  std::vector<const Variable*> variables();  // the registered ones, except __managed__
  bool is_library(const FatBinary* image);

  // Unloads everything from a device, for cudaDeviceReset. The caller must hold the context's lock.
  void forget_device(Context& context);

 private:
  std::mutex lock_;
  std::vector<std::unique_ptr<FatBinary>> images_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::vector<std::unique_ptr<Variable>> variables_;
  std::unordered_map<const void*, Function*> function_of_host_;
  std::unordered_set<const void*> function_handles_;
  std::unordered_map<const void*, Variable*> variable_of_host_;
  std::unordered_set<const FatBinary*> live_images_;
};

// These load the module if necessary. They take the context's lock.
Status load_module(Context& context, FatBinary& image, sim::ModuleId& module);
Status find_kernel(Context& context, Function& function, sim::KernelId& kernel);
// The address of a variable on the context's device, by its host handle; and of `n_bytes` of it from
// `offset`, which must lie inside the variable.
Status find_symbol(Context& context, const void* symbol, sim::Device::Symbol& found);
Status find_symbol_bytes(Context& context, const void* symbol, std::size_t n_bytes, std::size_t offset,
                         std::byte*& start);
}  // namespace course::cudart
