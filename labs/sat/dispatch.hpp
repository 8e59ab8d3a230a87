// SPDX-License-Identifier: MIT
// Summed area table: turns a request, in which types and operators are numbers, into a Job, and calls the
// task with it. lab.hpp includes this file.
#pragma once

#include "lab/workspace.hpp"
#include "sat/lab.hpp"

namespace course::sat {

// --- The meaning of a Request: op is the Corner, dtype the type of the items (box: of the table's sums), and
// params as follows.
enum Param : std::size_t { kWidth, kHeight, kRadius, kHasRadii };  // kHasRadii: inputs[1] holds them

constexpr bool offers(Rung rung, lab::DType dtype) {
  using lab::DType;
  if (dtype == DType::f32 || dtype == DType::f64) return true;
  return rung == Rung::box ? dtype == DType::u32 || dtype == DType::i64
                           : dtype == DType::u8 || dtype == DType::i32;
}
constexpr lab::DType sum_type(lab::DType item) {
  if (item == lab::DType::u8) return lab::DType::u32;
  return item == lab::DType::i32 ? lab::DType::i64 : item;
}
constexpr lab::DType mean_type(lab::DType sum) {
  return lab::bytes_of(sum) == 4 ? lab::DType::f32 : lab::DType::f64;
}

constexpr lab::Workspace workspace_of(lab::DType item, std::uint64_t width, std::uint64_t height) {
  return lab::Workspace()
      .add("d_flags", lab::DType::u32, flag_count(width, height))
      .add("d_scratch", sum_type(item), scratch_count(width, height));
}

template <typename T>
TableJob<T> table_job(const lab::Request& request) {
  using Sum = typename SumOf<T>::Type;
  TableJob<T> job;
  job.d_in = static_cast<const T*>(request.inputs[0].data);
  job.d_out = static_cast<Sum*>(request.outputs[0].data);
  job.width = static_cast<std::uint64_t>(request.params[kWidth]);
  job.height = static_cast<std::uint64_t>(request.params[kHeight]);
  job.corner = static_cast<Corner>(request.op);
  const lab::Workspace workspace = workspace_of(request.dtype, job.width, job.height);
  job.d_flags = workspace.address<std::uint32_t>(request.d_workspace, "d_flags");
  job.flag_count = flag_count(job.width, job.height);
  job.d_scratch = workspace.address<Sum>(request.d_workspace, "d_scratch");
  job.scratch_count = scratch_count(job.width, job.height);
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

template <typename S>
BoxJob<S> box_job(const lab::Request& request) {
  BoxJob<S> job;
  job.d_table = static_cast<const S*>(request.inputs[0].data);
  job.d_out = static_cast<MeanOf<S>*>(request.outputs[0].data);
  job.width = static_cast<std::uint64_t>(request.params[kWidth]);
  job.height = static_cast<std::uint64_t>(request.params[kHeight]);
  job.corner = static_cast<Corner>(request.op);
  job.radius = static_cast<std::uint64_t>(request.params[kRadius]);
  if (request.params[kHasRadii] != 0) job.d_radii = static_cast<const std::uint32_t*>(request.inputs[1].data);
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

// Calls f(T{}) with the type of a table's items, or f(S{}) with the type of a box filter's table.
template <typename F>
decltype(auto) with_item(lab::DType dtype, F f) {
  return lab::with_type<std::uint8_t, std::int32_t, double, float>(dtype, f);
}
template <typename F>
decltype(auto) with_sum(lab::DType dtype, F f) {
  return lab::with_type<std::uint32_t, std::int64_t, double, float>(dtype, f);
}

// Calls solve(job) with a TableJob of the request's type or, for the task box, with a BoxJob.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  const Rung rung = static_cast<Rung>(request.task);
  if (!offers(rung, request.dtype)) return Status::unsupported;
  if (rung == Rung::box)
    return with_sum(request.dtype, [&]<typename S>(S) { return solve(box_job<S>(request)); });
  return with_item(request.dtype, [&]<typename T>(T) { return solve(table_job<T>(request)); });
}

}  // namespace course::sat
