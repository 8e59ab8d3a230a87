// SPDX-License-Identifier: MIT
// Texture objects for linear memory, pitched rows and arrays: point and linear filtering, address modes,
// normalised integers, layers; surface reads and writes; copies to and from arrays.
#include <cmath>
#include <vector>

#include "check.hpp"

namespace {

constexpr int kWidth = 8, kHeight = 8;

__global__ void fetch(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, static_cast<int>(threadIdx.x));
}
__global__ void sample(cudaTextureObject_t texture, float* out, float shift, float scale) {
  const float x = (static_cast<float>(threadIdx.x) + shift) * scale,
              y = (static_cast<float>(threadIdx.y) + shift) * scale;
  out[threadIdx.y * kWidth + threadIdx.x] = tex2D<float>(texture, x, y);
}
__global__ void sample_layer(cudaTextureObject_t texture, float* out, int layer) {
  out[threadIdx.x] = tex2DLayered<float>(texture, static_cast<float>(threadIdx.x) + 0.5f, 1.5f, layer);
}
__global__ void double_all(cudaSurfaceObject_t surface) {
  const int x = static_cast<int>(threadIdx.x) * static_cast<int>(sizeof(float)),
            y = static_cast<int>(threadIdx.y);
  surf2Dwrite(2 * surf2Dread<float>(surface, x, y), surface, x, y);
}

__global__ void write_pattern(cudaSurfaceObject_t surface) {
  surf2Dwrite(static_cast<float>(10 * threadIdx.y + threadIdx.x), surface, threadIdx.x * 4, threadIdx.y);
}

cudaTextureObject_t make_texture(const cudaResourceDesc& resource, const cudaTextureDesc& how) {
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}
cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

std::vector<float> host(const float* d, int n) {
  std::vector<float> h(static_cast<std::size_t>(n));
  CHECK(cudaMemcpy(h.data(), d, h.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return h;
}

float pattern(int x, int y) {
  return static_cast<float>(10 * y + x);
}

void check_memory(float* d_out) {
  unsigned char bytes[32];
  for (int i = 0; i < 32; ++i) bytes[i] = static_cast<unsigned char>(8 * i);
  void* d_bytes = nullptr;
  CHECK(cudaMalloc(&d_bytes, sizeof bytes));
  CHECK(cudaMemcpy(d_bytes, bytes, sizeof bytes, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_bytes;
  resource.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
  resource.res.linear.sizeInBytes = sizeof bytes;
  cudaTextureDesc how{};
  how.readMode = cudaReadModeNormalizedFloat;
  const cudaTextureObject_t texture = make_texture(resource, how);
  fetch<<<1, 40>>>(texture, d_out);
  const auto out = host(d_out, 40);
  for (int i = 0; i < 32; ++i)
    EXPECT(std::fabs(out[static_cast<std::size_t>(i)] - static_cast<float>(bytes[i]) / 255) < 1e-6f);
  EXPECT(out[35] == 0);  // outside the texture
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(d_bytes));
}

void check_array(const std::vector<float>& image, float* d_out) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
  constexpr std::size_t kRow = kWidth * sizeof(float);
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), kRow, kRow, kHeight, cudaMemcpyHostToDevice));
  const dim3 all(kWidth, kHeight);
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture = make_texture(of_array(array), how);
  sample<<<1, all>>>(texture, d_out, 0.5f, 1);
  EXPECT(host(d_out, kWidth * kHeight) == image);
  CHECK(cudaDestroyTextureObject(texture));

  how.filterMode = cudaFilterModeLinear;
  texture = make_texture(of_array(array), how);
  sample<<<1, all>>>(texture, d_out, 0.75f, 1);
  auto out = host(d_out, kWidth * kHeight);
  for (int y = 0; y < kHeight; ++y)
    // a quarter of the way to the next texel; the last one has no next texel
    for (int x = 0; x < kWidth; ++x) {
      const float step_x = x + 1 < kWidth ? 0.25f : 0, step_y = y + 1 < kHeight ? 0.25f : 0;
      EXPECT(std::fabs(out[static_cast<std::size_t>(y * kWidth + x)] -
                       (pattern(x, y) + step_x + 10 * step_y)) < 1e-4f);
    }
  CHECK(cudaDestroyTextureObject(texture));

  how.filterMode = cudaFilterModePoint;
  how.normalizedCoords = 1;
  how.addressMode[0] = cudaAddressModeWrap;
  how.addressMode[1] = cudaAddressModeMirror;
  texture = make_texture(of_array(array), how);
  sample<<<1, all>>>(texture, d_out, 8.5f, 1.0f / 8);  // one period further
  out = host(d_out, kWidth * kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      EXPECT(out[static_cast<std::size_t>(y * kWidth + x)] == pattern(x, kHeight - 1 - y));
  CHECK(cudaDestroyTextureObject(texture));

  cudaSurfaceObject_t surface = 0;
  const cudaResourceDesc resource = of_array(array);
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  double_all<<<1, all>>>(surface);
  std::vector<float> back(image.size());
  CHECK(cudaMemcpy2DFromArray(back.data(), kRow, array, 0, 0, kRow, kHeight, cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < image.size(); ++i) EXPECT(back[i] == 2 * image[i]);
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));
}

