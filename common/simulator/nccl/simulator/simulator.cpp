// SPDX-License-Identifier: MIT
// Finds the functions of sim_parts.h, and the few of CUDA that are needed, in the libcudart that the program
// has loaded, so that one libnccl.so.2 goes with CUDA 12 and 13.
#include "nccl/simulator/simulator.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "base/cuda_versions.hpp"

namespace course::nccl {
namespace {

void* find(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  // Loaded privately, for example by a Python package.
  for (const char* soname : kCudartSonames)
    if (void* loaded = dlopen(soname, RTLD_NOW | RTLD_NOLOAD))
      if (void* found = dlsym(loaded, name)) return found;
  return nullptr;
}

template <typename Function>
Function* function(const char* name) {
  void* const found = find(name);
  if (found == nullptr) {
    std::fprintf(stderr,
                 "simulator: this libnccl.so.2 is for simulated devices, and the libcudart that is loaded is "
                 "not the simulator's (%s is missing): put the folder with both first on LD_LIBRARY_PATH\n",
                 name);
    std::_Exit(1);
  }
  return reinterpret_cast<Function*>(found);
}

}  // namespace

int current_device() {
  static auto* const get = function<int(int*)>("cudaGetDevice");
  int device = 0;
  get(&device);
  return device;
}

int n_devices() {
  static auto* const count = function<int(int*)>("cudaGetDeviceCount");
  int n = 0;
  count(&n);
  return n;
}

bool allocate(void** pointer, std::size_t n_bytes) {
  static auto* const call = function<int(void**, std::size_t)>("cudaMalloc");
  return call(pointer, n_bytes) == 0;
}

bool release(void* pointer) {
  static auto* const call = function<int(void*)>("cudaFree");
  return call(pointer) == 0;
}

bool operate_elsewhere(const std::vector<SimOperand>& operands) {
  static auto* const call = reinterpret_cast<decltype(&simOperate)>(find("simOperate"));
  if (call != nullptr) call(operands.data(), operands.size());
  return call != nullptr;
}

}  // namespace course::nccl

using namespace course::nccl;  // NOLINT: what follows forwards to the runtime

int simPrepareStream(void* stream, int device, char* why, size_t capacity) {
  static auto* const call = function<decltype(simPrepareStream)>("simPrepareStream");
  return call(stream, device, why, capacity);
}
SimPart* simEnterPart(void* stream, int device, const char* what, SimWait wait, void* user,
                      unsigned long long id) {
  static auto* const call = function<decltype(simEnterPart)>("simEnterPart");
  return call(stream, device, what, wait, user, id);
}
double simPartReady(SimPart* part) {
  static auto* const call = function<decltype(simPartReady)>("simPartReady");
  return call(part);
}
void simRunParts(const SimPartWork* work, size_t n_parts, double start, double us, void (*move)(void*),
                 void* user) {
  static auto* const call = function<decltype(simRunParts)>("simRunParts");
  call(work, n_parts, start, us, move, user);
}
void simFailPart(SimPart* part, int fault) {
  static auto* const call = function<decltype(simFailPart)>("simFailPart");
  call(part, fault);
}
int simCheckMemory(const void* start, size_t n_bytes, int device, char* why, size_t capacity) {
  static auto* const call = function<decltype(simCheckMemory)>("simCheckMemory");
  return call(start, n_bytes, device, why, capacity);
}
void simReadMemory(void* to, const void* from, size_t n_bytes) {
  static auto* const call = function<decltype(simReadMemory)>("simReadMemory");
  call(to, from, n_bytes);
}
void simReportFault(int device, const char* kind, const char* message, const void* code,
                    const void* other_code, int prints) {
  static auto* const call = function<decltype(simReportFault)>("simReportFault");
  call(device, kind, message, code, other_code, prints);
}
void simPlaceOfCode(const void* code, char* text, size_t capacity) {
  static auto* const call = function<decltype(simPlaceOfCode)>("simPlaceOfCode");
  call(code, text, capacity);
}
const char* simChipName(void) {
  static auto* const call = function<decltype(simChipName)>("simChipName");
  return call();
}
