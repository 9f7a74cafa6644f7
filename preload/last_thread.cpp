#include "preload/last_thread.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include "base/file.h"
#include "base/own_thread.h"

namespace barracuda::preload {
namespace {

constexpr std::string_view kThreads = "/proc/self/task/";

struct ThreadState {
  std::string name;
  char state = '?';  // as in proc(5); '?': it is over, or cannot be read
};

// "12 (name) S …"; the name may hold anything.
ThreadState state_of(const std::string& thread) {
  const auto text = read_file(std::string(kThreads) + thread + "/stat");
  const std::size_t open = text ? text->find('(') : std::string::npos;
  const std::size_t close = text ? text->rfind(") ") : std::string::npos;
  if (open == std::string::npos || close == std::string::npos || close + 2 >= text->size()) {
    return {};
  }
  return {.name = text->substr(open + 1, close - open - 1), .state = (*text)[close + 2]};
}

// A thread of TBB's that does not rest may be at work for the program. One that ends now, or that
// is new, is looked at the next time.
bool counts_not(const std::string& thread) {
  const ThreadState state = state_of(thread);
  return thread == std::to_string(getpid()) || thread == std::to_string(gettid()) ||
         (state.name == kOwnThreadName && state.state == 'S');
}

}  // namespace

bool only_own_threads_are_left() {
  if (state_of(std::to_string(getpid())).state != 'Z') {
    return false;
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kThreads, error)) {
    if (!counts_not(entry.path().filename().string())) {
      return false;
    }
  }
  return !error;
}

}  // namespace barracuda::preload
