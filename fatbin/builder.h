// Writes fat binaries as nvcc does, and holds one in memory the way a program embeds it.
#pragma once

#include <memory>

#include "fatbin/container.h"

namespace barracuda::fatbin {

// The image of a PTX text, with the version and target that the text declares.
Expected<Image> image_of_ptx(std::string text);

// A header and its entries. Each image is written in its own compression; machine code needs its
// payload.
Expected<std::string> build(const Container& container);

// A fat binary behind its wrapper, as __cudaRegisterFatBinary and cuLibraryLoadData take it. The
// wrapper is good as long as the object, moved or not.
class EmbeddedFatbin {
 public:
  // Version 2 where there are units.
  static Expected<EmbeddedFatbin> build(const Fatbin& fatbin);

  [[nodiscard]] const Wrapper* wrapper() const noexcept { return &storage_->wrapper; }

 private:
  struct Storage {
    Wrapper wrapper{};
    std::string main;
    std::vector<std::string> units;
    std::vector<const void*> unit_list;
  };

  EmbeddedFatbin() : storage_(std::make_unique<Storage>()) {}

  std::unique_ptr<Storage> storage_;
};

}  // namespace barracuda::fatbin