// Of a new array: all its elements are stored by a kernel.
void check_new_surface() {
  cudaArray_t array = nullptr;
  cudaSurfaceObject_t surface = 0;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
  const cudaResourceDesc resource = of_array(array);
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  write_pattern<<<1, dim3(kWidth, kHeight)>>>(surface);
  std::vector<float> back(kWidth * kHeight);
  constexpr std::size_t kRow = kWidth * sizeof(float);
  CHECK(cudaMemcpy2DFromArray(back.data(), kRow, array, 0, 0, kRow, kHeight, cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < back.size(); ++i)
    EXPECT(back[i] == pattern(static_cast<int>(i % kWidth), static_cast<int>(i / kWidth)));
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));
}

void check_layers(float* d_out) {
  constexpr int kLayers = 3, kRows = 2;
  std::vector<float> volume;
  for (int i = 0; i < kWidth * kRows * kLayers; ++i) volume.push_back(static_cast<float>(i));
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(kWidth, kRows, kLayers), cudaArrayLayered));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(volume.data(), kWidth * sizeof(float), kWidth, kRows);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(kWidth, kRows, kLayers);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  const cudaTextureObject_t texture = make_texture(of_array(array), {});
  for (int layer = 0; layer < kLayers; ++layer) {
    sample_layer<<<1, kWidth>>>(texture, d_out, layer);
    const auto out = host(d_out, kWidth);
    for (int x = 0; x < kWidth; ++x)
      EXPECT(out[static_cast<std::size_t>(x)] == static_cast<float>((layer * kRows + 1) * kWidth + x));
  }
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
}

void check_pitched(const std::vector<float>& image, float* d_out) {
  void* d_rows = nullptr;
  std::size_t pitch = 0;
  constexpr std::size_t kRow = kWidth * sizeof(float);
  CHECK(cudaMallocPitch(&d_rows, &pitch, kRow, kHeight));
  CHECK(cudaMemcpy2D(d_rows, pitch, image.data(), kRow, kRow, kHeight, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {d_rows, cudaCreateChannelDesc<float>(), kWidth, kHeight, pitch};
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
  const cudaTextureObject_t texture = make_texture(resource, how);
  sample<<<1, dim3(kWidth, kHeight)>>>(texture, d_out, 1.5f, 1);
  const auto out = host(d_out, kWidth * kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      EXPECT(out[static_cast<std::size_t>(y * kWidth + x)] ==
             (x + 1 < kWidth && y + 1 < kHeight ? pattern(x + 1, y + 1) : 0));
  CHECK(cudaDestroyTextureObject(texture));
  resource.res.pitch2D.width = 1;
  resource.res.pitch2D.pitchInBytes = 37 * sizeof(float);  // no multiple of texturePitchAlignment
  cudaTextureObject_t refused = 0;
  EXPECT(cudaCreateTextureObject(&refused, &resource, &how, nullptr) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
  CHECK(cudaFree(d_rows));
}

}  // namespace

int main() {
  std::vector<float> image;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) image.push_back(pattern(x, y));
  float* d_out = nullptr;
  CHECK(cudaMalloc(&d_out, image.size() * sizeof(float)));
  check_memory(d_out);
  check_array(image, d_out);
  check_new_surface();
  check_layers(d_out);
  check_pitched(image, d_out);
  CHECK(cudaFree(d_out));
  return 0;
}
