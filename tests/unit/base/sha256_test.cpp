#include "base/sha256.h"

#include <string>

#include <catch2/catch.hpp>

namespace barracuda {

TEST_CASE("SHA-256 of the standard's examples") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_hex(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 does not depend on the pieces, whatever is left of a block") {
  std::string text;
  for (int length = 0; length < 200; ++length) {
    for (std::size_t cut = 0; cut <= text.size(); cut += 13) {
      Sha256 sum;
      sum.add(std::string_view(text).substr(0, cut));
      sum.add(std::string_view(text).substr(cut));
      REQUIRE(sum.hex() == sha256_hex(text));
    }
    text += static_cast<char>('a' + length % 26);
  }
  text.pop_back();
  CHECK(sha256_hex(text) == "648a10b60317643a57ad7e033bf214667538cda1af8ac7aae47d33b2b417b830");
}

}  // namespace barracuda
