// SPDX-License-Identifier: MIT
// float4, int2, double2, uchar4 loads and stores; a structure and an array passed by value.
#include <vector>

#include "check.hpp"

struct Particle {
  float3 position;
  float mass;
  double2 velocity;
  short tag;
};
struct Coefficients {
  float c[5];
  int shift;
  char sign;
};

__global__ void saxpy4(float4* y, const float4* x, float a, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  const float4 u = x[i];
  float4 v = y[i];
  v.x += a * u.x;
  v.y += a * u.y;
  v.z += a * u.z;
  v.w += a * u.w;
  y[i] = v;
}

__global__ void polynomial(float* out, Coefficients k, int2 range) {
  const int i = range.x + threadIdx.x;
  if (i >= range.y) return;
  float sum = 0;
  for (int j = 4; j >= 0; --j) sum = sum * i + k.c[j];
  out[i] = k.sign == '-' ? -sum - k.shift : sum + k.shift;
}

__global__ void step(Particle* p, double dt, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle mine = p[i];
  mine.position.x += float(mine.velocity.x * dt);
  mine.position.y += float(mine.velocity.y * dt);
  mine.tag = short(mine.tag * 2 + 1);
  p[i] = mine;
}

__global__ void swizzle(uchar4* pixels, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    pixels[i] = make_uchar4(pixels[i].w, pixels[i].z, pixels[i].y, (unsigned char)(255 - pixels[i].x));
}

template <typename T>
T* upload(const std::vector<T>& host) {
  T* device;
  CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}
template <typename T>
void download(std::vector<T>& host, T* device) {
  CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
}

int main() {
  const int n = 1000;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = i, y[i] = 2 * i;
  float *dx = upload(x), *dy = upload(y);
  saxpy4<<<2, 128>>>(reinterpret_cast<float4*>(dy), reinterpret_cast<float4*>(dx), 3.0f, n / 4);
  download(y, dy);
  for (int i = 0; i < n; ++i) EXPECT(y[i] == 5.0f * i);

  std::vector<float> values(40, -1.0f);
  float* d_values = upload(values);
  polynomial<<<1, 64>>>(d_values, Coefficients{{1, 2, 3, 0, 1}, 10, '-'}, make_int2(8, 20));
  download(values, d_values);
  for (int i = 0; i < 40; ++i) {
    const float z = float(i);
    const float expected = i < 8 || i >= 20 ? -1.0f : -(1 + 2 * z + 3 * z * z + z * z * z * z) - 10;
    EXPECT(values[i] == expected);
  }

  std::vector<Particle> particles(77);
  for (int i = 0; i < 77; ++i)
    particles[i] = Particle{make_float3(i, 2 * i, 3), 1.5f, make_double2(4, -i), short(i)};
  Particle* d_particles = upload(particles);
  step<<<3, 32>>>(d_particles, 0.5, 77);
  download(particles, d_particles);
  for (int i = 0; i < 77; ++i) {
    const Particle& p = particles[i];
    EXPECT(p.position.x == i + 2 && p.position.y == 1.5f * i && p.position.z == 3 && p.mass == 1.5f &&
           p.tag == 2 * i + 1);
  }

  std::vector<uchar4> pixels(100, make_uchar4(1, 2, 3, 4));
  uchar4* d_pixels = upload(pixels);
  swizzle<<<1, 128>>>(d_pixels, 100);
  download(pixels, d_pixels);
  for (const uchar4& p : pixels) EXPECT(p.x == 4 && p.y == 3 && p.z == 2 && p.w == 254);
  std::puts("ok");
}
