// SPDX-License-Identifier: MIT
// For host_code_test.py: mistakes of host code, and right code that looks like them. The argument selects
// one; without it, the program prints all names.
#include <cuda_runtime.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr int kItems = 1000, kBlock = 256;

__device__ float weights[16];
__constant__ int limits[4];
__managed__ int shared_counter;

__global__ void init(float* v, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = 1;
}
__global__ void init_but(float* v, int n, int left_out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i != left_out) v[i] = 1;
}
__global__ void init_rows(float* v, int n_columns, int pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n_columns) v[blockIdx.y * pitch + x] = 1;
}
__global__ void add_one(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1;
}
__global__ void read_weights(const float* w, float* out) {
  out[threadIdx.x] = w[threadIdx.x];
}
__global__ void use_weights(float* out) {
  out[threadIdx.x] = weights[threadIdx.x] + static_cast<float>(limits[threadIdx.x % 4]);
}
__global__ void say_hello() {
  std::printf("hello\n");
}

struct Particle {
  double mass;
  int id;
};
__global__ void make_particles(Particle* p) {
  p[threadIdx.x].mass = 1;
  p[threadIdx.x].id = 2;
}

// Memory of the device, all of it written.
class Floats {
 public:
  explicit Floats(int n = kItems) : n_(n) { cudaMalloc(&data_, n * sizeof(float)); }
  ~Floats() { cudaFree(data_); }
  Floats& written() {
    cudaMemset(data_, 0, n_ * sizeof(float));
    return *this;
  }
  float* get() const { return data_; }
  operator float*() const { return data_; }  // NOLINT: as in plain programs

 private:
  int n_;
  float* data_ = nullptr;
};

std::vector<float> copied(const float* d_data, int n = kItems) {
  std::vector<float> host(n);
  cudaMemcpy(host.data(), d_data, n * sizeof(float), cudaMemcpyDeviceToHost);
  return host;
}

// --- host code accesses memory of the device

void prints_an_element() {
  Floats v;
  v.written();
  std::printf("%g\n", v[3]);  // host-access
}
void stores_an_element() {
  Floats v;
  v[5] = 1;  // host-access
}
void sorts_on_the_host() {
  Floats v;
  v.written();
  std::sort(v.get(), v.get() + kItems);  // host-access
}
void copies_with_memcpy() {
  Floats v;
  std::vector<float> host(kItems);
  v.written();
  std::memcpy(host.data(), v.get(), kItems * sizeof(float));  // host-access
}
void reads_a_pitched_row() {
  float* v = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&v, &pitch, 400, 10);
  cudaMemset2D(v, pitch, 0, 400, 10);
  std::printf("%g\n", v[pitch / sizeof(float)]);  // host-access
}
void reads_pool_memory() {
  float* v = nullptr;
  cudaMallocAsync(&v, 400, nullptr);
  cudaMemsetAsync(v, 0, 400);
  cudaDeviceSynchronize();
  std::printf("%g\n", v[0]);  // host-access
}
void allocates_an_array_of_arrays() {
  float** rows = nullptr;
  cudaMalloc(&rows, 4 * sizeof(float*));
  cudaMalloc(&rows[1], 400);  // host-access
  cudaFree(rows);
}
void releases_with_free() {
  float *v = nullptr, *w = nullptr;
  cudaMalloc(&v, 400);
  cudaMalloc(&w, 400);
  cudaFree(v);
  std::free(w);  // host-access
}
void releases_with_delete() {
  float* v = nullptr;
  cudaMallocManaged(&v, 400);
  delete[] v;  // host-access
}
void reads_before_the_start() {
  Floats v;
  v.written();
  std::printf("%g\n", *reinterpret_cast<const double*>(v.get() - 2));  // host-access
}
void reads_a_symbols_address() {
  void* address = nullptr;
  cudaGetSymbolAddress(&address, weights);
  std::printf("%g\n", static_cast<float*>(address)[2]);  // host-access
}
void reads_in_a_host_function() {
  static Floats v;
  v.written();
  cudaLaunchHostFunc(
      nullptr, [](void*) { std::printf("%g\n", v[0]); }, nullptr);  // host-access
}
void writes_to_a_file() {
  Floats v(1 << 16);
  v.written();
  const int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
  (void)!write(file, v.get(), 1 << 18);  // host-access
  close(file);
}
void reads_a_file() {
  Floats v(1 << 16);
  std::FILE* file = std::fopen("/dev/zero", "rb");
  (void)!std::fread(v.get(), sizeof(float), 1 << 16, file);  // host-access
  std::fclose(file);
}
void writes_to_a_stream() {
  Floats v(1 << 16);
  v.written();
  std::ofstream file("/dev/zero");
  file.write(reinterpret_cast<const char*>(v.get()), 1 << 18);  // host-access
}

