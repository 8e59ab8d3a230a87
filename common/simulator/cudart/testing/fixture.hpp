// SPDX-License-Identifier: MIT
// The fixture of the API's tests: a program registered like by nvcc's generated code, on fake devices that
// are reset for each test. Run with SIM_DEVICES=2.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>

#include "cudart/testing/container.hpp"
#include "cudart/testing/device_fake.hpp"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int limit, void*,
                            void*, void*, void*, int*);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int ext, size_t size,
                       int constant, int global);
void __cudaRegisterManagedVar(void** handle, void** host, char* device, const char* name, int ext,
                              size_t size, int constant, int global);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream);
}

namespace course::cudart {

// A kernel with the parameters (int* out, char flag, double factor).
inline sim::KernelFacts sample_facts(const std::string& name) {
  return {.name = name,
          .demangled = name + "(int*, char, double)",
          .parameter_bytes = 24,
          .parameters = {{0, 8}, {8, 1}, {16, 8}},
          .static_shared = 1024,
          .registers = 32,
          .max_threads = 1024,
          .ptx_version = 80};
}

class Api : public testing::Test {
 protected:
  void SetUp() override {
    sim::fake() = {};
    sim::fake().kernels["sample"] = sample_facts("sample");
    sim::fake().kernels["other"] = sample_facts("other");
    sim::fake().symbols["table"] = 64;
    for (int device : {1, 0}) {
      ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
      ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    }
    wrapper_.magic = 0x466243B1;
    wrapper_.version = 1;
    wrapper_.container = container().data();
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    __cudaRegisterFunction(handle_, &sample_stub_, &sample_stub_, "sample", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFunction(handle_, &other_stub_, &other_stub_, "other", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterVar(handle_, table_shadow_, table_shadow_, "table", 0, sizeof table_shadow_, 0, 0);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  void TearDown() override {
    __cudaUnregisterFatBinary(handle_);
    (void)cudaGetLastError();
  }

  // A container with one plain PTX entry for sm_80.
  static const std::string& container() {
    static const std::string bytes =
        ContainerWriter().add(FatbinKind::ptx, 80, ".version 8.0\n.target sm_80\n.address_size 64\n").bytes();
    return bytes;
  }

  // <<<grid, block, shared, stream>>> of the sample kernel.
  cudaError_t launch(dim3 grid, dim3 block, std::size_t shared = 0, cudaStream_t stream = nullptr) {
    return cudaLaunchKernel(&sample_stub_, grid, block, arguments, shared, stream);
  }

  static void fault(sim::Fault kind, const std::string& text) {
    sim::fake().run = [=](const sim::FakeLaunch&) {
      sim::LaunchResult result;
      result.fault = kind;
      result.text = text;
      return result;
    };
  }

  static cudaStream_t make_stream(unsigned flags = cudaStreamDefault) {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
    return stream;
  }
  static cudaEvent_t make_event() {
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
    return event;
  }

  template <typename T>
  static T* device_array(std::size_t n) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, n * sizeof(T)), cudaSuccess);
    return static_cast<T*>(pointer);
  }

  struct Wrapper {
    std::uint32_t magic, version;
    const void* container;
    const void* prelinked;
  };
  Wrapper wrapper_{};
  void** handle_ = nullptr;
  char sample_stub_ = 0, other_stub_ = 0;  // their addresses serve as addresses of stubs
  char table_shadow_[64] = {};
  // The sample kernel's arguments.
  int* pointer_argument = nullptr;
  char flag_argument = 'f';
  double factor_argument = 2.5;
  void* arguments[3] = {&pointer_argument, &flag_argument, &factor_argument};
};

}  // namespace course::cudart
