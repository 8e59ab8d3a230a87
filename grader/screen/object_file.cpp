// SPDX-License-Identifier: MIT
// Reading order: read_object, then Reader, which goes through the sections.
#include "screen/object_file.hpp"

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "cudart/code/fatbin.hpp"
#include "cudart/code/program_file.hpp"

namespace course::grader::screen {
namespace {

class Reader {
 public:
  Reader(Elf* elf, std::span<const std::byte> bytes) : elf_(elf), bytes_(bytes) {}

  Result<ObjectFile> read() {
    GElf_Ehdr header;
    if (elf_kind(elf_) != ELF_K_ELF || gelf_getehdr(elf_, &header) == nullptr || header.e_type != ET_REL)
      return Error{"it is not an object file"};
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
      GElf_Shdr shape;
      if (gelf_getshdr(section, &shape) == nullptr) return Error{"a section of it can't be read"};
      sections_.emplace_back(section, shape);
    }
    for (const auto& [section, shape] : sections_)
      if (shape.sh_type == SHT_SYMTAB) read_symbols(section, shape);
    read_device_code();
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf_, &names) != 0) return Error{"its section names can't be read"};
    for (const auto& [section, shape] : sections_) {
      const std::string name(name_at(names, shape.sh_name));
      object_.sections.push_back({name, shape.sh_size, is_odd(shape)});
      if (shape.sh_type == SHT_RELA || shape.sh_type == SHT_REL) {
        read_constructors(section, shape);
        count_registrations(section, shape);
      }
      if (name == kCodeSection && ++n_code_sections_ == 1) check_code_section(section, shape);
      if (name == kWrapperSection && ++n_wrappers_ == 1) check_wrapper(section, shape);
    }
    if (n_wrappers_ > 1) odd(fmt::format("{} sections {}", n_wrappers_, kWrapperSection));
    return std::move(object_);
  }

 private:
  // The linker acts on section types as well as on names: dependent libraries, link-time code and others have
  // types of their own.
  static bool is_odd(const GElf_Shdr& shape) {
    constexpr std::uint64_t kExcluded = 0x80000000, kUnwind = 0x70000001;  // of x86-64
    switch (shape.sh_type) {
      case SHT_NULL:
      case SHT_PROGBITS:
      case SHT_NOBITS:
      case SHT_SYMTAB:
      case SHT_SYMTAB_SHNDX:
      case SHT_STRTAB:
      case SHT_RELA:
      case SHT_REL:
      case SHT_GROUP:
      case SHT_NOTE:
      case SHT_INIT_ARRAY:
      case kUnwind: return (shape.sh_flags & kExcluded) != 0;
      default: return true;
    }
  }

  struct SymbolPosition {
    std::string_view name;  // in the file
    std::uint64_t section = 0, offset = 0;
    bool function = false;
  };

  void exceeds(std::string limit) {
    if (object_.too_much.empty()) object_.too_much = std::move(limit);
  }

  // A name in a table of strings; the rest of the file's names are not read once there are too many.
  std::string_view name_at(std::size_t table, std::size_t at) {
    const char* text = elf_strptr(elf_, table, at);
    if (text == nullptr) return "";
    const std::string_view name(text, strnlen(text, kMaxNameBytes + 1));
    if (name.size() > kMaxNameBytes - name_bytes_) {
      name_bytes_ = kMaxNameBytes;
      exceeds(fmt::format("names of more than {} MiB", kMaxNameBytes >> 20));
      return "";
    }
    name_bytes_ += name.size();
    return name;
  }

  void read_symbols(Elf_Scn* section, const GElf_Shdr& shape) {
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || shape.sh_entsize == 0) return;
    const std::uint64_t n = shape.sh_size / shape.sh_entsize;
    if (n > kMaxSymbols) exceeds(fmt::format("more than {} symbols", kMaxSymbols));
    for (std::uint64_t i = 0; i < n && object_.too_much.empty(); ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) continue;
      const std::string_view name = name_at(shape.sh_link, symbol.st_name);
      const auto type = GELF_ST_TYPE(symbol.st_info);
      places_.push_back({name, symbol.st_shndx, symbol.st_value, type == STT_FUNC});
      if (i == 0 || type == STT_FILE || type == STT_SECTION || name.empty()) continue;
      const auto bind = GELF_ST_BIND(symbol.st_info);
      object_.symbols.push_back({std::string(name),
                                 bind == STB_LOCAL                            ? Binding::local
                                 : bind == STB_WEAK || bind == STB_GNU_UNIQUE ? Binding::weak
                                                                              : Binding::global,
                                 symbol.st_shndx != SHN_UNDEF, type == STT_GNU_IFUNC});
    }
  }

  // Calls f(the entry) for each relocation in the section; f(nullptr) for one that can't be read.
  template <typename F>
  static void for_each_relocation(Elf_Scn* section, const GElf_Shdr& shape, F f) {
    Elf_Data* data = elf_getdata(section, nullptr);
    const std::uint64_t n = shape.sh_entsize == 0 ? 0 : shape.sh_size / shape.sh_entsize;
    for (std::uint64_t i = 0; i < n && data != nullptr; ++i) {
      GElf_Rela entry;
      f(gelf_getrela(data, static_cast<int>(i), &entry));
    }
  }

  // Relocations fill the tables of constructors and destructors: each refers to one function.
  void read_constructors(Elf_Scn* section, const GElf_Shdr& shape) {
    GElf_Shdr target;
    Elf_Scn* of = elf_getscn(elf_, shape.sh_info);
    if (of == nullptr || gelf_getshdr(of, &target) == nullptr) return;
    if (target.sh_type != SHT_INIT_ARRAY && target.sh_type != SHT_FINI_ARRAY &&
        target.sh_type != SHT_PREINIT_ARRAY)
      return;
    constexpr std::size_t kEnough = 32;  // nvcc makes one; each one costs a search through all symbols
    for_each_relocation(section, shape, [&](const GElf_Rela* entry) {
      if (object_.constructors.size() < kEnough)
        object_.constructors.push_back(
            entry == nullptr ? "" : function_at(GELF_R_SYM(entry->r_info), entry->r_addend));
    });
  }

  std::string function_at(std::uint64_t symbol, std::int64_t addend) const {
    if (symbol >= places_.size()) return "";
    const SymbolPosition& base = places_[symbol];
    if (!base.name.empty() && addend == 0) return std::string(base.name);
    const std::uint64_t offset = base.offset + static_cast<std::uint64_t>(addend);
    for (const SymbolPosition& place : places_)
      if (place.function && place.section == base.section && place.offset == offset)
        return std::string(place.name);
    return "";
  }

  // --- device code

  void odd(const std::string& why) {
    if (object_.odd_device_code.empty()) object_.odd_device_code = why;
  }

  // A program may register any bytes with this function, but only nvcc's code does.
  void count_registrations(Elf_Scn* section, const GElf_Shdr& shape) {
    for_each_relocation(section, shape, [&](const GElf_Rela* entry) {
      const std::uint64_t symbol = entry == nullptr ? places_.size() : GELF_R_SYM(entry->r_info);
      if (symbol < places_.size() && places_[symbol].name == "__cudaRegisterFatBinary")
        ++object_.n_registrations;
    });
  }

  // The sections that relocate `target`.
  std::vector<Elf_Scn*> relocations_of(Elf_Scn* target) const {
    std::vector<Elf_Scn*> found;
    for (const auto& [section, shape] : sections_)
      if ((shape.sh_type == SHT_RELA || shape.sh_type == SHT_REL) && shape.sh_info == elf_ndxscn(target))
        found.push_back(section);
    return found;
  }

  // The linker must leave its bytes as they are.
  void check_code_section(Elf_Scn* section, const GElf_Shdr& shape) {
    if (shape.sh_type != SHT_PROGBITS || shape.sh_flags != SHF_ALLOC || !relocations_of(section).empty())
      odd(fmt::format("{} is not a section of constants", kCodeSection));
  }

  // The wrapper's pointer to the container is its only relocation; its other bytes are always the same.
  void check_wrapper(Elf_Scn* section, const GElf_Shdr& shape) {
    constexpr unsigned char kWrapper[24] = {0xB1, 0x43, 0x62, 0x46, 1};
    constexpr std::uint64_t kPointer = 8;
    Elf_Data* data = elf_getdata(section, nullptr);
    const auto relocations = relocations_of(section);
    GElf_Shdr of_relocation;
    GElf_Rela pointer;
    const bool plain = shape.sh_type == SHT_PROGBITS && shape.sh_flags == (SHF_ALLOC | SHF_WRITE) &&
                       data != nullptr && data->d_buf != nullptr && data->d_size == sizeof kWrapper &&
                       std::memcmp(data->d_buf, kWrapper, sizeof kWrapper) == 0;
    if (!plain || relocations.size() != 1 || gelf_getshdr(relocations[0], &of_relocation) == nullptr ||
        of_relocation.sh_type != SHT_RELA || of_relocation.sh_size != of_relocation.sh_entsize ||
        (data = elf_getdata(relocations[0], nullptr)) == nullptr ||
        gelf_getrela(data, 0, &pointer) == nullptr || pointer.r_offset != kPointer ||
        !is_start_of_code(GELF_R_SYM(pointer.r_info), pointer.r_addend))
      odd(fmt::format("{} is not a wrapper of nvcc's", kWrapperSection));
  }

  bool is_start_of_code(std::uint64_t symbol, std::int64_t addend) {
    if (symbol >= places_.size()) return false;
    const SymbolPosition& place = places_[symbol];
    Elf_Scn* section = elf_getscn(elf_, place.section);
    GElf_Shdr shape;
    std::size_t names = 0;
    return section != nullptr && gelf_getshdr(section, &shape) != nullptr &&
           elf_getshdrstrndx(elf_, &names) == 0 && name_at(names, shape.sh_name) == kCodeSection &&
           place.offset + static_cast<std::uint64_t>(addend) == 0;
  }

  // nvcc makes one container of a file, with PTX and machine code.
  void read_device_code() {
    const auto containers = cudart::containers_of(bytes_);
    if (!containers) return odd(containers.error().text);
    if (containers->size() > 1) return odd(fmt::format("{} fat binaries", containers->size()));
    for (const auto container : *containers) {
      const auto entries = cudart::parse_fatbin(container);
      if (!entries) return odd(entries.error().text);
      std::uint64_t ptx_bytes = 0;
      for (const cudart::FatbinEntry& entry : *entries) {
        if (entry.kind == cudart::FatbinKind::cubin) continue;
        if (entry.kind != cudart::FatbinKind::ptx)
          return odd("a fat binary with neither PTX nor machine code");
        const bool packed = entry.packing != cudart::Packing::plain;
        const std::uint64_t n_bytes = packed ? entry.unpacked_bytes : entry.payload.size();
        if (n_bytes > kMaxPtxBytes - ptx_bytes)
          return odd(fmt::format("more than {} MiB of PTX", kMaxPtxBytes >> 20));
        ptx_bytes += n_bytes;
        auto text = cudart::unpack(entry);
        if (!text) return odd(text.error().text);
        object_.ptx.push_back(std::move(*text));
      }
    }
  }

  static constexpr std::string_view kCodeSection = ".nv_fatbin", kWrapperSection = ".nvFatBinSegment";

  Elf* elf_;
  std::span<const std::byte> bytes_;  // of the whole file
  ObjectFile object_;
  std::vector<std::pair<Elf_Scn*, GElf_Shdr>> sections_;
  std::vector<SymbolPosition> places_;
  std::size_t name_bytes_ = 0, n_code_sections_ = 0, n_wrappers_ = 0;
};

}  // namespace

Result<ObjectFile> read_object(const std::string& path) {
  if (elf_version(EV_CURRENT) == EV_NONE) return Error{"libelf is of another version"};
  // Both readers get the same bytes, whatever becomes of the file.
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff n_bytes = file.tellg();
  if (!file || n_bytes < 0) return Error{"it can't be opened"};
  if (static_cast<std::uint64_t>(n_bytes) > kMaxObjectBytes) {
    ObjectFile object;
    object.too_much = fmt::format("more than {} MiB", kMaxObjectBytes >> 20);
    return object;
  }
  std::string bytes(static_cast<std::size_t>(n_bytes), '\0');
  file.seekg(0);
  if (!file.read(bytes.data(), n_bytes)) return Error{"it can't be read"};
  Elf* elf = elf_memory(bytes.data(), bytes.size());
  Result<ObjectFile> object = elf == nullptr ? Result<ObjectFile>(Error{"libelf can't read it"})
                                             : Reader(elf, std::as_bytes(std::span(bytes))).read();
  if (elf != nullptr) elf_end(elf);
  return object;
}

}  // namespace course::grader::screen
