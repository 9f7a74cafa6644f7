// Every form of ptx_forms.tsv that works on registers alone, against its definition.
#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "tests/unit/emulator/register_reference.h"

using namespace barracuda::emulator::test;  // NOLINT(google-build-using-namespace)

namespace {

u64 b32(float value) {
  return std::bit_cast<u32>(value);
}

// The upper half of a pattern matters for forms of 64 bits alone, the lower one for all.
const std::vector<u64>& values_of(OperandKind kind) {
  static const std::vector<u64> integers = {0,
                                            1,
                                            5,
                                            33,
                                            0x7fff,
                                            0x8000,
                                            0x7fffffff,
                                            0x80000000,
                                            0xffffffff,
                                            0x123456789abcdef0,
                                            0x7fffffffffffffff,
                                            0x8000000000000000,
                                            0xfffffffffffffff3};
  static const std::vector<u64> singles = {
      b32(0.0F),      b32(-0.0F), b32(1.0F),    b32(-1.5F),  b32(0.1F),           b32(2.5F),
      b32(-3.5F),     b32(1e30F), b32(-1e-30F), b32(4.1e9F), b32(-2147483648.0F), b32(1e-42F),
      b32(0.333333F), 0x7f800000, 0xff800000,   0x7fc00001};
  static const std::vector<u64> doubles = {bits(0.0),
                                           bits(-0.0),
                                           bits(1.0),
                                           bits(-1.5),
                                           bits(0.1),
                                           bits(1e300),
                                           bits(-1e-300),
                                           bits(2.5),
                                           bits(-1e10),
                                           bits(4.2e9),
                                           bits(1.0 / 3),
                                           bits(9.3e18),
                                           bits(std::numeric_limits<double>::infinity()),
                                           0xfff8000000000000};
  return kind == OperandKind::kIntegers  ? integers
         : kind == OperandKind::kSingles ? singles
                                         : doubles;
}

}  // namespace

TEST_CASE("every used form on registers computes what its definition says") {
  std::map<OperandKind, std::vector<FormCase>> cases;
  for (const UsedForm& form : read_forms()) {
    if (auto found = register_case(form)) {
      cases[found->operands].push_back(std::move(found->form));
    }
  }
  REQUIRE(cases[OperandKind::kIntegers].size() > 100);
  REQUIRE(cases[OperandKind::kSingles].size() > 35);
  REQUIRE(cases[OperandKind::kDoubles].size() > 35);
  constexpr std::size_t kBatch = 40;
  for (const auto& [kind, all] : cases) {
    for (std::size_t first = 0; first < all.size(); first += kBatch) {
      const std::size_t end = std::min(first + kBatch, all.size());
      check_forms({all.begin() + static_cast<std::ptrdiff_t>(first),
                   all.begin() + static_cast<std::ptrdiff_t>(end)},
                  values_of(kind));
    }
  }
}
