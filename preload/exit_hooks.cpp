// _exit and its standard name: programs leave children and workers that way, past every exit
// handler; exec, which puts another program in the process's place; and a program's SIGKILL to
// itself. They may be called in a signal handler or after vfork, so little is done here.
#include <alloca.h>
#include <csignal>
#include <cstdarg>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/reporter.h"

namespace barracuda::preload {
namespace {

// Calls the C library's own function of this name.
template <typename Function, typename... Arguments>
int execute(Function* /*of*/, const char* name, Arguments... arguments) {
  report_before_exec();
  auto* const next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  const int status = next(arguments...);
  report_after_failed_exec();
  return status;
}

// Calls `use` with the arguments from `first` to the null that ends them as an array, on this stack
// for no memory may be allocated after vfork. `list` stands behind the null then.
template <typename Use>
int with_array(const char* first, std::va_list* list, const Use& use) {
  std::va_list ahead;
  va_copy(ahead, *list);
  std::size_t count = 1;
  while (first != nullptr && va_arg(ahead, char*) != nullptr) {
    ++count;
  }
  va_end(ahead);
  auto** const array = static_cast<char**>(alloca((count + 1) * sizeof(char*)));
  array[0] = const_cast<char*>(first);
  for (std::size_t i = 0; array[i] != nullptr;) {
    array[++i] = va_arg(*list, char*);
  }
  return use(array);
}

}  // namespace
}  // namespace barracuda::preload

extern "C" {

#define EXPORTED [[gnu::visibility("default")]]

EXPORTED void _exit(int status) {
  const int final_status = barracuda::preload::report_before_exit(status);
  while (true) {
    (void)syscall(SYS_exit_group, final_status);
  }
}

EXPORTED void _Exit(int status) {
  _exit(status);
}

EXPORTED int kill(pid_t process, int signal) noexcept {
  if (signal == SIGKILL && process == getpid()) {
    barracuda::preload::report_before_kill();
  }
  // Not the system call: a sanitizer's own delivers at once what a process sends itself.
  static const auto next = reinterpret_cast<decltype(&kill)>(dlsym(RTLD_NEXT, "kill"));
  return next(process, signal);
}

EXPORTED int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  return barracuda::preload::execute(&execve, "execve", path, arguments, environment);
}

EXPORTED int execv(const char* path, char* const* arguments) noexcept {
  return execve(path, arguments, environ);
}

EXPORTED int execvp(const char* file, char* const* arguments) noexcept {
  return execvpe(file, arguments, environ);
}

EXPORTED int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
  return barracuda::preload::execute(&execvpe, "execvpe", file, arguments, environment);
}

EXPORTED int fexecve(int file, char* const* arguments, char* const* environment) noexcept {
  return barracuda::preload::execute(&fexecve, "fexecve", file, arguments, environment);
}

EXPORTED int execl(const char* path, const char* first, ...) noexcept {
  std::va_list list;
  va_start(list, first);
  const int status = barracuda::preload::with_array(
      first, &list, [&](char** arguments) { return execv(path, arguments); });
  va_end(list);
  return status;
}

EXPORTED int execlp(const char* file, const char* first, ...) noexcept {
  std::va_list list;
  va_start(list, first);
  const int status = barracuda::preload::with_array(
      first, &list, [&](char** arguments) { return execvp(file, arguments); });
  va_end(list);
  return status;
}

EXPORTED int execle(const char* path, const char* first, ...) noexcept {
  std::va_list list;
  va_start(list, first);
  const int status = barracuda::preload::with_array(first, &list, [&](char** arguments) {
    return execve(path, arguments, va_arg(list, char* const*));
  });
  va_end(list);
  return status;
}

#undef EXPORTED

}  // extern "C"
