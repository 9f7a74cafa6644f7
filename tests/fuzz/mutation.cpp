#include "mutation.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace barracuda::fuzz {
namespace {

class Mutator {
 public:
  Mutator(const std::vector<std::string>& corpus, std::mt19937_64& random)
      : corpus_(corpus), random_(random) {}

  std::string make() {
    std::string bytes = corpus_[below(corpus_.size())];
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) {
      change(bytes);
    }
    return bytes;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  // What a format rests on mostly stands at its beginning.
  std::size_t position(const std::string& bytes) {
    constexpr std::size_t kFront = 256;
    return below(below(3) == 0 ? std::min(bytes.size(), kFront) : bytes.size());
  }

  std::string_view piece(const std::string& of) {
    const std::size_t begin = position(of);
    const std::size_t longest = below(4) == 0 ? of.size() : 64;
    return std::string_view(of).substr(begin, 1 + below(longest));
  }

  template <typename Number>
  void put_number(std::string& bytes) {
    constexpr std::uint64_t kExtremes[] = {
        0,          1,          2,           0x7f,       0x80,       0xff,
        0x7fff,     0xffff,     0x10000,     0x7fffffff, 0x80000000, 0xffffffff,
        0xfffffffe, 0xfffffff0, 0x100000000, ~0ULL,      ~0ULL >> 1, 1ULL << 63};
    auto number = static_cast<Number>(kExtremes[below(std::size(kExtremes))]);
    if (below(3) == 0) {
      number = static_cast<Number>(bytes.size() + below(64) - 32);
    }
    const std::size_t at = position(bytes);
    std::memcpy(bytes.data() + at, &number, std::min(sizeof number, bytes.size() - at));
  }

  void change(std::string& bytes) {
    if (bytes.empty()) {
      bytes = "x";
    }
    const std::size_t at = position(bytes);
    switch (below(9)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random_());
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        put_number<std::uint32_t>(bytes);
        break;
      case 4:
        put_number<std::uint64_t>(bytes);
        break;
      case 5:
        put_number<std::uint16_t>(bytes);
        break;
      case 6:
        bytes.erase(at, piece(bytes).size());
        break;
      case 7:
        bytes.insert(at, std::string(piece(bytes)));
        break;
      default:
        bytes.insert(at, std::string(piece(corpus_[below(corpus_.size())])));
        break;
    }
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64& random_;
};

}  // namespace

std::string mutate(const std::vector<std::string>& corpus, std::mt19937_64& random) {
  return Mutator(corpus, random).make();
}

}  // namespace barracuda::fuzz
