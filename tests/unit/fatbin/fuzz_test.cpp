// No bytes make the readers crash, or read outside what they are given: run with ASan and UBSan
// too.
#include <algorithm>
#include <elf.h>
#include <memory>
#include <random>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "fatbin/container.h"
#include "nvcc_output.h"

namespace barracuda::fatbin {
namespace {

constexpr const char* kSamples[] = {"default", "none", "speed", "lineinfo"};

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string operator()(std::string bytes) {
    const std::size_t changes = 1 + below(6);
    for (std::size_t change = 0; change < changes && !bytes.empty(); ++change) {
      mutate_once(bytes);
    }
    return bytes;
  }

  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  void mutate_once(std::string& bytes) {
    // Most of what there is to get wrong stands in the first header and entry.
    const std::size_t area =
        below(2) == 0 ? std::min<std::size_t>(bytes.size(), 160) : bytes.size();
    const std::size_t position = below(area);
    switch (below(5)) {
      case 0:
        bytes[position] = static_cast<char>(random_());
        break;
      case 1:
        bytes[position] = static_cast<char>(bytes[position] ^ (1 << below(8)));
        break;
      case 2:
        bytes.resize(below(bytes.size()) + 1);
        break;
      case 3: {
        constexpr std::uint32_t kExtremes[] = {0, 1, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff};
        const std::uint32_t value = kExtremes[below(std::size(kExtremes))];
        const std::size_t size = std::min(sizeof value, bytes.size() - position);
        bytes.replace(position, size, reinterpret_cast<const char*>(&value), size);
        break;
      }
      default:
        bytes.insert(position, bytes.substr(below(bytes.size()), below(64)));
    }
  }

  std::mt19937 random_;
};

// The bytes alone in an allocation, so that a step outside is seen.
struct ExactCopy {
  explicit ExactCopy(const std::string& text)
      : bytes(std::make_unique<std::byte[]>(text.size())), size(text.size()) {
    std::copy_n(reinterpret_cast<const std::byte*>(text.data()), size, bytes.get());
  }

  [[nodiscard]] std::span<const std::byte> view() const { return {bytes.get(), size}; }

  std::unique_ptr<std::byte[]> bytes;
  std::size_t size;
};

struct Tally {
  std::size_t good = 0, bad = 0;

  template <typename T>
  void add(const Expected<T>& result) {
    if (result) {
      ++good;
    } else {
      ++bad;
      REQUIRE_FALSE(result.error().message.empty());
    }
  }
};

TEST_CASE("no damage to a fat binary of nvcc's makes the reader crash") {
  Tally tally;
  for (const char* const sample : kSamples) {
    const std::string section = section_of(sample, ".nv_fatbin");
    REQUIRE(section.size() > 500);
    Mutator mutate(20'240'601);
    for (int round = 0; round < 1500; ++round) {
      const ExactCopy damaged(mutate(section));
      tally.add(read(damaged.view(), Payloads::kAll));
      tally.add(read_section(damaged.view(), Payloads::kAll));
    }
  }
  CHECK(tally.bad > 1000);
  CHECK(tally.good > 100);
}

TEST_CASE("no damage to a program makes the reader of its sections crash") {
  Tally tally;
  const std::string file = read_file(nvcc_output("program_shared")).value();
  const auto header = load<Elf64_Ehdr>(reinterpret_cast<const std::byte*>(file.data()));
  Mutator mutate(7);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = file;
    // The table of sections is at the file's end: damage it on purpose as often as the rest.
    if (mutate.below(2) == 0) {
      const std::string table = mutate(file.substr(header.e_shoff));
      damaged = file.substr(0, header.e_shoff) + table;
    } else {
      damaged = mutate(file);
    }
    const ExactCopy copy(damaged);
    tally.add(read_host_image(copy.view(), Payloads::kAll));
  }
  CHECK(tally.bad > 30);
  CHECK(tally.good > 30);
}

TEST_CASE("no short random bytes make the reader crash") {
  std::mt19937 random(3);
  Tally tally;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random());
    }
    // A good magic number lets the rest be looked at.
    bytes.replace(0, std::min(bytes.size(), sizeof kHeaderMagic),
                  reinterpret_cast<const char*>(&kHeaderMagic),
                  std::min(bytes.size(), sizeof kHeaderMagic));
    tally.add(read(ExactCopy(bytes).view(), Payloads::kAll));
  }
  CHECK(tally.bad > 19'000);
}

}  // namespace
}  // namespace barracuda::fatbin
