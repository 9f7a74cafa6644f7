#include "cli/loaded_libraries.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/child_process.h"
#include "cli/environment.h"

namespace barracuda::cli {
namespace {

struct Search {
  std::uintptr_t base;
  std::string name;
};

int compare_base(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (object->dlpi_addr != search.base) {
    return 0;
  }
  search.name = object->dlpi_name;
  return 1;
}

// The loader of this process, which is that of every program that this machine builds.
std::string own_loader() {
  Search search{.base = getauxval(AT_BASE), .name = ""};
  (void)dl_iterate_phdr(compare_base, &search);
  return search.name;
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = read(from, part.data(), part.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return text;
    }
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

// What it prints; an error if it fails.
Expected<std::string> output_of(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return unexpected({.message = std::strerror(errno)});
  }
  // What is loaded before everything else is none of the program's.
  std::vector<std::string> environment = current_environment();
  std::erase_if(environment,
                [](const std::string& entry) { return entry.starts_with("LD_PRELOAD="); });
  // The loader lists and does not run, as for ldd; its --list ends at what is missing.
  environment.emplace_back("LD_TRACE_LOADED_OBJECTS=1");
  posix_spawn_file_actions_t files;
  (void)posix_spawn_file_actions_init(&files);
  (void)posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  (void)posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const std::string program = words.front();
  const int problem = posix_spawn(&process, program.c_str(), &files, nullptr,
                                  pointers_to(words).data(), pointers_to(environment).data());
  (void)posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  std::string text = problem == 0 ? read_all(ends[0]) : "";
  close(ends[0]);
  int status = 0;
  if (problem != 0) {
    return unexpected({.message = std::strerror(problem), .file = program});
  }
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) {
    return unexpected({.message = "the loader cannot start it", .file = words.back()});
  }
  return text;
}

}  // namespace

std::vector<LoadedLibrary> parse_loaded_libraries(std::string_view text) {
  constexpr std::string_view kArrow = " => ";
  std::vector<LoadedLibrary> libraries;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::size_t arrow = line.find(kArrow);
    // What is needed by its path, as is a library that was linked without a soname, has no arrow;
    // nor has the loader itself.
    const std::string_view place = arrow == line.npos ? line : line.substr(arrow + kArrow.size());
    const std::string_view path = place.substr(0, place.rfind(" ("));
    const bool is_file = path.find('/') != path.npos;  // LD_LIBRARY_PATH=. makes it ./libz.so.1
    if (arrow != line.npos || is_file) {               // else it is what the kernel brings
      libraries.push_back({.name = std::string(arrow == line.npos ? path : line.substr(0, arrow)),
                           .path = is_file ? std::string(path) : ""});
    }
  }
  return libraries;
}

Expected<std::vector<LoadedLibrary>> loaded_libraries(const std::string& program) {
  const std::string loader = own_loader();
  if (loader.empty()) {
    return unexpected({.message = "this process has no loader to ask"});
  }
  TRY(const std::string text, output_of({loader, program}));
  return parse_loaded_libraries(text);
}

}  // namespace barracuda::cli
