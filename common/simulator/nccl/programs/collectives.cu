// SPDX-License-Identifier: MIT
// Every collective, data type and reduction, in place and not, with odd counts, compared bit for bit with a
// reference on the CPU that knows nothing of the library: reductions in the order of the ranks, each step
// rounded to the type by CUDA's own conversions.
// usage: collectives DEVICES {group|threads|ID_FILE} [COUNT…]
//   group: one thread, all ranks in a group; threads: one thread for each device;
//   ID_FILE: one process for each device; they write and read this file (ranks.hpp)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "ranks.hpp"

namespace {

using Bytes = std::vector<unsigned char>;

enum class What {
  all_reduce,
  reduce,
  broadcast,
  bcast,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  ring,
  hypercube,
  uneven
};
constexpr const char* kWhat[] = {"all_reduce", "reduce", "broadcast", "bcast", "all_gather", "reduce_scatter",
                                 "all_to_all", "gather", "scatter",   "ring",  "hypercube",  "uneven"};

struct Case {
  What what;
  ncclDataType_t type;
  int op;
  bool in_place;
  std::size_t count;
  int root;
};

std::size_t bytes_of(ncclDataType_t type) {
  constexpr std::size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kBytes[type];
}

bool is_reduction(What what) {
  return what == What::all_reduce || what == What::reduce || what == What::reduce_scatter;
}

// A hypercube gathers everything in log2 n steps: in each, a rank exchanges all that it has with the rank
// whose number differs in one bit. The number of ranks must be a power of two.
int n_steps(const Case& c, int n) {
  int steps = 0;
  while (c.what == What::hypercube && 1 << steps < n) ++steps;
  return c.what == What::hypercube ? steps : 1;
}

// How many elements rank `from` sends to rank `to`.
std::size_t uneven(const Case& c, int from, int to) {
  return c.count / 3 * static_cast<std::size_t>((from + 2 * to) % 4);
}

// --- inputs

template <typename T>
T converted(float value) {
  if constexpr (std::is_same_v<T, __half>)
    return __float2half_rn(value);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16_rn(value);
  else
    return static_cast<T>(value);
}

template <typename Use>
void with_type(ncclDataType_t type, Use use) {
  switch (type) {
    case ncclInt8: return use(std::int8_t{});
    case ncclUint8: return use(std::uint8_t{});
    case ncclInt32: return use(std::int32_t{});
    case ncclUint32: return use(std::uint32_t{});
    case ncclInt64: return use(std::int64_t{});
    case ncclUint64: return use(std::uint64_t{});
    case ncclFloat16: return use(__half{});
    case ncclFloat32: return use(float{});
    case ncclFloat64: return use(double{});
    case ncclFloat8e4m3: return use(__nv_fp8_e4m3{});
    case ncclFloat8e5m2: return use(__nv_fp8_e5m2{});
    default: return use(__nv_bfloat16{});
  }
}

std::uint64_t random_bits(std::uint64_t& state) {  // splitmix64
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

constexpr std::size_t kAnyMagnitude = 512;  // 8- and 16-bit floats from this element on are random bits

Bytes input_of(const Case& c, int rank, int n) {
  const std::size_t count = c.count * static_cast<std::size_t>(n);
  Bytes bytes(count * bytes_of(c.type));
  std::uint64_t state = static_cast<std::uint64_t>(rank) * 1000 + c.count;
  with_type(c.type, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = random_bits(state);
      T value;
      constexpr float kSpecial[] = {0, -0.0f, 1, -1, 6e-8f, -3e-5f, 3e-39f, 0.5f};  // some are subnormal
      if constexpr (std::is_integral_v<T>)
        value = static_cast<T>(bits);
      else if (bits % 4 == 0)
        value = converted<T>(kSpecial[bits / 4 % 8]);
      else
        value = converted<T>(static_cast<float>(static_cast<std::int64_t>(bits)) / 3e18f);
      if constexpr (sizeof(T) <= 2 && !std::is_integral_v<T>) {  // of all magnitudes, but not NaN
        const auto any = static_cast<std::uint16_t>(bits >> 16);
        T candidate;
        std::memcpy(static_cast<void*>(&candidate), &any, sizeof candidate);
        const auto wide = static_cast<float>(candidate);
        if (i >= kAnyMagnitude && wide == wide) value = candidate;
      }
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
  });
  return bytes;
}

// --- the reference

template <typename T>
T combined(T a, T b, int op) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const auto x = static_cast<std::uint64_t>(static_cast<U>(a)),
               y = static_cast<std::uint64_t>(static_cast<U>(b));
    if (op == ncclProd) return static_cast<T>(static_cast<U>(x * y));
    if (op == ncclMax) return std::max(a, b);
    if (op == ncclMin) return std::min(a, b);
    return static_cast<T>(static_cast<U>(x + y));
  } else if constexpr (std::is_floating_point_v<T>) {
    return op == ncclProd ? a * b : op == ncclMax ? std::max(a, b) : op == ncclMin ? std::min(a, b) : a + b;
  } else {
    return converted<T>(combined(static_cast<float>(a), static_cast<float>(b), op));
  }
}

