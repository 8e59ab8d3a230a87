// SPDX-License-Identifier: MIT
// Fuzz target: fat binaries, as embedded in programs and students' objects. All entries are decompressed.
#include <cstddef>
#include <cstdint>
#include <span>

#include "cudart/code/fatbin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace course::cudart;
  const auto entries = parse_fatbin(std::as_bytes(std::span(data, size)));
  if (entries) {
    for (const FatbinEntry& entry : *entries) {
      const auto contents = unpack(entry);
      if (contents && entry.kind == FatbinKind::cubin) resources_of_cubin(*contents);
    }
    static_cast<void>(choose_ptx(*entries, 90));
  }
  resources_of_cubin({reinterpret_cast<const char*>(data), size});
  return 0;
}
