#include "cli/extract.h"

#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/complain.h"
#include "fatbin/decompress.h"
#include "fatbin/host_image.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

int fail(const std::string& message) {
  complain(message);
  return 1;
}

bool is_elf(std::span<const std::byte> bytes) {
  return bytes.size() > 4 && std::memcmp(bytes.data(),
                                         "\x7f"
                                         "ELF",
                                         4) == 0;
}

Expected<std::vector<fatbin::Container>> read_containers(const std::string& path) {
  TRY(const MappedFile file, MappedFile::open(path));
  if (is_elf(file.bytes())) {
    TRY(fatbin::HostImage image, fatbin::read_host_image(file.bytes(), fatbin::Payloads::kPtx));
    return std::move(image.containers);
  }
  TRY(fatbin::Fatbin fatbin, fatbin::read(file.bytes(), fatbin::Payloads::kPtx));
  return std::vector<fatbin::Container>{std::move(fatbin.main)};
}

std::string_view name_of(fatbin::EntryKind kind) {
  switch (kind) {
    case fatbin::EntryKind::kPtx:
      return "PTX";
    case fatbin::EntryKind::kCubin:
      return "cubin";
    case fatbin::EntryKind::kLto:
      return "LTO";
  }
  return "other";
}

std::string line_of(std::size_t number, const fatbin::Image& image) {
  const bool is_ptx = image.kind == fatbin::EntryKind::kPtx;
  return fmt::format("{:>3}  {:<5}  {:<12} {:>5}  {:<6} {:>10} bytes  {}\n", number,
                     name_of(image.kind), image.target(),
                     is_ptx ? fmt::format("{}.{}", image.ptx_major, image.ptx_minor) : "",
                     fatbin::name_of(image.compression), image.payload_size, image.identifier);
}

Expected<void> save(const fatbin::Image& image, const std::string& path) {
  if (auto written = write_file(path, image.payload + "\n"); !written) {
    return written;
  }
  fmt::print("     saved to {}\n", path);
  return {};
}

}  // namespace

int extract(const ExtractCommand& command) {
  const auto containers = read_containers(command.file);
  if (!containers) {
    Diagnostic problem = containers.error();
    problem.file = problem.file.empty() ? command.file : problem.file;
    return fail(problem.to_string());
  }
  if (!command.directory.empty()) {
    std::error_code error;
    fs::create_directories(command.directory, error);
    if (error) {
      return fail(command.directory + ": " + error.message());
    }
  }
  const std::string stem = fs::path(command.file).stem();
  std::size_t number = 0;
  for (const fatbin::Container& container : *containers) {
    for (const fatbin::Image& image : container.images) {
      ++number;
      fmt::print("{}", line_of(number, image));
      if (command.directory.empty() || image.kind != fatbin::EntryKind::kPtx) {
        continue;
      }
      const std::string path =
          fmt::format("{}/{}.{}.{}.ptx", command.directory, stem, number, image.target());
      if (auto saved = save(image, path); !saved) {
        return fail(saved.error().to_string());
      }
    }
  }
  return number == 0 ? fail(command.file + " holds no device code") : 0;
}

}  // namespace barracuda::cli
