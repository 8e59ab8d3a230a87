// SPDX-License-Identifier: MIT
#include "sat/app/blur.hpp"

#include <array>
#include <memory>

#include "base/cuda_check.hpp"
#include "sat/points.hpp"

namespace course::sat::app {
namespace {

// Device memory that is freed by the destructor.
class DeviceArray {
 public:
  static Result<DeviceArray> allocate(std::size_t n_bytes) {
    void* data = nullptr;
    if (auto r = checked(cudaMalloc(&data, n_bytes), "cudaMalloc"); !r) return r.error();
    return DeviceArray(data, n_bytes);
  }
  void* data() const { return data_.get(); }
  Result<void> upload(const void* from) {
    return checked(cudaMemcpy(data(), from, n_bytes_, cudaMemcpyHostToDevice), "copying to the device");
  }
  Result<void> download(void* to) const {
    return checked(cudaMemcpy(to, data(), n_bytes_, cudaMemcpyDeviceToHost), "copying from the device");
  }

 private:
  struct Free {
    void operator()(void* data) const { cudaFree(data); }
  };
  DeviceArray(void* data, std::size_t n_bytes) : data_(data), n_bytes_(n_bytes) {}
  std::unique_ptr<void, Free> data_;
  std::size_t n_bytes_ = 0;
};

// The tasks that compute a table, the best one first. Only solutions have the first one.
constexpr std::array<std::string_view, 5> kByMerit = {"state_of_the_art", "single_pass", "transpose",
                                                      "rows_columns", "serial"};

// A Request of this lab for an image.
lab::Request request_for(const Image& image, Corner corner, int multiprocessors) {
  lab::Request request;
  request.op = static_cast<std::uint32_t>(corner);
  request.n = image.width * image.height;
  request.params[kWidth] = static_cast<std::int64_t>(image.width);
  request.params[kHeight] = static_cast<std::int64_t>(image.height);
  request.multiprocessors = multiprocessors;
  return request;
}

Result<void> finished(Status status, std::string_view task) {
  const std::string name(task);
  if (status == Status::not_implemented) return Error{"task " + name + " is not implemented yet"};
  if (status != Status::ok) return Error{"task " + name + " is not offered by this sat.cu"};
  if (auto r = checked(cudaGetLastError(), "launching " + name); !r) return r;
  return checked(cudaDeviceSynchronize(), "running " + name);
}

// Runs `request` as options.task, or as the best task that is written. Returns the task's name.
Result<std::string> make_table(lab::Request request, const BlurOptions& options) {
  for (const auto task : kByMerit) {
    if (!options.task.empty() && options.task != task) continue;
    request.task = index_of(kManifest, *lab::find_task(kManifest, task));
    const Status status = run(request);
    const bool last = !options.task.empty() || task == kByMerit.back();
    if (status != Status::ok && !last) continue;
    if (auto r = finished(status, task); !r) return r.error();
    return std::string(task);
  }
  return Error{"there is no task \"" + options.task + "\" that makes a table"};
}

}  // namespace

Result<Blurred> blur(const Image& image, const BlurOptions& options) {
  const std::size_t n = image.width * image.height;
  if (!options.radii.empty() && options.radii.size() != n)
    return Error{"there must be one radius for each pixel"};
  cudaDeviceProp properties{};
  if (auto r = checked(cudaGetDeviceProperties(&properties, 0), "looking for a GPU"); !r)
    return Error{
        r.error().text +
        ". Without a GPU, put the simulator's library first: LD_LIBRARY_PATH=build/common/simulator/cudart"};

  auto d_items = DeviceArray::allocate(n);
  auto d_table = DeviceArray::allocate(n * sizeof(std::uint32_t));
  auto d_means = DeviceArray::allocate(n * sizeof(float));
  auto d_radii = DeviceArray::allocate(n * sizeof(std::uint32_t));
  const std::size_t n_workspace = workspace_of(lab::DType::u8, image.width, image.height).n_bytes();
  auto d_workspace = DeviceArray::allocate(n_workspace);
  for (const auto* array : {&d_items, &d_table, &d_means, &d_radii, &d_workspace})
    if (!*array) return array->error();
  if (!options.radii.empty())
    if (auto r = d_radii->upload(options.radii.data()); !r) return r.error();

  const lab::DeviceBuffer items{d_items->data(), n, lab::DType::u8},
      table{d_table->data(), n, lab::DType::u32}, means{d_means->data(), n, lab::DType::f32},
      radii{d_radii->data(), n, lab::DType::u32};
  lab::Request making = request_for(image, options.corner, properties.multiProcessorCount);
  making.dtype = lab::DType::u8;
  making.inputs = {&items, 1};
  making.outputs = {&table, 1};
  making.d_workspace = d_workspace->data();
  making.workspace_bytes = n_workspace;

  lab::Request filtering = request_for(image, options.corner, properties.multiProcessorCount);
  const std::array<lab::DeviceBuffer, 2> look_ups{table, radii};
  filtering.task = static_cast<std::uint32_t>(Rung::box);
  filtering.dtype = lab::DType::u32;
  filtering.params[kRadius] = static_cast<std::int64_t>(options.radius);
  filtering.params[kHasRadii] = !options.radii.empty();
  filtering.inputs = std::span(look_ups).first(options.radii.empty() ? 1 : 2);
  filtering.outputs = {&means, 1};

  Blurred blurred{image, ""};
  std::vector<float> result(n);
  for (std::size_t channel = 0; channel < image.channels; ++channel) {
    if (auto r = d_items->upload(channel_of(image, channel).data()); !r) return r.error();
    auto task = make_table(making, options);
    if (!task) return task.error();
    blurred.task = *task;
    if (auto r = finished(run(filtering), "box"); !r) return r.error();
    if (auto r = d_means->download(result.data()); !r) return r.error();
    for (std::size_t i = 0; i < n; ++i)
      blurred.image.bytes[i * image.channels + channel] = to_byte(result[i]);
  }
  return blurred;
}

}  // namespace course::sat::app
