// SPDX-License-Identifier: MIT
// Source: CUDA C++ Programming Guide, sections on formatted output, assertions and dynamic allocation. The
// argument layout of vprintf is that of the CUDA ABI: integers of 4 bytes, everything else 8 bytes, each
// naturally aligned.
#include "sim/machine/builtins.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "sim/machine/describe.hpp"
#include "sim/machine/source_places.hpp"

namespace course::sim {
namespace {

std::byte* frame(Warp& w, int lane) {
  return w.local.data() + static_cast<std::size_t>(lane) * w.local_stride + w.frame_base[lane];
}

template <typename T>
T argument(Warp& w, int lane, const CallSite& site, std::size_t k) {
  T value{};
  if (k < site.arguments.size())
    std::memcpy(&value, frame(w, lane) + site.arguments[k].offset,
                std::min<std::size_t>(sizeof(T), site.arguments[k].bytes));
  return value;
}

template <typename T>
void give(Warp& w, int lane, const CallSite& site, T value) {
  if (site.results.empty()) return;
  std::memcpy(frame(w, lane) + site.results[0].offset, &value,
              std::min<std::size_t>(sizeof(T), site.results[0].bytes));
  if (w.worker->observer != nullptr)
    w.worker->observer->local_moved(w, lane, w.frame_base[lane] + site.results[0].offset,
                                    site.results[0].bytes);
}

// The host address of a generic address. Throws DeviceFault unless `n_bytes` may be read there.
const std::byte* readable(Warp& w, int lane, std::uint64_t address, std::uint64_t n_bytes) {
  const auto inside = [&](std::uint64_t window, std::uint64_t size) {
    return address >= window && address - window < size && n_bytes <= size - (address - window);
  };
  if (inside(kLocalWindow, w.local_stride))
    return w.local.data() + static_cast<std::size_t>(lane) * w.local_stride + (address - kLocalWindow);
  if (inside(kSharedWindow, w.block->shared_bytes)) return w.block->shared + (address - kSharedWindow);
  if (w.worker->arena->has_for_kernel(address, n_bytes)) return reinterpret_cast<const std::byte*>(address);
  throw DeviceFault(Fault::illegal_address, "printf or assert got an invalid pointer", 1u << lane, address);
}

// Bytes. Longer texts are cut; wider fields and more digits count as this many.
constexpr std::size_t kMaxText = 65536;
// Bytes that a launch prints; what follows is dropped. More than a graded run may print.
constexpr std::size_t kMaxPrinted = std::size_t{64} << 20;

std::string text_at(Warp& w, int lane, std::uint64_t address) {
  std::string text;
  for (; text.size() < kMaxText; ++address) {
    const char c = static_cast<char>(*readable(w, lane, address, 1));
    if (c == '\0') break;
    text += c;
  }
  return text;
}

// The longest text of one value: all digits of the largest double before the point, kMaxText after it.
constexpr std::size_t kMaxOfValue = kMaxText + 512;
// Formats one value with the host's snprintf. The conversion specification must match its type.
template <typename T>
void append(std::string& out, const std::string& specification, T value) {
  char text[kMaxOfValue];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  const int n = std::snprintf(text, sizeof text, specification.c_str(), value);
#pragma GCC diagnostic pop
  out.append(text, std::min(static_cast<std::size_t>(std::max(n, 0)), kMaxOfValue - 1));
}

// The specification with no width or precision above kMaxText, for which snprintf would need gigabytes. %g
// omits the zeros at the end, so it needs no more than all digits of a double, of which there are 767.
std::string bounded(const std::string& specification, char kind) {
  const bool omits_zeros = (kind == 'g' || kind == 'G') && specification.find('#') == std::string::npos;
  std::string out;
  for (std::size_t k = 0; k < specification.size();) {
    const std::size_t end = std::min(specification.find_first_not_of("0123456789", k), specification.size());
    if (end == k) {
      out += specification[k++];
      continue;
    }
    // A leading 0 is a flag.
    const bool is_precision = k > 0 && specification[k - 1] == '.';
    const bool zero = specification[k] == '0' && !is_precision;
    const std::size_t most = is_precision && omits_zeros ? 800 : kMaxText;
    const std::string number = specification.substr(k, end - k);
    const std::size_t digits = std::min(number.find_first_not_of('0'), number.size());
    if (zero) out += '0';
    if (digits < number.size()) {
      const bool fits = number.size() - digits <= 5 && std::stoul(number.substr(digits)) <= most;
      out += fits ? number.substr(digits) : std::to_string(most);
    } else if (!zero) {
      out += '0';
    }
    k = end;
  }
  return out;
}

int print(Warp& w, int lane, const CallSite& site) {
  const std::string format = text_at(w, lane, argument<std::uint64_t>(w, lane, site, 0));
  const auto arguments = argument<std::uint64_t>(w, lane, site, 1);
  std::uint64_t next = arguments;
  const auto take = [&]<typename T>(T value) {
    next = (next + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    std::memcpy(&value, readable(w, lane, next, sizeof(T)), sizeof(T));
    next += sizeof(T);
    return value;
  };
  std::string out;
  int conversions = 0;
  const bool drops = w.worker->output.size() >= kMaxPrinted;
  const auto put = [&](const std::string& specification, auto value) {
    if (!drops) append(out, specification, value);
  };
  for (std::size_t k = 0; k < format.size() && out.size() < kMaxPrinted;) {
    if (format[k] != '%') {
      const std::size_t end = std::min(format.find('%', k), format.size());
      if (!drops) out.append(format, k, end - k);
      k = end;
      continue;
    }
    std::size_t end = format.find_first_not_of("-+ #0123456789.*hljztL", k + 1);
    if (end == std::string::npos) {
      out.append(format, k, std::string::npos);
      break;
    }
    if (format[end] == '%') {
      out += '%';
      k = end + 1;
      continue;
    }
    std::string specification;
    bool is_long = false;
    for (std::size_t i = k; i < end; ++i) {
      const char c = format[i];
      if (c == '*')
        specification += fmt::format("{}", take(std::int32_t{}));
      else if (c == 'l' || c == 'j' || c == 'z' || c == 't')
        is_long = true;
      else if (c != 'L')
        specification += c;
    }
    const char kind = format[end];
    specification = bounded(specification, kind);
    ++conversions;
    switch (kind) {
      case 'd':
      case 'i':
        if (is_long)
          put(specification + "ll" + kind, static_cast<long long>(take(std::int64_t{})));
        else
          put(specification + kind, take(std::int32_t{}));
        break;
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        if (is_long)
          put(specification + "ll" + kind, static_cast<unsigned long long>(take(std::uint64_t{})));
        else
          put(specification + kind, take(std::uint32_t{}));
        break;
      case 'c': put(specification + kind, take(std::int32_t{})); break;
      case 's': put(specification + kind, text_at(w, lane, take(std::uint64_t{})).c_str()); break;
      case 'p': put(specification + kind, reinterpret_cast<void*>(take(std::uint64_t{}))); break;
      default:
        if (std::string_view("eEfFgGaA").find(kind) != std::string_view::npos)
          put(specification + kind, take(double{}));
        else
          out.append(format, k, end + 1 - k);
    }
    k = end + 1;
  }
  w.worker->printed_bytes += sizeof(void*) + next - arguments;  // the buffer holds the format's address, too
  if (drops) return conversions;
  w.worker->output += out;
  return conversions;
}

[[noreturn]] void fail_assertion(Warp& w, int lane, const CallSite& site) {
  const std::string message = text_at(w, lane, argument<std::uint64_t>(w, lane, site, 0));
  const std::string file = text_at(w, lane, argument<std::uint64_t>(w, lane, site, 1));
  const auto line = argument<std::uint32_t>(w, lane, site, 2);
  const std::string function = text_at(w, lane, argument<std::uint64_t>(w, lane, site, 3));
  throw DeviceFault(Fault::device_assert,
                    fmt::format("assertion `{}' failed at {}:{} in {}", message, file, line, function),
                    1u << lane);
}

}  // namespace

namespace {

// Kernels that kernels launch (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). They run when the
// grid that launches them has ended.
constexpr std::uint64_t kParameterBytes = 4096;
constexpr std::uint64_t kTailLaunch = 3;  // cudaStreamTailLaunch

void prepare_child(Warp& w, int lane, const CallSite& site) {
  const auto buffer = w.worker->arena->allocate_on_heap(kParameterBytes);
  give(w, lane, site, buffer ? *buffer : std::uint64_t{0});
  if (!buffer) return;
  ChildLaunch& child = w.worker->prepared[*buffer];
  child.function = argument<std::uint64_t>(w, lane, site, 0);
  child.grid = argument<Dim3>(w, lane, site, 1);
  child.block = argument<Dim3>(w, lane, site, 2);
  child.dynamic_shared = argument<std::uint32_t>(w, lane, site, 3);
}

void launch_child(Warp& w, int lane, const CallSite& site) {
  const auto buffer = argument<std::uint64_t>(w, lane, site, 0);
  auto prepared = w.worker->prepared.extract(buffer);
  give(w, lane, site, prepared.empty() ? std::uint32_t{1} : 0);  // cudaErrorInvalidValue
  if (prepared.empty()) return;
  ChildLaunch& child = prepared.mapped();
  const auto* const bytes = reinterpret_cast<const std::byte*>(buffer);  // NOLINT: an address of our arena
  child.parameters.assign(bytes, bytes + kParameterBytes);
  child.last = argument<std::uint64_t>(w, lane, site, 1) == kTailLaunch;
  w.worker->children.push_back(std::move(child));
  static_cast<void>(w.worker->arena->release_on_heap(buffer));
  for (auto& window : w.worker->windows) window = {};
}

}  // namespace

void run_builtin(Warp& w, const CallSite& site) {
  for (const int lane : EachLane{w.mask}) {
    if (site.builtin == "vprintf") {
      give(w, lane, site, print(w, lane, site));
    } else if (site.builtin == "__assertfail") {
      fail_assertion(w, lane, site);
    } else if (site.builtin == kPrepareChild) {
      prepare_child(w, lane, site);
    } else if (site.builtin == kLaunchChild || site.builtin == kLaunchChildPerThread) {
      launch_child(w, lane, site);
    } else if (site.builtin == kGetDeviceError || site.builtin == kPeekDeviceError) {
      give(w, lane, site, std::uint32_t{0});
    } else if (site.builtin == "malloc") {
      const auto place = w.worker->arena->allocate_on_heap(argument<std::uint64_t>(w, lane, site, 0));
      give(w, lane, site, place ? *place : std::uint64_t{0});
      if (place && w.worker->observer != nullptr) {
        const std::uint32_t thread = w.number * kLanes + static_cast<std::uint32_t>(lane);
        w.worker->arena->note_maker(*place, w.program->demangled, places_of(*w.program, *w.current),
                                    thread_of(*w.worker->launch, w.block->linear, thread));
      }
    } else {
      const auto address = argument<std::uint64_t>(w, lane, site, 0);
      if (address == 0) continue;
      const auto freed = w.worker->arena->release_on_heap(address);
      if (!freed)
        throw DeviceFault(Fault::illegal_address, "free in a kernel: " + freed.error().text, 1u << lane,
                          address);
      for (auto& window : w.worker->windows) window = {};
    }
  }
}

}  // namespace course::sim
