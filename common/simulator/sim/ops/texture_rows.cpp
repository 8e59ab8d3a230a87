// SPDX-License-Identifier: MIT
// Textures: coordinates select texels, which are read singly or filtered linearly. Surfaces: reads and writes
// of elements. src[0] is the object's handle (wide), src[1 …] are coordinates; the values of a store are in
// dst.
// Source: NVIDIA, "PTX ISA", version 9.0, sections 9.7.10 and 9.7.11; "CUDA C++ Programming Guide", appendix
// "Texture fetching": filter weights have 8 fraction bits.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "sim/memory/texture.hpp"
#include "sim/ops/memory.hpp"
#include "sim/ops/narrow.hpp"

namespace course::sim::SIM_ISA {

using namespace alu;

namespace {

// Whether the bytes are a valid descriptor: enumerators must exist, flags must be 0 or 1.
bool is_descriptor(const unsigned char* bytes) {
  using D = TextureDescriptor;
  const auto most = [&](std::size_t first, std::size_t n, int greatest) {
    return std::all_of(bytes + first, bytes + first + n, [=](unsigned char b) { return b <= greatest; });
  };
  return most(offsetof(D, kind), 1, static_cast<int>(ChannelKind::is_float)) &&
         most(offsetof(D, modes), sizeof D::modes, static_cast<int>(AddressMode::border)) &&
         most(offsetof(D, filters), offsetof(D, is_memory) + 1 - offsetof(D, filters), 1);
}

// A kernel can overwrite a descriptor, so check that its texels lie in one allocation.
bool is_sound(Worker& worker, const MicroOp& op, const TextureDescriptor& d) {
  constexpr u32 kMax = 1u << 29;
  const auto extent_known = [](u32 n) { return n >= 1 && n <= kMax; };
  if (!extent_known(d.width) || !extent_known(d.height) || !extent_known(d.slices) || d.channels < 1 ||
      d.channels > 4 || (d.channel_bits != 8 && d.channel_bits != 16 && d.channel_bits != 32))
    return false;
  const u128 bytes = u128{d.slices - 1} * d.slice_bytes + u128{d.height - 1} * d.row_bytes +
                     u128{d.width} * d.element_bytes();
  if (bytes > std::numeric_limits<s64>::max()) return false;
  const u64 end = d.base + static_cast<u64>(bytes);
  const u32 next = op.index + 1;  // not the window of the handle
  return in_window(worker.windows[next % Worker::kWindows], d.base, end) ||
         find_window(worker, next, d.base, end);
}

// Returns a copy, because other threads may write to the descriptor.
TextureDescriptor descriptor(Warp& w, const MicroOp& op, int lane, u64 mark) {
  const u64 handle = w.slot<u64>(op.src[0])[lane];
  const Allocation* const object = w.worker->arena->find(handle);
  if (object != nullptr && object->kind == MemoryKind::texture && object->base == handle &&
      object->size >= sizeof(TextureDescriptor)) {
    unsigned char bytes[sizeof(TextureDescriptor)];
    std::memcpy(bytes, reinterpret_cast<const void*>(handle),
                sizeof bytes);  // NOLINT: an address of the arena
    if (is_descriptor(bytes)) {
      TextureDescriptor d;
      std::memcpy(&d, bytes, sizeof d);
      if (d.mark == mark && is_sound(*w.worker, op, d)) return d;
    }
  }
  throw DeviceFault(
      Fault::illegal_address,
      mark == TextureDescriptor::kTextureMark
          ? "this is not a texture object: destroyed, or never created; or its memory has been freed"
          : "this is not a surface object: destroyed, or never created; or its array has been freed",
      1u << lane, handle);
}

struct Texel {
  u32 words[4] = {0, 0, 0, 0};
};

u32 channel_word(const TextureDescriptor& d, u64 address, u32 k) {
  u32 raw = 0;
  const auto* place = reinterpret_cast<const void*>(address + u64{k} * d.channel_bits / 8);  // NOLINT
  switch (d.channel_bits) {
    case 8: std::memcpy(&raw, place, 1); break;
    case 16: std::memcpy(&raw, place, 2); break;
    default: std::memcpy(&raw, place, 4); break;
  }
  if (d.kind == ChannelKind::is_float)
    return d.channel_bits == 16 ? std::bit_cast<u32>(F16::widen(static_cast<u16>(raw))) : raw;
  const u32 unused = 32 - d.channel_bits;
  const s32 number =
      d.kind == ChannelKind::is_signed ? static_cast<s32>(raw << unused) >> unused : static_cast<s32>(raw);
  if (!d.reads_fractions) return static_cast<u32>(number);
  const bool is_signed = d.kind == ChannelKind::is_signed;
  const f32 most = static_cast<f32>((u64{1} << (d.channel_bits - (is_signed ? 1 : 0))) - 1);
  return std::bit_cast<u32>(
      std::max((is_signed ? static_cast<f32>(number) : static_cast<f32>(raw)) / most, -1.0f));
}

// The index for an out-of-range index, by address mode; −1: the border. Wrap and mirror require normalised
// coordinates.
s64 addressed(s64 i, s64 n, AddressMode mode, bool normalised) {
  if (i >= 0 && i < n) return i;
  if (mode == AddressMode::border) return -1;
  if (mode == AddressMode::clamp || !normalised) return i < 0 ? 0 : n - 1;
  const s64 period = mode == AddressMode::mirror ? 2 * n : n;
  const s64 place = (i % period + period) % period;
  return place < n ? place : period - 1 - place;
}

// The global addresses that the lanes of a warp read or write: up to eight per lane, one after the other.
struct Touched {
  Lanes at[8];
  u32 lanes[8] = {};

