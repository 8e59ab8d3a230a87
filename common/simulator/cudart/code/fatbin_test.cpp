// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "cudart/testing/container.hpp"

namespace course::cudart {
namespace {

void add(ContainerWriter& writer, int sm, const std::string& ptx, Packing packing) {
  const int size = static_cast<int>(ptx.size());
  std::string packed(std::max(ZSTD_compressBound(ptx.size()), std::size_t(LZ4_compressBound(size))), '\0');
  const int capacity = static_cast<int>(packed.size());
  packed.resize(packing == Packing::lz4
                    ? std::size_t(LZ4_compress_default(ptx.data(), packed.data(), size, capacity))
                    : ZSTD_compress(packed.data(), packed.size(), ptx.data(), ptx.size(), 3));
  writer.add(FatbinKind::ptx, sm, packed, ptx.size(), packing == Packing::lz4 ? 0x2000 : 0x8000);
}

// A heap allocation of exactly n bytes, so that sanitizers detect reads beyond them.
std::vector<std::byte> exact(const std::string& text, std::size_t n) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + n};
}
std::vector<std::byte> exact(const std::string& text) {
  return exact(text, text.size());
}

const std::string kPtx = ".version 9.0\n.target sm_90\n.address_size 64\n// " + std::string(500, 'x') + "\n";

TEST(Fatbin, ReadsPlainAndPackedPtx) {
  for (const Packing packing : {Packing::plain, Packing::lz4, Packing::zstd}) {
    ContainerWriter writer;
    writer.add(FatbinKind::cubin, 90, "not looked at here");
    if (packing == Packing::plain)
      writer.add(FatbinKind::ptx, 90, kPtx);
    else
      add(writer, 90, kPtx, packing);
    const auto bytes = exact(writer.bytes());
    const auto entries = parse_fatbin(bytes);
    ASSERT_TRUE(entries) << entries.error().text;
    ASSERT_EQ(entries->size(), 2u);
    EXPECT_EQ((*entries)[1].kind, FatbinKind::ptx);
    EXPECT_EQ((*entries)[1].sm, 90);
    const auto text = unpack((*entries)[1]);
    ASSERT_TRUE(text) << text.error().text;
    EXPECT_EQ(*text, kPtx);
  }
}

TEST(Fatbin, ChoosesTheHighestPtxThatTheDeviceRuns) {
  ContainerWriter writer;
  for (const int sm : {75, 100, 90, 80}) writer.add(FatbinKind::ptx, sm, kPtx);
  const auto bytes = exact(writer.bytes());
  const auto entries = parse_fatbin(bytes);
  ASSERT_TRUE(entries);
  EXPECT_EQ(choose_ptx(*entries, 90)->sm, 90);
  EXPECT_EQ(choose_ptx(*entries, 89)->sm, 80);
  EXPECT_EQ(choose_ptx(*entries, 120)->sm, 100);
}

TEST(Fatbin, AdvisesWhenNoPtxIsUsable) {
  ContainerWriter only_cubin;
  only_cubin.add(FatbinKind::cubin, 86, "elf");
  auto bytes = exact(only_cubin.bytes());
  auto chosen = choose_ptx(*parse_fatbin(bytes), 90);
  ASSERT_FALSE(chosen);
  EXPECT_NE(chosen.error().text.find("sm_86"), std::string::npos);
  EXPECT_NE(chosen.error().text.find("-gencode arch=compute_90,code=[sm_90,compute_90]"), std::string::npos);

  ContainerWriter too_new;
  too_new.add(FatbinKind::ptx, 100, kPtx);
  bytes = exact(too_new.bytes());
  chosen = choose_ptx(*parse_fatbin(bytes), 90);
  ASSERT_FALSE(chosen);
  EXPECT_NE(chosen.error().text.find("SIM_DEVICE"), std::string::npos);
}

TEST(Fatbin, RefusesOtherData) {
  EXPECT_FALSE(parse_fatbin({}));
  EXPECT_FALSE(parse_fatbin(exact(std::string(64, 'x'))));
}

TEST(Fatbin, SurvivesEveryTruncation) {
  ContainerWriter writer;
  add(writer, 90, kPtx, Packing::lz4);
  add(writer, 80, kPtx, Packing::zstd);
  const std::string whole = writer.bytes();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto bytes = exact(whole, n);
    EXPECT_FALSE(parse_fatbin(bytes)) << "cut to " << n << " bytes, yet the header promises " << whole.size();
  }
}

