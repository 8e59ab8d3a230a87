// SPDX-License-Identifier: MIT
#include "photo/image.hpp"

#include <fmt/format.h>
#include <stb_image.h>
#include <stb_image_write.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <memory>
#include <string_view>

namespace course::grader {
namespace {

using Bytes = std::span<const std::uint8_t>;

Result<std::vector<std::uint8_t>> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{path + " cannot be opened"};
  std::vector<std::uint8_t> bytes;
  std::vector<char> part(1 << 16);
  while (file.read(part.data(), static_cast<std::streamsize>(part.size())) || file.gcount() > 0) {
    bytes.insert(bytes.end(), part.begin(), part.begin() + file.gcount());
    if (bytes.size() > kMaxFileBytes) return Error{path + " is larger than 512 MiB"};
  }
  if (file.bad()) return Error{path + " cannot be read"};
  return bytes;
}

Result<void> check_size(const std::string& name, std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) return Error{name + " has no pixels"};
  if (width > kMaxSide || height > kMaxSide || width * height > kMaxPixels)
    return Error{fmt::format("{}: {} x {} pixels are too many: at most {} a side and {} in all", name, width,
                             height, kMaxSide, kMaxPixels)};
  return {};
}

// --- PFM: "PF" (colour) or "Pf" (grey), width, height, and a scale that is negative if each number's lowest
// byte comes first; then the rows, from the bottom up.

std::string_view next_word(Bytes file, std::size_t& at) {
  const auto is_space = [&] { return file[at] == ' ' || (file[at] >= '\t' && file[at] <= '\r'); };
  while (at < file.size() && is_space()) ++at;
  const std::size_t from = at;
  while (at < file.size() && !is_space()) ++at;
  return {reinterpret_cast<const char*>(file.data()) + from, at - from};
}

template <typename T>
bool parse_all(std::string_view word, T& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size();
}

Result<lab::Photo> read_pfm(const std::string& name, Bytes file) {
  lab::Photo photo;
  std::size_t at = 2;
  double scale = 0;
  if (!parse_all(next_word(file, at), photo.width) || !parse_all(next_word(file, at), photo.height) ||
      !parse_all(next_word(file, at), scale))
    return Error{name + ": width, height and scale are missing"};
  if (auto r = check_size(name, photo.width, photo.height); !r) return r.error();
  const std::size_t channels = file[1] == 'F' ? 3 : 1, needed = photo.n_pixels() * channels * 4;
  const std::size_t there = file.size() - std::min(file.size(), ++at);  // one white space ends the header
  if (there < needed)
    return Error{
        fmt::format("{} ends too early: it needs {} bytes of pixels and has {}", name, needed, there)};
  for (std::size_t i = 0; i < 3 * photo.n_pixels(); ++i) {
    const std::size_t pixel = i / 3, row = photo.height - 1 - pixel / photo.width;
    const std::size_t from = (row * photo.width + pixel % photo.width) * channels + i % 3 % channels;
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 4; ++k) bits = bits << 8 | file[at + 4 * from + (scale < 0 ? 3 - k : k)];
    photo.rgb.push_back(std::bit_cast<float>(bits));
  }
  return photo;
}

// --- The others.

struct StbFree {
  void operator()(void* pixels) const { stbi_image_free(pixels); }
};

Result<lab::Photo> read_by_stb(const std::string& name, Bytes file) {
  int width = 0, height = 0, channels = 0;
  const auto n = static_cast<int>(file.size());
  const auto unreadable = [&] {
    return Error{fmt::format("{} is no PNG, JPEG, Radiance HDR or PFM that can be read ({})", name,
                             stbi_failure_reason())};
  };
  if (stbi_info_from_memory(file.data(), n, &width, &height, &channels) == 0 || width < 0 || height < 0)
    return unreadable();
  lab::Photo photo{static_cast<std::size_t>(width), static_cast<std::size_t>(height)};
  if (auto r = check_size(name, photo.width, photo.height); !r) return r.error();
  const auto take = [&](const auto* pixels, auto light) {
    for (std::size_t i = 0; pixels != nullptr && i < 3 * photo.n_pixels(); ++i)
      photo.rgb.push_back(light(pixels[i]));
  };
  if (stbi_is_hdr_from_memory(file.data(), n) != 0) {
    const std::unique_ptr<float, StbFree> light(
        stbi_loadf_from_memory(file.data(), n, &width, &height, &channels, 3));
    take(light.get(), [](float x) { return x; });
  } else {
    const std::unique_ptr<stbi_us, StbFree> tones(
        stbi_load_16_from_memory(file.data(), n, &width, &height, &channels, 3));
    take(tones.get(), [](stbi_us x) { return lab::light_of(static_cast<float>(x) / 65535); });
  }
  if (photo.rgb.empty()) return unreadable();
  return photo;
}

