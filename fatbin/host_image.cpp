#include "fatbin/host_image.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <elf.h>
#include <iterator>

#include "base/file.h"
#include "fatbin/container.h"
#include "fatbin/runtime_libraries.h"

namespace barracuda::fatbin {
namespace {

static_assert(std::endian::native == std::endian::little, "fat binaries and ELF files are read");

constexpr std::string_view kLoadedSection = ".nv_fatbin";
constexpr std::string_view kUnlinkedSection = "__nv_relfatbin";
constexpr std::string_view kDeviceSections[] = {kLoadedSection, kUnlinkedSection};
constexpr std::string_view kWrapperSection = ".nvFatBinSegment";
constexpr std::string_view kRegistration = "__cudaRegisterFatBinary";
constexpr std::string_view kRuntimeLibrary = "libcudart.so";
// By which the runtimes of CUDA 11.8, 12.9 and 13.0 name their memory shared between processes.
constexpr std::string_view kRuntimeConstant = "/cudart.shm.%";
constexpr std::string_view kConstantSection = ".rodata";

tl::unexpected<Diagnostic> damaged(const std::string& what) {
  return unexpected({.message = "damaged ELF file: " + what});
}

// A checked view of the sections of an ELF file.
class ElfFile {
 public:
  static Expected<ElfFile> open(std::span<const std::byte> file);

  [[nodiscard]] const std::vector<Elf64_Shdr>& sections() const { return sections_; }

  [[nodiscard]] std::span<const std::byte> bytes_of(const Elf64_Shdr& section) const;
  [[nodiscard]] std::string_view name_of(const Elf64_Shdr& section) const;
  // A name in the string table that another section links to; empty where there is none.
  [[nodiscard]] std::string_view linked_name(const Elf64_Shdr& section, std::uint64_t offset) const;

 private:
  explicit ElfFile(std::span<const std::byte> file) : file_(file) {}

  [[nodiscard]] std::string_view name_at(std::uint32_t table, std::uint64_t offset) const;

  std::span<const std::byte> file_;
  std::vector<Elf64_Shdr> sections_;
  std::uint32_t name_table_ = 0;
};

Expected<ElfFile> ElfFile::open(std::span<const std::byte> file) {
  if (file.size() < sizeof(Elf64_Ehdr) ||
      !std::equal(ELFMAG, ELFMAG + SELFMAG, reinterpret_cast<const char*>(file.data()))) {
    return unexpected({.message = "this is no ELF file"});
  }
  const auto header = load<Elf64_Ehdr>(file.data());
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return unexpected({.message = "this is no 64-bit little-endian ELF file"});
  }
  ElfFile elf(file);
  if (header.e_shoff == 0) {
    return elf;
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > file.size() ||
      file.size() - header.e_shoff < sizeof(Elf64_Shdr)) {
    return damaged("its section table lies outside the file");
  }
  // With very many sections, the first section's fields hold the numbers.
  const auto first = load<Elf64_Shdr>(file.data() + header.e_shoff);
  const std::uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  if (count > (file.size() - header.e_shoff) / sizeof(Elf64_Shdr)) {
    return damaged("its section table lies outside the file");
  }
  for (std::uint64_t index = 0; index < count; ++index) {
    elf.sections_.push_back(
        load<Elf64_Shdr>(file.data() + header.e_shoff + index * sizeof(Elf64_Shdr)));
  }
  elf.name_table_ = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  return elf;
}

std::span<const std::byte> ElfFile::bytes_of(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > file_.size() ||
      section.sh_size > file_.size() - section.sh_offset) {
    return {};
  }
  return file_.subspan(section.sh_offset, section.sh_size);
}

