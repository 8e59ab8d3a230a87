// SPDX-License-Identifier: MIT
// Reduction: the given code, which yours calls. The lab's file includes it inside of its namespace, behind
// its constants.

// Number of blocks that cover n items. At least one, so that n = 0 gets an answer, too.
constexpr std::uint64_t blocks_for(std::uint64_t n, std::uint64_t items_per_block) {
  return n == 0 ? 1 : (n + items_per_block - 1) / items_per_block;
}

// --- Reduces the items to one value, with as many launches as that takes. Each call of launch(d_in,
// n, d_out, n_blocks) writes one partial result per block, and the next one reduces those, until one block is
// left. The partial results alternate between the two scratch arrays; the last launch writes job.d_out.
template <typename T, typename Op, typename Launch>
Status by_levels(const Job<T, Op>& job, std::uint64_t items_per_block, Launch launch) {
  using Value = typename Op::Value;
  std::uint64_t n_blocks = blocks_for(job.n, items_per_block);
  Value* d_to = job.d_scratch_a;
  Value* d_spare = job.d_scratch_b;
  launch(job.d_in, job.n, n_blocks == 1 ? job.d_out : d_to, static_cast<unsigned>(n_blocks));
  while (n_blocks > 1) {
    const std::uint64_t n_partials = n_blocks;
    n_blocks = blocks_for(n_partials, items_per_block);
    const Value* d_from = d_to;
    d_to = d_spare;
    d_spare = const_cast<Value*>(d_from);
    launch(d_from, n_partials, n_blocks == 1 ? job.d_out : d_to, static_cast<unsigned>(n_blocks));
  }
  return Status::ok;
}

// A 128-bit vector of items: one lane can load it with one instruction, from an address that is a multiple of
// 16.
template <typename T>
struct alignas(16) Pack {
  static constexpr unsigned kItems = 16 / sizeof(T);
  T item[kItems];
};

// The part of d_in that vector loads can read, and the items before and after it (fewer than Pack::kItems
// each).
template <typename T>
struct Packed {
  const Pack<T>* d_packs;  // n_packs aligned vectors
  std::uint64_t n_packs;
  std::uint64_t n_head;  // items before the first vector
  std::uint64_t tail;    // index of the first item after the last vector
};
template <typename T>
__device__ Packed<T> packed(const T* d_in, std::uint64_t n) {
  const std::uint64_t misaligned = reinterpret_cast<std::uintptr_t>(d_in) % 16 / sizeof(T);
  std::uint64_t n_head = misaligned == 0 ? 0 : Pack<T>::kItems - misaligned;
  if (n_head > n) n_head = n;
  const std::uint64_t n_packs = (n - n_head) / Pack<T>::kItems;
  return {reinterpret_cast<const Pack<T>*>(d_in + n_head), n_packs, n_head,
          n_head + n_packs * Pack<T>::kItems};
}
