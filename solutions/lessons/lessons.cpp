// SPDX-License-Identifier: MIT
// Measures the lessons of the handouts, on a GPU or, with the simulator's libcudart first on LD_LIBRARY_PATH,
// in the model:
//   divergence   one kernel, the same work, 1 to 32 paths in each warp; much and little arithmetic per item
//   atomics      additions in shared memory: of 1, of a variable, and with the old value used
//   contention   every rung of the histogram lab for few and many bins, uniform and skewed samples
//   networks     scans of rows by the networks of Kogge and Stone, Sklansky, Ladner and Fischer, Brent and Kung
//   levels       the scan of one array with a launch for each level of its tree
//   transfers    a copy to the CPU of all items, or of those that a compaction has kept
//   sorting      a histogram by sort and reduce over all keys
//   lessons [--only networks,levels] [--logs 22,24] [--json FILE]     sizes, as powers of two
// Writes JSON; every result is checked on the host, and a wrong one ends the program with exit code 1.
// handouts/scripts/measured.py makes the pages' tables from handouts/results/lessons/.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "histogram/baseline.hpp"
#include "histogram/lab.hpp"
#include "histogram/points.hpp"
#include "lessons/lessons.cuh"
#include "lessons/measure.hpp"

namespace course::lessons {

std::vector<std::int32_t> samples_for(std::uint64_t n, std::int64_t lo, std::int64_t hi, unsigned percent) {
  std::vector<std::int32_t> samples(n);
  Rng rng(17);
  const auto range = static_cast<std::uint64_t>(hi - lo);
  const auto common = static_cast<std::int32_t>(lo + static_cast<std::int64_t>(range / 10 * 3));
  for (std::int32_t& sample : samples)
    sample = rng.below(100) < percent
                 ? common
                 : static_cast<std::int32_t>(lo + static_cast<std::int64_t>(rng.below(range)));
  return samples;
}

namespace {

Json divergence(const BenchDevice& device) {
  constexpr std::uint64_t kItems = 1 << 22;
  const std::vector<float> in(kItems, 0.25f);
  std::vector<std::uint8_t> paths(kItems);
  std::vector<float> out(kItems);
  const DeviceBytes d_in(kItems * 4), d_path(kItems), d_out(kItems * 4);
  copy_to(d_in, in.data(), kItems * 4);
  Json rows = Json::array();
  for (const unsigned rounds : {4u, 256u}) {
    for (unsigned in_a_warp = 1; in_a_warp <= kMaxPaths; in_a_warp *= 2) {
      // Every warp has `in_a_warp` paths, neighbouring lanes have different ones, and over all warps each of
      // the 32 paths has the same number of items: the work is the same for every in_a_warp.
      for (std::uint64_t i = 0; i < kItems; ++i) {
        const auto warp = static_cast<unsigned>(i / 32);
        paths[i] = static_cast<std::uint8_t>((warp * in_a_warp + i % in_a_warp) % kMaxPaths);
      }
      copy_to(d_path, paths.data(), kItems);
      Json row = timed(device, kItems, [&](std::size_t) {
        along_paths(static_cast<const float*>(d_in.data()), static_cast<const std::uint8_t*>(d_path.data()),
                    static_cast<float*>(d_out.data()), kItems, rounds, device.stream);
        return true;
      });
      must(cudaMemcpy(out.data(), d_out.data(), kItems * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
      for (std::uint64_t i = 0; i < kItems; i += 4099) {
        const float step = static_cast<float>(paths[i]) * 0x1p-10f;
        float x = in[i];
        for (unsigned round = 0; round < rounds; ++round) x = std::fma(x, 0.5f + step, 1.0f - step);
        if (std::abs(x - out[i]) > 1e-5f * x) lab::stop(fmt::format("wrong result of item {}", i));
      }
      row.update({{"n", kItems}, {"rounds", rounds}, {"paths", in_a_warp}});
      fmt::print(stderr, "divergence: {} rounds, {} paths in a warp: {:.1f} us\n", rounds, in_a_warp,
                 row["median_us"].get<double>());
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Json atomics(const BenchDevice& device) {
  constexpr unsigned kRounds = 256, kWarps = 32;
  const auto n_blocks = static_cast<unsigned>(2 * device.properties.multiProcessorCount);
  const DeviceBytes d_out(std::size_t{n_blocks} * 32 * 4);
  std::vector<unsigned> out(std::size_t{n_blocks} * 32);
  Json rows = Json::array();
  for (const auto& [addition, name] :
       {std::pair(Addition::of_one, "of_one"), std::pair(Addition::of_a_variable, "of_a_variable"),
        std::pair(Addition::with_old_value, "with_old_value")}) {
    for (unsigned addresses = 1; addresses <= 32; addresses *= 2) {
      Json row = timed(device, 1, [&](std::size_t) {
        add_in_shared(addition, n_blocks, addresses, kRounds, static_cast<unsigned*>(d_out.data()),
                      device.stream);
        return true;
      });
      must(cudaMemcpy(out.data(), d_out.data(), out.size() * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
      for (std::size_t i = 0; i < out.size(); ++i)
        if (out[i] != (i % 32 < addresses ? kRounds * kWarps * 32 / addresses : 0))
          lab::stop(fmt::format("wrong sum {} of {}", i, name));
      // A multiprocessor runs both of its blocks at once.
      row["ns_per_instruction"] = 1e3 * row["median_us"].get<double>() / (2 * kWarps * kRounds);
      row.update({{"addition", name}, {"addresses", addresses}});
      fmt::print(stderr, "atomics: {}, {} addresses: {:.2f} ns\n", name, addresses,
                 row["ns_per_instruction"].get<double>());
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Json contention(const BenchDevice& device, std::span<const unsigned> logs) {
  using namespace histogram;
  constexpr std::int64_t kLo = -1000003, kHi = 3000017;  // as in the lab's cases
  Json rows = Json::array();
  for (const unsigned log : logs) {
    const std::uint64_t n = std::uint64_t{1} << log;
    // The runs use copies of the samples in turn, which together are larger than the cache.
    const std::size_t n_copies =
        device.simulated ? 1 : std::max<std::size_t>(2, (std::size_t{1} << 28) / (4 * n));
    for (const unsigned percent : {0u, 50u, 90u, 99u, 100u}) {
      const std::vector<std::int32_t> samples = samples_for(n, kLo, kHi, percent);
      std::vector<DeviceBytes> copies;
      for (std::size_t k = 0; k < n_copies; ++k) copy_to(copies.emplace_back(4 * n), samples.data(), 4 * n);
      for (const std::uint32_t n_bins : {16u, 256u, 4096u, 65536u}) {
        const EvenBins<std::int32_t> bins(n_bins, kLo, kHi);
        std::vector<Count> right(n_bins + 1), got(n_bins + 1);
        count_one_thread(std::span<const std::int32_t>(samples), bins, std::span(right));
        const DeviceBytes d_counts(8 * got.size()),
            d_private(4 * std::uint64_t{n_private(n, n_bins)} * got.size());
        unsigned rung = 0;
        for (const auto* list : {&kManifest.tasks, &kManifest.further_rungs}) {
          for (const lab::Task& task : *list) {
            lab::Request request;
            request.task = rung++;
            request.op = static_cast<std::uint32_t>(OpId::even);
            request.n = n;
            request.params = {n_bins, kLo, kHi};
            const lab::DeviceBuffer out{d_counts.data(), got.size(), lab::DType::u64};
            request.outputs = {&out, 1};
            request.d_workspace = d_private.data();
            request.stream = device.stream;
            request.multiprocessors = device.properties.multiProcessorCount;
            Json row = timed(device, n, [&](std::size_t turn) {
              const lab::DeviceBuffer in{copies[turn % n_copies].data(), n, lab::DType::i32};
              request.inputs = {&in, 1};
              return run(request) == lab::Status::ok;
            });
            must(cudaMemcpy(got.data(), d_counts.data(), 8 * got.size(), cudaMemcpyDeviceToHost),
                 "cudaMemcpy");
            if (got != right) lab::stop(fmt::format("wrong counts of {}", task.id));
            row.update({{"n", n}, {"bins", n_bins}, {"percent", percent}, {"rung", task.id}});
            fmt::print(stderr, "contention: 2^{}, {} bins, {} % equal, {}: {:.1f} us\n", log, n_bins, percent,
                       task.id, row["median_us"].get<double>());
            rows.push_back(std::move(row));
          }
        }
      }
    }
  }
  return rows;
}

std::vector<unsigned> numbers(const std::string& list) {
  std::vector<unsigned> all;
  for (std::size_t at = 0; at <= list.size(); at = std::min(list.find(',', at), list.size()) + 1)
    all.push_back(static_cast<unsigned>(std::stoul(list.substr(at))));
  return all;
}

}  // namespace
}  // namespace course::lessons

int main(int argc, char** argv) {
  using namespace course::lessons;
  std::vector<unsigned> logs{22};
  std::string file, only;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--logs") == 0) logs = numbers(argv[i + 1]);
    if (std::strcmp(argv[i], "--json") == 0) file = argv[i + 1];
    if (std::strcmp(argv[i], "--only") == 0) only = std::string(",") + argv[i + 1] + ",";
  }
  const BenchDevice device;
  Json result = {{"schema", 1},
                 {"device", device.properties.name},
                 {"modelled", device.simulated},
                 {"driver", device.driver},
                 {"runtime", device.runtime}};
  const auto add = [&](const std::string& name, const auto& measure) {
    if (only.empty() || only.find("," + name + ",") != std::string::npos) result[name] = measure();
  };
  add("divergence", [&] { return divergence(device); });
  add("atomics", [&] { return atomics(device); });
  add("contention", [&] { return contention(device, logs); });
  add("networks", [&] { return networks(device, logs); });
  add("levels", [&] { return levels(device, logs); });
  add("transfers", [&] { return transfers(device, logs); });
  add("sorting", [&] { return sorting(device, logs); });
  const std::string text = result.dump(1, ' ') + "\n";
  std::FILE* to = file.empty() ? stdout : std::fopen(file.c_str(), "w");
  if (to == nullptr || std::fputs(text.c_str(), to) < 0) course::lab::stop("can't write " + file);
  return 0;
}
