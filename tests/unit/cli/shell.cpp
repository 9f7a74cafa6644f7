#include "tests/unit/cli/shell.h"

#include <csignal>
#include <cstdlib>
#include <sys/wait.h>

#include "base/file.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda {

ShellResult shell(const std::string& command) {
  const ScratchFolder folder;
  const std::string whole =
      "(" + command + "\n) >" + (folder / "output") + " 2>" + (folder / "errors") + " </dev/null";
  // The command line waits for its children with signals blocked; CMake would wait for ever.
  sigset_t none;
  sigset_t before;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, &before);
  const int status = std::system(whole.c_str());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .output = *read_file(folder / "output"),
          .errors = *read_file(folder / "errors")};
}

}  // namespace barracuda