  void add(int lane, u64 address) {
    int k = 0;
    while (k < 8 && (lanes[k] >> lane & 1) != 0) ++k;
    if (k == 8) return;
    at[k].at[lane] = address;
    lanes[k] |= 1u << lane;
  }
  // Counts them as ordinary accesses of `bytes` bytes each.
  void count(Warp& w, const MicroOp& op, OpKind kind, u64 bytes) const {
    if (!w.worker->counting) return;
    const u32 mask = w.mask;
    MicroOp access = op;
    access.kind = kind;
    for (int k = 0; k < 8 && lanes[k] != 0; ++k) {
      w.set_mask(lanes[k]);
      count_global(w, access, at[k], bytes, false);
    }
    w.set_mask(mask);
  }
};

// Reads one texture for one lane.
struct Sampler {
  const TextureDescriptor& d;
  Touched& touched;
  int lane;

  void read(s64 x, s64 y, s64 slice, Texel& t) const;
  void sample(const TextureForm& form, const u32* c, Texel& t) const;
};

void Sampler::read(s64 x, s64 y, s64 slice, Texel& t) const {
  if (d.is_memory && (x < 0 || x >= d.width) && d.height == 1) return;
  x = addressed(x, d.width, d.modes[0], d.normalised);
  y = addressed(y, d.height, d.modes[1], d.normalised);
  if (x < 0 || y < 0 || slice < 0) {
    for (u32 k = 0; k < 4; ++k) t.words[k] = std::bit_cast<u32>(d.border[k]);
    return;
  }
  const u64 at = d.base + static_cast<u64>(slice) * d.slice_bytes + static_cast<u64>(y) * d.row_bytes +
                 static_cast<u64>(x) * d.element_bytes();
  touched.add(lane, at);
  for (u32 k = 0; k < d.channels; ++k) t.words[k] = channel_word(d, at, k);
  const bool floats = d.kind == ChannelKind::is_float || d.reads_fractions;
  if (d.channels < 4) t.words[3] = floats ? std::bit_cast<u32>(1.0f) : 1;
}

// The texel of a coordinate; with filtering the lower of its two neighbours, and the weight of the upper one.
struct Along {
  s64 at = 0;
  f32 weight = 0;
};
Along along(f32 coordinate, u32 size, bool normalised, bool between) {
  const f32 u = normalised ? coordinate * static_cast<f32>(size) : coordinate;
  const f32 shifted = between ? u - 0.5f : u;
  f32 whole = std::floor(shifted);
  f32 weight = std::round((shifted - whole) * 256) / 256;
  if (!(std::fabs(whole) < 1e9f)) whole = whole > 0 ? 1e9f : 0, weight = 0;
  return {static_cast<s64>(whole), between ? weight : 0};
}

void Sampler::sample(const TextureForm& form, const u32* c, Texel& t) const {
  const bool layered = form.geometry == Geometry::lines || form.geometry == Geometry::planes;
  const int dimensions = form.geometry == Geometry::line || form.geometry == Geometry::lines ? 1
                         : form.geometry == Geometry::volume                                 ? 3
                                                                                             : 2;
  const u32* at = layered ? c + 1 : c;
  s64 slice = layered ? std::min<s64>(c[0], d.slices - 1) : 0;
  if (form.whole_coordinates) {
    const auto whole = [&](int k) { return k < dimensions ? s64{static_cast<s32>(at[k])} : 0; };
    if (dimensions == 3) slice = addressed(whole(2), d.slices, d.modes[2], false);
    return read(whole(0), whole(1), slice, t);
  }
  const auto real = [&](int k) { return std::bit_cast<f32>(at[k]); };
  const auto axis = [&](int k, u32 size) { return along(real(k), size, d.normalised, d.filters); };
  const Along ax = axis(0, d.width), ay = dimensions > 1 ? axis(1, d.height) : Along{};
  const Along az = dimensions > 2 ? axis(2, d.slices) : Along{slice, 0};
  const auto slice_at = [&](s64 z) {
    return dimensions > 2 ? addressed(z, d.slices, d.modes[2], d.normalised) : z;
  };
  if (!d.filters) return read(ax.at, ay.at, slice_at(az.at), t);
  f32 sum[4] = {0, 0, 0, 0};
  for (int corner = 0; corner < 8; ++corner) {
    const s64 dx = corner & 1, dy = corner >> 1 & 1, dz = corner >> 2;
    if ((dy != 0 && dimensions < 2) || (dz != 0 && dimensions < 3)) continue;
    const f32 weight = (dx != 0 ? ax.weight : 1 - ax.weight) * (dy != 0 ? ay.weight : 1 - ay.weight) *
                       (dz != 0 ? az.weight : 1 - az.weight);
    if (!(weight > 0)) continue;
    Texel one;
    read(ax.at + dx, ay.at + dy, slice_at(az.at + dz), one);
    for (int k = 0; k < 4; ++k) sum[k] += weight * std::bit_cast<f32>(one.words[k]);
  }
  for (int k = 0; k < 4; ++k) t.words[k] = std::bit_cast<u32>(sum[k]);
}

void coordinates(Warp& w, const MicroOp& op, int lane, u32* c) {
  for (int k = 0; k < 3; ++k) c[k] = op.src[k + 1] == MicroOp::kNoSlot ? 0 : w.slot<u32>(op.src[k + 1])[lane];
}

void fetch(Warp& w, const MicroOp& op) {
  const TextureForm form = TextureForm::from_packed(op.imm);
  Touched touched;
  u32 bytes = 4;
  u64 handle = 0;  // of `d`
  TextureDescriptor d;
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (const u64 own = w.slot<u64>(op.src[0])[lane]; m == w.mask || own != handle) {
      d = descriptor(w, op, lane, TextureDescriptor::kTextureMark);
      handle = own;
    }
    u32 c[3];
    coordinates(w, op, lane, c);
    Texel t;
    Sampler{d, touched, lane}.sample(form, c, t);
    bytes = d.element_bytes();
    for (int k = 0; k < 4; ++k)
      if (op.dst[k] != MicroOp::kNoSlot) w.slot<u32>(op.dst[k])[lane] = t.words[k];
  }
  touched.count(w, op, OpKind::load, bytes);
}

// --- surfaces ----------------------------------------------------------------------------------------------

// The address of a lane's bytes; 0: out of range, where reads give 0 and writes are ignored.
u64 surface_place(Warp& w, const MicroOp& op, const TextureForm& form, int lane) {
  const TextureDescriptor d = descriptor(w, op, lane, TextureDescriptor::kSurfaceMark);
  u32 c[3];
  coordinates(w, op, lane, c);
  const bool layered = form.geometry == Geometry::lines || form.geometry == Geometry::planes;
  const u32* at = layered ? c + 1 : c;
  const bool flat = form.geometry == Geometry::line || form.geometry == Geometry::lines;
  const u32 bytes = u32{form.bytes} * form.count;
  s64 x = static_cast<s32>(at[0]), y = flat ? 0 : static_cast<s32>(at[1]);
  s64 z = layered ? static_cast<s32>(c[0]) : form.geometry == Geometry::volume ? static_cast<s32>(c[2]) : 0;
  const s64 row = s64{d.width} * d.element_bytes();
  if (row < s64{bytes})
    throw DeviceFault(Fault::illegal_address,
                      fmt::format("surface access of {} bytes to rows of {} bytes", bytes, row), 1u << lane);
  const bool inside = x >= 0 && x + bytes <= row && y >= 0 && y < d.height && z >= 0 && z < d.slices;
  if (x % bytes != 0) misaligned(1u << lane, d.base + static_cast<u64>(x), bytes);
  if (!inside) {
    if (form.beyond == Beyond::zero) return 0;
    if (form.beyond == Beyond::trap)
      throw DeviceFault(Fault::illegal_address,
                        fmt::format("surface access at byte {} of row {} of slice {}: rows have {} bytes, "
                                    "there are {} rows and {} slices",
                                    x, y, z, row, d.height, d.slices),
                        1u << lane);
    x = std::clamp<s64>(x, 0, row - bytes), y = std::clamp<s64>(y, 0, d.height - 1),
    z = std::clamp<s64>(z, 0, d.slices - 1);
  }
  return d.base + static_cast<u64>(z) * d.slice_bytes + static_cast<u64>(y) * d.row_bytes +
         static_cast<u64>(x);
}

template <bool kStores>
void surface(Warp& w, const MicroOp& op) {
  const TextureForm form = TextureForm::from_packed(op.imm);
  Touched touched;
  for (const int lane : EachLane{w.mask}) {
    const u64 place = surface_place(w, op, form, lane);
    if (place != 0) touched.add(lane, place);
    for (u32 k = 0; k < form.count; ++k) {
      std::byte* const memory =
          place == 0 ? nullptr : reinterpret_cast<std::byte*>(place + k * form.bytes);  // NOLINT
      std::byte* const value = form.bytes == 8 ? reinterpret_cast<std::byte*>(w.slot<u64>(op.dst[k]) + lane)
                                               : reinterpret_cast<std::byte*>(w.slot<u32>(op.dst[k]) + lane);
      if (kStores) {
        if (memory != nullptr) std::memcpy(memory, value, form.bytes);
        continue;
      }
      std::memset(value, 0, form.bytes == 8 ? 8 : 4);
      if (memory != nullptr) std::memcpy(value, memory, form.bytes);
    }
  }
  touched.count(w, op, kStores ? OpKind::store : OpKind::load, u64{form.bytes} * form.count);
}

}  // namespace

void add_texture_rows(OpTable& table) {
  const auto row = [&](const char* key, Handler fn) {
    table.add(OpRow{key, fn, OpKind::other, {SlotKind::wide}, {SlotKind::narrow}});
  };
  row("tex", &fetch);
  row("suld", &surface<false>);
  row("sust", &surface<true>);
}

}  // namespace course::sim::SIM_ISA
