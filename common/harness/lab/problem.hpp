// SPDX-License-Identifier: MIT
// The trusted, host-only side of a lab: its cases, their inputs and the expected outputs. Each lab derives
// one Problem in labs/<lab>/problem.cpp. The verifier and the public tests use it; the runner never links it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/manifest.hpp"
#include "lab/request.hpp"
#include "lab/workspace.hpp"

namespace course::lab {

enum class Pattern : std::uint8_t {
  random,
  all_equal,
  ascending,
  descending,
  skewed,
  high_bits,
  alternating,
  extremes,
  example,  // 3 1 7 0 4 1 6 3, repeated: the example in the handouts
};
inline constexpr std::array<std::string_view, 9> kPatternNames{"random",      "all_equal", "ascending",
                                                               "descending",  "skewed",    "high_bits",
                                                               "alternating", "extremes",  "example"};
std::string_view name_of(Pattern pattern);
std::string_view name_of(DType dtype);  // "i32"

// The purposes of a case; one case may have several.
enum Purpose : std::uint32_t {
  kCorrectness = 1,
  kEfficiency = 2,
  kSpeedup = 4,
  // On the simulator, run with all checkers. An error that they find makes the case wrong, whatever its
  // output.
  kChecks = 8,
};

// The words of a case's name. with_name() sets an empty shape or items, and the name.
struct CaseWords {
  std::string variant;     // "sum_i32": operator, type and other parameters, which smaller cases keep
  std::string shape = "";  // "n1025"; of an image "4x2"
  std::string items = "";  // the name of the pattern, or the lab's own word for its items
  std::string more = "";   // "_bits0to8"; "" in most cases
};

struct Case {
  std::string name;  // "sum_i32_n1025_random": unique in its task, usable in a test filter
  std::uint32_t op = 0;
  DType dtype = DType::i32;
  std::uint64_t n = 0;
  Pattern pattern = Pattern::random;
  std::array<std::int64_t, 8> params{};
  std::uint32_t purpose = kCorrectness;
  // Offset of the first input from a 256-byte boundary, in bytes: a multiple of its element size. The others:
  // misalign_of().
  std::uint32_t misalign = 0;
  CaseWords words = {};
  // Request::multiprocessors is at most this; 0: the number that the device has. With few of them, the loops
  // of a grid whose size they limit turn several times for few items.
  std::uint32_t multiprocessors = 0;
};
// The case with the name that its words and fields give.
Case with_name(Case c);
// The same case with a grid for so many multiprocessors: "sum_i32_n65537_random_1sm".
Case on_multiprocessors(std::uint32_t n, Case c);
// Items for each of few multiprocessors, so that a loop behind such a grid turns at least three times, if
// each of 2,048 threads takes up to 16 items at once.
inline constexpr std::uint64_t kThreeTurns = 100'003;

// A case without parameters.
template <typename Op>
Case make_case(CaseWords words, Op op, DType dtype, std::uint64_t n, Pattern pattern,
               std::uint32_t purpose = kCorrectness, std::uint32_t misalign = 0) {
  return with_name(
      {"", static_cast<std::uint32_t>(op), dtype, n, pattern, {}, purpose, misalign, std::move(words)});
}

constexpr std::uint32_t kBoth = kCorrectness | kChecks;
constexpr std::uint32_t kCounted = kEfficiency | kCorrectness, kTimed = kSpeedup | kCorrectness;
// A row of a lab's table of cases: one for each combination of its operators, types, kinds of items and
// lengths.
template <typename Op, typename Length = std::uint64_t, typename Items = Pattern>
struct CaseRow {
  ShortList<Op> ops;
  ShortList<DType> dtypes;
  ShortList<Length> lengths;
  ShortList<Items> items = Items{};
  std::uint32_t purpose = kCorrectness;
  std::uint32_t misalign = 0;
  std::uint32_t multiprocessors = 0;
};
// Adds the cases of a table. make(op, dtype, length, items, purpose, misalign) makes one.
template <typename Table, typename Make>
void add_cases(std::vector<Case>& all, const Table& table, Make make) {
  for (const auto& row : table)
    for (const auto op : row.ops)
      for (const DType dtype : row.dtypes)
        for (const auto items : row.items)
          for (const auto& length : row.lengths)
            all.push_back(on_multiprocessors(row.multiprocessors,
                                             make(op, dtype, length, items, row.purpose, row.misalign)));
}

struct BufferSpec {
  std::string name;  // "d_in": as in the lab's API, used in messages
  DType dtype = DType::i32;
  std::uint64_t count = 0;  // elements

