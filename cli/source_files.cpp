#include "cli/source_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "cli/loaded_libraries.h"
#include "cli/program_file.h"
#include "fatbin/host_image.h"
#include "report/toolkit_path.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;
using weak_memory::SourceChanges;
using weak_memory::SourceLines;

std::string text_of(const SourceLines& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

tl::unexpected<Diagnostic> failure(const std::string& what, const std::string& file) {
  return unexpected({.message = what + ": " + std::strerror(errno), .file = file});
}

// The new text beside a file, until it takes its place.
class Replacement {
 public:
  static Expected<Replacement> make(const std::string& file, const std::string& text) {
    std::error_code error;
    const fs::path target = fs::canonical(file, error);
    struct stat status{};
    if (error || stat(target.c_str(), &status) != 0) {
      return unexpected({.message = "is not there any more", .file = file});
    }
    // The superuser may write to files that are read-only for everybody.
    constexpr mode_t kWritable = S_IWUSR | S_IWGRP | S_IWOTH;
    if ((status.st_mode & kWritable) == 0 || access(target.c_str(), W_OK) != 0) {
      return unexpected({.message = "is read-only", .file = file});
    }
    std::string name = target.parent_path() / ("." + target.filename().string() + ".XXXXXX");
    const int opened = mkstemp(name.data());
    if (opened < 0) {
      return failure("the new text cannot be written beside it", file);
    }
    Replacement made(std::move(name), target);
    // Whoever may not give the file away keeps it.
    [[maybe_unused]] const int given = fchown(opened, status.st_uid, status.st_gid);
    constexpr mode_t kPermissions = 07777;
    const bool is_like_it = fchmod(opened, status.st_mode & kPermissions) == 0;
    close(opened);
    if (!is_like_it) {
      return failure("its permissions cannot be kept", file);
    }
    if (auto written = write_file(made.name_, text); !written) {
      return unexpected(std::move(written).error());
    }
    return made;
  }

  Replacement(Replacement&& other) noexcept
      : name_(std::exchange(other.name_, "")), target_(std::move(other.target_)) {}

  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  Replacement& operator=(Replacement&&) = delete;

  ~Replacement() {
    if (!name_.empty()) {
      unlink(name_.c_str());
    }
  }

  Expected<void> take_place() {
    if (rename(name_.c_str(), target_.c_str()) != 0) {
      return failure("cannot be replaced", target_);
    }
    name_.clear();
    return {};
  }

 private:
  Replacement(std::string name, fs::path target)
      : name_(std::move(name)), target_(std::move(target)) {}

  std::string name_;  // empty: it has taken its place
  fs::path target_;
};

std::optional<fs::file_time_type> time_of(const std::string& file) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(file, error);
  return error ? std::nullopt : std::optional(time);
}

bool has_device_code(const std::string& file) {
  const auto image = fatbin::read_host_image(file);
  return image && image->has_device_code;
}

// Of the newest file with device code.
std::optional<fs::file_time_type> time_of_device_code(const std::string& program) {
  const std::string file = find_program(program);
  if (has_device_code(file)) {
    return time_of(file);
  }
  std::optional<fs::file_time_type> newest;
  if (const auto libraries = loaded_libraries(file)) {
    for (const LoadedLibrary& library : *libraries) {
      if (has_device_code(library.path)) {
        newest = std::max(newest, time_of(library.path));
      }
    }
  }
  return newest;
}

}  // namespace

Expected<SourceLines> read_source(const std::string& file) {
  if (report::is_toolkit_header(file)) {
    return unexpected({.message = "is a header of CUDA's", .file = file});
  }
  TRY(const std::string text, read_file(file));
  if (!text.empty() && !text.ends_with('\n')) {
    return unexpected({.message = "its last line has no end", .file = file});
  }
  SourceLines lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

Expected<void> replace_sources(const SourceChanges& changes) {
  std::vector<Replacement> all;
  for (const auto& [file, texts] : changes.files) {
    TRY(Replacement made, Replacement::make(file, text_of(texts.after)));
    all.push_back(std::move(made));
  }
  for (Replacement& each : all) {
    if (auto replaced = each.take_place(); !replaced) {
      return replaced;
    }
  }
  return {};
}

std::vector<std::string> newer_than_program(const SourceChanges& changes,
                                            const std::string& program) {
  std::vector<std::string> newer;
  const auto built = changes.files.empty() ? std::nullopt : time_of_device_code(program);
  for (const auto& [file, texts] : changes.files) {
    const auto changed = time_of(file);
    if (built && changed && *changed > *built) {
      newer.push_back(file);
    }
  }
  return newer;
}

}  // namespace barracuda::cli
