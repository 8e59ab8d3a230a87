// SPDX-License-Identifier: MIT
// First steps: your file. Read handouts/00-first-steps.md. Write a kernel in place of its TODO,
// let the function below it, which launches it, return Status::ok, and run: ./lab grade
// first_steps
#include "first_steps/lab.hpp"

namespace course::first_steps {

// --- Task "index": thread i copies item i. The grid has as many threads as there are items.
__global__ void copy_items(const int* d_in, int* d_out) {
  // TODO(student): Compute the thread's index i in the grid, and copy item i. (roughly 2 lines)
}

Status index(const Job& job) {
  copy_items<<<job.n / kBlock, kBlock, 0, job.stream>>>(job.d_in, job.d_out);
  return Status::not_implemented;  // change to Status::ok when the kernel is written
}

// --- Task "guard": thread i doubles item i. The last block may have more threads than items are left.
__global__ void double_items(const int* d_in, int n, int* d_out) {
  // TODO(student): Compute i. If there is an item i, write twice its value. (roughly 2 lines)
}

Status guard(const Job& job) {
  double_items<<<(job.n + kBlock - 1) / kBlock, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_out);
  return Status::not_implemented;  // change to Status::ok when the kernel is written
}

// --- Task "stride": two blocks add the squares of n items to d_out, which is 0 before.
__global__ void add_squares(const int* d_in, int n, int* d_out) {
  // TODO(student): For i from the thread's index up to n, in steps of all threads, add item i's square to
  // d_out[i]. (roughly 2 lines)
}

Status stride(const Job& job) {
  cudaMemsetAsync(job.d_out, 0, job.n * sizeof(int), job.stream);
  add_squares<<<2, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_out);
  return Status::not_implemented;  // change to Status::ok when the kernel is written
}

// --- Task "barrier": each block reverses its own items.
__global__ void reverse_blocks(const int* d_in, int* d_out) {
  __shared__ int s_items[kBlock];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s_items[threadIdx.x] = d_in[i];
  // TODO(student): Wait at a barrier. Then copy the opposite thread's item to d_out[i]. (roughly 2 lines)
}

Status barrier(const Job& job) {
  reverse_blocks<<<job.n / kBlock, kBlock, 0, job.stream>>>(job.d_in, job.d_out);
  return Status::not_implemented;  // change to Status::ok when the kernel is written
}

// --- Task "atomic": all threads count the even items in one variable, which is 0 before.
__global__ void count_even(const int* d_in, int n, int* d_count) {
  // TODO(student): If there is an item i and it is even, add 1 to *d_count with atomicAdd. (roughly 2 lines)
}

Status atomic(const Job& job) {
  cudaMemsetAsync(job.d_out, 0, sizeof(int), job.stream);
  count_even<<<(job.n + kBlock - 1) / kBlock, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_out);
  return Status::not_implemented;  // change to Status::ok when the kernel is written
}

// --- Given: the function of each task.
Status run(const lab::Request& request) {
  const Job job = job_of(request);
  switch (static_cast<Rung>(request.task)) {
    case Rung::index: return index(job);
    case Rung::guard: return guard(job);
    case Rung::stride: return stride(job);
    case Rung::barrier: return barrier(job);
    case Rung::atomic: return atomic(job);
    default: return Status::unsupported;
  }
}

}  // namespace course::first_steps