void uses_host_accessible_memory() {
  float *pinned = nullptr, *managed = nullptr;
  cudaMallocHost(&pinned, 1 << 18);
  cudaMallocManaged(&managed, 1 << 18);
  std::FILE* file = std::fopen("/dev/zero", "rb");
  for (float* v : {pinned, managed}) {
    (void)!std::fread(v, 1, 1 << 18, file);
    std::iota(v, v + kItems, 0.0f);
    init<<<4, kBlock>>>(v, kItems);
    cudaDeviceSynchronize();
    std::sort(v, v + kItems);
  }
  shared_counter = static_cast<int>(pinned[3] + managed[3]);
  const int out = open("/tmp", O_TMPFILE | O_RDWR, 0600);
  if (write(out, managed, 1 << 18) != 1 << 18) std::printf("not written\n");
  close(out);
  std::fclose(file);
  cudaFree(managed);
  cudaFreeHost(pinned);
}
void only_computes_addresses() {
  Floats v;
  v.written();
  const float* end = v.get() + kItems;
  std::vector<float*> pointers{v.get(), v.get() + 1};
  std::sort(pointers.begin(), pointers.end());
  if (end - pointers[1] != kItems - 1) std::printf("wrong\n");
}

// --- memory that was not written completely

void grid_is_too_small() {
  Floats v;
  init<<<kItems / kBlock, kBlock>>>(v, kItems);
  copied(v);
}
void one_element_is_left_out() {
  Floats v;
  init_but<<<4, kBlock>>>(v, kItems, 500);
  copied(v);
}
void first_element_is_left_out() {
  Floats v;
  init_but<<<4, kBlock>>>(v, kItems, 0);
  copied(v);
}
void gap_goes_through_a_copy() {
  Floats v, w;
  init<<<kItems / kBlock, kBlock>>>(v, kItems);
  cudaMemcpy(w, v, kItems * sizeof(float), cudaMemcpyDeviceToDevice);
  copied(w);
}
void gap_goes_through_a_copy_to_a_kernel() {
  Floats v, w, out;
  init<<<kItems / kBlock, kBlock>>>(v, kItems);
  cudaMemcpyAsync(w, v, kItems * sizeof(float), cudaMemcpyDeviceToDevice);
  add_one<<<4, kBlock>>>(w, out, kItems);
  copied(out);
}
void memset_counts_elements() {
  Floats v;
  cudaMemset(v, 0, kItems);
  copied(v);
}
void columns_are_left_out() {
  Floats v(100 * 10);
  init_rows<<<dim3(100 / 64, 10), 64>>>(v, 100, 100);
  copied(v, 100 * 10);
}
void gap_in_a_graph() {
  Floats v;
  std::vector<float> host(kItems);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  init<<<kItems / kBlock, kBlock, 0, stream>>>(v, kItems);
  cudaMemcpyAsync(host.data(), v, kItems * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);  // uninitialised
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

void copies_padding_of_structures() {
  Particle *p = nullptr, host[64];
  for (const int n : {64, 1}) {
    cudaMalloc(&p, n * sizeof(Particle));
    make_particles<<<1, n>>>(p);
    cudaMemcpy(host, p, n * sizeof(Particle), cudaMemcpyDeviceToHost);
    cudaFree(p);
  }
}
void copies_padding_of_rows() {
  float* v = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&v, &pitch, 400, 10);
  const auto n_columns = static_cast<int>(pitch / sizeof(float));
  init_rows<<<dim3(1, 10), kBlock>>>(v, 100, n_columns);
  copied(v, 10 * n_columns);
  std::vector<float> host(100 * 10);
  cudaMemcpy2D(host.data(), 400, v, pitch, 400, 10, cudaMemcpyDeviceToHost);
  cudaFree(v);
  Floats own(1024 * 10);
  init_rows<<<dim3(4, 10), kBlock>>>(own, 1000, 1024);
  copied(own, 1024 * 10);
}
void copies_only_what_was_written() {
  Floats v, w;
  init<<<2, kBlock>>>(v, 2 * kBlock);
  copied(v, 2 * kBlock);
  cudaMemcpy(w, v, kItems * sizeof(float), cudaMemcpyDeviceToDevice);
  cudaMemset(w + 2 * kBlock, 0, (kItems - 2 * kBlock) * sizeof(float));
  copied(w);
}
void writes_in_several_launches() {
  Floats v;
  for (int first = 0; first < kItems; first += kBlock) init<<<1, kBlock>>>(v + first, kItems - first);
  copied(v);
}

