// SPDX-License-Identifier: MIT
// Scan: the given code, which yours calls. The lab's file includes it inside of its namespace, behind its
// constants.

// --- The position of a row. `length` is row_length, or less in the last row; 0 if the row does not
// exist.
struct Row {
  std::uint64_t first;  // index of its first item
  unsigned length;
};
template <typename Op>
__device__ Row row_of(const Job<Op>& job, std::uint64_t row) {
  const std::uint64_t first = row * job.row_length;
  if (first >= job.n) return {job.n, 0};
  const std::uint64_t left = job.n - first;
  return {first, left < job.row_length ? static_cast<unsigned>(left) : job.row_length};
}

// The smallest power of two that is at least `length`: the number of leaves of a balanced tree over a row.
constexpr unsigned leaves_for(unsigned length) {
  unsigned leaves = 1;
  while (leaves < length) leaves *= 2;
  return leaves;
}

// Shuffles a value of any type whose size is a multiple of 4, word by word. All 32 lanes must call it.
// Returns the value of the lane `offset` below; lanes below `offset` get their own value.
template <typename Value>
__device__ Value shuffle_up(Value value, unsigned offset) {
  static_assert(sizeof(Value) % 4 == 0);
  unsigned words[sizeof(Value) / 4];
  memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_up_sync(kFullMask, word, offset);
  memcpy(&value, words, sizeof value);
  return value;
}