std::string_view ElfFile::name_at(std::uint32_t table, std::uint64_t offset) const {
  if (table >= sections_.size()) {
    return {};
  }
  const auto bytes = bytes_of(sections_[table]);
  const std::string_view names(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (offset >= names.size()) {
    return {};
  }
  return names.substr(offset, names.find('\0', offset) - offset);
}

std::string_view ElfFile::name_of(const Elf64_Shdr& section) const {
  return name_at(name_table_, section.sh_name);
}

std::string_view ElfFile::linked_name(const Elf64_Shdr& section, std::uint64_t offset) const {
  return name_at(section.sh_link, offset);
}

// The fixed-size rows of a section; what is left over at its end is none.
template <typename Row, typename Visitor>
void for_each_row(std::span<const std::byte> bytes, Visitor visit) {
  for (; bytes.size() >= sizeof(Row); bytes = bytes.subspan(sizeof(Row))) {
    visit(load<Row>(bytes.data()));
  }
}

void read_dynamic(const ElfFile& elf, const Elf64_Shdr& section, HostImage& image) {
  for_each_row<Elf64_Dyn>(elf.bytes_of(section), [&](const Elf64_Dyn& row) {
    if (row.d_tag == DT_NEEDED) {
      image.needed.emplace_back(elf.linked_name(section, row.d_un.d_val));
    }
  });
}

void read_dynamic_symbols(const ElfFile& elf, const Elf64_Shdr& section, HostImage& image) {
  for_each_row<Elf64_Sym>(elf.bytes_of(section), [&](const Elf64_Sym& row) {
    if (row.st_shndx == SHN_UNDEF && elf.linked_name(section, row.st_name) == kRegistration) {
      image.imports_runtime = true;
    }
  });
}

Expected<void> read_device_section(const ElfFile& elf, const Elf64_Shdr& section, Payloads payloads,
                                   HostImage& image) {
  auto containers = read_section(elf.bytes_of(section), payloads);
  if (!containers) {
    return unexpected({.message = "section " + std::string(elf.name_of(section)) + ": " +
                                  containers.error().message});
  }
  // nvcc may link an empty fat binary into a program that has no kernels.
  image.has_device_code |= std::ranges::any_of(
      *containers, [](const Container& container) { return !container.images.empty(); });
  image.is_before_linking.resize(image.containers.size() + containers->size(),
                                 elf.name_of(section) == kUnlinkedSection);
  std::ranges::move(*containers, std::back_inserter(image.containers));
  return {};
}

}  // namespace

bool HostImage::has_static_runtime() const {
  return has_device_code && !uses_runtime_library();
}

bool HostImage::uses_runtime_library() const {
  return imports_runtime || std::ranges::any_of(needed, [](const std::string& library) {
           return library.starts_with(kRuntimeLibrary);
         });
}

std::string HostImage::other_runtime() const {
  const auto found = std::ranges::find_if(needed, [](const std::string& library) {
    return library.starts_with(kRuntimeLibrary) &&
           std::ranges::find(kRuntimeLibraries, library) == kRuntimeLibraries.end();
  });
  return found == needed.end() ? "" : *found;
}

Expected<HostImage> read_host_image(std::span<const std::byte> file, Payloads payloads) {
  TRY(const ElfFile elf, ElfFile::open(file));
  HostImage image;
  for (const Elf64_Shdr& section : elf.sections()) {
    const std::string_view name = elf.name_of(section);
    if (section.sh_type == SHT_DYNAMIC) {
      read_dynamic(elf, section, image);
    } else if (section.sh_type == SHT_DYNSYM) {
      read_dynamic_symbols(elf, section, image);
    } else if (name == kWrapperSection) {
      image.wrappers = {.address = section.sh_addr, .bytes = section.sh_size};
    } else if (std::ranges::find(kDeviceSections, name) != std::end(kDeviceSections)) {
      if (name == kLoadedSection) {
        image.loaded = {.address = section.sh_addr, .bytes = section.sh_size};
      }
      if (auto read = read_device_section(elf, section, payloads, image); !read) {
        return unexpected(std::move(read).error());
      }
    }
  }
  return image;
}

Expected<HostImage> read_host_image(const std::string& path, Payloads payloads) {
  TRY(const MappedFile file, MappedFile::open(path));
  auto image = read_host_image(file.bytes(), payloads);
  if (!image) {
    Diagnostic diagnostic = std::move(image).error();
    diagnostic.file = path;
    return unexpected(std::move(diagnostic));
  }
  return image;
}

bool contains_static_runtime(const std::string& path, const HostImage& image) {
  if (image.has_device_code || image.uses_runtime_library()) {
    return image.has_static_runtime();
  }
  const auto file = MappedFile::open(path);
  const auto elf = file ? ElfFile::open(file->bytes()) : unexpected(file.error());
  return elf && std::ranges::any_of(elf->sections(), [&](const Elf64_Shdr& section) {
           const std::span<const std::byte> bytes = elf->bytes_of(section);
           return elf->name_of(section) == kConstantSection &&
                  memmem(bytes.data(), bytes.size(), kRuntimeConstant.data(),
                         kRuntimeConstant.size()) != nullptr;
         });
}

}  // namespace barracuda::fatbin
