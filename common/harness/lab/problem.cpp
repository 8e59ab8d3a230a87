// SPDX-License-Identifier: MIT
#include "lab/problem.hpp"

#include <utility>

#include "lab/compare.hpp"

namespace course::lab {

std::string_view name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::random: return "random";
    case Pattern::all_equal: return "all_equal";
    case Pattern::ascending: return "ascending";
    case Pattern::descending: return "descending";
    case Pattern::skewed: return "skewed";
    case Pattern::high_bits: return "high_bits";
    case Pattern::alternating: return "alternating";
    case Pattern::extremes: return "extremes";
    case Pattern::example: return "example";
  }
  return "?";
}

std::vector<HostBuffer> buffers_of(std::span<const BufferSpec> specs, std::byte fill) {
  std::vector<HostBuffer> buffers;
  for (const BufferSpec& spec : specs)
    buffers.push_back({spec, std::vector<std::byte>(spec.n_bytes(), fill)});
  return buffers;
}

std::vector<HostBuffer> inputs_of(const Problem& problem, const Task& task, const Case& c,
                                  std::uint64_t seed) {
  std::vector<HostBuffer> inputs = buffers_of(problem.shape(task, c).inputs);
  problem.fill(task, c, seed, inputs);
  return inputs;
}

Request request_of(const Problem& problem, const Task& task, const Case& c) {
  Request request;
  request.task = index_of(problem.manifest(), task);
  request.op = c.op;
  request.dtype = c.dtype;
  request.n = c.n;
  request.params = c.params;
  return request;
}

std::vector<Case> Problem::bench_cases(const Task& task, std::uint64_t n) const {
  std::vector<Case> timed, counted;
  for (Case& c : cases(task)) {
    const std::uint32_t purpose = c.purpose;
    c.name += "_bench" + std::to_string(n);
    c.n = n;
    if ((purpose & kSpeedup) != 0)
      timed.push_back(std::move(c));
    else if ((purpose & kEfficiency) != 0)
      counted.push_back(std::move(c));
  }
  return timed.empty() ? counted : timed;
}

Case Problem::on_devices(const Task&, const Case& c, std::uint32_t) const {
  return c;
}

std::string Problem::print(const Case&, DType dtype, const std::byte* element) const {
  return print_element(dtype, element);
}

std::optional<Case> Problem::with_items(const Task&, const Case& like, std::uint64_t n,
                                        Pattern pattern) const {
  if (like.words.variant.empty()) return std::nullopt;
  Case c = like;
  c.n = n;
  c.pattern = pattern;
  c.words.shape = c.words.items = "";
  return with_name(std::move(c));
}

Case with_name(Case c) {
  CaseWords& words = c.words;
  if (words.shape.empty()) words.shape = "n" + std::to_string(c.n);
  if (words.items.empty()) words.items = name_of(c.pattern);
  c.name = words.variant + '_' + words.shape + '_' + words.items + words.more;
  if (c.multiprocessors != 0) c.name += '_' + std::to_string(c.multiprocessors) + "sm";
  if (c.misalign != 0) c.name += "_off" + std::to_string(c.misalign);
  return c;
}

Case on_multiprocessors(std::uint32_t n, Case c) {
  c.multiprocessors = n;
  return with_name(std::move(c));
}

DType shown_type(const Shape& shape, const Case& c, std::string_view array, std::uint64_t width) {
  for (const auto* list : {&shape.inputs, &shape.outputs})
    for (const auto& spec : *list)
      if (spec.name == array && bytes_of(spec.dtype) == width) return spec.dtype;
  if (bytes_of(c.dtype) == width) return c.dtype;
  for (const auto& spec : shape.outputs)
    if (bytes_of(spec.dtype) == width) return spec.dtype;
  return width == 8 ? DType::i64 : width == 1 ? DType::u8 : DType::i32;
}

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::u8: return "u8";
    case DType::i32: return "i32";
    case DType::u32: return "u32";
    case DType::i64: return "i64";
    case DType::u64: return "u64";
    case DType::f32: return "f32";
    case DType::f64: return "f64";
  }
  return "?";
}

}  // namespace course::lab
