// Damaged PTX: whatever the bytes, parsing ends with a module or with a place in the text.
#include <array>
#include <chrono>
#include <random>

#include <catch2/catch.hpp>

#include "ptx/control_flow.h"
#include "ptx/opcode.h"
#include "ptx/parse.h"
#include "ptx/print.h"
#include "ptx_text.h"

namespace barracuda::ptx {

namespace {

constexpr std::chrono::seconds kBudget{4};
constexpr int kMinimumRounds = 50;  // on the busiest machine
constexpr int kMaximumRounds = 20'000;
constexpr std::size_t kMaximumText = 60'000;

// Pieces that grammar hangs on.
constexpr auto kPieces = std::to_array<std::string_view>({"{",
                                                          "}",
                                                          "[",
                                                          "]",
                                                          "(",
                                                          ")",
                                                          ";",
                                                          ",",
                                                          "/*",
                                                          "*/",
                                                          "//",
                                                          "\"",
                                                          "@",
                                                          "@@",
                                                          "!",
                                                          "-",
                                                          "+",
                                                          "|",
                                                          "_",
                                                          "%r1",
                                                          "0f3F800000",
                                                          "0d",
                                                          "0x",
                                                          "999999999999999999999",
                                                          "1/0",
                                                          ".reg .b32 %q<5>;",
                                                          ".func f",
                                                          ".entry k(",
                                                          ".section .s {",
                                                          ".loc 1 2 3",
                                                          ", function_name x, inlined_at 1 2 3",
                                                          "L:",
                                                          ".branchtargets",
                                                          ".callprototype",
                                                          "call (",
                                                          "ld.global.u32",
                                                          "::",
                                                          ".",
                                                          "<",
                                                          ">",
                                                          "=",
                                                          "generic(",
                                                          "?",
                                                          ":",
                                                          "\n",
                                                          "\\",
                                                          "0(",
                                                          "WARP_SZ",
                                                          ".param .b8 x[",
                                                          "\0",
                                                          "\xff"});

void mutate(std::string& text, std::mt19937& random) {
  if (text.empty()) {
    text = " ";
  }
  const auto position = [&] { return random() % text.size(); };
  const auto length = [&] { return 1 + random() % 40; };
  switch (random() % 6) {
    case 0:
      text.erase(position(), length());
      break;
    case 1:
      text.insert(position(), kPieces[random() % kPieces.size()]);
      break;
    case 2:
      text[position()] = static_cast<char>(random());
      break;
    case 3:
      text.insert(position(), text.substr(position(), length() * 5));
      break;
    case 4:
      text.resize(position());
      break;
    default:
      std::swap(text[position()], text[position()]);
      break;
  }
}

// Everything that reads a module must bear what the parser lets through.
void use(const std::string& text) {
  const auto module = parse(text);
  if (!module) {
    CHECK_FALSE(module.error().message.empty());
    CHECK(module.error().line > 0);
    CHECK(module.error().column > 0);
    return;
  }
  for (const Statement& statement : module->statements) {
    if (statement.kind == StatementKind::kInstruction) {
      const Effect effect = classify(statement.instruction);
      CHECK(effect.elements > 0);
    }
  }
  for (const Function& function : module->functions) {
    const auto flow = build_control_flow(*module, function);
    CHECK((flow || !flow.error().message.empty()));
  }
  const auto again = parse(print(*module));
  CHECK(again);
  CHECK((!again || equal(*module, *again)));
}

}  // namespace

TEST_CASE("damaged files end in a module or in an error with its place") {
  std::mt19937 random(20250101);
  std::vector<std::string> texts;
  for (const auto& path : corpus("sm_90.ptx")) {
    texts.push_back(read_text(path).substr(0, kMaximumText));
  }
  const auto end = std::chrono::steady_clock::now() + kBudget;
  int rounds = 0;
  while (rounds < kMinimumRounds ||
         (rounds < kMaximumRounds && std::chrono::steady_clock::now() < end)) {
    std::string text = texts[random() % texts.size()];
    for (auto i = 1 + random() % 4; i > 0; --i) {
      mutate(text, random);
    }
    CAPTURE(rounds);
    use(text);
    ++rounds;
  }
}

TEST_CASE("random pieces of grammar end in a module or in an error") {
  std::mt19937 random(99);
  for (int round = 0; round < 30'000; ++round) {
    std::string body;
    for (auto i = random() % 12; i > 0; --i) {
      body += kPieces[random() % kPieces.size()];
      body += random() % 2 == 0 ? " " : "";
    }
    CAPTURE(body);
    use(kernel_text(body));
    use(body);
  }
}

TEST_CASE("every prefix of a module ends in a module or in an error") {
  const std::string text = read_text(corpus("inline_asm.sm_90.ptx").front());
  for (std::size_t length = 0; length <= text.size(); ++length) {
    use(text.substr(0, length));
  }
}

}  // namespace barracuda::ptx
