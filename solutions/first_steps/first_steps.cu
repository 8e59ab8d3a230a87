// SPDX-License-Identifier: MIT
//@student // First steps: your file. Read handouts/00-first-steps.md. Write a kernel in place of its TODO,
//@student // let the function below it, which launches it, return Status::ok, and run: ./lab grade
//@student // first_steps
//@reference
// First steps: the five kernels. Lines that start with //@ steer the generator of the students' file
// (make_skeleton.py).
//@end
#include "first_steps/lab.hpp"

namespace course::first_steps {

// --- Task "index": thread i copies item i. The grid has as many threads as there are items.
__global__ void copy_items(const int* d_in, int* d_out) {
  //@solution Compute the thread's index i in the grid, and copy item i.
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  d_out[i] = d_in[i];
  //@end
}

Status index(const Job& job) {
  copy_items<<<job.n / kBlock, kBlock, 0, job.stream>>>(job.d_in, job.d_out);
  //@student return Status::not_implemented;  // change to Status::ok when the kernel is written
  //@reference
  return Status::ok;
  //@end
}

// --- Task "guard": thread i doubles item i. The last block may have more threads than items are left.
__global__ void double_items(const int* d_in, int n, int* d_out) {
  //@solution Compute i. If there is an item i, write twice its value.
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i] = 2 * d_in[i];
  //@end
}

Status guard(const Job& job) {
  double_items<<<(job.n + kBlock - 1) / kBlock, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_out);
  //@student return Status::not_implemented;  // change to Status::ok when the kernel is written
  //@reference
  return Status::ok;
  //@end
}

// --- Task "stride": two blocks add the squares of n items to d_out, which is 0 before.
__global__ void add_squares(const int* d_in, int n, int* d_out) {
  //@solution For i from the thread's index up to n, in steps of all threads, add item i's square to d_out[i].
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    d_out[i] += d_in[i] * d_in[i];
  //@end
}

Status stride(const Job& job) {
  cudaMemsetAsync(job.d_out, 0, job.n * sizeof(int), job.stream);
  add_squares<<<2, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_out);
  //@student return Status::not_implemented;  // change to Status::ok when the kernel is written
  //@reference
  return Status::ok;
  //@end
}

// --- Task "barrier": each block reverses its own items.
__global__ void reverse_blocks(const int* d_in, int* d_out) {
  __shared__ int s_items[kBlock];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s_items[threadIdx.x] = d_in[i];
  //@solution Wait at a barrier. Then copy the opposite thread's item to d_out[i].
  __syncthreads();  // all items are stored before other threads read them
  d_out[i] = s_items[kBlock - 1 - threadIdx.x];
  //@end
}

Status barrier(const Job& job) {
  reverse_blocks<<<job.n / kBlock, kBlock, 0, job.stream>>>(job.d_in, job.d_out);
  //@student return Status::not_implemented;  // change to Status::ok when the kernel is written
  //@reference
  return Status::ok;
  //@end
}

// --- Task "atomic": all threads count the even items in one variable, which is 0 before.
__global__ void count_even(const int* d_in, int n, int* d_count) {
  //@solution If there is an item i and it is even, add 1 to *d_count with atomicAdd.
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && d_in[i] % 2 == 0) atomicAdd(d_count, 1);
  //@end
}

Status atomic(const Job& job) {
  cudaMemsetAsync(job.d_out, 0, sizeof(int), job.stream);
  count_even<<<(job.n + kBlock - 1) / kBlock, kBlock, 0, job.stream>>>(job.d_in, job.n, job.d_out);
  //@student return Status::not_implemented;  // change to Status::ok when the kernel is written
  //@reference
  return Status::ok;
  //@end
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
