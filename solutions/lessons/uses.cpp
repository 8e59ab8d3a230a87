// SPDX-License-Identifier: MIT
// Labs' kernels as parts of a larger job: a compaction before a copy to the CPU, and a histogram by sorting.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

#include "compaction/baseline.hpp"
#include "compaction/lab.hpp"
#include "histogram/baseline.hpp"
#include "histogram/lab.hpp"
#include "lessons/lessons.cuh"
#include "lessons/measure.hpp"
#include "radix_sort/lab.hpp"

namespace course::lessons {
namespace {

// Page-locked memory of the host, from which and to which copies are fastest; the destructor frees it.
class PinnedItems {
 public:
  explicit PinnedItems(std::uint64_t n) : n_(n) {
    must(cudaMallocHost(reinterpret_cast<void**>(&items_), 4 * n), "cudaMallocHost");
  }
  ~PinnedItems() { static_cast<void>(cudaFreeHost(items_)); }
  PinnedItems(const PinnedItems&) = delete;
  PinnedItems& operator=(const PinnedItems&) = delete;
  std::span<std::int32_t> items() const { return {items_, n_}; }

 private:
  std::int32_t* items_ = nullptr;
  std::uint64_t n_;
};

}  // namespace

Json transfers(const BenchDevice& device, std::span<const unsigned> logs) {
  Json rows = Json::array();
  if (device.simulated) return rows;  // the model has no times of copies to the host
  for (const unsigned log : logs) {
    const std::uint64_t n = std::uint64_t{1} << log;
    const PinnedItems all(n), kept(n);
    const DeviceBytes d_in(4 * n), d_out(4 * n), d_count(8), d_space(compaction::workspace_of(n).n_bytes());
    for (const unsigned percent : {50u, 10u, 1u}) {
      constexpr std::int32_t kRange = 1000000;
      const std::vector<std::int32_t> items = samples_for(n, 0, kRange, 0);
      const compaction::LessThan<std::int32_t> keep{static_cast<std::int32_t>(kRange / 100 * percent)};
      copy_to(d_in, items.data(), 4 * n);
      lab::Request request;
      request.task = static_cast<std::uint32_t>(compaction::Rung::state_of_the_art);
      request.op = static_cast<std::uint32_t>(compaction::KeepId::less_than);
      request.n = n;
      request.params = {keep.threshold};
      const lab::DeviceBuffer in{d_in.data(), n, lab::DType::i32};
      const std::array out{lab::DeviceBuffer{d_out.data(), n, lab::DType::i32},
                           lab::DeviceBuffer{d_count.data(), 1, lab::DType::u64}};
      request.inputs = {&in, 1};
      request.outputs = out;
      request.d_workspace = d_space.data();
      request.stream = device.stream;
      request.multiprocessors = device.properties.multiProcessorCount;
      const auto to_host = [&](void* to, const DeviceBytes& from, std::uint64_t n_bytes) {
        must(cudaMemcpyAsync(to, from.data(), n_bytes, cudaMemcpyDeviceToHost, device.stream), "cudaMemcpy");
      };
      const auto compact = [&] { return compaction::run(request) == lab::Status::ok; };
      compaction::Index count = 0;
      const Json copied = timed(device, n, [&](std::size_t) {
        to_host(all.items().data(), d_in, 4 * n);
        return true;
      });
      const Json compacted = timed(device, n, [&](std::size_t) { return compact(); });
      const Json both = timed(device, n, [&](std::size_t) {
        if (!compact()) return false;
        to_host(&count, d_count, 8);
        must(cudaStreamSynchronize(device.stream), "cudaStreamSynchronize");  // the host needs the count
        to_host(kept.items().data(), d_out, 4 * count);
        return true;
      });
      std::vector<std::int32_t> right(n);
      std::vector<double> cpu_us;
      std::size_t n_right = 0;
      for (int turn = 0; turn < 5; ++turn) {
        const auto from = std::chrono::steady_clock::now();
        n_right = compaction::copy_if_one_thread(std::span<const std::int32_t>(all.items()), std::span(right),
                                                 keep);
        const std::chrono::duration<double, std::micro> us = std::chrono::steady_clock::now() - from;
        cpu_us.push_back(us.count());
      }
      std::sort(cpu_us.begin(), cpu_us.end());
      if (n_right != count || !std::equal(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(count),
                                          kept.items().begin()))
        lab::stop("wrong kept items");
      rows.push_back({{"n", n},
                      {"percent", percent},
                      {"count", count},
                      {"copy_all_us", copied["host_us"]},
                      {"compact_us", compacted["median_us"]},
                      {"compact_and_copy_us", both["host_us"]},
                      {"compact_on_cpu_us", cpu_us[cpu_us.size() / 2]}});
      fmt::print(stderr, "transfers: 2^{}, {} %: {}\n", log, percent, rows.back().dump());
    }
  }
  return rows;
}

Json sorting(const BenchDevice& device, std::span<const unsigned> logs) {
  constexpr std::int64_t kLo = -1000003, kHi = 3000017;  // as in the lab's cases
  Json rows = Json::array();
  for (const unsigned log : logs) {
    const std::uint64_t n = std::uint64_t{1} << log;
    const std::vector<std::int32_t> samples = samples_for(n, kLo, kHi, 0);
    const DeviceBytes d_in(4 * n), d_keys(4 * n), d_sorted(4 * n),
        d_space(radix_sort::workspace_of(n, lab::DType::u32, false).n_bytes());
    copy_to(d_in, samples.data(), 4 * n);
    // One bin less than a power of two: with the number for samples in no bin, keys have 8 or 16 bits.
    for (const std::uint32_t n_bins : {255u, 65535u}) {
      const std::uint32_t n_counts = n_bins + 1;
      std::vector<histogram::Count> right(n_counts), got(n_counts);
      histogram::count_one_thread(std::span<const std::int32_t>(samples),
                                  histogram::EvenBins<std::int32_t>(n_bins, kLo, kHi), std::span(right));
      const DeviceBytes d_counts(8 * std::uint64_t{n_counts}), d_ends(16 * std::uint64_t{n_counts});
      const DeviceBytes d_private(4 * std::uint64_t{histogram::n_private(n, n_bins)} * n_counts);
      auto* const keys = static_cast<std::uint32_t*>(d_keys.data());
      const auto make_keys = [&] {
        keys_of(static_cast<const std::int32_t*>(d_in.data()), n, n_bins, kLo, kHi, keys, device.stream);
      };
      lab::Request sort;
      sort.task = static_cast<std::uint32_t>(radix_sort::Rung::state_of_the_art);
      sort.op = static_cast<std::uint32_t>(radix_sort::OpId::keys);
      sort.dtype = lab::DType::u32;
      sort.n = n;
      sort.params = {0, std::bit_width(n_bins), 0};
      const lab::DeviceBuffer unsorted{d_keys.data(), n, lab::DType::u32},
          sorted{d_sorted.data(), n, lab::DType::u32};
      sort.inputs = {&unsorted, 1};
      sort.outputs = {&sorted, 1};
      sort.d_workspace = d_space.data();
      sort.stream = device.stream;
      sort.multiprocessors = device.properties.multiProcessorCount;
      const auto add = [&](const char* method, const auto& submit) {
        Json row = timed(device, n, submit);
        row.update({{"n", n}, {"bins", n_bins}, {"method", method}});
        fmt::print(stderr, "sorting: 2^{}, {} bins, {}: {:.1f} us\n", log, n_bins, method,
                   row["median_us"].get<double>());
        rows.push_back(std::move(row));
      };
      const auto check = [&](const char* method) {
        copy_from(got.data(), d_counts, 8 * std::uint64_t{n_counts});
        if (got != right) lab::stop(fmt::format("wrong counts of {}", method));
      };
      make_keys();
      add("sort alone", [&](std::size_t) { return radix_sort::run(sort) == lab::Status::ok; });
      add("sort and reduce", [&](std::size_t) {
        make_keys();
        if (radix_sort::run(sort) != lab::Status::ok) return false;
        lengths_of_runs(static_cast<const std::uint32_t*>(d_sorted.data()), n, n_counts,
                        static_cast<std::uint64_t*>(d_ends.data()),
                        static_cast<std::uint64_t*>(d_counts.data()), device.stream);
        return true;
      });
      check("sort and reduce");
      for (const auto& [name, rung] : {std::pair("sort_reduce", histogram::Rung::sort_reduce),
                                       std::pair("shared_counts", histogram::Rung::shared_counts),
                                       std::pair("state_of_the_art", histogram::Rung::state_of_the_art)}) {
        lab::Request request;
        request.task = static_cast<std::uint32_t>(rung);
        request.op = static_cast<std::uint32_t>(histogram::OpId::even);
        request.n = n;
        request.params = {n_bins, kLo, kHi};
        const lab::DeviceBuffer in{d_in.data(), n, lab::DType::i32},
            out{d_counts.data(), n_counts, lab::DType::u64};
        request.inputs = {&in, 1};
        request.outputs = {&out, 1};
        request.d_workspace = d_private.data();
        request.stream = device.stream;
        request.multiprocessors = device.properties.multiProcessorCount;
        add(name, [&](std::size_t) { return histogram::run(request) == lab::Status::ok; });
        check(name);
      }
    }
  }
  return rows;
}

}  // namespace course::lessons
