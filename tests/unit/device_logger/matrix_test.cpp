// Records of matrix loads and stores: exactly the bytes of the matrix, each once.
#include <set>

#include <catch2/catch.hpp>

#include "logged_machine.h"

namespace barracuda::wire {
namespace {

using Bytes = std::multiset<std::uint64_t>;

struct Lines {
  std::uint64_t base;
  std::uint32_t count, bytes, pitch;
};

Bytes bytes_of(const Lines& lines) {
  Bytes bytes;
  for (std::uint32_t line = 0; line < lines.count; ++line) {
    for (std::uint32_t i = 0; i < lines.bytes; ++i) {
      bytes.insert(lines.base + std::uint64_t{line} * lines.pitch + i);
    }
  }
  return bytes;
}

struct MatrixLog {
  LoggedMachine machine{BARRACUDA_ASYNCHRONOUS_KERNELS};
  std::uint64_t in = 0, box = 0;  // box is tagged
  std::vector<LoggedRecord> records;

  MatrixLog() {
    in = machine.allocate(16384);
    const std::uint64_t out = machine.allocate(64);
    machine.launch("matrices", 1, 32, {out, in});
    box =
        tagged_address(AddressSpace::kShared, LoggedMachine::at<std::uint32_t>(out)[0] & 0xFFFFFF);
    records = machine.read();
  }

  void check(std::string_view name, Operation operation, std::uint32_t element_bytes,
             const Lines& lines) const {
    INFO(name);
    Bytes found;
    for (const LoggedRecord& record : records) {
      const ptx::Site& site = machine.site_of(record);
      if (site.instruction != name) {
        continue;
      }
      CHECK(site.info.operation == operation);
      CHECK(site.info.order == MemoryOrder::kWeak);
      CHECK(site.info.asynchrony == Asynchrony::kNone);
      CHECK(site.info.element_bytes == element_bytes);
      CHECK(record.kind() == RecordKind::kAffine);
      for (const auto& [lane, logged] : record.lanes) {
        for (std::uint32_t i = 0; i < site.info.element_bytes * site.info.element_count; ++i) {
          found.insert(logged.address + i);
        }
      }
    }
    CHECK((found == bytes_of(lines)));
  }
};

}  // namespace

TEST_CASE("ldmatrix is a read of the rows whose addresses its lanes give", "[logger]") {
  const MatrixLog log;
  log.check("ldmatrix.sync.aligned.m8n8.x1.shared.b16", Operation::kRead, 2,
            {.base = log.box, .count = 8, .bytes = 16, .pitch = 32});
  log.check("ldmatrix.sync.aligned.m8n8.x2.shared.b16", Operation::kRead, 2,
            {.base = log.box + 16, .count = 16, .bytes = 16, .pitch = 32});
  log.check("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", Operation::kRead, 2,
            {.base = log.box, .count = 32, .bytes = 16, .pitch = 32});
}

TEST_CASE("a wmma load or store touches the lines of its matrix and nothing between", "[logger]") {
  const MatrixLog log;
  log.check("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", Operation::kRead, 2,
            {.base = log.box + 16, .count = 16, .bytes = 32, .pitch = 48});
  log.check("wmma.load.a.sync.aligned.col.m32n8k16.global.u8", Operation::kRead, 1,
            {.base = log.in, .count = 16, .bytes = 32, .pitch = 48});
  log.check("wmma.load.b.sync.aligned.row.m8n8k4.f64", Operation::kRead, 8,
            {.base = log.in + 64, .count = 4, .bytes = 64, .pitch = 96});
  log.check("wmma.load.b.sync.aligned.col.m16n16k8.tf32", Operation::kRead, 4,
            {.base = log.in, .count = 16, .bytes = 32, .pitch = 32});
  log.check("wmma.load.c.sync.aligned.row.m8n32k16.global.f32", Operation::kRead, 4,
            {.base = log.in, .count = 8, .bytes = 128, .pitch = 160});
  log.check("wmma.store.d.sync.aligned.col.m32n8k16.global.f32", Operation::kWrite, 4,
            {.base = log.in + 128, .count = 8, .bytes = 128, .pitch = 128});
}

}  // namespace barracuda::wire
