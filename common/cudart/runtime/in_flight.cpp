// SPDX-License-Identifier: MIT
#include "cudart/runtime/in_flight.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <vector>

#include "cudart/runtime/runtime.hpp"

namespace course::cudart {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;  // looked at, of a copy

struct InFlight {
  const CUstream_st* stream;
  const std::byte* source;
  std::vector<std::byte> contents;
};
struct AllInFlight {
  std::mutex lock;
  std::atomic<std::size_t> n{0};
  std::vector<InFlight> copies;
};
AllInFlight& all_in_flight() {
  static auto& all = *new AllInFlight;
  return all;
}

// Pinned memory that is still allocated: else nothing may be read there.
std::optional<Place> pinned(const std::byte* source, std::uint64_t n_bytes) {
  std::optional<Place> place = locate(source);
  if (!place || place->kind != sim::MemoryKind::pinned_host) return std::nullopt;
  return address_of(source) + n_bytes <= place->base + place->size ? place : std::nullopt;
}

void report(const InFlight& copy, const Place& place, std::uint64_t at) {
  sim::Finding f;
  f.checker = sim::Checker::racecheck;
  f.kind = "host-writes-during-copy";
  const std::uint64_t offset = address_of(copy.source) - place.base + at;
  f.object = fmt::format("page-locked memory of {} bytes", place.size);
  f.message = fmt::format(
      "the host changes byte {} of {} while an asynchronous copy of it may still be under way, so the copy "
      "may take the old "
      "contents or the new ones: wait for the stream (cudaStreamSynchronize) or for an event first, or use a "
      "second buffer",
      offset, f.object);
  const std::lock_guard guard(place.context->lock);
  place.context->device().add_finding(std::move(f));
}

// Keeps what `keep` says, without the lock: it asks for locks of devices.
template <typename Keep>
void filter(const Keep& keep) {
  AllInFlight& all = all_in_flight();
  if (all.n == 0) return;
  std::vector<InFlight> copies;
  {
    const std::lock_guard guard(all.lock);
    copies.swap(all.copies);
  }
  std::erase_if(copies, [&](InFlight& copy) { return !keep(copy); });
  const std::lock_guard guard(all.lock);
  all.copies.insert(all.copies.end(), std::make_move_iterator(copies.begin()),
                    std::make_move_iterator(copies.end()));
  all.n = all.copies.size();
}

}  // namespace

void look_at_copies_in_flight() {
  filter([](InFlight& copy) {
    const std::optional<Place> place = pinned(copy.source, copy.contents.size());
    if (!place) return false;
    const auto differs = std::mismatch(copy.contents.begin(), copy.contents.end(), copy.source).first;
    if (differs == copy.contents.end()) return true;
    report(copy, *place, static_cast<std::uint64_t>(differs - copy.contents.begin()));
    return false;
  });
}

void renew_copies_in_flight() {
  filter([](InFlight& copy) {
    if (!pinned(copy.source, copy.contents.size())) return false;
    std::copy_n(copy.source, copy.contents.size(), copy.contents.begin());
    return true;
  });
}

void copy_submitted(const CUstream_st& stream, const CopyOp& copy) {
  const std::uint64_t n_bytes = std::min(copy.width, kMostBytes);
  const std::optional<Place> from = pinned(copy.src, n_bytes), to = locate(copy.dst);
  if (n_bytes == 0 || !from || !to || !to->on_device_only()) return;
  {
    const std::lock_guard guard(from->context->lock);
    if ((from->context->device().mode() & sim::kHostcheck) == 0) return;
  }
  AllInFlight& all = all_in_flight();
  const std::lock_guard guard(all.lock);
  all.copies.push_back({&stream, copy.src, std::vector<std::byte>(copy.src, copy.src + n_bytes)});
  all.n = all.copies.size();
}

void end_copies_in_flight(const std::function<bool(const CUstream_st*)>& ended) {
  look_at_copies_in_flight();
  filter([&](const InFlight& copy) { return !ended(copy.stream); });
}

}  // namespace course::cudart
