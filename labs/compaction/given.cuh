// SPDX-License-Identifier: MIT
// Compaction: the given code, which yours calls. The lab's file includes it inside of its namespace, behind
// its constants.

// Number of blocks that cover n items. At least one, so that n = 0 gets an answer, too.
constexpr std::uint64_t blocks_for(std::uint64_t n, std::uint64_t items_per_block) {
  return n == 0 ? 1 : (n + items_per_block - 1) / items_per_block;
}

// The result of an exclusive scan over the threads of a block, for one thread.
template <typename Value>
struct Scanned {
  Value before;  // sum of the values of the threads before this one
  Value total;   // sum of all of them
};

// The status of a tile in one word, so a reader sees either all of it or nothing: two bits say what is
// available, the other 62 hold a number of kept items.
enum Known : unsigned {
  kNothing = 0,  // not counted yet
  kTotal = 1,    // aggregate available: the number of kept items of this tile alone
  kPrefix = 2,   // prefix available: the number of kept items of all tiles up to and including this one
};
__host__ __device__ constexpr Index state_of(Known known, Index n_kept) {
  return Index{known} << 62 | n_kept;
}
__host__ __device__ constexpr Known known_of(Index state) {
  return static_cast<Known>(state >> 62);
}
__host__ __device__ constexpr Index number_of(Index state) {
  return state & ~(Index{3} << 62);
}

// Relaxed atomic accesses to a tile status. A plain access would be a data race: the compiler may keep
// it in a register or split it.
__device__ inline void publish(Index* d_state, Index state) {
  lab::store_relaxed(d_state, state);
}
__device__ inline Index look_at(const Index* d_state) {
  return lab::load_relaxed(d_state);
}

// Returns the next number, starting at 0. Several threads may call it at the same time.
__device__ inline std::uint64_t draw_ticket(Index* d_ticket) {
  static_assert(sizeof(Index) == sizeof(unsigned long long));
  return atomicAdd(reinterpret_cast<unsigned long long*>(d_ticket), 1ull);
}
