// SPDX-License-Identifier: MIT
// The simulator's runtime, which the driver API calls.
#include "cudart/driver/driver.hpp"

#include <dlfcn.h>
#include <cstdio>
#include <cstdlib>

#include "base/cuda_versions.hpp"

namespace course::driver {

std::string file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) == 0 ? "" : info.dli_fname;
}

// The simulator's runtime in the global scope is the program's. Otherwise use one that was loaded privately
// (for example by a Python package), else the one in this library's folder.
static void* runtime() {
  if (const void* found = dlsym(RTLD_DEFAULT, kOnlyInSimulator))
    return dlopen(file_of(found).c_str(), RTLD_NOW | RTLD_NOLOAD);
  for (const char* soname : kCudartSonames) {
    void* const loaded = dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
    if (loaded != nullptr && dlsym(loaded, kOnlyInSimulator) != nullptr) return loaded;
  }
  const std::string self = file_of(reinterpret_cast<void*>(&runtime));
  return dlopen((self.substr(0, self.rfind('/') + 1) + kCudartSonames[0]).c_str(), RTLD_NOW | RTLD_GLOBAL);
}

void* runtime_symbol(const char* name) {
  static void* const library = runtime();
  return library == nullptr ? nullptr : dlsym(library, name);
}

CUresult result_of(int error) {
  constexpr int kFirstShared = 99, kLastInitialisation = 8, kInvalidDeviceFunction = 98;
  if (error == kInvalidDeviceFunction) return kInvalidHandle;
  return error > kLastInitialisation && error < kFirstShared ? kInvalidValue : error;
}

void say(const std::string& text) {
  const char* quiet = std::getenv("SIM_QUIET");
  if (quiet == nullptr || *quiet == '0' || *quiet == '\0')
    std::fputs(("simulator: " + text + "\n").c_str(), stderr);
}

}  // namespace course::driver
