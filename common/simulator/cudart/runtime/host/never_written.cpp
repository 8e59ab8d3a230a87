// SPDX-License-Identifier: MIT
#include "cudart/runtime/host/never_written.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "cudart/runtime/host/host_checks.hpp"

namespace course::cudart {
namespace {

constexpr std::uint64_t kMaxPadding = 16;  // bytes: the alignment of float4, double2 …
constexpr std::uint64_t kPitch = 512;      // rows of cudaMallocPitch end at multiples of this

void append(std::vector<sim::ByteRange>& ranges, const std::vector<sim::ByteRange>& more) {
  for (const sim::ByteRange& range : more) {
    if (!ranges.empty() && ranges.back().first + ranges.back().n_bytes == range.first)
      ranges.back().n_bytes += range.n_bytes;
    else
      ranges.push_back(range);
  }
}

// --- the types of a kernel's parameters --------------------------------------------------------------------

// "float*" and "int" of "void fill<float>(float*, int)".
std::vector<std::string> parameter_types(std::string_view demangled) {
  std::vector<std::string> types;
  if (!demangled.ends_with(')')) return types;
  int depth = 0;
  std::size_t begin = demangled.size();
  while (begin > 0) {
    const char c = demangled[--begin];
    depth += c == ')' ? 1 : c == '(' ? -1 : 0;
    if (depth == 0) break;
  }
  std::string type;
  for (const char c : demangled.substr(begin + 1, demangled.size() - begin - 2)) {
    depth += c == '(' || c == '<' ? 1 : c == ')' || c == '>' ? -1 : 0;
    if (c == ',' && depth == 0)
      types.push_back(std::exchange(type, ""));
    else if (c != ' ' || !type.empty())
      type += c;
  }
  types.push_back(type);
  return types;
}

// The size of what a pointer of this type points to, if that is a basic type, which has no padding; else 0.
std::uint32_t element_bytes_of(std::string_view pointer) {
  static const std::map<std::string_view, std::uint32_t> kBytes = {
      {"bool", 1},   {"char", 1},           {"signed char", 1}, {"unsigned char", 1},
      {"short", 2},  {"unsigned short", 2}, {"__half", 2},      {"__nv_bfloat16", 2},
      {"int", 4},    {"unsigned int", 4},   {"float", 4},       {"long", 8},
      {"double", 8}, {"unsigned long", 8},  {"long long", 8},   {"unsigned long long", 8}};
  if (!pointer.ends_with('*')) return 0;
  pointer.remove_suffix(1);
  for (const std::string_view word : {" volatile", " const"})
    if (pointer.ends_with(word)) pointer.remove_suffix(word.size());
  const auto known = kBytes.find(pointer);
  return known != kBytes.end() ? known->second : 0;
}

// The size of the elements of an allocation, from the parameter that points to it; 0 if not known.
std::uint32_t element_bytes_of(const sim::LaunchRequest& launch, const sim::KernelFacts& facts,
                               const sim::ByteRange& allocation) {
  const std::vector<std::string> types = parameter_types(facts.demangled);
  if (types.size() != facts.parameters.size()) return 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto& parameter = facts.parameters[i];
    std::uint64_t value = 0;
    if (parameter.size != sizeof value || parameter.offset + sizeof value > launch.parameters.size())
      continue;
    std::memcpy(&value, launch.parameters.data() + parameter.offset, sizeof value);
    if (value - allocation.first < allocation.n_bytes) return element_bytes_of(types[i]);
  }
  return 0;
}

// --- gaps --------------------------------------------------------------------------------------------------

bool is_row_padding(const std::vector<sim::ByteRange>& gaps) {
  if (gaps.size() < 2) return false;
  const std::uint64_t distance = gaps[1].first - gaps[0].first, n_bytes = gaps[0].n_bytes;
  const std::uint64_t alignment = std::min(distance & ~(distance - 1), kPitch);
  if (n_bytes >= alignment || 4 * n_bytes > distance) return false;
  for (std::size_t i = 1; i < gaps.size(); ++i)
    if (gaps[i].n_bytes != n_bytes || gaps[i].first - gaps[i - 1].first != distance) return false;
  return true;
}

void drop_padding(std::vector<sim::ByteRange>& gaps, std::uint64_t base, bool is_pitched,
                  bool has_structures) {
  std::erase_if(gaps, [&](const sim::ByteRange& gap) {
    return (has_structures && gap.n_bytes < kMaxPadding) ||
           (is_pitched && gap.n_bytes < kPitch && (gap.first + gap.n_bytes - base) % kPitch == 0);
  });
  if (is_row_padding(gaps)) gaps.clear();
}

// "elements 768 … 999 of 1000"
std::string text_of_range(const sim::ByteRange& range, std::uint64_t base, std::uint64_t size,
                          std::uint32_t element_bytes) {
  const bool whole = element_bytes > 1 && (range.first - base) % element_bytes == 0 &&
                     range.n_bytes % element_bytes == 0 && size % element_bytes == 0;
  const std::uint64_t unit = whole ? element_bytes : 1;
  const std::uint64_t first = (range.first - base) / unit, n = range.n_bytes / unit;
  const char* const name = whole ? "element" : "byte";
  return n == 1 ? fmt::format("{} {} of {}", name, first, size / unit)
                : fmt::format("{}s {} … {} of {}", name, first, first + n - 1, size / unit);
}

std::string threads_of(const LastWriter& writer) {
  const auto text = [](const sim::Dim3& d) {
    std::string sizes = fmt::format("{}", d.x);
    if (d.y * d.z > 1) sizes += fmt::format(" × {}", d.y);
    if (d.z > 1) sizes += fmt::format(" × {}", d.z);
    return sizes;
  };
  return fmt::format("{} block{} of {} threads", text(writer.grid), writer.grid.count() == 1 ? "" : "s",
                     text(writer.block));
}

// Who wrote last, and what follows from that and from what is missing.
struct Explanation {
  std::string text;
  bool is_certain = true;  // otherwise the program may need only what has been written
};
Explanation explain(const LastWriter* writer, const sim::Allocation& memory,
                    const std::vector<sim::ByteRange>& gaps) {
  Explanation why;
  if (writer == nullptr) return why;
  why.text = fmt::format(". The last to write there was {}", writer->what);
  const std::uint64_t threads = writer->grid.count() * writer->block.count();
  if (writer->is_launch) why.text += ", with " + threads_of(*writer);
  const auto line = text_of(place_of(writer->calls));
  if (!line.empty()) why.text += " at " + line;
  why.text += fmt::format(", in {}", text_of_range({memory.base + writer->first, writer->n_bytes},
                                                   memory.base, memory.size, writer->element_bytes));
  if (!writer->is_launch && writer->first == 0)
    for (const std::uint64_t bytes : {2u, 4u, 8u})
      if (memory.size == bytes * writer->n_bytes) why.text += ": its size counts bytes, not elements";
  const sim::ByteRange& gap = gaps.back();
  const bool is_tail = gaps.size() == 1 && gap.first >= memory.base + writer->first + writer->n_bytes;
  if (!writer->is_launch || !is_tail || writer->element_bytes == 0) return why;
  const std::uint64_t n = writer->n_bytes / writer->element_bytes, block = writer->block.count();
  if (n == threads && writer->first == 0) {
    const std::uint64_t all = memory.size / writer->element_bytes;
    why.text +=
        fmt::format(": one element per thread, so the grid is too small; {} elements need {} blocks of {}",
                    all, (all + block - 1) / block, block);
  } else if (n % threads != 0) {
    why.is_certain = false;
    why.text += ". If the number of results depends on the data, copy only these";
  }
  return why;
}

void report(Context& context, const Place& place, std::vector<sim::ByteRange> gaps, const CopyOp& copy,
            const std::string& what) {
  const sim::Allocation* const memory = context.device().find(place.base);
  const auto found = context.last_writers.find(place.base);
  const LastWriter* const writer = found != context.last_writers.end() ? &found->second : nullptr;
  const auto owned = context.owned.find(place.base);
  drop_padding(gaps, place.base, owned != context.owned.end() && owned->second.origin == Origin::pitched,
               writer != nullptr && writer->may_be_padded);
  if (memory == nullptr || gaps.empty()) return;
  std::uint32_t element_bytes = writer != nullptr ? writer->element_bytes : 0;
  if (memory->element_bytes > 1) element_bytes = memory->element_bytes;
  const std::string first = text_of_range(gaps.front(), place.base, place.size, element_bytes);
  const Explanation why = explain(writer, *memory, gaps);
  sim::Finding finding;
  finding.checker = sim::Checker::initcheck;
  finding.severity = why.is_certain ? sim::Severity::error : sim::Severity::hint;
  finding.kind = "uninitialised-global";
  finding.where = place_of(call_stack());
  finding.object = name_of_memory(context, *memory);
  finding.message = fmt::format(
      "{} reads {} bytes of {}, but {} {} never been written{}", what, copy.width * copy.height * copy.depth,
      finding.object,
      gaps.size() == 1 ? first : fmt::format("{} ranges of it, the first one {},", gaps.size(), first),
      gaps.size() == 1 && first.starts_with("element ") ? "has" : "have", why.text);
  context.device().add_finding(std::move(finding));
}

}  // namespace

