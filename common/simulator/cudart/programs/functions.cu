// SPDX-License-Identifier: MIT
// Calls: noinline and recursive functions, tables of function pointers, a large switch, virtual functions,
// local arrays.
#include "check.hpp"

__device__ __noinline__ int square_plus(int x, int y) {
  return x * x + y;
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ float4 mix(float4 a, double t) {
  return make_float4(float(a.x * t), float(a.y + t), a.z, float(t));
}

using Operation = int (*)(int, int);
__device__ int add(int a, int b) {
  return a + b;
}
__device__ int subtract(int a, int b) {
  return a - b;
}
__device__ int multiply(int a, int b) {
  return a * b;
}
__device__ Operation operations[] = {add, subtract, multiply};

__device__ int classify(int x) {
  switch (x) {
    case 0: return 5;
    case 1: return 17;
    case 2: return x * 3;
    case 3: return -1;
    case 4: return 99;
    case 5: return x << 4;
    case 6: return ~x;
    case 7: return x % 3;
    case 8: return 1000;
    case 100: return 7;
    default: return x + 1000000;
  }
}

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3 * radius * radius; }
};

__global__ void run(int* ints, float* floats, int n) {
  const int t = threadIdx.x;
  int* mine = ints + t * 6;
  mine[0] = square_plus(t, 1);
  mine[1] = fibonacci(t % 12);
  mine[2] = operations[t % 3](t, 7);
  mine[3] = classify(t % 11 == 10 ? 100 : t % 11);

  int stack[16];  // indexed with values known only at run time, so it is in local memory
  for (int i = 0; i < 16; ++i) stack[i] = (i * 5 + t) % 16;
  int at = t % 16;
  for (int hops = 0; hops < 4; ++hops) at = stack[at];
  mine[4] = at;

  int collatz = 0;
  for (unsigned x = unsigned(t) + 1; x != 1; ++collatz) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  mine[5] = collatz;

  const Square square{float(t)};
  const Circle circle{2.0f};
  const Shape* shape = &circle;
  if (t % 2 == 0) shape = &square;
  const float4 m = mix(make_float4(t, t, t, t), 0.5);
  floats[t] = shape->area() + m.x + m.y + m.z + m.w;
  (void)n;
}

int host_classify(int x) {
  const int table[] = {5, 17, 6, -1, 99, 80, ~6, 1, 1000};
  return x == 100 ? 7 : x < 9 ? table[x] : x + 1000000;
}

int main() {
  const int n = 64;
  int *ints, h[n * 6];
  float *floats, f[n];
  CHECK(cudaMalloc(&ints, sizeof h));
  CHECK(cudaMalloc(&floats, sizeof f));
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  run<<<1, n>>>(ints, floats, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(h, ints, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(f, floats, sizeof f, cudaMemcpyDeviceToHost));
  const int fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (int t = 0; t < n; ++t) {
    const int* mine = h + t * 6;
    EXPECT(mine[0] == t * t + 1);
    EXPECT(mine[1] == fib[t % 12]);
    EXPECT(mine[2] == (t % 3 == 0 ? t + 7 : t % 3 == 1 ? t - 7 : t * 7));
    EXPECT(mine[3] == host_classify(t % 11 == 10 ? 100 : t % 11));
    int at = t % 16;
    for (int hops = 0; hops < 4; ++hops) at = (at * 5 + t) % 16;
    EXPECT(mine[4] == at);
    int collatz = 0;
    for (unsigned x = unsigned(t) + 1; x != 1; ++collatz) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    EXPECT(mine[5] == collatz);
    const float area = t % 2 == 0 ? float(t) * t : 12.0f;
    EXPECT(f[t] == area + t * 0.5f + (t + 0.5f) + t + 0.5f);
  }
  std::puts("ok");
}
