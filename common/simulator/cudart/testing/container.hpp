// SPDX-License-Identifier: MIT
// Writes containers of device code in nvcc's format, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "cudart/code/fatbin.hpp"

namespace course::cudart {

template <typename T>
void put(std::string& bytes, std::size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

class ContainerWriter {
 public:
  // With the size before it was packed and the packing's flag, if it is.
  ContainerWriter& add(FatbinKind kind, int sm, std::string contents, std::size_t unpacked = 0,
                       std::uint64_t flag = 0) {
    std::string header(64, '\0');
    put(header, 16, unpacked == 0 ? 0 : static_cast<std::uint32_t>(contents.size()));
    if (unpacked != 0) contents.resize((contents.size() + 7) / 8 * 8);
    put(header, 0, static_cast<std::uint16_t>(kind));
    put(header, 4, std::uint32_t{64});
    put(header, 8, std::uint64_t{contents.size()});
    put(header, 28, static_cast<std::uint32_t>(sm));
    put(header, 40, 0x11 | flag);
    put(header, 56, std::uint64_t{unpacked});
    body_ += header + contents;
    return *this;
  }
  std::string bytes() const {
    std::string out(16, '\0');
    put(out, 0, std::uint32_t{0xBA55ED50});
    put(out, 4, std::uint16_t{1});
    put(out, 6, std::uint16_t{16});
    put(out, 8, std::uint64_t{body_.size()});
    return out + body_;
  }

 private:
  std::string body_;
};

}  // namespace course::cudart
