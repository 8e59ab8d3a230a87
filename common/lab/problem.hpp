// SPDX-License-Identifier: MIT
// The trusted, host-only side of a lab: which cases there are, what goes in, what must come out.
// Each lab derives one Problem in labs/<lab>/problem.cpp; the verifier and the public tests use it, the
// runner never links it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/manifest.hpp"
#include "lab/request.hpp"

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
  example,  // 3 1 7 0 4 1 6 3, again and again: the one that the handouts work through
};
std::string_view name_of(Pattern pattern);
std::string_view name_of(DType dtype);  // "i32"

// What a case is for. One case may serve several.
enum Purpose : std::uint32_t {
  kCorrectness = 1,
  kEfficiency = 2,
  kSpeedup = 4,
  kChecks =
      8,  // on the simulator also run with every checker on: a finding makes it wrong, whatever the output
};

struct Case {
  std::string name;  // "sum_i32_n1025_random": unique in its task, readable, usable in a test filter
  std::uint32_t op = 0;
  DType dtype = DType::i32;
  std::uint64_t n = 0;
  Pattern pattern = Pattern::random;
  std::array<std::int64_t, 8> params{};
  std::uint32_t purpose = kCorrectness;
  std::uint32_t misalign =
      0;  // bytes by which input pointers are off a 256-byte boundary (a multiple of the element)
};

struct BufferSpec {
  std::string name;  // "d_in": as in the lab's API, for messages
  DType dtype = DType::i32;
  std::uint64_t count = 0;  // elements
};

// A part of the workspace that the lab gives a name: "d_flags, element 17" says more than "d_workspace,
// element 4113".
struct WorkspacePart {
  BufferSpec spec;
  std::uint64_t first_byte = 0;
};

struct Shape {
  std::vector<BufferSpec> inputs, outputs;
  std::uint64_t workspace_bytes = 0;
  std::vector<WorkspacePart> workspace_parts =
      {};  // at most protocol::kMaxParts; may leave some of it unnamed
};

// One buffer's contents on the host: `bytes` has count · bytes_of(dtype) bytes.
struct HostBuffer {
  BufferSpec spec;
  std::vector<std::byte> bytes;
};

// The closed form that efficiency is measured against.
struct Ideal {
  double work = 0;   // operations of the task's operator
  double steps = 0;  // longest dependent chain
  double bytes = 0;  // that must cross global memory: input once, output once
};

// A mistake that explains a wrong output (lab/diagnosis.hpp).
struct Cause {
  std::string rule;      // its name, the same in every case
  std::string text;      // for the student; may hold numbers of this case
  bool is_sign = false;  // says what is striking about the output, not which mistake makes it so
};

// What a check found. Empty first_mismatch: right.
struct Mismatch {
  std::string buffer;         // "d_out"
  std::uint64_t index = 0;    // element
  std::string expected, got;  // printed with enough digits to tell them apart
  std::uint64_t n_wrong = 0, n_total = 0;
  std::string pattern;  // "every element from 1024 on", "one in 32" …, or ""
  std::string hint;     // what `causes` say of this case alone, or ""
  std::vector<Cause> causes = {};
  std::string position =
      "";  // of the element, in the lab's words: "row 0, column 5"; "" when the index says it
};

class Problem {
 public:
  virtual ~Problem() = default;
  virtual const Manifest& manifest() const = 0;
  virtual std::vector<Case> cases(const Task& task) const = 0;
  virtual Shape shape(const Task& task, const Case& c) const = 0;
  // Fills the inputs from `seed`; the same seed gives the same bytes on every machine.
  virtual void fill(const Task& task, const Case& c, std::uint64_t seed,
                    std::span<HostBuffer> inputs) const = 0;
  virtual std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                        std::span<const HostBuffer> outputs) const = 0;
  // Whether the task must turn this case down with Status::unsupported, as being beyond what it can do right.
  // Then an answer is wrong, whatever it holds.
  virtual bool refuses(const Task&, const Case&) const { return false; }
  // Computes the outputs on the CPU, to be timed. Same result as `check` expects.
  virtual void baseline(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                        std::span<HostBuffer> outputs, Baseline which) const = 0;
  virtual Ideal ideal(const Task& task, const Case& c) const = 0;
  // What ./lab bench times with about n items: the task's speedup cases, made as long as that. Labs whose n
  // follows from other numbers (an image's sides) say how.
  virtual std::vector<Case> bench_cases(const Task& task, std::uint64_t n) const;
  // The case that a trace shows and the handout works through: about n items, few enough to print.
  virtual Case example(const Task& task, std::uint64_t n) const = 0;
  // How many elements make a row of the case's arrays, for pictures; 0: they have one dimension.
  virtual std::uint64_t row_length(const Task&, const Case&) const { return 0; }
};

}  // namespace course::lab
