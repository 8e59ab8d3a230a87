// SPDX-License-Identifier: MIT
// Calls a fuzz target, LLVMFuzzerTestOneInput, with mutated files of a corpus. Needs only g++; linked with
// one target.
//   fuzz_X [--seconds S | --runs N] [--seed K] [--save DIR] CORPUS…      files, or folders of files
// The last line on stderr is the number of inputs, also if SIGTERM or SIGINT ends the run. The same seed
// gives the same inputs. If the target is compiled with -fsanitize-coverage=trace-pc, inputs that reach new
// code are added to the corpus in memory. An input that crashes, fails a sanitizer's check or takes 60 s of
// CPU time is saved in DIR: run the program with that file and --runs 0.
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr int kMaxSeconds =
    60;  // CPU time for one input: deep recursion, traced and with AddressSanitizer, takes 12 s

// --- Coverage: a flag for each code position, by the return address of the call that the compiler inserts.
constexpr std::size_t kPositions = 1 << 16;
std::uint8_t seen_positions[kPositions];
bool new_position = false;

}  // namespace

extern "C" [[gnu::no_sanitize_coverage]] void __sanitizer_cov_trace_pc() {
  const auto at = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  std::uint8_t& place = seen_positions[(at ^ at >> 16) % kPositions];
  new_position |= place == 0;
  place = 1;
}

namespace {

// --- Saving an input that failed, from a signal handler or the sanitizer's callback.
const Input* current = nullptr;
char save_path[4096] = "";

[[gnu::no_sanitize_coverage]] void save_current() {
  if (current == nullptr || save_path[0] == '\0') return;
  std::FILE* file = std::fopen(save_path, "wb");
  if (file == nullptr) return;
  std::fwrite(current->data(), 1, current->size(), file);
  std::fclose(file);
  std::fprintf(stderr, "fuzz: the input is in %s\n", save_path);
  current = nullptr;
}

[[gnu::no_sanitize_coverage]] void on_signal(int number) {
  std::fprintf(stderr, number == SIGPROF ? "fuzz: an input takes too long\n" : "fuzz: signal %d\n", number);
  save_current();
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

void watch(const std::string& folder) {
  if (!folder.empty()) {
    std::filesystem::create_directories(folder);
    std::snprintf(save_path, sizeof save_path, "%s/found-%d", folder.c_str(), static_cast<int>(getpid()));
  }
  std::signal(SIGPROF, on_signal);
  std::signal(SIGABRT, on_signal);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(save_current);
  } else {
    std::signal(SIGSEGV, on_signal);
    std::signal(SIGBUS, on_signal);
    std::signal(SIGFPE, on_signal);
  }
}

void limit_to(int seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

volatile std::sig_atomic_t is_ended = 0;

[[gnu::no_sanitize_coverage]] void end(int) {
  is_ended = 1;
}

void try_one(const Input& input) {
  current = &input;
  limit_to(kMaxSeconds);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  limit_to(0);
  current = nullptr;
}

// --- Mutations. Numbers that are critical for parsers occur as often as random ones.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  Input changed(const std::vector<Input>& corpus) {
    Input input = corpus[below(corpus.size())];
    for (std::size_t n = 1 + below(5); n > 0; --n) change(input, corpus);
    if (input.size() > kMaxBytes) input.resize(kMaxBytes);
    return input;
  }

 private:
  void change(Input& input, const std::vector<Input>& corpus) {
    if (input.empty()) input.push_back(0);
    const std::size_t at = below(input.size());
    switch (below(8)) {
      case 0: input[at] ^= static_cast<std::uint8_t>(1u << below(8)); break;
      case 1: input[at] = static_cast<std::uint8_t>(random_()); break;
      case 2: write_number(input, at); break;
      case 3: input.erase(input.begin() + offset(at), input.begin() + offset(at + length(input, at))); break;
      case 4: {  // repeats a part of the input
        const Input part(input.begin() + offset(at), input.begin() + offset(at + length(input, at)));
        input.insert(input.begin() + offset(below(input.size())), part.begin(), part.end());
        break;
      }
      case 5: {  // inserts a part of another file
        const Input& other = corpus[below(corpus.size())];
        if (other.empty()) break;
        const std::size_t from = below(other.size());
        input.insert(input.begin() + offset(at), other.begin() + offset(from),
                     other.begin() + offset(from + length(other, from)));
        break;
      }
      case 6: input.resize(at); break;
      default: std::swap(input[at], input[below(input.size())]);
    }
  }

  void write_number(Input& input, std::size_t at) {
    constexpr std::uint64_t kNumbers[] = {0,          1,          0x7f,       0x80,       0xff,
                                          0x7fff,     0x8000,     0xffff,     0x7fffffff, 0x80000000,
                                          0xffffffff, ~0ull >> 1, 1ull << 63, ~0ull};
    const std::uint64_t number = kNumbers[below(std::size(kNumbers))] + below(3) - 1;
    const std::size_t bytes = std::size_t{1} << below(4);
    std::memcpy(&input[at], &number, std::min(bytes, input.size() - at));
  }

  std::size_t length(const Input& input, std::size_t at) {
    return 1 + below(std::min<std::size_t>(input.size() - at, std::size_t{1} << below(10)));
  }
  static std::ptrdiff_t offset(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

  std::mt19937_64 random_;
};

Input contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(file), {});
}

std::vector<Input> read_corpus(const std::vector<std::string>& places) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& place : places) {
    if (std::filesystem::is_directory(place)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(place))
        if (entry.is_regular_file()) paths.push_back(entry.path());
    } else {
      paths.emplace_back(place);
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Input> corpus;
  for (const auto& path : paths) corpus.push_back(contents(path));
  return corpus;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0;
  std::uint64_t runs = 20000, seed = 1;
  std::string save;
  std::vector<std::string> places;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--seconds") {
      seconds = std::atof(value), ++i;
    } else if (word == "--runs") {
      runs = std::strtoull(value, nullptr, 10), ++i;
    } else if (word == "--seed") {
      seed = std::strtoull(value, nullptr, 10), ++i;
    } else if (word == "--save") {
      save = value, ++i;
    } else {
      places.emplace_back(word);
    }
  }
  std::vector<Input> corpus = read_corpus(places);
  if (corpus.empty()) {
    std::fputs("fuzz: no corpus: name files, or folders with files\n", stderr);
    return 2;
  }
  watch(save);
  const std::size_t n_files = corpus.size();
  for (const Input& input : corpus) try_one(input);

  Mutator mutator(seed);
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::uint64_t n = 0;
  std::signal(SIGTERM, end);
  std::signal(SIGINT, end);
  for (; is_ended == 0 && (seconds > 0 ? passed() < seconds : n < runs); ++n) {
    Input input = mutator.changed(corpus);
    new_position = false;
    try_one(input);
    if (new_position && corpus.size() < 20000) corpus.push_back(std::move(input));
  }
  const auto n_places = std::count(std::begin(seen_positions), std::end(seen_positions), 1);
  std::fflush(stdout);  // what kernels have printed
  std::fprintf(
      stderr, "%llu inputs in %.0f s from %zu files; corpus %zu; places reached %lld; nothing found\n",
      static_cast<unsigned long long>(n), passed(), n_files, corpus.size(), static_cast<long long>(n_places));
  return 0;
}