  std::uint64_t n_bytes() const { return count * bytes_of(dtype); }
};
// Offset of input k of a case, or of an output like these: as many elements as that of the first input, and
// of the others another one for each 16 bytes, so that an aligned vector of one is not always one of the
// other.
inline std::uint32_t misalign_of(const Case& c, const BufferSpec& buffer, std::size_t k) {
  const std::size_t elements = c.misalign / bytes_of(c.dtype) + (k == 0 ? 0 : c.misalign / 16);
  return static_cast<std::uint32_t>(elements * bytes_of(buffer.dtype));
}

struct Shape {
  std::vector<BufferSpec> inputs, outputs;
  Workspace workspace = {};
  // Of a lab for several devices: input i is on device i % n_devices, and so is output i. Each device has a
  // workspace. At most Manifest::most_devices.
  std::uint32_t n_devices = 1;
  bool misaligned_outputs =
      false;  // they begin like the inputs, see misalign_of(); else at 256-byte boundaries
};

// The type in which the elements of an array are shown, by the array's name and the width of an access: as
// the shape declares the array; else the type of the case's items, or of the first output, if the width
// agrees; else an integer of this width.
DType shown_type(const Shape& shape, const Case& c, std::string_view array, std::uint64_t width);

// One buffer's contents on the host: `bytes` has spec.n_bytes() bytes.
struct HostBuffer {
  BufferSpec spec;
  std::vector<std::byte> bytes;

  // The elements. T's size must be the dtype's.
  template <typename T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <typename T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

// Buffers in which every byte is `fill`.
std::vector<HostBuffer> buffers_of(std::span<const BufferSpec> specs, std::byte fill = {});

// What a case consists of, and its closed form: what counters are divided by and shown beside.
struct Ideal {
  double items = 0;
  double units = 0;  // EfficiencyGoal::unit, such as rows. 0: the lab has none
  double work = 0;   // operations of the task's operator; shown, not scored
  double steps = 0;  // longest dependent chain; shown, not scored
  double bytes = 0;  // that must be moved: each input read once, each output written once
  // Of labs for several devices: that a device must send to others, for bytes_ratio. 0: one device.
  double bytes_sent = 0;
  double least_bytes = 0;  // if a right program can move fewer than `bytes`; else 0
};

// A mistake that explains a wrong output (lab/diagnosis.hpp).
struct Cause {
  std::string rule;      // the rule's name, the same in every case
  std::string text;      // for the student; may contain numbers of this case
  bool is_sign = false;  // describes the output, but does not explain the mistake
  // Where `text` contains values of inputs or outputs: the same without them, for the students' edition.
  std::string without_values = "";
};

// The result of a check that found wrong elements.
struct Mismatch {
  std::string buffer;         // "d_out"
  std::uint64_t index = 0;    // element
  std::string expected, got;  // with enough digits to distinguish them
  std::uint64_t n_wrong = 0, n_total = 0;
  std::string pattern;  // see describe_pattern() in compare.hpp
  std::vector<Cause> causes = {};
  // The element's position in the lab's terms, "row 0, column 5"; "" if the index is enough.
  std::string position = "";
  // The length of the output is a result, too, so that index and numbers of elements are values.
  bool length_is_a_value = false;
  // Elements from near_begin() on, for a table; empty if they say nothing.
  std::vector<std::string> near_expected = {}, near_got = {};
  std::uint64_t near_begin() const { return index - std::min<std::uint64_t>(index, 2); }
  std::string hint() const;  // the text of `causes` for this case alone, or ""
};

// A store that a trace has recorded: to global memory, or to shared memory ("s_keys").
struct TracedStore {
  std::string array;
  std::uint64_t element = 0, value = 0, block = 0;
  std::uint32_t launch = 0, thread = 0;
  std::vector<std::pair<std::string, std::uint64_t>> from = {};  // elements that the value is computed from
};
// The first store of a traced run that is wrong.
struct WrongStore {
  const TracedStore* store = nullptr;
  // The value; or, with `is_place`, the element. If it is what was stored, `why` says what is wrong.
  std::uint64_t right = 0;
  std::string why;
  bool is_place = false;
};
// A traced run of a case, up to its first fault.
struct TracedRun {
  std::vector<TracedStore> stores;  // in order, launch for launch
  std::uint32_t n_launches = 0;
  std::string fault = "";  // what ended the last launch early