void check_source(const CopyOp& copy, const std::string& what) {
  const std::optional<Place> place = locate(copy.src);
  if (!place || !checks_host(*place->context)) return;
  const std::optional<Place> dst = locate(copy.dst);
  Context& context = *place->context;
  const std::lock_guard guard(context.lock);
  const std::uint64_t n_bytes = copy.width * copy.height * copy.depth;
  std::uint64_t missing = 0;
  std::vector<sim::ByteRange> gaps;
  for (std::uint64_t z = 0; z < copy.depth; ++z)
    for (std::uint64_t y = 0; y < copy.height; ++y)
      append(gaps, context.device().never_written(
                       address_of(copy.src + y * copy.src_pitch + z * copy.src_slice), copy.width));
  for (const sim::ByteRange& gap : gaps) missing += gap.n_bytes;
  if (missing == 0) return;
  if (missing < n_bytes) {
    if (copy.dst != nullptr && !(dst && dst->on_device_only()))
      report(context, *place, std::move(gaps), copy, what);
    return;
  }
  const std::string name =
      place->name.empty() ? fmt::format("an allocation of {} bytes", place->size) : place->name;
  sim::Finding finding;
  finding.checker = sim::Checker::initcheck;
  finding.kind = "uninitialised-global";
  finding.where = place_of(call_stack());
  finding.object = name;
  finding.message =
      fmt::format("{} reads {} bytes of {}, but nothing has been written there since it was allocated", what,
                  n_bytes, name);
  context.device().add_finding(std::move(finding));
}

