#include "report/python_arrays.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "report/source_text.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::report {
namespace {

constexpr std::string_view kSource = R"(TPB = 8

@cuda.jit
def other(a):
    left = cuda.shared.array(4, int32)
    left[0] = a

@cuda.jit(lineinfo=True)
def product(a, b, c):
    # left = cuda.shared.array(1, int32)
    left = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    right = cuda.shared.array((TPB, TPB + 1), float32)
    sums = cuda.shared.array(TPB * 2, dtype=float32)
    unknown = cuda.shared.array(shape=(2, a), dtype=float32)
    for i in range(4):
        left[y, x] = a[i]
        right[y, x] = b[i]
        total += left[y, i] * right[i, x]
        sums[x] = total
        view[x] = total
        unknown[0, x] = left[x, y]
)";

// A race of two lines of `product`, at `offset` in the array with a number of numba's.
struct Sample {
  Sample() { REQUIRE(write_file(file, std::string(kSource))); }

  void race(std::uint32_t first, std::uint32_t second, std::uint64_t offset,
            const std::string& variable) {
    sites.push_back(samples::site(static_cast<std::uint32_t>(sites.size()), wire::Operation::kWrite,
                                  {{"product", file, first, 1}}));
    sites.back().function = "product";
    sites.back().variable = variable;
    SourceText text;
    finding = Finding{};
    finding.space = "shared";
    for (const std::uint32_t line : {first, second}) {
      Access access;
      access.size = 4;
      access.address = place_of_variable(variable).offset + offset;
      access.place = {.function = "product", .file = file, .line = line};
      access.source = text.text_of(access.place);
      finding.accesses.push_back(access);
    }
  }

  [[nodiscard]] std::string element() const {
    PythonArrays arrays(sites);
    return arrays.element(finding, sites.back());
  }

  [[nodiscard]] std::string name() const {
    PythonArrays arrays(sites);
    return arrays.name(finding, sites.back());
  }

  ScratchFolder folder;
  std::string file = folder / "kernels.py";
  ptx::SiteTable sites;
  Finding finding;
};

}  // namespace

TEST_CASE("a shared array of numba's has its name and indices of Python") {
  Sample sample;
  sample.race(16, 18, (2 * 8 + 5) * 4, "_cudapy_smem_12@0:256");
  CHECK(sample.name() == "left");
  CHECK(sample.element() == "left[2, 5]");
  sample.race(17, 18, (2 * 9 + 5) * 4, "_cudapy_smem_13@256:288");
  CHECK(sample.element() == "right[2, 5]");
  sample.race(19, 19, 12, "_cudapy_smem_14@544:64");
  CHECK(sample.element() == "sums[3]");
  sample.race(21, 21, 12, "_cudapy_smem_15@608:64");  // left is on that line, too
  CHECK(sample.name() == "unknown");                  // by its number: all four are known now
  CHECK(sample.element() == "unknown, element 3 as it lies");
}

TEST_CASE("where no line says which array it is, it is the one with its number, if all are known") {
  Sample sample;
  sample.race(20, 20, 8, "_cudapy_smem_14@544:64");
  CHECK(sample.name().empty());
  CHECK(sample.element() == "byte 8 of a shared array of 64 bytes");
  for (const char* const other : {"_cudapy_smem_12@0:256", "_cudapy_smem_13@256:288",
                                  "_cudapy_smem_15@608:64", "_cudapy_smem_14@544:64"}) {
    sample.race(20, 20, 8, other);
  }
  CHECK(sample.name() == "sums");
  CHECK(sample.element() == "sums");
  sample.finding.accesses.front().place.file = "/nowhere.py";
  CHECK(sample.name().empty());
}

TEST_CASE("of Triton's shared memory it is said what it is") {
  Sample sample;
  sample.race(16, 18, 8, "global_smem@0:0");
  CHECK(PythonArrays::is_one("global_smem"));
  CHECK(sample.name() == "global_smem");
  CHECK_THAT(sample.element(), Catch::StartsWith("global_smem, by which Triton's compiler"));
  CHECK_FALSE(PythonArrays::is_one("_cudapy_smem_x"));
  CHECK_FALSE(PythonArrays::is_one("tile"));
}

}  // namespace barracuda::report
