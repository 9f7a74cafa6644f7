#include "tests/unit/cli/shell.h"

#include <cstdlib>
#include <sys/wait.h>

#include "base/file.h"
#include "tests/unit/report/scratch_folder.h"

namespace barracuda {

ShellResult shell(const std::string& command) {
  const ScratchFolder folder;
  const std::string whole =
      "(" + command + "\n) >" + (folder / "output") + " 2>" + (folder / "errors") + " </dev/null";
  const int status = std::system(whole.c_str());
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .output = *read_file(folder / "output"),
          .errors = *read_file(folder / "errors")};
}

}  // namespace barracuda
