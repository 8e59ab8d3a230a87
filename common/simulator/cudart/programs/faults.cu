// SPDX-License-Identifier: MIT
// Faults of kernels and the errors that the program gets. Each fault occurs in a process of its own, because
// the context is lost.
#include <cassert>
#include <cstring>
#include <string>

#include "check.hpp"

__global__ void past_the_end(int* p, int n) {
  p[n + threadIdx.x] = 1;
}
__global__ void misaligned(char* p) {
  *reinterpret_cast<int*>(p + 1) = 1;
}
__global__ void failing_assert(int x) {
  assert(x == 3);
}
__global__ void trapping(int x) {
  if (x != 3) __trap();
}
__global__ void null_pointer(int* p) {
  *p = 1;
}
__global__ void fine(int* p) {
  *p = 42;
}
__global__ void __launch_bounds__(64) bounded(int* p) {
  *p = 1;
}

// A texture object that the kernel itself makes from a real one, with another address or invalid modes and
// flags. On a GPU a texture object is not an address.
__global__ void forged(cudaTextureObject_t real, unsigned long long* copy, unsigned long long place,
                       bool elsewhere, float* out) {
  const auto* words = reinterpret_cast<const unsigned long long*>(real);
  for (int i = 0; i < 10; ++i) {
    copy[i] = words[i];
    if (elsewhere && words[i] == place) copy[i] = 4096;
    // The upper half of word 6 and word 7 hold kinds, modes and flags.
    if (!elsewhere && (i == 6 || i == 7)) copy[i] |= ~0ull << (i == 6 ? 32 : 0);
  }
  __threadfence();
  *out = tex1Dfetch<float>(reinterpret_cast<cudaTextureObject_t>(copy), 0);
}
cudaTextureObject_t texture_of(void* d_memory) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_memory;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 128;
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

int fault(const std::string& which) {
  int* p = nullptr;
  CHECK(cudaMalloc(&p, 256));
  if (which == "past") past_the_end<<<1, 32>>>(p, 1 << 26);
  if (which == "misaligned") misaligned<<<1, 1>>>(reinterpret_cast<char*>(p));
  if (which == "assert") failing_assert<<<1, 1>>>(4);
  if (which == "trap") trapping<<<1, 1>>>(4);
  if (which == "null") null_pointer<<<1, 1>>>(nullptr);
  if (which == "fine") fine<<<1, 1>>>(p);
  if (which == "elsewhere" || which == "nonsense") {
    unsigned long long* copy = nullptr;
    CHECK(cudaMalloc(&copy, 128));
    forged<<<1, 1>>>(texture_of(p), copy, reinterpret_cast<unsigned long long>(p), which == "elsewhere",
                     reinterpret_cast<float*>(p) + 40);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  // The error is sticky: all later calls fail with it.
  void* more = nullptr;
  EXPECT(cudaMalloc(&more, 16) == error);
  EXPECT(cudaGetLastError() == error);
  EXPECT(cudaGetLastError() == cudaSuccess);
  return int(error) & 0x7f;
}

// CUDA versions differ in which of the two they return.
bool is_refusal(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

int main(int, char** argv) {
  if (const char* which = std::getenv("FAULTS_CHILD")) return fault(which);
  const auto child = [&](const char* which) {
    const std::string command =
        std::string("FAULTS_CHILD=") + which + " '" + argv[0] + "' 2>/dev/null >/dev/null";
    const int status = std::system(command.c_str());
    return status / 256;
  };
  EXPECT(child("fine") == 0);
  EXPECT(child("past") == (cudaErrorIllegalAddress & 0x7f));
  EXPECT(child("misaligned") == (cudaErrorMisalignedAddress & 0x7f));
  EXPECT(child("assert") == (cudaErrorAssert & 0x7f));
  EXPECT(child("trap") == (cudaErrorLaunchFailure & 0x7f));
  EXPECT(child("null") == (cudaErrorIllegalAddress & 0x7f));
  EXPECT(child("elsewhere") == (cudaErrorIllegalAddress & 0x7f));
  EXPECT(child("nonsense") == (cudaErrorIllegalAddress & 0x7f));

  // Refused launches do not affect the device.
  int* p = nullptr;
  CHECK(cudaMalloc(&p, 256));
  fine<<<1, 2048>>>(p);
  EXPECT(is_refusal(cudaGetLastError()));
  fine<<<0, 1>>>(p);
  EXPECT(is_refusal(cudaGetLastError()));
  fine<<<1, 1, 1 << 20>>>(p);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  bounded<<<1, 128>>>(p);
  EXPECT(cudaGetLastError() != cudaSuccess);
  fine<<<1, 1>>>(p);
  CHECK(cudaGetLastError());
  int value = 0;
  CHECK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 42);
  EXPECT(cudaMemcpy(&value, p, 4096, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  EXPECT(cudaFree(&value) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  std::puts("ok");
}