void note_copied(const void* dst, const void* src, std::uint64_t n_bytes) {
  const std::optional<Place> to = locate(dst), from = locate(src);
  if (!to) return;
  std::vector<sim::ByteRange> missing;
  if (from) {
    const std::lock_guard guard(from->context->lock);
    missing = from->context->device().never_written(address_of(src), n_bytes);
  }
  const std::lock_guard guard(to->context->lock);
  sim::Device& device = to->context->device();
  device.host_wrote(address_of(dst), n_bytes);
  if (!to->on_device_only()) return;  // the host can write there directly
  for (const sim::ByteRange& range : missing)
    device.forget_writes(range.first - address_of(src) + address_of(dst), range.n_bytes);
}

void note_last_writer(const void* dst, const void* src, std::uint64_t n_bytes) {
  const std::optional<Place> to = locate(dst), from = locate(src);
  if (!to || !checks_host(*to->context)) return;
  std::optional<LastWriter> before;
  if (from) {
    const std::lock_guard guard(from->context->lock);
    const auto found = from->context->last_writers.find(from->base);
    if (found != from->context->last_writers.end()) before = found->second;
  }
  const std::lock_guard guard(to->context->lock);
  LastWriter& writer = to->context->last_writers[to->base];
  // A copy to the same offset of an allocation of the same size keeps the source's last writer.
  const std::uint64_t first = address_of(dst) - to->base;
  if (before && first == address_of(src) - from->base && to->size == from->size)
    writer = std::move(*before);
  else
    writer = {src != nullptr ? "a copy" : "a memset",
              false,
              {},
              {},
              first,
              n_bytes,
              writer.element_bytes,
              writer.may_be_padded,
              call_stack()};
}

void note_launch_wrote(Context& context, const sim::LaunchRequest& launch, const sim::Footprint& footprint) {
  const sim::KernelFacts& facts = context.device().facts(launch.kernel);
  std::map<std::uint64_t, std::uint64_t> written;  // allocations: sizes by address
  sim::ByteRange last;
  footprint.for_each_page([&](std::uint64_t page, sim::Footprint::Use use) {
    if (!sim::Footprint::writes(use)) return;
    if (page >= last.first && page + sim::kHostPage <= last.first + last.n_bytes) return;
    constexpr std::uint64_t kStep = 256;  // alignment of allocations, in bytes
    for (std::uint64_t at = page; at < page + sim::kHostPage; at += kStep)
      if (const sim::Allocation* found = context.device().find(at)) {
        last = {found->base, found->size};
        written[found->base] = found->size;
      }
  });
  for (const auto& [base, size] : written) {
    const std::optional<sim::ByteRange> range = footprint.written(base, size);
    if (!range) continue;
    LastWriter& writer = context.last_writers[base];
    const std::uint32_t element_bytes = element_bytes_of(launch, facts, {base, size});
    writer = {facts.demangled,     true,           launch.grid,   launch.block,
              range->first - base, range->n_bytes, element_bytes, writer.may_be_padded || element_bytes == 0,
              call_stack()};
  }
}

void note_wrote_to_peers(const Context& context, const sim::Footprint& footprint) {
  for (const int peer : context.peers) {
    Context& other = runtime().context(peer);
    const std::lock_guard guard(other.lock);
    if (!other.created) continue;
    footprint.for_each_written([&](std::uint64_t address, std::uint64_t n_bytes) {
      if (other.device().find(address) != nullptr) other.device().host_wrote(address, n_bytes);
    });
  }
}

}  // namespace course::cudart
