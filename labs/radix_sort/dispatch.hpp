// SPDX-License-Identifier: MIT
// Radix sort: turns a request, in which types and operators are numbers, into a Job, and calls the task with
// it. lab.hpp includes this file.
#pragma once

#include "lab/workspace.hpp"
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

inline lab::Workspace workspace_of(std::uint64_t n, lab::DType key, bool has_values) {
  using lab::DType;
  lab::Workspace space;
  space.add("d_e", DType::u32, n);
  for (const char* row : {"d_f", "d_t", "d_d"}) space.add(row, DType::u32, n, sizeof(std::uint32_t));
  space.add("spare.d_keys", key, n);
  if (has_values) space.add("spare.d_values", DType::u32, n);
  return space.add("d_counts", DType::u32, counts_count(n)).add("d_sums", DType::u32, sums_count(n));
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
  const lab::Workspace workspace = workspace_of(request.n, request.dtype, kHasValues<Value>);
  const auto words = [&](const char* name) {
    return workspace.address<std::uint32_t>(request.d_workspace, name);
  };
  job.d_e = words("d_e");
  job.d_f = words("d_f");
  job.d_t = words("d_t");
  job.d_d = words("d_d");
  job.spare.d_keys = workspace.address<Bits>(request.d_workspace, "spare.d_keys");
  job.spare.d_values = workspace.address<Value>(request.d_workspace, "spare.d_values");
  job.d_counts = words("d_counts");
  job.d_sums = words("d_sums");
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
