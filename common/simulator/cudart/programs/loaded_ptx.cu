// SPDX-License-Identifier: MIT
// Code that is loaded as PTX text at run time, through the library functions of the runtime.
#include <cstring>
#include <string>

#include "check.hpp"
#include "increment_ptx.hpp"

#if CUDART_VERSION >= 12080
// The resident memory of this process in bytes.
long resident() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  EXPECT(file != nullptr && std::fscanf(file, "%*d %ld", &pages) == 1);
  std::fclose(file);
  return pages * 4096;
}

void load_run_unload(const char* ptx, int* d, bool run) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  CHECK(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cudaLibraryGetKernel(&kernel, library, "increment"));
  int by = 7;
  void* arguments[] = {&d, &by};
  if (run)
    CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(64), arguments, 0, nullptr));
  CHECK(cudaLibraryUnload(library));
}

// Unloading a library releases its memory.
void many_libraries(int* d) {
  constexpr int kWarmUp = 50, kMany = 500;
  constexpr long kMax = 16L << 20;  // bytes, in total
  // Longer than the blocks that allocators keep in reserve.
  std::string ptx = kPtx;
  const std::string one = "  add.u32 %r3, %r3, %r1;\n", end = "  ret;\n";
  for (int i = 0; i < 500; ++i) ptx.insert(ptx.rfind(end), one);
  for (int i = 0; i < kWarmUp; ++i) load_run_unload(ptx.c_str(), d, true);
  const long before = resident();
  for (int i = 0; i < kMany; ++i) load_run_unload(ptx.c_str(), d, i % 10 == 0);
  EXPECT(resident() - before < kMax);
}
#endif

int main() {
#if CUDART_VERSION >= 12080
  cudaLibrary_t library;
  cudaKernel_t kernel;
  CHECK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cudaLibraryGetKernel(&kernel, library, "increment"));
  EXPECT(cudaLibraryGetKernel(&kernel, library, "missing") == cudaErrorSymbolNotFound);
  void* bias = nullptr;
  size_t size = 0;
  CHECK(cudaLibraryGetGlobal(&bias, &size, library, "bias"));
  EXPECT(size == 4);
  int h[64], *d;
  for (int i = 0; i < 64; ++i) h[i] = i;
  CHECK(cudaMalloc(&d, sizeof h));
  CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
  const int new_bias = 500;
  CHECK(cudaMemcpy(bias, &new_bias, sizeof new_bias, cudaMemcpyHostToDevice));
  int by = 7;
  void* arguments[] = {&d, &by};
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(64), arguments, 0, nullptr));
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) EXPECT(h[i] == i + 507);
  CHECK(cudaLibraryUnload(library));
  many_libraries(d);
  CHECK(cudaFree(d));
#endif
  std::puts("ok");
}