  // The last store to each element of an array up to the end of a launch.
  using Left = std::map<std::uint64_t, const TracedStore*>;
  Left left(std::string_view array, std::uint32_t launch = ~0u) const;
  // The first element of these that does not hold what is right there. Those that nothing was stored in are
  // skipped.
  std::optional<WrongStore> differs(std::string_view array, std::span<const std::uint64_t> right,
                                    std::string why, std::uint32_t launch = ~0u) const;
  // Whether the launch stores in the array, or fails there.
  bool reaches(std::string_view array, std::uint32_t launch) const;
};
class Problem {
 public:
  virtual ~Problem() = default;
  virtual const Manifest& manifest() const = 0;
  virtual std::vector<Case> cases(const Task& task) const = 0;
  virtual Shape shape(const Task& task, const Case& c) const = 0;
  // Fills the inputs; the same seed gives the same bytes on every machine.
  virtual void fill(const Task& task, const Case& c, std::uint64_t seed,
                    std::span<HostBuffer> inputs) const = 0;
  virtual std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                        std::span<const HostBuffer> outputs) const = 0;
  // Whether the task must refuse this case with Status::unsupported because it cannot solve it correctly. If
  // so, any other answer is wrong.
  virtual bool refuses(const Task&, const Case&) const { return false; }
  // Computes the outputs on one core of the CPU; used for timing. Gives the result that `check` expects.
  virtual void baseline(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                        std::span<HostBuffer> outputs) const = 0;
  virtual Ideal ideal(const Task& task, const Case& c) const = 0;
  // The cases that ./lab bench times with about n items: the task's speedup cases, or without any its
  // efficiency cases, with that length. Labs whose n follows from other numbers (the sides of an image)
  // override this.
  virtual std::vector<Case> bench_cases(const Task& task, std::uint64_t n) const;
  // Of a lab for several devices: the same case on n_devices of them, with its array divided into equal
  // shards.
  virtual Case on_devices(const Task& task, const Case& c, std::uint32_t n_devices) const;
  // The case that a trace shows and the handout explains: about n items, few enough to print.
  virtual Case example(const Task& task, std::uint64_t n) const = 0;
  // An element of the case's arrays as text, short enough for a table. Labs whose values are no plain numbers
  // override it.
  virtual std::string print(const Case& c, DType dtype, const std::byte* element) const;
  // `like` with about n items, made by `pattern`; std::nullopt if the lab has no such case. Used by
  // derived_cases.hpp. Labs override it whose cases have words other than n and the pattern for shape and
  // items.
  virtual std::optional<Case> with_items(const Task& task, const Case& like, std::uint64_t n,
                                         Pattern pattern) const;
  // The first store to an array between the inputs and the outputs that does not hold what the task's text
  // says; std::nullopt if there is none, or if the arrays are used in another way.
  virtual std::optional<WrongStore> wrong_store(const Task&, const Case&, std::span<const HostBuffer>,
                                                const TracedRun&) const {
    return std::nullopt;
  }
  // The row length of the case's arrays, for pictures; 0: the arrays have one dimension.
  virtual std::uint64_t row_length(const Task&, const Case&) const { return 0; }
};

// The inputs of a case.
std::vector<HostBuffer> inputs_of(const Problem& problem, const Task& task, const Case& c,
                                  std::uint64_t seed);
// The request for a case, without the device's part: buffers, workspace and stream.
Request request_of(const Problem& problem, const Task& task, const Case& c);

}  // namespace course::lab
