// SPDX-License-Identifier: MIT
// The functions of the CUDA Math API (docs.nvidia.com/cuda/cuda-math-api) on 65,536 argument tuples each, to
// compare a GPU with the simulator in every bit:
//   functions                  a line per function: its name and a digest of its results
//   functions --write FILE     also writes the results
//   functions --compare FILE   a line per function whose results differ from those in FILE: how many, the
//                              largest error in units in the last place (ulp), the number of NaNs on one side
//                              alone, and the arguments of the first
// Built with `ninja -C build common/simulator/sim/functions`, or by nvcc alone:
//   nvcc -std=c++20 -arch=sm_90 -Icommon -Icommon/simulator
//   common/simulator/sim/conformance/functions/functions.cu
// Exit status: 0, also with differences; 1 when a call fails; 77 without a device.
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

// A functor for each function, under its name with `_of`.
#define FUNCTION(name, out, parameters, value)                   \
  struct name##_of {                                             \
    __device__ out operator() parameters const { return value; } \
  };
#include "sim/conformance/functions/functions.inc"
#undef FUNCTION

constexpr int kTuples = 65536, kThreads = 256;

void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(status == cudaErrorNoDevice ? 77 : 1);
}

// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
// DOI 10.1145/2660193.2660195.
__host__ __device__ std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Argument `position` of tuple `k`. Of eight floating-point numbers two have random bits, four lie in
// [-16, 16], one is in [-1, 1], and one is of kSpecial. Of four integers one is in [-40, 40].
template <typename T>
__host__ __device__ T argument(unsigned k, unsigned position) {
  const std::uint64_t bits = mixed(8 * k + position), choice = mixed(bits) % 8;
  if constexpr (std::is_floating_point_v<T>) {
    const T unit = static_cast<T>(static_cast<double>(bits >> 11) * 0x1p-53);
    if (choice < 2) {
      T value;
      if constexpr (std::is_same_v<T, float>) {
        const std::uint32_t low = static_cast<std::uint32_t>(bits);
        memcpy(&value, &low, 4);
      } else {
        memcpy(&value, &bits, 8);
      }
      return value;
    }
    if (choice < 6) return (unit - T(0.5)) * 32;
    if (choice == 6) return unit * 2 - 1;
    constexpr double kSpecial[] = {0.0, -0.0,     1.0,       -1.0, 2.0,  3.0,    10.0,
                                   0.5, INFINITY, -INFINITY, NAN,  88.0, -103.0, 128.0};
    return static_cast<T>(kSpecial[bits % (sizeof kSpecial / sizeof(double))]);
  } else {
    return choice < 2 ? static_cast<T>(static_cast<int>(bits % 81) - 40) : static_cast<T>(bits);
  }
}

template <typename Function>
struct Signature;
template <typename Out, typename... In>
struct Signature<Out (*)(In...)> {
  using Result = Out;
  template <typename F, std::size_t... position>
  __device__ static Out apply(F f, unsigned k, std::index_sequence<position...>) {
    return f(argument<In>(k, position)...);
  }
  static constexpr std::size_t kArguments = sizeof...(In);
  static std::string words(unsigned k) { return words(k, std::index_sequence_for<In...>()); }
  template <std::size_t... position>
  static std::string words(unsigned k, std::index_sequence<position...>) {
    std::string text;
    (..., (text += (position == 0 ? "" : ", ") + word(argument<In>(k, position))));
    return text;
  }
  template <typename T>
  static std::string word(T value) {
    char text[40];
    if constexpr (std::is_floating_point_v<T>)
      std::snprintf(text, sizeof text, "%a", static_cast<double>(value));
    else
      std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
  }
};

// The types of a functor's arguments are those of its operator().
template <typename F>
struct Of;
template <typename F, typename Out, typename... In>
struct Of<Out (F::*)(In...) const> : Signature<Out (*)(In...)> {};

template <typename F>
__global__ void evaluate(typename Of<decltype(&F::operator())>::Result* out) {
  using S = Of<decltype(&F::operator())>;
  const unsigned k = blockIdx.x * kThreads + threadIdx.x;
  out[k] = S::apply(F(), k, std::make_index_sequence<S::kArguments>());
}

