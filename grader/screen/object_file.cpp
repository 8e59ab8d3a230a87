// SPDX-License-Identifier: MIT
// Reading order: read_object, then Reader, which goes through the sections.
#include "screen/object_file.hpp"

#ifdef LAB_HAVE_LIBELF

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <cstring>
#include <span>

#include "cudart/code/fatbin.hpp"

namespace course::grader::screen {
namespace {

class Reader {
 public:
  explicit Reader(Elf* elf) : elf_(elf) {}

  Result<ObjectFile> read() {
    GElf_Ehdr header;
    if (elf_kind(elf_) != ELF_K_ELF || gelf_getehdr(elf_, &header) == nullptr || header.e_type != ET_REL)
      return Error{"it is no object file"};
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
      GElf_Shdr shape;
      if (gelf_getshdr(section, &shape) == nullptr) return Error{"a section of it can't be read"};
      if (shape.sh_type == SHT_SYMTAB) read_symbols(section, shape);
    }
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf_, &names) != 0) return Error{"its section names can't be read"};
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
      GElf_Shdr shape;
      if (gelf_getshdr(section, &shape) == nullptr) return Error{"a section of it can't be read"};
      const char* name = elf_strptr(elf_, names, shape.sh_name);
      object_.sections.push_back({name == nullptr ? "" : name, shape.sh_size, is_odd(shape)});
      if (shape.sh_type == SHT_RELA || shape.sh_type == SHT_REL) read_constructors(section, shape);
      if (object_.sections.back().name == ".nv_fatbin") {
        object_.odd_device_code += read_fatbins(section);
      }
    }
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

  struct Place {
    std::string name;
    std::uint64_t section = 0, offset = 0;
    bool function = false;
  };

  void read_symbols(Elf_Scn* section, const GElf_Shdr& shape) {
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || shape.sh_entsize == 0) return;
    for (std::uint64_t i = 0; i < shape.sh_size / shape.sh_entsize; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) continue;
      const char* text = elf_strptr(elf_, shape.sh_link, symbol.st_name);
      const std::string name = text == nullptr ? "" : text;
      const auto type = GELF_ST_TYPE(symbol.st_info);
      places_.push_back({name, symbol.st_shndx, symbol.st_value, type == STT_FUNC});
      if (i == 0 || type == STT_FILE || type == STT_SECTION || name.empty()) continue;
      const auto bind = GELF_ST_BIND(symbol.st_info);
      object_.symbols.push_back({name,
                                 bind == STB_LOCAL                            ? Binding::local
                                 : bind == STB_WEAK || bind == STB_GNU_UNIQUE ? Binding::weak
                                                                              : Binding::global,
                                 symbol.st_shndx != SHN_UNDEF, type == STT_GNU_IFUNC});
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
    Elf_Data* data = elf_getdata(section, nullptr);
    const std::uint64_t n = shape.sh_entsize == 0 ? 0 : shape.sh_size / shape.sh_entsize;
    constexpr std::size_t kEnough = 32;  // nvcc makes one; each one costs a search through all symbols
    for (std::uint64_t i = 0; i < n && data != nullptr && object_.constructors.size() < kEnough; ++i) {
      GElf_Rela entry;
      if (gelf_getrela(data, static_cast<int>(i), &entry) == nullptr) {
        object_.constructors.emplace_back();
        continue;
      }
      object_.constructors.push_back(function_at(GELF_R_SYM(entry.r_info), entry.r_addend));
    }
  }

  std::string function_at(std::uint64_t symbol, std::int64_t addend) const {
    if (symbol >= places_.size()) return "";
    const Place& base = places_[symbol];
    if (!base.name.empty() && addend == 0) return base.name;
    const std::uint64_t offset = base.offset + static_cast<std::uint64_t>(addend);
    for (const Place& place : places_) {
      if (place.function && place.section == base.section && place.offset == offset) return place.name;
    }
    return "";
  }

  // Adds the PTX of the fat binaries in this section. Returns the error, else "".
  std::string read_fatbins(Elf_Scn* section) {
    // In bytes. The labs' files have about 1 MiB, files that use CUB about 10 MiB.
    constexpr std::size_t kMostPtx = std::size_t{64} << 20;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return "";
    std::span<const std::byte> left(static_cast<const std::byte*>(data->d_buf), data->d_size);
    // The section holds containers one after the other: magic, version, header size (at 6), size of the body
    // (at 8).
    constexpr std::size_t kHeader = 16;
    while (left.size() > kHeader) {
      std::uint16_t header_bytes = 0;
      std::uint64_t body_bytes = 0;
      std::memcpy(&header_bytes, left.data() + 6, sizeof header_bytes);
      std::memcpy(&body_bytes, left.data() + 8, sizeof body_bytes);
      if (header_bytes < kHeader || body_bytes > left.size() || header_bytes + body_bytes > left.size())
        break;
      const auto entries = cudart::parse_fatbin(left.first(header_bytes + body_bytes));
      if (!entries) return entries.error().text;
      for (const cudart::FatbinEntry& entry : *entries) {
        if (entry.kind != cudart::FatbinKind::ptx) continue;
        const bool packed = entry.packing != cudart::Packing::plain;
        const std::uint64_t n_bytes = packed ? entry.unpacked_bytes : entry.payload.size();
        if (n_bytes > kMostPtx - ptx_bytes_) return "more than 64 MiB of PTX";
        ptx_bytes_ += n_bytes;
        auto text = cudart::unpack(entry);
        if (!text) return text.error().text;
        object_.ptx.push_back(std::move(*text));
      }
      left = left.subspan(header_bytes + body_bytes);
      while (!left.empty() && left.front() == std::byte{0}) left = left.subspan(1);  // padding for alignment
    }
    return "";
  }

  Elf* elf_;
  ObjectFile object_;
  std::vector<Place> places_;
  std::uint64_t ptx_bytes_ = 0;
};

}  // namespace

bool can_read_objects() {
  return true;
}

Result<ObjectFile> read_object(const std::string& path) {
  if (elf_version(EV_CURRENT) == EV_NONE) return Error{"libelf is of another version"};
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error{std::string("it can't be opened: ") + std::strerror(errno)};
  Elf* elf = elf_begin(fd, ELF_C_READ, nullptr);
  Result<ObjectFile> object =
      elf == nullptr ? Result<ObjectFile>(Error{"libelf can't read it"}) : Reader(elf).read();
  if (elf != nullptr) elf_end(elf);
  close(fd);
  return object;
}

}  // namespace course::grader::screen

#else

namespace course::grader::screen {

bool can_read_objects() {
  return false;
}

Result<ObjectFile> read_object(const std::string&) {
  return Error{"this build has no libelf: install libelf-dev, then run ./lab setup"};
}

}  // namespace course::grader::screen

#endif
