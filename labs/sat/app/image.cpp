// SPDX-License-Identifier: MIT
#include "sat/app/image.hpp"

#include <fmt/format.h>
#include <stb_image.h>
#include <stb_image_write.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>

namespace course::sat::app {
namespace {

using Bytes = std::vector<std::uint8_t>;

Error error_in(const std::string& path, const std::string& what) {
  return Error{path + ": " + what};
}

Result<Bytes> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return error_in(path, "can't be opened for reading");
  Bytes bytes;
  std::vector<char> part(1 << 16);
  while (file.read(part.data(), static_cast<std::streamsize>(part.size())) || file.gcount() > 0) {
    const auto n = static_cast<std::size_t>(file.gcount());
    if (bytes.size() + n > kMaxFileBytes) return error_in(path, "is larger than 1 GiB");
    bytes.insert(bytes.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(n));
  }
  if (file.bad()) return error_in(path, "can't be read");
  return bytes;
}

Result<void> check_size(const std::string& path, std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) return error_in(path, "has no pixels");
  if (width > kMaxSide || height > kMaxSide || width * height > kMaxPixels) {
    return error_in(path, fmt::format("{} x {} pixels are too many: at most {} a side and {} in all", width,
                                      height, kMaxSide, kMaxPixels));
  }
  return {};
}

bool starts_with(const Bytes& bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}
bool is_png(const Bytes& bytes) {
  return starts_with(bytes, "\x89PNG\r\n\x1a\n");
}

// --- PNG.

struct StbFree {
  void operator()(void* pixels) const { stbi_image_free(pixels); }
};

// The channels of a PNG's pixels, after a check of its size.
Result<int> png_channels(const std::string& path, const Bytes& bytes) {
  int width = 0, height = 0, channels = 0;
  const auto n = static_cast<int>(std::min<std::size_t>(bytes.size(), kMaxFileBytes));
  if (stbi_info_from_memory(bytes.data(), n, &width, &height, &channels) == 0 || width < 0 || height < 0)
    return error_in(path, fmt::format("is no PNG that can be read ({})", stbi_failure_reason()));
  if (auto r = check_size(path, static_cast<std::size_t>(width), static_cast<std::size_t>(height)); !r)
    return r.error();
  return channels;
}

// --- PGM (P5), PPM (P6) and PFM (Pf): a header of words, then the pixels.

struct Header {
  char kind = 0;  // '5', '6', 'f'
  std::size_t width = 0, height = 0;
  double last = 0;  // PGM, PPM: the largest value; PFM: the scale, negative where the lowest byte comes first
  std::size_t first_pixel = 0;  // byte
};

// The next word of the header from `at` on; comments go from # to the end of the line. Empty at the end of
// the file.
std::string_view next_word(const Bytes& bytes, std::size_t& at) {
  const auto is_space = [](std::uint8_t b) { return b == ' ' || (b >= '\t' && b <= '\r'); };
  while (at < bytes.size() && (is_space(bytes[at]) || bytes[at] == '#')) {
    if (bytes[at] == '#') {
      while (at < bytes.size() && bytes[at] != '\n') ++at;
    } else {
      ++at;
    }
  }
  const std::size_t from = at;
  while (at < bytes.size() && !is_space(bytes[at])) ++at;
  return {reinterpret_cast<const char*>(bytes.data()) + from, at - from};
}

template <typename T>
bool parse_all(std::string_view word, T& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size() && !word.empty();
}

Result<Header> read_header(const std::string& path, const Bytes& bytes) {
  Header header;
  std::size_t at = 2;
  header.kind = static_cast<char>(bytes[1]);
  if (!parse_all(next_word(bytes, at), header.width) || !parse_all(next_word(bytes, at), header.height) ||
      !parse_all(next_word(bytes, at), header.last)) {
    return error_in(path, "the header must hold width, height and a third number");
  }
  if (auto r = check_size(path, header.width, header.height); !r) return r.error();
  header.first_pixel = at + 1;  // one white space ends the header
  if (header.kind == 'f') {
    if (!std::isfinite(header.last) || header.last == 0)
      return error_in(path, "the scale in the header must be a number other than 0");
  } else if (header.last != 255 && header.last != 65535) {
    return error_in(path, fmt::format("the largest value must be 255 or 65535, it is {}", header.last));
  }
  const std::size_t channels = header.kind == '6' ? 3 : 1;
  const std::size_t bytes_each = header.kind == 'f' ? 4 : header.last == 255 ? 1 : 2;
  const std::size_t needed = header.width * header.height * channels * bytes_each;
  const std::size_t there = bytes.size() > header.first_pixel ? bytes.size() - header.first_pixel : 0;
  if (there < needed) {
    return error_in(path, fmt::format("ends too early: {} x {} pixels need {} bytes, {} are there",
                                      header.width, header.height, needed, there));
  }
  return header;
}

bool is_plain(const Bytes& bytes, std::string_view kinds) {
  return bytes.size() > 2 && bytes[0] == 'P' &&
         kinds.find(static_cast<char>(bytes[1])) != std::string_view::npos;
}

std::uint32_t big_endian_16(const std::uint8_t* at) {
  return std::uint32_t{at[0]} << 8 | at[1];
}

Result<void> write_file(const std::string& path, std::string_view head, std::span<const std::uint8_t> bytes) {
  std::ofstream file(path, std::ios::binary);
  if (!file) return error_in(path, "can't be opened for writing");
  file.write(head.data(), static_cast<std::streamsize>(head.size()));
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return error_in(path, "can't be written");
  return {};
}

}  // namespace

