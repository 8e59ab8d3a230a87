// SPDX-License-Identifier: MIT
// Classes with members, an operator passed by value, references, an enumeration, a matrix in shared memory
// and dynamic shared memory; two launches.
#include <cstdio>

enum class Color { red, green };

template <typename T>
struct Affine {
  T scale, offset;
  __device__ T operator()(T x) const {
    const T product = scale * x;
    return product + offset;
  }
};

namespace shapes {
__device__ double weight = 0.5;
}

__device__ void accumulate(double& into, const double& what) {
  into += what;
}

template <typename Op>
__global__ void transform(double* data, Op op, Color color) {
  __shared__ double matrix[4][8];
  extern __shared__ double row[];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  matrix[y][x] = op(data[y * 8 + x]);
  row[y * 8 + x] = matrix[y][x] * shapes::weight;
  __syncthreads();
  double sum = 0;
  accumulate(sum, matrix[y][7 - x]);
  accumulate(sum, row[x]);
  const bool is_green = color == Color::green;
  data[y * 8 + x] = is_green ? sum : -sum;
}

int main() {
  double host[32], *data;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  for (int k = 0; k < 2; ++k) {
    transform<<<1, dim3(8, 4), sizeof host>>>(data, Affine<double>{2.0, 1.0},
                                              k == 0 ? Color::red : Color::green);
    cudaDeviceSynchronize();
    std::printf("launch %d is done\n", k + 1);
  }
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[9]);
  cudaFree(data);
}
