// SPDX-License-Identifier: MIT
// Radix sort: turns a request, in which types and operators are numbers, into a Job, and calls the task with
// it. lab.hpp includes this file.
#pragma once

#include "radix_sort/lab.hpp"

namespace course::radix_sort {

// Indices of Request::params.
enum Param : std::uint32_t { kBeginBit, kEndBit, kDescending };

// The combinations that are used: for `any_key`, `counts_first` and `state_of_the_art` every key type, with
// and without values; for `digits` and `onesweep` 32-bit unsigned keys, with and without values; for the
// others such keys without values.
constexpr bool offers(Rung rung, OpId op, lab::DType dtype) {
  using lab::DType;
  if (rung == Rung::any_key || rung == Rung::counts_first || rung == Rung::state_of_the_art)
    return dtype != DType::u8;
  if (dtype != DType::u32) return false;
  return op == OpId::keys || rung == Rung::digits || rung == Rung::onesweep;
}

constexpr KeyKind kind_of(lab::DType dtype) {
  using lab::DType;
  if (dtype == DType::f32 || dtype == DType::f64) return KeyKind::floating;
  return dtype == DType::i32 || dtype == DType::i64 ? KeyKind::signed_number : KeyKind::unsigned_number;
}

// --- The workspace: e, f, t, d without gaps, then the rest, each part at a multiple of 256 bytes.
struct Layout {
  std::uint64_t spare_keys, spare_values, counts, sums, bytes;  // offsets in bytes; the total size
};
constexpr Layout layout_of(std::uint64_t n, std::uint64_t key_bytes) {
  constexpr auto up = [](std::uint64_t bytes) { return (bytes + 255) / 256 * 256; };
  Layout layout{};
  layout.spare_keys = up(16 * n);
  layout.spare_values = layout.spare_keys + up(key_bytes * n);
  layout.counts = layout.spare_values + up(4 * n);
  layout.sums = layout.counts + up(4 * counts_count(n));
  layout.bytes = layout.sums + up(4 * sums_count(n));
  return layout;
}

template <typename Bits, typename Value>
Job<Bits, Value> job_of(const lab::Request& request) {
  Job<Bits, Value> job;
  job.in.d_keys = static_cast<const Bits*>(request.inputs[0].data);
  job.out.d_keys = static_cast<Bits*>(request.outputs[0].data);
  if constexpr (kHasValues<Value>) {
    job.in.d_values = static_cast<const Value*>(request.inputs[1].data);
    job.out.d_values = static_cast<Value*>(request.outputs[1].data);
  }
  job.n = request.n;
  job.begin_bit = static_cast<unsigned>(request.params[kBeginBit]);
  job.end_bit = static_cast<unsigned>(request.params[kEndBit]);
  job.kind = kind_of(request.dtype);
  job.descending = request.params[kDescending] != 0;
  auto* const d_bytes = static_cast<unsigned char*>(request.d_workspace);
  const Layout layout = layout_of(request.n, sizeof(Bits));
  job.d_e = reinterpret_cast<std::uint32_t*>(d_bytes);
  job.d_f = job.d_e + request.n;
  job.d_t = job.d_f + request.n;
  job.d_d = job.d_t + request.n;
  job.spare.d_keys = reinterpret_cast<Bits*>(d_bytes + layout.spare_keys);
  if constexpr (kHasValues<Value>)
    job.spare.d_values = reinterpret_cast<Value*>(d_bytes + layout.spare_values);
  job.d_counts = reinterpret_cast<std::uint32_t*>(d_bytes + layout.counts);
  job.d_sums = reinterpret_cast<std::uint32_t*>(d_bytes + layout.sums);
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

// Calls solve(job) with the Job of the request's key and value type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  const OpId op = static_cast<OpId>(request.op);
  if (!offers(static_cast<Rung>(request.task), op, request.dtype)) return Status::unsupported;
  if (lab::bytes_of(request.dtype) == 4) {
    if (op == OpId::keys) return solve(job_of<std::uint32_t, NoValue>(request));
    return solve(job_of<std::uint32_t, std::uint32_t>(request));
  }
  if (op == OpId::keys) return solve(job_of<std::uint64_t, NoValue>(request));
  return solve(job_of<std::uint64_t, std::uint32_t>(request));
}

}  // namespace course::radix_sort
