// A temporary folder of one test, removed with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

namespace barracuda {

class ScratchFolder {
 public:
  ScratchFolder() : path_("/tmp/barracuda-test-XXXXXX") {
    REQUIRE(mkdtemp(path_.data()) != nullptr);
  }

  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace barracuda
