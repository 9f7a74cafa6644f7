#include "preload/assembler_child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/file.h"
#include "preload/assembler_call.h"
#include "preload/code_origins.h"
#include "preload/guard.h"
#include "report/process_name.h"

namespace barracuda::preload {
namespace {

// What tells whether a file was written meanwhile.
struct FileState {
  bool is_file = false;
  dev_t device = 0;
  ino_t number = 0;
  off_t bytes = 0;
  std::array<std::int64_t, 4> times{};  // of its content, and of its state

  friend bool operator==(const FileState&, const FileState&) = default;
};

struct Input {
  std::string path;
  FileState state;
};

struct Assembly {
  std::vector<Input> inputs;
  std::vector<std::string> texts;
  std::string output;
  FileState output_before;
};

FileState state_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {};
  }
  return {.is_file = true,
          .device = status.st_dev,
          .number = status.st_ino,
          .bytes = status.st_size,
          .times = {status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                    status.st_ctim.tv_nsec}};
}

std::optional<Assembly>& assembly() {
  static auto* const instance = new std::optional<Assembly>;
  return *instance;
}

bool is_assembler() {
  return report::program_name().starts_with("ptxas");
}

// What comes through a pipe can be read once: ptxas gets a file in memory with the same bytes in
// its place, which begins where the pipe began. Nothing if it is no pipe, or no such file can be
// had, and then no byte of it was taken.
std::optional<std::string> take_standard_input() {
  struct stat status{};
  const int copy = ::memfd_create("barracuda", 0);
  if (copy < 0) {
    return std::nullopt;
  }
  std::string text;
  if (::fstat(STDIN_FILENO, &status) == 0 && S_ISFIFO(status.st_mode)) {
    std::array<char, 65536> part{};
    for (ssize_t size = 0; (size = ::read(STDIN_FILENO, part.data(), part.size())) != 0;) {
      if (size > 0) {
        text.append(part.data(), static_cast<std::size_t>(size));
        (void)!::write(copy, part.data(), static_cast<std::size_t>(size));
      } else if (errno != EINTR) {
        break;
      }
    }
    (void)::lseek(copy, 0, SEEK_SET);
    (void)::dup2(copy, STDIN_FILENO);
  }
  ::close(copy);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

// Of a file that stands as standard input, what is left of it.
std::optional<std::string> read_standard_input() {
  struct stat status{};
  const off_t begin = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (::fstat(STDIN_FILENO, &status) != 0 || !S_ISREG(status.st_mode) || begin < 0) {
    return take_standard_input();
  }
  std::string text(static_cast<std::size_t>(std::max<off_t>(status.st_size - begin, 0)), '\0');
  const ssize_t size = ::pread(STDIN_FILENO, text.data(), text.size(), begin);
  return size == static_cast<ssize_t>(text.size()) ? std::optional(std::move(text)) : std::nullopt;
}

void begin(int count, char** arguments) {
  AssemblerCall call = read_assembler_call({arguments + 1, arguments + count});
  Assembly made{.inputs = {},
                .texts = std::move(call.texts),
                .output = call.output,
                .output_before = state_of(call.output)};
  for (std::string& file : call.files) {
    if (const FileState state = state_of(file); state.is_file) {
      made.inputs.push_back({.path = std::move(file), .state = state});
    }
  }
  if (call.reads_standard_input) {
    if (auto text = read_standard_input()) {
      made.texts.push_back(std::move(*text));
    }
  }
  assembly() = std::move(made);
}

// Files that are PTX, as ptxas has read them.
bool add_files(const Assembly& made, std::vector<std::string>& texts) {
  for (const Input& input : made.inputs) {
    const Expected<std::string> text = read_file(input.path);
    if (!text || state_of(input.path) != input.state) {
      return false;
    }
    if (is_ptx(*text)) {
      texts.push_back(*text);
    }
  }
  return true;
}

void keep(const Assembly& made) {
  const FileState output = state_of(made.output);
  std::vector<std::string> texts = made.texts;
  if (!output.is_file || output == made.output_before || !add_files(made, texts) || texts.empty()) {
    return;
  }
  if (const Expected<std::string> code = read_file(made.output)) {
    remember_origin(*code, {.texts = std::move(texts), .units = {}, .gap = ""});
  }
}

void end(int status, void* /*unused*/) {
  if (status == 0 && assembly()) {
    HookScope::protect(Loss::kNothing, [] { keep(*assembly()); });
  }
}

}  // namespace

void watch_assembler(int count, char** arguments) {
  if (count < 2 || !is_assembler()) {
    return;
  }
  HookScope::protect(Loss::kNothing, [&] {
    begin(count, arguments);
    (void)on_exit(end, nullptr);
  });
}

}  // namespace barracuda::preload