std::string encoded(const auto& write) {
  std::string file;
  write(
      [](void* to, void* data, int n) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<std::size_t>(n));
      },
      &file);
  return file;
}

}  // namespace

Result<lab::Photo> photo_of(const std::string& name, std::span<const std::uint8_t> file) {
  const bool is_pfm = file.size() > 2 && file[0] == 'P' && (file[1] == 'F' || file[1] == 'f');
  auto photo = is_pfm ? read_pfm(name, file) : read_by_stb(name, file);
  if (photo && !std::ranges::all_of(photo->rgb, [](float x) { return std::isfinite(x) && x >= 0; }))
    return Error{name + " has a pixel that is negative or not a finite number"};
  return photo;
}

Result<lab::Photo> read_photo(const std::string& path) {
  const auto file = read_file(path);
  return file ? photo_of(path, *file) : Result<lab::Photo>(file.error());
}

Result<void> read_depth(const std::string& path, lab::Photo& photo) {
  const auto map = read_photo(path);
  if (!map) return map.error();
  if (map->width != photo.width || map->height != photo.height)
    return Error{fmt::format("{} has {} x {} pixels, the photo {} x {}", path, map->width, map->height,
                             photo.width, photo.height)};
  const bool is_pfm = path.ends_with(".pfm");
  for (std::size_t i = 0; i < photo.n_pixels(); ++i)
    photo.depth.push_back(is_pfm ? std::min(map->rgb[3 * i], 1.0f) : lab::tone_of(map->rgb[3 * i]));
  return {};
}

lab::Photo smaller(const lab::Photo& photo, std::size_t factor) {
  lab::Photo out{photo.width / factor, photo.height / factor};
  const auto mean = [&](const std::vector<float>& from, std::size_t channels, std::size_t i) {
    const std::size_t y = i / channels / out.width * factor, x = i / channels % out.width * factor;
    float sum = 0;
    for (std::size_t k = 0; k < factor * factor; ++k)
      sum += from[((y + k / factor) * photo.width + x + k % factor) * channels + i % channels];
    return sum / static_cast<float>(factor * factor);
  };
  for (std::size_t i = 0; i < 3 * out.n_pixels(); ++i) out.rgb.push_back(mean(photo.rgb, 3, i));
  for (std::size_t i = 0; !photo.depth.empty() && i < out.n_pixels(); ++i)
    out.depth.push_back(mean(photo.depth, 1, i));
  return out;
}

std::vector<std::uint8_t> bytes_of(const lab::Photo& photo) {
  std::vector<std::uint8_t> bytes;
  for (const float light : photo.rgb)
    bytes.push_back(static_cast<std::uint8_t>(lab::level_of(lab::tone_of(light), 256)));
  return bytes;
}

std::string png_of(const lab::Photo& photo) {
  const auto w = static_cast<int>(photo.width), h = static_cast<int>(photo.height);
  return encoded([&](auto append, void* to) {
    stbi_write_png_to_func(append, to, w, h, 3, bytes_of(photo).data(), 3 * w);
  });
}

std::string jpeg_of(const lab::Photo& photo) {
  const auto w = static_cast<int>(photo.width), h = static_cast<int>(photo.height);
  return encoded([&](auto append, void* to) {
    constexpr int kQuality = 88;
    stbi_write_jpg_to_func(append, to, w, h, 3, bytes_of(photo).data(), kQuality);
  });
}

}  // namespace course::grader