Result<Image> read_image(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.error();
  Image image;
  if (is_png(*bytes)) {
    const auto channels = png_channels(path, *bytes);
    if (!channels) return channels.error();
    image.channels = *channels >= 3 ? 3 : 1;
    int width = 0, height = 0, in_file = 0;
    const std::unique_ptr<stbi_uc, StbFree> pixels(
        stbi_load_from_memory(bytes->data(), static_cast<int>(bytes->size()), &width, &height, &in_file,
                              static_cast<int>(image.channels)));
    if (!pixels) return error_in(path, fmt::format("is no PNG that can be read ({})", stbi_failure_reason()));
    image.width = static_cast<std::size_t>(width);
    image.height = static_cast<std::size_t>(height);
    image.bytes.assign(pixels.get(), pixels.get() + image.width * image.height * image.channels);
    return image;
  }
  if (is_plain(*bytes, "56")) {
    const auto header = read_header(path, *bytes);
    if (!header) return header.error();
    image.width = header->width;
    image.height = header->height;
    image.channels = header->kind == '6' ? 3 : 1;
    image.bytes.resize(image.width * image.height * image.channels);
    const std::uint8_t* from = bytes->data() + header->first_pixel;
    for (std::size_t i = 0; i < image.bytes.size(); ++i)
      image.bytes[i] = header->last == 255
                           ? from[i]
                           : static_cast<std::uint8_t>((big_endian_16(from + 2 * i) + 128) / 257);
    return image;
  }
  return error_in(path, "is no PNG, PGM or PPM (binary ones: P5, P6)");
}

Result<DepthMap> read_depth(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.error();
  DepthMap depth;
  if (is_png(*bytes)) {
    if (const auto channels = png_channels(path, *bytes); !channels) return channels.error();
    int width = 0, height = 0, in_file = 0;
    const std::unique_ptr<stbi_us, StbFree> pixels(stbi_load_16_from_memory(
        bytes->data(), static_cast<int>(bytes->size()), &width, &height, &in_file, 1));
    if (!pixels) return error_in(path, fmt::format("is no PNG that can be read ({})", stbi_failure_reason()));
    depth.width = static_cast<std::size_t>(width);
    depth.height = static_cast<std::size_t>(height);
    depth.depths.resize(depth.width * depth.height);
    std::transform(pixels.get(), pixels.get() + depth.depths.size(), depth.depths.begin(),
                   [](stbi_us value) { return static_cast<float>(value) / 65535.0f; });
    return depth;
  }
  if (!is_plain(*bytes, "5f"))
    return error_in(path, "is not a depth map: PNG, PGM (P5) or PFM with one channel (Pf)");
  const auto header = read_header(path, *bytes);
  if (!header) return header.error();
  depth.width = header->width;
  depth.height = header->height;
  depth.depths.resize(depth.width * depth.height);
  const std::uint8_t* from = bytes->data() + header->first_pixel;
  for (std::size_t r = 0; r < depth.height; ++r) {
    for (std::size_t c = 0; c < depth.width; ++c) {
      float& value = depth.depths[r * depth.width + c];
      if (header->kind == 'f') {
        // A PFM's rows come from the bottom up: the lower left convention.
        const std::uint8_t* at = from + 4 * ((depth.height - 1 - r) * depth.width + c);
        const bool low_first = header->last < 0;
        const std::uint32_t bits =
            low_first
                ? at[0] | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 | std::uint32_t{at[3]} << 24
                : at[3] | std::uint32_t{at[2]} << 8 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[0]} << 24;
        value = std::bit_cast<float>(bits);
        if (!std::isfinite(value))
          return error_in(path, fmt::format("the depth in row {}, column {} is not a finite number", r, c));
      } else if (header->last == 255) {
        value = static_cast<float>(from[r * depth.width + c]) / 255.0f;
      } else {
        value = static_cast<float>(big_endian_16(from + 2 * (r * depth.width + c))) / 65535.0f;
      }
    }
  }
  return depth;
}

Result<void> write_image(const std::string& path, const Image& image) {
  const auto ends_with = [&](std::string_view ending) {
    return path.size() >= ending.size() &&
           path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
  };
  if (ends_with(".png")) {
    Bytes encoded;
    const auto append = [](void* to, void* data, int n) {
      const auto* bytes = static_cast<const std::uint8_t*>(data);
      static_cast<Bytes*>(to)->insert(static_cast<Bytes*>(to)->end(), bytes, bytes + n);
    };
    if (stbi_write_png_to_func(append, &encoded, static_cast<int>(image.width),
                               static_cast<int>(image.height), static_cast<int>(image.channels),
                               image.bytes.data(), static_cast<int>(image.width * image.channels)) == 0) {
      return error_in(path, "can't be made into a PNG");
    }
    return write_file(path, "", encoded);
  }
  if (ends_with(image.channels == 3 ? ".ppm" : ".pgm")) {
    return write_file(
        path, fmt::format("P{}\n{} {}\n255\n", image.channels == 3 ? 6 : 5, image.width, image.height),
        image.bytes);
  }
  return error_in(path, image.channels == 3 ? "a colour picture goes into a file named .png or .ppm"
                                            : "a grey picture goes into a file named .png or .pgm");
}

}  // namespace course::sat::app