TEST(Fatbin, RefusesAbsurdSizesBeforeAllocating) {
  FatbinEntry entry;
  entry.packing = Packing::zstd;
  entry.unpacked_bytes = std::uint64_t{1} << 62;
  EXPECT_FALSE(unpack(entry));
}

TEST(Fatbin, RecognisesImagesByTheirFirstBytes) {
  const std::string container = ContainerWriter().bytes();
  EXPECT_EQ(kind_of_image(container.data()), CodeImage::container);
  EXPECT_EQ(kind_of_image("//\n.version 8.0\n"), CodeImage::ptx_text);
  EXPECT_EQ(kind_of_image("\n\n.version 8.0\n"), CodeImage::ptx_text);
  EXPECT_EQ(kind_of_image("\x7f"
                          "ELF"),
            CodeImage::unknown);
}

TEST(Fatbin, ListsSeparatelyCompiledContainers) {
  struct Wrapper {
    std::uint32_t magic, version;
    const void *container, *prelinked;
  };
  EXPECT_FALSE(was_device_linked(std::array{Wrapper{0x466243B1, 1, nullptr, nullptr}}.data()));
  EXPECT_TRUE(was_device_linked(std::array{Wrapper{0x466243B1, 2, nullptr, nullptr}}.data()));
}

// The fat binaries that nvcc made from fatbin_sample.cu in each of its modes. FATBIN_SAMPLES lists the files.
std::vector<std::string> samples() {
  std::vector<std::string> files;
  std::string list = std::getenv("FATBIN_SAMPLES") != nullptr ? std::getenv("FATBIN_SAMPLES") : "";
  for (std::size_t end; !list.empty(); list.erase(0, end + 1)) {
    end = std::min(list.find(':'), list.size() - 1);
    const std::string name = list.substr(0, list[end] == ':' ? end : end + 1);
    std::ifstream file(name, std::ios::binary);
    EXPECT_TRUE(file) << name;
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return files;
}

TEST(FatbinFromNvcc, HasTheSamePtxInEveryCompression) {
  const auto files = samples();
  if (files.empty()) GTEST_SKIP() << "FATBIN_SAMPLES is not set";
  std::string first;
  for (const std::string& file : files) {
    const auto bytes = exact(file);
    const auto entries = parse_fatbin(bytes);
    ASSERT_TRUE(entries) << entries.error().text;
    const auto chosen = choose_ptx(*entries, 90);
    ASSERT_TRUE(chosen) << chosen.error().text;
    const auto text = unpack(*chosen);
    ASSERT_TRUE(text) << text.error().text;
    EXPECT_NE(text->find(".target sm_90"), std::string::npos);
    EXPECT_NE(text->find(".visible .entry sample_kernel"), std::string::npos);
    if (first.empty()) first = *text;
    EXPECT_EQ(*text, first);
  }
}

TEST(FatbinFromNvcc, ReportsRegistersOfEachKernel) {
  const auto files = samples();
  if (files.empty()) GTEST_SKIP() << "FATBIN_SAMPLES is not set";
  for (const std::string& file : files) {
    const auto bytes = exact(file);
    const auto entries = parse_fatbin(bytes);
    ASSERT_TRUE(entries);
    int cubins = 0;
    for (const FatbinEntry& entry : *entries) {
      if (entry.kind != FatbinKind::cubin) continue;
      ++cubins;
      const auto elf = unpack(entry);
      ASSERT_TRUE(elf) << elf.error().text;
      const auto compiled = resources_of_cubin(*elf);
      for (const char* name : {"sample_kernel", "sample_hungry_kernel", "sample_spilling_kernel"})
        ASSERT_TRUE(compiled.contains(name)) << name;
      EXPECT_GT(compiled.at("sample_kernel").registers, 0);
      EXPECT_GT(compiled.at("sample_hungry_kernel").registers, compiled.at("sample_kernel").registers);
      EXPECT_EQ(compiled.at("sample_hungry_kernel").frame_bytes, 0u);
      EXPECT_GT(compiled.at("sample_spilling_kernel").frame_bytes, 0u);
      // A truncated image must not cause a crash.
      for (std::size_t n = 0; n < elf->size(); n += 61)
        (void)resources_of_cubin(std::string_view(*elf).substr(0, n));
    }
    EXPECT_EQ(cubins, 1);
  }
}

}  // namespace
}  // namespace course::cudart
