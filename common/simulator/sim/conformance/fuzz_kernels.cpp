// SPDX-License-Identifier: MIT
// Fuzz target: hostile kernels on a device with any checkers and counters. AddressSanitizer knows the gaps
// between allocations and the end of each block's shared memory, so that an access which passes the
// simulator's own checks and is out of bounds is found.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "sim/conformance/hostile_kernel.hpp"
#include "sim/device.hpp"
#include "sim/memory/texture.hpp"
#include "sim/observation/report.hpp"

namespace {

using namespace course::sim;

struct Bench {
  Device device{options()};
  std::vector<hostile::Place> places;
  std::uint64_t n_runs = 0;

  static DeviceOptions options() {
    DeviceOptions o;
    o.host_threads = 1;
    o.preset.global_memory = std::uint64_t{64} << 20;
    o.watchdog_seconds = 0.25;
    o.patience = 1 << 14;
    return o;
  }

  Bench() {
    for (const std::uint64_t n : {64u, 1000u, 4096u, 65536u})
      places.push_back({*device.allocate(n, MemoryKind::device), n});
    TextureDescriptor texture;
    texture.base = places[2].address;
    texture.row_bytes = texture.slice_bytes = 64;
    texture.width = 16;
    texture.height = 4;
    for (const std::uint64_t mark : {TextureDescriptor::kTextureMark, TextureDescriptor::kSurfaceMark}) {
      texture.mark = mark;
      const std::uint64_t handle = *device.allocate(sizeof texture, MemoryKind::texture);
      std::memcpy(reinterpret_cast<void*>(handle), &texture, sizeof texture);
      places.push_back({handle, sizeof texture});
      texture.width = 1;  // a surface with rows shorter than an access
    }
    const std::uint64_t freed = *device.allocate(256, MemoryKind::device);
    static_cast<void>(device.release(freed));
    places.push_back({freed, 256});
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kRunsOfABench = 500;
  static std::unique_ptr<Bench> bench;
  if (bench == nullptr) setenv("SIM_MARK_GAPS", "1", 1);
  if (bench == nullptr || ++bench->n_runs % kRunsOfABench == 0) {
    bench.reset();
    bench = std::make_unique<Bench>();
  }
  Device& device = bench->device;
  hostile::Choices choices({data, size});
  constexpr std::uint32_t kModes[] = {kFast,
                                      kCounters,
                                      kCounters | kDataflow,
                                      kAllChecks,
                                      kAllChecks | kHostcheck,
                                      kCounters | kAllChecks,
                                      kTrace | kCounters,
                                      kCounters | kProfile,
                                      kTrace | kAllChecks | kDataflow};
  device.set_mode(kModes[choices.below(std::size(kModes))]);
  device.set_schedule(choices.below(3));
  hostile::HostileKernel kernel = hostile::hostile_kernel(choices, bench->places);
  if (std::getenv("FUZZ_SHOW") != nullptr) std::fputs(kernel.ptx.c_str(), stderr);
  const auto module = device.load_module(kernel.ptx);
  if (std::getenv("FUZZ_SHOW") != nullptr && !module)
    std::fprintf(stderr, "%s\n", module.error().text.c_str());
  if (!module) return 0;
  if (const auto id = device.find_kernel(*module, "k")) {
    kernel.launch.kernel = *id;
    kernel.launch.parameters = kernel.parameters;
    const LaunchResult result = device.launch(kernel.launch);
    if (std::getenv("FUZZ_SHOW") != nullptr) std::fprintf(stderr, "%s\n", result.text.c_str());
    if (choices.one_in(8)) {
      device.find_heap_leaks();
      static_cast<void>(Device::text_of(device.findings()));
      static_cast<void>(device.report_json());
    }
  }
  device.unload_module(*module);
  device.empty_heap();
  device.reset_report();
  return 0;
}