// --- work that may still be under way

void asks_for_the_time_at_once() {
  Floats v;
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  init<<<4, kBlock>>>(v, kItems);
  cudaEventRecord(stop);
  float ms = 0;
  cudaEventElapsedTime(&ms, start, stop);  // missing-wait
  cudaDeviceSynchronize();
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
}
void asks_once_and_goes_on() {
  Floats v;
  cudaEvent_t event;
  cudaEventCreate(&event);
  init<<<4, kBlock>>>(v, kItems);
  cudaEventRecord(event);
  if (cudaEventQuery(event) == cudaErrorNotReady) std::printf("not ready\n");
  if (cudaStreamQuery(nullptr) == cudaErrorNotReady) std::printf("not ready\n");
  cudaEventSynchronize(event);
  if (cudaEventQuery(event) != cudaSuccess || cudaStreamQuery(nullptr) != cudaSuccess) std::printf("wrong\n");
  cudaEventDestroy(event);
}
void ends_without_waiting() {
  say_hello<<<1, 1>>>();  // missing-wait
}
void ends_without_waiting_for_a_stream() {
  static Floats* v = new Floats;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  init<<<4, kBlock, 0, stream>>>(*v, kItems);  // missing-wait
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaEventRecord(event);
  cudaEventSynchronize(event);
}
void allocation_is_no_wait() {
  float *pinned = nullptr, *more = nullptr;
  Floats v;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMallocHost(&pinned, kItems * sizeof(float));
  std::fill_n(pinned, kItems, 1.0f);
  cudaMemcpyAsync(v, pinned, kItems * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaMalloc(&more, 64);
  pinned[0] = 2;  // host-writes-during-copy
  cudaStreamSynchronize(stream);
  cudaFree(more);
  cudaFreeHost(pinned);
  cudaStreamDestroy(stream);
}
void overwrites_a_large_buffer() {
  constexpr int kMany = 1 << 20;
  float* pinned = nullptr;
  Floats v(kMany);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMallocHost(&pinned, kMany * sizeof(float));
  std::fill_n(pinned, kMany, 1.0f);
  cudaMemcpyAsync(v, pinned, kMany * sizeof(float), cudaMemcpyHostToDevice, stream);
  for (int i = 0; i < kMany; ++i) pinned[i] = 2;  // host-writes-during-copy
  cudaStreamSynchronize(stream);
  cudaFreeHost(pinned);
  cudaStreamDestroy(stream);
}

void polls_until_it_has_ended() {
  Floats v;
  cudaStream_t stream;
  cudaEvent_t start, stop;
  cudaStreamCreate(&stream);
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start, stream);
  init<<<4, kBlock, 0, stream>>>(v, kItems);
  cudaEventRecord(stop, stream);
  while (cudaEventQuery(stop) == cudaErrorNotReady) {
  }
  float ms = -1;
  if (cudaEventElapsedTime(&ms, start, stop) != cudaSuccess || ms <= 0) std::printf("wrong\n");
  init<<<4, kBlock, 0, stream>>>(v, kItems);
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  cudaStreamDestroy(stream);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
}
void waits_by_a_copy_to_the_host() {
  Floats v;
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  init<<<4, kBlock>>>(v, kItems);
  cudaEventRecord(stop);
  copied(v);
  float ms = -1;
  if (cudaEventElapsedTime(&ms, start, stop) != cudaSuccess) std::printf("wrong\n");
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
}
void ends_with_a_reset() {
  say_hello<<<1, 1>>>();
  cudaDeviceReset();
}

// --- calls that fail, and what follows

void launch_fails() {
  Floats v, out;
  init<<<1, 2048>>>(v, kItems);  // api-error
  add_one<<<4, kBlock>>>(v, out, kItems);
  copied(out);
}
void shared_memory_is_too_large() {
  Floats v;
  init<<<4, kBlock, 100000>>>(v, kItems);  // api-error
  copied(v);
}
void copy_fails() {
  Floats v;
  std::vector<float> host(2 * kItems);
  cudaMemcpy(v, host.data(), 2 * kItems * sizeof(float), cudaMemcpyHostToDevice);  // api-error
  copied(v);
}

