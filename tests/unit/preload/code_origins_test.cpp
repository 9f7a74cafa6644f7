#include "preload/code_origins.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace barracuda::preload {
namespace {

// Nothing of these tests goes into the user's cache. Before anybody asks for an option.
const bool g_is_set = setenv("BARRACUDA_OPTIONS", "jit-cache=none", 1) == 0;

// A header, code, the table of the one section that the code is.
std::string image_of(std::string_view code) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof header + code.size();
  header.e_shnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  Elf64_Shdr section{};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = sizeof header;
  section.sh_size = code.size();
  std::string image(reinterpret_cast<const char*>(&header), sizeof header);
  image += code;
  image.append(reinterpret_cast<const char*>(&section), sizeof section);
  return image;
}

// A header alone that ends where the memory does.
class LastBytes {
 public:
  explicit LastBytes(std::string_view bytes) : page_(static_cast<std::size_t>(getpagesize())) {
    start_ = static_cast<char*>(
        mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(mprotect(start_ + page_, page_, PROT_NONE) == 0);
    bytes_ = start_ + page_ - bytes.size();
    std::memcpy(bytes_, bytes.data(), bytes.size());
  }

  ~LastBytes() { munmap(start_, 2 * page_); }

  LastBytes(const LastBytes&) = delete;
  LastBytes& operator=(const LastBytes&) = delete;

  [[nodiscard]] const char* data() const { return bytes_; }

 private:
  std::size_t page_;
  char* start_;
  char* bytes_;
};

TEST_CASE("machine code is known again by its bytes, and only by all of them") {
  const std::string first = image_of("first"), other = image_of("other");
  remember_origin(first, {.texts = {"of the first"}});
  const std::string copy = first;
  REQUIRE(find_origin(copy.data()) != nullptr);
  CHECK(find_origin(copy.data())->texts.front() == "of the first");
  CHECK(find_origin(other.data()) == nullptr);
  remember_origin(first, {.texts = {"again"}});
  CHECK(find_origin(copy.data())->texts.front() == "of the first");
}

TEST_CASE("an image whose header gives it more bytes than can be read is not known") {
  REQUIRE(g_is_set);
  const std::string known = image_of("some other code");
  remember_origin(known, {.texts = {"known"}});
  Elf64_Ehdr header{};
  std::memcpy(&header, known.data(), sizeof header);
  for (const std::uint64_t offset :
       {std::uint64_t{1} << 20, std::uint64_t{1} << 31, ~std::uint64_t{0} - 8}) {
    header.e_shoff = offset;
    const LastBytes lying({reinterpret_cast<const char*>(&header), sizeof header});
    CHECK(find_origin(lying.data()) == nullptr);
  }
  const std::string cut = known.substr(0, known.size() - 1);
  CHECK_FALSE(digest_of_code(cut));
  CHECK(digest_of_code(known) == digest_of_code(known + "padding"));
}

TEST_CASE("nothing behind an image is read, and what stands there does not matter") {
  const std::string known = image_of("some code");
  remember_origin(known + "padding", {.texts = {"padded"}});
  const LastBytes same(known);
  CHECK(find_origin(same.data()) != nullptr);

  Elf64_Ehdr header{};
  const std::string without_sections(reinterpret_cast<const char*>(&header), sizeof header);
  remember_origin(without_sections + std::string(100, 'x'), {.texts = {"a header"}});
  const LastBytes alone(without_sections);
  CHECK(find_origin(alone.data()) == nullptr);
}

}  // namespace
}  // namespace barracuda::preload
