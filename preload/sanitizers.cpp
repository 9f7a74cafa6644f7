// Programs that are built with AddressSanitizer or ThreadSanitizer: what their runtimes have to
// know of this library. Each asks a function of the program's, and takes ours where the program has
// none.
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

#include "preload/driver_library.h"

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the runtimes' names
extern "C" {

// gcc's runtime is a library and wants to be the first one. We stand before no function of its but
// dlsym and _exit, and these do its part.
[[gnu::visibility("default")]] const char* __asan_default_options() {
  return "verify_asan_link_order=0";
}

// Our threads synchronise by atomics, which it sees in code only that it has instrumented. The same
// as in thread_sanitizer.supp.
[[gnu::visibility("default")]] const char* __tsan_default_suppressions() {
  return "called_from_lib:libbarracuda.so\ncalled_from_lib:libtbb.so\n";
}
}

// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)

namespace barracuda::preload {
namespace {

// A runtime that is a library asks us; one within the executable asks itself.
bool has_thread_sanitizer_inside() {
  void* const runtime = real_dlsym(RTLD_DEFAULT, "__tsan_init");
  Dl_info info{};
  return runtime != nullptr && dladdr(runtime, &info) != 0 &&
         std::strstr(info.dli_fname, "libtsan.so") == nullptr &&
         std::strstr(info.dli_fname, "libclang_rt.tsan") == nullptr;
}

std::string suppressions_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&suppressions_file), &info) == 0) {
    return {};
  }
  const std::string path = info.dli_fname;
  std::string file = path.substr(0, path.rfind('/') + 1) + "barracuda-thread-sanitizer.supp";
  if (access(file.c_str(), R_OK) != 0) {
    file.clear();
  }
  return file;
}

// clang puts the runtime into the executable, with a function of its own: there our suppressions
// come in a file, whose name the runtime reads from the environment when it starts. So the program
// is started once more before any of its code has run, as the runtime itself does to get rid of
// address randomisation. If the user has a suppressions file, it stays the only one: then our
// threads may be reported.
[[gnu::constructor(101)]] void tell_thread_sanitizer(int /*count*/, char** arguments,
                                                     char** /*environment*/) {
  const char* const options = std::getenv("TSAN_OPTIONS");
  if (!has_thread_sanitizer_inside() ||
      (options != nullptr && std::strstr(options, "suppressions=") != nullptr)) {
    return;
  }
  const std::string file = suppressions_file();
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (file.empty() || length <= 0) {
    return;
  }
  program[length] = '\0';
  const std::string more = options == nullptr ? "" : std::string(":") + options;
  if (setenv("TSAN_OPTIONS", ("suppressions='" + file + "'" + more).c_str(), 1) == 0) {
    (void)execv(program, arguments);  // and if it fails, only reports of our threads come of it
  }
}

}  // namespace
}  // namespace barracuda::preload
