// SPDX-License-Identifier: MIT
#include "lab/problem.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "lab/compare.hpp"
#include "lab/workspace.hpp"

namespace course::lab {

std::string_view name_of(Pattern pattern) {
  return kPatternNames[static_cast<std::size_t>(pattern)];
}

std::vector<HostBuffer> buffers_of(std::span<const BufferSpec> specs, std::byte fill) {
  std::vector<HostBuffer> buffers;
  for (const BufferSpec& spec : specs)
    buffers.push_back({spec, std::vector<std::byte>(spec.n_bytes(), fill)});
  return buffers;
}

// The numbers of "4,7,2"; none of other words.
static std::vector<long double> numbers_of(const std::string& list) {
  std::vector<long double> numbers;
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) {
    char* end = nullptr;
    numbers.push_back(std::strtold(one.c_str(), &end));
    if (one.empty() || *end != '\0') return {};
  }
  return numbers;
}

std::vector<HostBuffer> inputs_of(const Problem& problem, const Task& task, const Case& c,
                                  std::uint64_t seed) {
  std::vector<HostBuffer> inputs = buffers_of(problem.shape(task, c).inputs);
  problem.fill(task, c, seed, inputs);
  if (const auto numbers = numbers_of(c.words.items); !numbers.empty() && !inputs.empty()) {
    const BufferSpec& spec = inputs[0].spec;
    with_any_type(spec.dtype, [&]<typename T>(T) {
      for (std::size_t i = 0; i < std::min<std::size_t>(numbers.size(), spec.count); ++i)
        inputs[0].as<T>()[i] = static_cast<T>(numbers[i]);
    });
  }
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

TracedRun::Left TracedRun::left(std::string_view array, std::uint32_t launch) const {
  Left left;
  for (const TracedStore& store : stores)
    if (store.array == array && store.launch <= launch) left[store.element] = &store;
  return left;
}

std::optional<WrongStore> TracedRun::differs(std::string_view array, std::span<const std::uint64_t> right,
                                             std::string why, std::uint32_t launch) const {
  for (const auto& [i, store] : left(array, launch))
    if (i < right.size() && store->value != right[i]) return WrongStore{store, right[i], std::move(why)};
  return std::nullopt;
}

bool TracedRun::reaches(std::string_view array, std::uint32_t launch) const {
  return (launch + 1 == n_launches && fault.find(std::string(array) + ",") != std::string::npos) ||
         std::ranges::any_of(stores, [&](const TracedStore& store) {
           return store.array == array && store.launch == launch;
         });
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
  constexpr std::string_view kNames[] = {"u8", "i32", "u32", "i64", "u64", "f32", "f64"};
  return kNames[static_cast<std::size_t>(dtype)];
}

}  // namespace course::lab
