// The temporary folder of one `barracuda run`, removed with the object: what its processes find,
// and the links through which a program without a driver finds the emulated device as CUDA's
// libraries. A run that is killed leaves it behind, for `barracuda report`.
#pragma once

#include <string>
#include <vector>

#include "base/assert.h"
#include "base/expected.h"
#include "base/options.h"

namespace barracuda::cli {

// What there is to know of the folder of a run, by whomever.
struct RunFolder {
  std::string path;
  int process = 0;  // of `barracuda run`
  std::string program, options;

  [[nodiscard]] std::string spools() const { return path + "/reports"; }

  [[nodiscard]] bool is_running() const;
};

// Where the folders of runs lie: $TMPDIR, or what stands in for it where that will not do.
std::string parent_of_runs();
// Errors: it is not the folder of a run.
Expected<RunFolder> read_run(const std::string& path);
// Those of this user that are there, the oldest first.
std::vector<RunFolder> find_runs();

class RunDirectory {
 public:
  static Expected<RunDirectory> create();

  // Says whose it is, for read_run().
  [[nodiscard]] Expected<void> describe(const std::string& program, const Options& options) const;

  RunDirectory(RunDirectory&& other) noexcept;
  RunDirectory& operator=(RunDirectory&&) = delete;
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory();

  [[nodiscard]] std::string spools() const { return file("reports"); }

  // For a file of the command's own. Not of an object that was moved from: that would be a file of
  // the root's.
  [[nodiscard]] std::string file(const std::string& name) const {
    ASSERT(!path_.empty());
    return path_ + "/" + name;
  }

  // The libcudarts, libcuda.so.1 and libcuda.so, all the library; the folder they are in.
  [[nodiscard]] Expected<std::string> link_cuda_libraries(const std::string& library) const;
  // The library under a path that LD_PRELOAD can hold: it has no way to quote a blank or a colon.
  [[nodiscard]] Expected<std::string> preloadable(const std::string& library) const;

 private:
  explicit RunDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace barracuda::cli