void allocation_fails() {
  float* v = nullptr;
  cudaMalloc(&v, std::size_t{1} << 50);  // api-error
  init<<<4, kBlock>>>(v, kItems);
  cudaDeviceSynchronize();
}

void calls_cuda_in_a_host_function() {
  static Floats* v = new Floats;
  cudaLaunchHostFunc(
      nullptr, [](void*) { cudaMemset(*v, 0, 4); }, nullptr);  // api-error
  cudaDeviceSynchronize();
}

// --- names of __device__ variables

void copies_to_a_name() {
  float host[16] = {};
  cudaMemcpy(weights, host, sizeof host, cudaMemcpyHostToDevice);  // host-variable
}
void copies_from_within_a_name() {
  float host[8] = {};
  cudaMemcpy(host, weights + 8, sizeof host, cudaMemcpyDeviceToHost);  // host-variable
}
void sets_a_name() {
  cudaMemset(weights, 0, sizeof weights);  // host-variable
}
void copies_to_a_name_by_default() {
  int host[4] = {};
  cudaMemcpy(limits, host, sizeof host, cudaMemcpyDefault);  // host-variable
}
void passes_a_name_to_a_kernel() {
  static Floats* out = new Floats;
  read_weights<<<1, 4>>>(weights + 4, *out);  // host-variable
  cudaDeviceSynchronize();
}
void passes_a_wild_pointer() {
  static Floats* out = new Floats;
  std::uintptr_t unwritten = 0;
  std::memset(&unwritten, 0xa4, sizeof unwritten);
  read_weights<<<1, 4>>>(reinterpret_cast<const float*>(unwritten), *out);
  cudaDeviceSynchronize();
}
void uses_symbols() {
  Floats out(4);
  float host[16] = {};
  void* address = nullptr;
  cudaMemcpyToSymbol(weights, host, sizeof host);
  cudaMemcpyToSymbol(limits, host, sizeof limits);
  use_weights<<<1, 4>>>(out);
  cudaGetSymbolAddress(&address, weights);
  read_weights<<<1, 4>>>(static_cast<float*>(address) + 4, out);
  cudaMemcpy(host, address, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(host, weights, sizeof host);
}

#define CASE(name) \
  { #name, name }
const std::map<std::string, void (*)()> kCases = {
    CASE(prints_an_element),
    CASE(stores_an_element),
    CASE(sorts_on_the_host),
    CASE(copies_with_memcpy),
    CASE(reads_a_pitched_row),
    CASE(reads_pool_memory),
    CASE(allocates_an_array_of_arrays),
    CASE(releases_with_free),
    CASE(releases_with_delete),
    CASE(reads_before_the_start),
    CASE(reads_a_symbols_address),
    CASE(reads_in_a_host_function),
    CASE(writes_to_a_file),
    CASE(reads_a_file),
    CASE(writes_to_a_stream),
    CASE(uses_host_accessible_memory),
    CASE(only_computes_addresses),
    CASE(grid_is_too_small),
    CASE(one_element_is_left_out),
    CASE(first_element_is_left_out),
    CASE(gap_goes_through_a_copy),
    CASE(gap_goes_through_a_copy_to_a_kernel),
    CASE(memset_counts_elements),
    CASE(columns_are_left_out),
    CASE(gap_in_a_graph),
    CASE(copies_padding_of_structures),
    CASE(copies_padding_of_rows),
    CASE(copies_only_what_was_written),
    CASE(writes_in_several_launches),
    CASE(asks_for_the_time_at_once),
    CASE(asks_once_and_goes_on),
    CASE(ends_without_waiting),
    CASE(ends_without_waiting_for_a_stream),
    CASE(allocation_is_no_wait),
    CASE(overwrites_a_large_buffer),
    CASE(polls_until_it_has_ended),
    CASE(waits_by_a_copy_to_the_host),
    CASE(ends_with_a_reset),
    CASE(launch_fails),
    CASE(shared_memory_is_too_large),
    CASE(copy_fails),
    CASE(allocation_fails),
    CASE(calls_cuda_in_a_host_function),
    CASE(copies_to_a_name),
    CASE(copies_from_within_a_name),
    CASE(sets_a_name),
    CASE(copies_to_a_name_by_default),
    CASE(passes_a_name_to_a_kernel),
    CASE(passes_a_wild_pointer),
    CASE(uses_symbols),
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1)
    kCases.at(argv[1])();
  else
    for (const auto& [name, run] : kCases) std::printf("%s\n", name.c_str());
}