// The reduction of element i, over all inputs.
template <typename T>
T reduced(const std::vector<Bytes>& inputs, std::size_t i, int op) {
  const int n = static_cast<int>(inputs.size());
  T result{};
  for (int r = 0; r < n; ++r) {
    T value;
    std::memcpy(&value, inputs[static_cast<std::size_t>(r)].data() + i * sizeof(T), sizeof(T));
    if constexpr (!std::is_integral_v<T>) {
      if (op == ncclAvg) {
        const T part = std::is_same_v<T, double> ? T(1.0 / n) : converted<T>(1.0f / static_cast<float>(n));
        value = combined(value, part, ncclProd);
      }
    }
    result = r == 0 ? value : combined(result, value, op);
  }
  if constexpr (std::is_integral_v<T>)
    if (op == ncclAvg) result = static_cast<T>(result / static_cast<T>(n));
  return result;
}

// What rank `rank` finds in its receive buffer, which held `before`.
Bytes expected_of(const Case& c, int rank, const std::vector<Bytes>& inputs, Bytes before) {
  const auto n = inputs.size();
  const std::size_t block = c.count * bytes_of(c.type);
  const auto put = [&](std::size_t at, std::size_t from, std::size_t offset, std::size_t n_bytes) {
    std::copy_n(inputs[from].begin() + static_cast<std::ptrdiff_t>(offset), n_bytes,
                before.begin() + static_cast<std::ptrdiff_t>(at));
  };
  const auto me = static_cast<std::size_t>(rank), root = static_cast<std::size_t>(c.root);
  if (is_reduction(c.what)) {
    if (c.what == What::reduce && me != root) return before;
    with_type(c.type, [&](auto zero) {
      using T = decltype(zero);
      for (std::size_t i = 0; i < c.count; ++i) {
        const T value = reduced<T>(inputs, i + (c.what == What::reduce_scatter ? me * c.count : 0), c.op);
        std::memcpy(before.data() + i * sizeof value, &value, sizeof value);
      }
    });
    return before;
  }
  switch (c.what) {
    case What::broadcast:
    case What::bcast: put(0, root, 0, block); break;
    case What::all_gather:
    case What::hypercube:
      for (std::size_t r = 0; r < n; ++r) put(r * block, r, 0, block);
      break;
    case What::all_to_all:
      for (std::size_t r = 0; r < n; ++r) put(r * block, r, me * block, block);
      break;
    case What::gather:
      for (std::size_t r = 0; r < n && me == root; ++r) put(r * block, r, 0, block);
      break;
    case What::scatter: put(0, root, me * block, block); break;
    case What::ring: put(0, (me + n - 1) % n, 0, block); break;
    default:
      for (std::size_t r = 0; r < n; ++r)
        put(r * block, r, me * block, uneven(c, static_cast<int>(r), rank) * bytes_of(c.type));
  }
  return before;
}

// --- one rank

struct Rank {
  int rank = 0, n = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  unsigned char* buffer = nullptr;  // input, then output
  std::size_t capacity = 0;         // bytes of each
  Bytes result;                     // the buffer after the operation

  int device = 0;

  void set_up(std::size_t n_bytes) {
    CUDA(cudaSetDevice(device));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    capacity = n_bytes;
    CUDA(cudaMalloc(&buffer, 2 * capacity));
  }
  void tear_down() {
    CUDA(cudaSetDevice(device));
    NCCL(ncclCommDestroy(comm));
    CUDA(cudaFree(buffer));
    CUDA(cudaStreamDestroy(stream));
  }

