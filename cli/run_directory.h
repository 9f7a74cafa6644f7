// The temporary folder of one `barracuda run`, removed with the object: the processes' reports, and
// the links through which a program without a driver finds the emulated device as CUDA's libraries.
#pragma once

#include <string>

#include "base/expected.h"

namespace barracuda::cli {

class RunDirectory {
 public:
  static Expected<RunDirectory> create();

  RunDirectory(RunDirectory&& other) noexcept;
  RunDirectory& operator=(RunDirectory&&) = delete;
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory();

  [[nodiscard]] std::string reports() const { return path_ + "/reports"; }

  // For a file of the command's own.
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

  // libcudart.so.13, libcuda.so.1 and libcuda.so, all the library; the folder they are in.
  [[nodiscard]] Expected<std::string> link_cuda_libraries(const std::string& library) const;
  // The library under a path that LD_PRELOAD can hold: it has no way to quote a blank or a colon.
  [[nodiscard]] Expected<std::string> preloadable(const std::string& library) const;

 private:
  explicit RunDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace barracuda::cli
