// SPDX-License-Identifier: MIT
// Looks up functions for programs, and reports those that the simulator lacks.
#include "cudart/driver/driver.hpp"

#include <dlfcn.h>
#include <unwind.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>

#include "base/cuda_versions.hpp"

namespace course::driver {

namespace {

// This library's own dynamic symbols.
void* own_symbol(const std::string& name) {
  static void* const self =
      dlopen(file_of(reinterpret_cast<void*>(&own_symbol)).c_str(), RTLD_NOW | RTLD_NOLOAD);
  return self == nullptr || !name.starts_with("cu") ? nullptr : dlsym(self, name.c_str());
}

// What to do if the program uses NVIDIA's runtime, which asks this library for its driver.
const char* way_to_the_simulator() {
  for (const char* soname : kCudartSonames) {
    void* const loaded = dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
    if (loaded != nullptr && dlsym(loaded, kOnlyInSimulator) == nullptr)
      return "the libcudart that is loaded is NVIDIA's, but the libcuda.so.1 is the simulator's: put the "
             "folder with both first on LD_LIBRARY_PATH, or take it out to use a GPU";
  }
  return "the program has the CUDA runtime linked into it, which needs NVIDIA's driver: link it with nvcc's "
         "\"-cudart shared\"";
}

// What to do about a library such as cuBLAS or cuFFT, whose calls fail: a program that does not check them
// would end with wrong results and without an error.
std::string explain_library(const std::string& file) {
  return file +
         " contains a CUDA runtime of its own, which needs NVIDIA's driver. The simulator cannot run this "
         "library: its calls fail and compute nothing. Check the status that they return; run the program on "
         "a GPU, or use kernels, CUB or Thrust instead, which the simulator runs";
}

struct Missing {
  std::mutex lock;
  std::set<std::string> names;     // of functions
  std::set<std::string> runtimes;  // files that contain a runtime of NVIDIA's and have been explained
  std::size_t n_listed = 0;        // names that were reported one by one
};
Missing& missing() {
  static auto& all = *new Missing;
  return all;
}

// One of the toolkit's, other than the runtime. Libraries of NVIDIA's driver, such as libnvidia-opencl.so.1,
// look for each other, and do without.
bool is_nvidias_library(std::string_view file) {
  constexpr std::string_view kStarts[] = {"libcu", "libnpp", "libnv"};
  return file.find(".so") != std::string_view::npos && !file.starts_with("libcudart") &&
         !file.starts_with("libnvidia-") &&
         std::ranges::any_of(kStarts, [&](std::string_view start) { return file.starts_with(start); });
}

// For SIM_CHECK=1: a program that finds no device often skips its work and reports success.
void fail_at_exit(int status, void*) {
  constexpr int kExitWithErrors = 86;
  if (status != 0) return;
  std::fflush(nullptr);
  std::_Exit(kExitWithErrors);
}

// Must be called under the lock.
void explain_runtime(const std::string& file) {
  if (!missing().runtimes.insert(file).second) return;
  if (!is_nvidias_library(file)) {
    say(way_to_the_simulator());
    const char* const check = std::getenv("SIM_CHECK");
    if (check != nullptr && *check != '\0' && std::strcmp(check, "0") != 0) on_exit(fail_at_exit, nullptr);
  } else if (call("simReportMissing", explain_library(file).c_str()) != kSuccess)
    say(explain_library(file));
  if (missing().runtimes.size() > 1) return;
  missing().n_listed = missing().names.size();
  std::atexit([] {
    if (const std::size_t n = missing().names.size() - missing().n_listed; n > 0)
      say("it asked for " + std::to_string(n) +
          " functions of the driver API that the simulator does not have");
  });
}

std::string file_name_of(const void* code) {
  const std::string path = file_of(code);
  return path.substr(path.rfind('/') + 1);
}

// Reports each name once, because libraries look up the same functions repeatedly. NVIDIA's runtime asks for
// everything that it might use, and for an empty name before that: it gets an explanation instead, and a
// count at exit.
void report_missing(const std::string& name, const void* caller) {
  const std::lock_guard guard(missing().lock);
  const bool is_nvidias_runtime = name.empty() || name == "cuGetExportTable";
  if (is_nvidias_runtime) explain_runtime(file_name_of(caller));
  if (is_nvidias_runtime || !missing().names.insert(name).second || !missing().runtimes.empty()) return;
  say(name + ": the simulator does not have this function of the driver API");
}

// The first function outside of the loader and the C library.
_Unwind_Reason_Code find_author(_Unwind_Context* frame, void* found) {
  // NOLINTNEXTLINE: the unwinder's addresses are numbers
  const std::string file = file_name_of(reinterpret_cast<const void*>(_Unwind_GetIP(frame) - 1));
  if (file.empty() || file == file_name_of(reinterpret_cast<const void*>(&find_author)) ||
      file.starts_with("ld-") || file.starts_with("libc.") || file.starts_with("libdl.") ||
      file.starts_with("libgcc_s."))
    return _URC_NO_REASON;
  *static_cast<std::string*>(found) = file;
  return _URC_END_OF_STACK;
}

// Some libraries, such as cuFFT, look up functions one by one when they are first used, and give up without a
// word. But only they load this library themselves, so they are reported when the program ends.
__attribute__((constructor)) void note_who_loads() {
  static auto& file = *new std::string;
  _Unwind_Backtrace(find_author, &file);
  if (!is_nvidias_library(file)) return;
  std::atexit([] {
    const std::lock_guard guard(missing().lock);
    if (missing().runtimes.empty()) explain_runtime(file);
  });
}

}  // namespace

// "cuMemAlloc" means cuMemAlloc_v2 in current programs. Only cuCtxCreate has other parameters in later
// versions.
static CUresult find_function(const char* name, void** function, int cuda, int* status, const void* caller) {
  enum { kFound, kSymbolNotFound };
  if (name == nullptr || function == nullptr) return kInvalidValue;
  *function = nullptr;
  constexpr int kCreateV3 = 11040, kCreateV4 = 12050;
  const bool creates = std::string_view(name) == "cuCtxCreate";
  if (creates && cuda >= kCreateV3)
    *function = own_symbol(cuda >= kCreateV4 ? "cuCtxCreate_v4" : "cuCtxCreate_v3");
  for (const char* version : {"", "_v2", "_v3"})
    if (*function == nullptr) *function = own_symbol(std::string(name) + version);
  if (status != nullptr) *status = *function == nullptr ? kSymbolNotFound : kFound;
  if (*function != nullptr) return kSuccess;
  report_missing(name, caller);
  return kNotFound;
}
DRIVER cuGetProcAddress_v2(const char* name, void** function, int cuda, std::uint64_t, int* status) {
  return find_function(name, function, cuda, status, __builtin_return_address(0));
}
DRIVER cuGetProcAddress(const char* name, void** function, int cuda, std::uint64_t) {
  return find_function(name, function, cuda, nullptr, __builtin_return_address(0));
}

}  // namespace course::driver
