// Collects what this process writes to descriptor 2 while the object lives.
#pragma once

#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda {

class StderrCapture {
 public:
  StderrCapture() : saved_(dup(STDERR_FILENO)) {
    const int file =
        open((folder_ / "stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    dup2(file, STDERR_FILENO);
    close(file);
  }

  StderrCapture(const StderrCapture&) = delete;
  StderrCapture& operator=(const StderrCapture&) = delete;

  ~StderrCapture() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }

  [[nodiscard]] std::string text() const { return *read_file(folder_ / "stderr"); }

 private:
  ScratchFolder folder_;
  int saved_;
};

}  // namespace barracuda