  // Where the rank's receive buffer begins.
  std::size_t target(const Case& c) const {
    const std::size_t block = c.count * bytes_of(c.type), mine = static_cast<std::size_t>(rank) * block;
    if (!c.in_place) return capacity;
    return c.what == What::reduce_scatter || c.what == What::scatter ? mine : 0;
  }
  // Where its input begins: in place, a gather reads the rank's own block.
  std::size_t source(const Case& c) const {
    const bool own = c.in_place && (c.what == What::all_gather || c.what == What::hypercube ||
                                    (c.what == What::gather && rank == c.root));
    return own ? static_cast<std::size_t>(rank) * c.count * bytes_of(c.type) : 0;
  }
  Bytes initial(const Case& c) const {
    Bytes bytes(2 * capacity);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 7 + 1);
    Bytes input = input_of(c, rank, n);
    if (source(c) != 0) input.resize(c.count * bytes_of(c.type));
    std::copy(input.begin(), input.end(), bytes.begin() + static_cast<std::ptrdiff_t>(source(c)));
    return bytes;
  }

  void begin(const Case& c) {
    CUDA(cudaSetDevice(device));
    result = initial(c);
    CUDA(cudaMemcpyAsync(buffer, result.data(), result.size(), cudaMemcpyHostToDevice, stream));
  }
  void call(const Case& c, int step) {
    const unsigned char* in = buffer + source(c);
    unsigned char* out = buffer + target(c);
    const std::size_t block = c.count * bytes_of(c.type);
    const auto op = static_cast<ncclRedOp_t>(c.op);
    switch (c.what) {
      case What::all_reduce: NCCL(ncclAllReduce(in, out, c.count, c.type, op, comm, stream)); break;
      case What::reduce: NCCL(ncclReduce(in, out, c.count, c.type, op, c.root, comm, stream)); break;
      case What::broadcast: NCCL(ncclBroadcast(in, out, c.count, c.type, c.root, comm, stream)); break;
      case What::bcast: NCCL(ncclBcast(out, c.count, c.type, c.root, comm, stream)); break;
      case What::all_gather: NCCL(ncclAllGather(in, out, c.count, c.type, comm, stream)); break;
      case What::reduce_scatter: NCCL(ncclReduceScatter(in, out, c.count, c.type, op, comm, stream)); break;
      case What::all_to_all: NCCL(ncclAlltoAll(in, out, c.count, c.type, comm, stream)); break;
      case What::gather: NCCL(ncclGather(in, out, c.count, c.type, c.root, comm, stream)); break;
      case What::scatter: NCCL(ncclScatter(in, out, c.count, c.type, c.root, comm, stream)); break;
      case What::ring:
        NCCL(ncclGroupStart());
        NCCL(ncclSend(in, c.count, c.type, (rank + 1) % n, comm, stream));
        NCCL(ncclRecv(out, c.count, c.type, (rank + n - 1) % n, comm, stream));
        NCCL(ncclGroupEnd());
        break;
      case What::hypercube: {
        const int bit = 1 << step, partner = rank ^ bit;
        const auto from = [&](int r) { return out + static_cast<std::size_t>(r & ~(bit - 1)) * block; };
        const std::size_t count = c.count * static_cast<std::size_t>(bit);
        if (step == 0 && !c.in_place)
          CUDA(cudaMemcpyAsync(from(rank), in, block, cudaMemcpyDeviceToDevice, stream));
        NCCL(ncclGroupStart());
        NCCL(ncclSend(from(rank), count, c.type, partner, comm, stream));
        NCCL(ncclRecv(from(partner), count, c.type, partner, comm, stream));
        NCCL(ncclGroupEnd());
        break;
      }
      case What::uneven:
        NCCL(ncclGroupStart());
        for (int r = 0; r < n; ++r) {
          const std::size_t at = static_cast<std::size_t>(r) * block;
          NCCL(ncclSend(in + at, uneven(c, rank, r), c.type, r, comm, stream));
          NCCL(ncclRecv(out + at, uneven(c, r, rank), c.type, r, comm, stream));
        }
        NCCL(ncclGroupEnd());
    }
  }
  void end() {
    CUDA(cudaSetDevice(device));
    CUDA(cudaMemcpyAsync(result.data(), buffer, result.size(), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
  }
  void compare(const Case& c) const {
    std::vector<Bytes> inputs;
    for (int r = 0; r < n; ++r) inputs.push_back(input_of(c, r, n));
    Bytes all = initial(c);
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(target(c));
    const Bytes part = expected_of(c, rank, inputs, Bytes(at, all.end()));
    std::copy(part.begin(), part.end(), at);
    const auto wrong = std::mismatch(all.begin(), all.end(), result.begin());
    if (wrong.first == all.end()) return;
    std::printf("%s, type %d, op %d, %s, count %zu, root %d, rank %d of %d: byte %td is %d, expected %d\n",
                kWhat[static_cast<int>(c.what)], c.type, c.op, c.in_place ? "in place" : "two buffers",
                c.count, c.root, rank, n, wrong.first - all.begin(), *wrong.second, *wrong.first);
    std::exit(1);
  }
};

std::vector<Case> all_cases(int n, const std::vector<std::size_t>& counts) {
  std::vector<Case> cases;
  for (int what = 0; what <= static_cast<int>(What::uneven); ++what)
    for (int type = ncclInt8; type < ncclNumTypes; ++type)
      for (int op = 0; op <= (is_reduction(static_cast<What>(what)) ? ncclAvg : 0); ++op)
        for (const bool in_place : {false, true})
          for (const std::size_t count : counts) {
            const auto w = static_cast<What>(what);
            const bool no_place = w == What::all_to_all || w == What::ring || w == What::uneven;
            if ((in_place && no_place) || (w == What::bcast && !in_place)) continue;
            if (w == What::hypercube && (n == 1 || (n & (n - 1)) != 0)) continue;
            cases.push_back({w, static_cast<ncclDataType_t>(type), op, in_place, count, (type + op) % n});
          }
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  const int n = std::atoi(argv[1]);
  const std::string how = argv[2];
  std::vector<std::size_t> counts;
  for (int i = 3; i < argc; ++i) counts.push_back(std::strtoul(argv[i], nullptr, 10));
  if (counts.empty()) counts = {0, 1, 37};
  const std::vector<Case> cases = all_cases(n, counts);
  const std::size_t capacity =
      *std::max_element(counts.begin(), counts.end()) * 8 * static_cast<std::size_t>(n) + 16;

  std::vector<Rank> ranks(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    ranks[static_cast<std::size_t>(r)].rank = r;
    ranks[static_cast<std::size_t>(r)].device = r;
    ranks[static_cast<std::size_t>(r)].n = n;
  }
  const auto run_rank = [&](Rank& rank, const ncclUniqueId& id) {
    rank.set_up(capacity);
    NCCL(ncclCommInitRank(&rank.comm, n, id, rank.rank));
    for (const Case& c : cases) {
      rank.begin(c);
      for (int step = 0; step < n_steps(c, n); ++step) rank.call(c, step);
      rank.end();
      rank.compare(c);
    }
    rank.tear_down();
  };
  if (how == "threads") {
    ncclUniqueId id;
    NCCL(ncclGetUniqueId(&id));
    std::vector<std::thread> running;
    for (Rank& rank : ranks) running.emplace_back([&] { run_rank(rank, id); });
    for (std::thread& thread : running) thread.join();
  } else if (how != "group") {
    const Process process = this_process();
    EXPECT(process.size == n);
    int n_devices = 0;
    CUDA(cudaGetDeviceCount(&n_devices));
    Rank& rank = ranks[static_cast<std::size_t>(process.rank)];
    rank.device = process.local % n_devices;
    run_rank(rank, share_id(process, how));
  } else {
    std::vector<ncclComm_t> comms(ranks.size());
    NCCL(ncclCommInitAll(comms.data(), n, nullptr));
    for (Rank& rank : ranks) {
      rank.comm = comms[static_cast<std::size_t>(rank.rank)];
      rank.set_up(capacity);
    }
    for (const Case& c : cases) {
      for (Rank& rank : ranks) rank.begin(c);
      for (int step = 0; step < n_steps(c, n); ++step) {
        NCCL(ncclGroupStart());
        for (Rank& rank : ranks) rank.call(c, step);
        NCCL(ncclGroupEnd());
      }
      for (Rank& rank : ranks) rank.end();
      for (const Rank& rank : ranks) rank.compare(c);
    }
    for (Rank& rank : ranks) rank.tear_down();
  }
  std::printf("%zu cases on %d devices\n", cases.size(), n);
  return 0;
}