// Results are kept as 64-bit words: the bits of the value, NaNs alike, since the ISA leaves their payload
// open.
template <typename T>
std::uint64_t word_of(T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(value)) return 0x7ff8dead;
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}

// Distance in units in the last place of two results of type T; of integers the absolute difference.
template <typename T>
std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << (8 * sizeof(T) - 1);
  if (std::is_floating_point_v<T>) {
    if (a == 0x7ff8dead || b == 0x7ff8dead) return ~std::uint64_t{0};
    if ((a & kSign) != (b & kSign)) return (a & ~kSign) + (b & ~kSign);
  }
  return a > b ? a - b : b - a;
}

struct Function {
  const char* name;
  std::vector<std::uint64_t> (*results)();
  std::uint64_t (*distance)(std::uint64_t, std::uint64_t);
  std::string (*arguments)(unsigned k);
};

template <typename F>
Function function(const char* name) {
  using S = Of<decltype(&F::operator())>;
  using Out = typename S::Result;
  return {name,
          [] {
            Out* out;
            must(cudaMalloc(&out, kTuples * sizeof(Out)), "cudaMalloc");
            evaluate<F><<<kTuples / kThreads, kThreads>>>(out);
            std::vector<Out> values(kTuples);
            must(cudaMemcpy(values.data(), out, kTuples * sizeof(Out), cudaMemcpyDeviceToHost), "cudaMemcpy");
            must(cudaFree(out), "cudaFree");
            std::vector<std::uint64_t> words;
            for (const Out v : values) words.push_back(word_of(v));
            return words;
          },
          &distance<Out>, &S::words};
}

const Function kFunctions[] = {
#define FUNCTION(name, out, parameters, value) function<name##_of>(#name),
#include "sim/conformance/functions/functions.inc"
#undef FUNCTION
};

std::uint64_t digest(const std::vector<std::uint64_t>& words) {
  std::uint64_t hash = 0;
  for (const std::uint64_t w : words) hash = mixed(hash ^ w);
  return hash;
}

void compare(const Function& f, const std::vector<std::uint64_t>& here,
             const std::vector<std::uint64_t>& there) {
  int n_different = 0;
  unsigned first = 0;
  std::uint64_t largest = 0, n_nans = 0;
  for (unsigned k = 0; k < kTuples; ++k) {
    if (here[k] == there[k]) continue;
    if (n_different++ == 0) first = k;
    const std::uint64_t d = f.distance(here[k], there[k]);
    if (~d == 0)
      ++n_nans;
    else if (d > largest)
      largest = d;
  }
  if (n_different == 0) return;
  std::printf("%s\t%d\t%llu\t%llu\t%s\n", f.name, n_different, static_cast<unsigned long long>(largest),
              static_cast<unsigned long long>(n_nans), f.arguments(first).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  int n_devices = 0;
  must(cudaGetDeviceCount(&n_devices), "cudaGetDeviceCount");
  const std::string option = argc > 1 ? argv[1] : "";
  if (argc > 3 || (argc > 1 && (argc != 3 || (option != "--write" && option != "--compare")))) {
    std::fprintf(stderr, "usage: functions [--write FILE | --compare FILE]\n");
    return 1;
  }
  std::fstream file;
  if (argc == 3) {
    file.open(argv[2],
              option == "--write" ? std::ios::out | std::ios::binary : std::ios::in | std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "functions: %s cannot be opened: %s\n", argv[2], std::strerror(errno));
      return 1;
    }
  }
  for (const Function& f : kFunctions) {
    const std::vector<std::uint64_t> here = f.results();
    if (option == "--compare") {
      std::vector<std::uint64_t> there(kTuples);
      if (!file.read(reinterpret_cast<char*>(there.data()), kTuples * 8)) {
        std::fprintf(stderr, "functions: %s ends before the results of %s\n", argv[2], f.name);
        return 1;
      }
      compare(f, here, there);
    } else {
      std::printf("%s\t%016llx\n", f.name, static_cast<unsigned long long>(digest(here)));
      if (option == "--write") file.write(reinterpret_cast<const char*>(here.data()), kTuples * 8);
    }
    std::fflush(stdout);
  }
  return 0;
}
