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
__device__ __noinline__ void add_to(float* values) {
  for (int i = 0; i < 4; ++i) values[i] += 1;
}
__global__ void say_hello() {
  std::printf("hello\n");
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recurse(int* out, int n) {
  *out = fibonacci(n);
}

__global__ void keep_address(float** address) {
  float local[4] = {};
  *address = local;
  add_to(local);
}
struct Shape {
  __host__ __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side = 2;
  __host__ __device__ float area() const override { return side * side; }
};
__global__ void add_areas(const Shape* const* shapes, float* out) {
  *out += shapes[0]->area();
}
__global__ void make_square(Square* at, const Shape** shapes) {
  shapes[0] = new (at) Square;
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

struct Stream {
  Stream() { cudaStreamCreate(&stream); }
  ~Stream() { cudaStreamDestroy(stream); }
  operator cudaStream_t() const { return stream; }  // NOLINT
  cudaStream_t stream = nullptr;
};
struct Event {
  Event() { cudaEventCreate(&event); }
  ~Event() { cudaEventDestroy(event); }
  operator cudaEvent_t() const { return event; }  // NOLINT
  cudaEvent_t event = nullptr;
};
// Pinned memory of the host: `n` times 1.
struct Pinned {
  explicit Pinned(int n = kItems) {
    cudaMallocHost(&data, n * sizeof(float));
    std::fill_n(data, n, 1.0f);
  }
  ~Pinned() { cudaFreeHost(data); }
  float* data = nullptr;
};

std::vector<float> copied(const float* d_data, int n = kItems) {
  std::vector<float> host(n);
  cudaMemcpy(host.data(), d_data, n * sizeof(float), cudaMemcpyDeviceToHost);
  return host;
}

// The cases by name; CASE(name) { … } defines one.
std::map<std::string, void (*)()>& cases() {
  static std::map<std::string, void (*)()> all;
  return all;
}
struct Case {
  Case(const char* name, void (*run)()) { cases().emplace(name, run); }
};
#define CASE(name)                     \
  void name();                         \
  const Case case_##name(#name, name); \
  void name()

// --- host code accesses memory of the device

CASE(prints_an_element) {
  Floats v;
  v.written();
  std::printf("%g\n", v[3]);  // host-access
}
CASE(stores_an_element) {
  Floats v;
  v[5] = 1;  // host-access
}
CASE(copies_with_memcpy) {
  Floats v;
  std::vector<float> host(kItems);
  v.written();
  std::memcpy(host.data(), v.get(), kItems * sizeof(float));  // host-access
}
CASE(reads_a_pitched_row) {
  float* v = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&v, &pitch, 400, 10);
  cudaMemset2D(v, pitch, 0, 400, 10);
  std::printf("%g\n", v[pitch / sizeof(float)]);  // host-access
}
CASE(reads_a_row_of_a_volume) {
  cudaPitchedPtr v{};
  cudaMalloc3D(&v, {400, 10, 2});
  cudaMemset3D(v, 0, {400, 10, 2});
  std::printf("%g\n", static_cast<float*>(v.ptr)[v.pitch / sizeof(float)]);  // host-access
}
CASE(asks_for_what_the_simulator_lacks) {
  cudaArray_t cube = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMalloc3DArray(&cube, &format, {8, 8, 6}, cudaArrayCubemap);  // api-error
}
CASE(reads_pool_memory) {
  float* v = nullptr;
  cudaMallocAsync(&v, 400, nullptr);
  cudaMemsetAsync(v, 0, 400);
  cudaDeviceSynchronize();
  std::printf("%g\n", v[0]);  // host-access
}
CASE(allocates_an_array_of_arrays) {
  float** rows = nullptr;
  cudaMalloc(&rows, 4 * sizeof(float*));
  cudaMalloc(&rows[1], 400);  // host-access
  cudaFree(rows);
}
CASE(releases_with_free) {
  float *v = nullptr, *w = nullptr;
  cudaMalloc(&v, 400);
  cudaMalloc(&w, 400);
  cudaFree(v);
  std::free(w);  // host-access
}
CASE(releases_with_delete) {
  float* v = nullptr;
  cudaMallocManaged(&v, 400);
  delete[] v;  // host-access
}
CASE(reads_before_the_start) {
  Floats v;
  v.written();
  std::printf("%g\n", *reinterpret_cast<const double*>(v.get() - 2));  // host-access
}
CASE(reads_a_symbols_address) {
  void* address = nullptr;
  cudaGetSymbolAddress(&address, weights);
  std::printf("%g\n", static_cast<float*>(address)[2]);  // host-access
}
CASE(reads_in_a_host_function) {
  static Floats v;
  v.written();
  cudaLaunchHostFunc(
      nullptr, [](void*) { std::printf("%g\n", v[0]); }, nullptr);  // host-access
}

CASE(uses_host_accessible_memory) {
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
CASE(only_computes_addresses) {
  Floats v;
  v.written();
  const float* end = v.get() + kItems;
  std::vector<float*> pointers{v.get(), v.get() + 1};
  std::sort(pointers.begin(), pointers.end());
  if (end - pointers[1] != kItems - 1) std::printf("wrong\n");
}

// --- memory that was not written completely

CASE(grid_is_too_small) {
  Floats v;
  init<<<kItems / kBlock, kBlock>>>(v, kItems);
  copied(v);
}
CASE(one_element_is_left_out) {
  Floats v;
  init_but<<<4, kBlock>>>(v, kItems, 500);
  copied(v);
}
CASE(gap_goes_through_a_copy) {
  Floats v, w;
  init<<<kItems / kBlock, kBlock>>>(v, kItems);
  cudaMemcpy(w, v, kItems * sizeof(float), cudaMemcpyDeviceToDevice);
  copied(w);
}
CASE(gap_goes_through_a_copy_to_a_kernel) {
  Floats v, w, out;
  init<<<kItems / kBlock, kBlock>>>(v, kItems);
  cudaMemcpyAsync(w, v, kItems * sizeof(float), cudaMemcpyDeviceToDevice);
  add_one<<<4, kBlock>>>(w, out, kItems);
  copied(out);
}
CASE(memset_counts_elements) {
  Floats v;
  cudaMemset(v, 0, kItems);
  copied(v);
}
CASE(columns_are_left_out) {
  Floats v(100 * 10);
  init_rows<<<dim3(100 / 64, 10), 64>>>(v, 100, 100);
  copied(v, 100 * 10);
}
CASE(gap_in_a_graph) {
  Floats v;
  std::vector<float> host(kItems);
  Stream stream;
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
}

// Captures a copy from `host`, then calls `between`, and launches the graph.
template <typename Between>
void launches_a_copy(const float* host, Between between) {
  Floats v;
  Stream stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  init<<<8, kItems / 8, 0, stream>>>(v, kItems);
  cudaMemcpyAsync(v, host, kItems * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  between();
  for (int k = 0; k < 3; ++k) cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}
CASE(graph_reads_freed_pinned_memory) {
  float* host = nullptr;
  cudaMallocHost(&host, kItems * sizeof(float));
  std::memset(host, 0, kItems * sizeof(float));
  launches_a_copy(host, [&] { cudaFreeHost(host); });  // freed
}
CASE(graph_reads_freed_memory) {
  auto* host = new float[kItems]();
  launches_a_copy(host, [&] { delete[] host; });  // freed
}
CASE(graph_reads_freed_memory_of_malloc) {
  auto* host = static_cast<float*>(std::calloc(kItems + 1, sizeof(float)));
  launches_a_copy(host + 1, [&] { std::free(host); });  // freed
}
CASE(graph_reads_memory_of_a_vector) {
  std::vector<float> host(kItems), other(kItems);
  launches_a_copy(host.data(), [&] { host.resize(10 * kItems); });
}
const float* local_array() {
  const float host[kItems] = {};
  const float* begin = host;
  asm volatile("" : "+r"(begin) : : "memory");  // hidden from the compiler's warning
  return begin;
}
CASE(graph_reads_an_ended_frame) {
  launches_a_copy(local_array(), [] {});
}
CASE(graph_reads_memory_that_is_kept) {
  std::vector<float> host(kItems);
  float on_stack[kItems] = {};
  const Pinned pinned;
  for (const float* from : {host.data(), on_stack, pinned.data}) {
    launches_a_copy(from, [] { delete[] new float[kItems]; });
  }
}

CASE(copies_padding_of_structures) {
  Particle *p = nullptr, host[64];
  for (const int n : {64, 1}) {
    cudaMalloc(&p, n * sizeof(Particle));
    make_particles<<<1, n>>>(p);
    cudaMemcpy(host, p, n * sizeof(Particle), cudaMemcpyDeviceToHost);
    cudaFree(p);
  }
}
CASE(copies_padding_of_rows) {
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
CASE(copies_only_what_was_written) {
  Floats v, w;
  init<<<2, kBlock>>>(v, 2 * kBlock);
  copied(v, 2 * kBlock);
  cudaMemcpy(w, v, kItems * sizeof(float), cudaMemcpyDeviceToDevice);
  cudaMemset(w + 2 * kBlock, 0, (kItems - 2 * kBlock) * sizeof(float));
  copied(w);
}
CASE(writes_in_several_launches) {
  Floats v;
  for (int first = 0; first < kItems; first += kBlock) init<<<1, kBlock>>>(v + first, kItems - first);
  copied(v);
}

// --- work that may still be under way

CASE(asks_for_the_time_at_once) {
  Floats v;
  Event start, stop;
  cudaEventRecord(start);
  init<<<4, kBlock>>>(v, kItems);
  cudaEventRecord(stop);
  float ms = 0;
  cudaEventElapsedTime(&ms, start, stop);  // missing-wait
  cudaDeviceSynchronize();
}
CASE(asks_once_and_goes_on) {
  Floats v;
  Event event;
  init<<<4, kBlock>>>(v, kItems);
  cudaEventRecord(event);
  if (cudaEventQuery(event) == cudaErrorNotReady) std::printf("not ready\n");
  if (cudaStreamQuery(nullptr) == cudaErrorNotReady) std::printf("not ready\n");
  cudaEventSynchronize(event);
  if (cudaEventQuery(event) != cudaSuccess || cudaStreamQuery(nullptr) != cudaSuccess) std::printf("wrong\n");
}
CASE(ends_without_waiting) {
  say_hello<<<1, 1>>>();  // missing-wait
}
CASE(ends_without_waiting_for_a_stream) {
  static Floats* v = new Floats;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  init<<<4, kBlock, 0, stream>>>(*v, kItems);  // missing-wait
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaEventRecord(event);
  cudaEventSynchronize(event);
}
CASE(allocation_is_no_wait) {
  const Pinned pinned;
  float* more = nullptr;
  Floats v;
  Stream stream;
  cudaMemcpyAsync(v, pinned.data, kItems * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaMalloc(&more, 64);
  pinned.data[0] = 2;  // host-writes-during-copy
  cudaStreamSynchronize(stream);
  cudaFree(more);
}
CASE(overwrites_a_large_buffer) {
  constexpr int kMany = 1 << 20;
  const Pinned pinned(kMany);
  Floats v(kMany);
  Stream stream;
  cudaMemcpyAsync(v, pinned.data, kMany * sizeof(float), cudaMemcpyHostToDevice, stream);
  for (int i = 0; i < kMany; ++i) pinned.data[i] = 2;  // host-writes-during-copy
  cudaStreamSynchronize(stream);
}

CASE(polls_until_it_has_ended) {
  Floats v;
  Stream stream;
  Event start, stop;
  cudaEventRecord(start, stream);
  init<<<4, kBlock, 0, stream>>>(v, kItems);
  cudaEventRecord(stop, stream);
  while (cudaEventQuery(stop) == cudaErrorNotReady) continue;
  float ms = -1;
  if (cudaEventElapsedTime(&ms, start, stop) != cudaSuccess || ms <= 0) std::printf("wrong\n");
  init<<<4, kBlock, 0, stream>>>(v, kItems);
  while (cudaStreamQuery(stream) == cudaErrorNotReady) continue;
}
CASE(waits_by_a_copy_to_the_host) {
  Floats v;
  Event start, stop;
  cudaEventRecord(start);
  init<<<4, kBlock>>>(v, kItems);
  cudaEventRecord(stop);
  copied(v);
  float ms = -1;
  if (cudaEventElapsedTime(&ms, start, stop) != cudaSuccess) std::printf("wrong\n");
}
CASE(ends_with_a_reset) {
  say_hello<<<1, 1>>>();
  cudaDeviceReset();
}

// --- calls that fail, and what follows

CASE(launch_fails) {
  Floats v, out;
  init<<<1, 2048>>>(v, kItems);  // api-error
  add_one<<<4, kBlock>>>(v, out, kItems);
  copied(out);
}
CASE(shared_memory_is_too_large) {
  Floats v;
  init<<<4, kBlock, 100000>>>(v, kItems);  // api-error
  copied(v);
}
CASE(copy_fails) {
  Floats v;
  std::vector<float> host(2 * kItems);
  cudaMemcpy(v, host.data(), 2 * kItems * sizeof(float), cudaMemcpyHostToDevice);  // api-error
  copied(v);
}

CASE(allocation_fails) {
  float* v = nullptr;
  cudaMalloc(&v, std::size_t{1} << 50);  // api-error
  init<<<4, kBlock>>>(v, kItems);
  cudaDeviceSynchronize();
}

CASE(reads_the_error_of_a_launch_that_is_needed) {
  Floats v, out;
  init<<<1, 2048>>>(v, kItems);  // api-error
  if (cudaGetLastError() == cudaSuccess) std::printf("wrong\n");
  add_one<<<4, kBlock>>>(v.written(), out, kItems);
  copied(out);
}
CASE(launches_less_without_a_look_at_the_error) {
  Floats v;
  for (const int threads : {2048, 1024}) init<<<1, threads>>>(v, kItems);  // api-error
  cudaGetLastError();
  copied(v);
}
CASE(reads_the_error_of_a_copy) {
  Floats v;
  std::vector<float> host(2 * kItems);
  for (const int n : {2 * kItems, kItems}) {
    cudaMemcpy(v, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);  // api-error
    cudaGetLastError();
  }
}
// Right: each error is the answer to a request that may be refused, and the program asks for less.
CASE(allocates_less_if_memory_is_out) {
  float* v = nullptr;
  for (std::size_t bytes = std::size_t{1} << 50; cudaMalloc(&v, bytes) != cudaSuccess; bytes /= 1024)
    if (cudaGetLastError() != cudaErrorMemoryAllocation) std::printf("wrong\n");
  cudaFree(v);
  void* host = nullptr;
  if (cudaMalloc(&v, std::size_t{1} << 50) != cudaSuccess && cudaPeekAtLastError() != cudaSuccess)
    host = std::malloc(400);  // goes on without a device
  std::free(host);
  init<<<1, 1>>>(v, 0);
  cudaDeviceSynchronize();
}
CASE(probes_the_largest_shared_memory) {
  int bytes = 1 << 20;
  while (cudaFuncSetAttribute(init, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess) {
    cudaGetLastError();
    bytes /= 2;
  }
  Floats v;
  init<<<4, kBlock, bytes>>>(v, kItems);
  copied(v);
}
CASE(tries_smaller_blocks) {
  Floats v;
  for (int threads = 4096;; threads /= 2) {
    init<<<1, threads>>>(v, kItems);
    if (cudaGetLastError() == cudaSuccess) break;
  }
  cudaDeviceSynchronize();
}

CASE(calls_cuda_in_a_host_function) {
  static Floats* v = new Floats;
  cudaLaunchHostFunc(
      nullptr, [](void*) { cudaMemset(*v, 0, 4); }, nullptr);  // api-error
  cudaDeviceSynchronize();
}

// --- names of __device__ variables

CASE(copies_to_a_name) {
  float host[16] = {};
  cudaMemcpy(weights, host, sizeof host, cudaMemcpyHostToDevice);  // host-variable
}
CASE(copies_from_within_a_name) {
  float host[8] = {};
  cudaMemcpy(host, weights + 8, sizeof host, cudaMemcpyDeviceToHost);  // host-variable
}
CASE(sets_a_name) {
  cudaMemset(weights, 0, sizeof weights);  // host-variable
}
CASE(copies_to_a_name_by_default) {
  int host[4] = {};
  cudaMemcpy(limits, host, sizeof host, cudaMemcpyDefault);  // host-variable
}
CASE(passes_a_name_to_a_kernel) {
  static Floats* out = new Floats;
  read_weights<<<1, 4>>>(weights + 4, *out);  // host-variable
  cudaDeviceSynchronize();
}
CASE(passes_a_wild_pointer) {
  static Floats* out = new Floats;
  std::uintptr_t unwritten = 0;
  std::memset(&unwritten, 0xa4, sizeof unwritten);
  read_weights<<<1, 4>>>(reinterpret_cast<const float*>(unwritten), *out);
  cudaDeviceSynchronize();
}
CASE(passes_the_address_of_a_local_variable) {
  Floats out(4), address(2);
  keep_address<<<1, 1>>>(reinterpret_cast<float**>(address.get()));
  float* local = nullptr;
  cudaMemcpy(&local, address, sizeof local, cudaMemcpyDeviceToHost);
  read_weights<<<1, 4>>>(local, out);
  cudaDeviceSynchronize();
}
__device__ int twice(int x) {
  return 2 * x;
}
template <typename T>
T doubled(T x) {
  return twice(x);
}
CASE(calls_a_device_function) {
  cudaFree(nullptr);
  std::printf("%d\n", doubled(kItems));
}
CASE(copies_an_object_with_virtual_functions) {
  Floats out(1), memory(sizeof(Square) / sizeof(float)), pointer(2);
  const Square square;
  Square* const copy = reinterpret_cast<Square*>(memory.get());
  cudaMemcpy(copy, &square, sizeof square, cudaMemcpyHostToDevice);
  cudaMemcpy(pointer, &copy, sizeof copy, cudaMemcpyHostToDevice);
  add_areas<<<1, 1>>>(reinterpret_cast<const Shape**>(pointer.get()), out.written());
  cudaDeviceSynchronize();
}
CASE(makes_an_object_in_a_kernel) {
  Floats out(1), memory(sizeof(Square) / sizeof(float)), pointer(2);
  const auto shapes = reinterpret_cast<const Shape**>(pointer.get());
  make_square<<<1, 1>>>(reinterpret_cast<Square*>(memory.get()), shapes);
  add_areas<<<1, 1>>>(shapes, out.written());
  cudaDeviceSynchronize();
}
CASE(uses_symbols) {
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

void print_with_a_buffer(size_t n_bytes) {
  cudaDeviceSetLimit(cudaLimitPrintfFifoSize, n_bytes);
  say_hello<<<8, 32>>>();
  cudaDeviceSynchronize();
}
CASE(prints_more_than_the_buffer_holds) {
  print_with_a_buffer(1024);
}
CASE(prints_what_the_buffer_holds) {
  print_with_a_buffer(2048);
}
void recurse_with_a_stack(size_t n_bytes) {
  int* out = nullptr;
  cudaDeviceSetLimit(cudaLimitStackSize, n_bytes);
  cudaMalloc(&out, sizeof(int));
  recurse<<<1, 1>>>(out, 20);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(recurses_deeper_than_the_stack) {
  recurse_with_a_stack(64);
}
CASE(recurses_within_the_stack) {
  recurse_with_a_stack(1 << 14);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1)
    cases().at(argv[1])();
  else
    for (const auto& [name, run] : cases()) std::printf("%s\n", name.c_str());
}
