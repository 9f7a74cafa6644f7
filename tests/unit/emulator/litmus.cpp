#include "tests/unit/emulator/litmus.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace barracuda::emulator::test {

namespace {

constexpr std::uint32_t kRegisters = 4;  // that each thread stores
constexpr std::size_t kWords = 3 * 64;   // the locations, 256 bytes apart

}  // namespace

std::string litmus_text(const Litmus& litmus) {
  std::string text = R"(.version 9.0
.target sm_90
.address_size 64
.shared .align 16 .b8 words[768];
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)
{
  .reg .pred %p<10>;
  .reg .b16 %h<10>;
  .reg .b32 %r<30>;
  .reg .b64 %d<10>;
  .reg .b64 %x, %y, %z, %out;
  .reg .b32 %block, %thread;
  .reg .pred %is;
  mov.u32 %block, %ctaid.x;
  mov.u32 %thread, %tid.x;
  ld.param.u64 %out, [k_param_1];
)";
  text += litmus.is_shared ? "  mov.u64 %d0, words;\n  cvta.shared.u64 %x, %d0;\n"
                           : "  ld.param.u64 %x, [k_param_0];\n";
  text += "  add.u64 %y, %x, 256;\n  add.u64 %z, %x, 512;\n";
  for (std::uint32_t i = 0; i < kRegisters; ++i) {
    text += fmt::format("  mov.u32 %r{}, 0;\n", i);
  }
  std::map<std::uint32_t, std::uint32_t> warps;  // by block
  for (std::size_t i = 0; i < litmus.threads.size(); ++i) {
    const LitmusThread& thread = litmus.threads[i];
    text += fmt::format(
        "  setp.ne.u32 %is, %block, {};\n  @%is bra NEXT{};\n"
        "  setp.ne.u32 %is, %thread, {};\n  @%is bra NEXT{};\n",
        thread.block, i, warps[thread.block]++ * 32, i);
    std::string own = thread.text;
    for (std::size_t at = own.find('@'); at != std::string::npos; at = own.find('@', at + 1)) {
      if (own.compare(at, 2, "@L") == 0) {
        own.replace(at, 2, fmt::format("L{}_", i));
      }
    }
    text += own + "\n";
    for (std::uint32_t k = 0; k < kRegisters; ++k) {
      text += fmt::format("  st.global.u32 [%out+{}], %r{};\n", (i * kRegisters + k) * 4, k);
    }
    text += fmt::format("  bra END;\nNEXT{}:\n", i);
  }
  return text + "END:\n  ret;\n}\n";
}

Outcomes run_litmus(const Litmus& litmus, const Weakness& weakness, const LitmusRun& run) {
  MachineOptions options;
  options.seed = weakness.seed;
  options.weakness = weakness;
  Device device(litmus_text(litmus), options);
  std::map<std::uint32_t, std::uint32_t> warps;
  std::uint32_t most = 1, blocks = 1;
  for (const LitmusThread& thread : litmus.threads) {
    most = std::max(most, ++warps[thread.block]);
    blocks = std::max(blocks, thread.block + 1);
  }
  const std::uint64_t x = device.buffer(std::vector<std::uint32_t>(kWords, 0));
  const std::size_t results = litmus.threads.size() * kRegisters;
  const std::uint64_t out = device.buffer(std::vector<std::uint32_t>(results, 0));
  Outcomes outcomes;
  for (int i = 0; i < run.times; ++i) {
    std::memset(reinterpret_cast<void*>(x), 0, kWords * 4);
    device.run_well("k", shape({blocks}, {most * 32}), x, out);
    const auto all = device.read<std::uint32_t>(out, results);
    std::vector<std::uint32_t> seen;
    for (std::size_t thread = 0; thread < litmus.threads.size(); ++thread) {
      const auto* first = all.data() + thread * kRegisters;
      seen.insert(seen.end(), first, first + run.registers);
    }
    ++outcomes[seen];
  }
  return outcomes;
}

}  // namespace barracuda::emulator::test
