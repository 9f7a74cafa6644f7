#include "ptx/analysis/source_frames.h"

#include <catch2/catch.hpp>

#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

// "3 < 7": the lines of each instruction after the other, innermost first.
class Frames {
 public:
  explicit Frames(const std::string& body) : module_(parse_kernel(body)), frames_(module_) {
    frames_.enter(module_.functions.front());
  }

  std::string next() {
    while (module_.statements[at_].kind != StatementKind::kInstruction) {
      ++at_;
    }
    std::string text;
    for (const SourceFrame& frame : frames_.at(at_++)) {
      text += (text.empty() ? "" : " < ") + std::to_string(frame.line);
    }
    return text;
  }

 private:
  Module module_;
  SourceFrames frames_;
  std::size_t at_ = 0;
};

TEST_CASE("a chain of inlined calls leads to the line of the kernel") {
  Frames frames(
      ".loc 1 7 3\n.loc 2 5 1, function_name f, inlined_at 1 7 3\n"
      ".loc 3 9 1, function_name g, inlined_at 2 5 1\nnanosleep.u32 1;\n.loc 1 8 3\n"
      "nanosleep.u32 1;\n");
  CHECK(frames.next() == "9 < 5 < 7");
  CHECK(frames.next() == "8");
}

TEST_CASE("a template that is inlined at its own place has an end") {
  Frames frames(
      ".loc 1 7 3\n.loc 3 146 5, function_name a, inlined_at 1 7 3\n"
      ".loc 3 143 7, function_name b, inlined_at 3 146 5\nnanosleep.u32 1;\n"
      ".loc 3 146 5, function_name b, inlined_at 3 146 5\n"
      ".loc 3 143 7, function_name c, inlined_at 3 146 5\nnanosleep.u32 1;\n"
      ".loc 3 146 5, function_name c, inlined_at 3 146 5\nnanosleep.u32 1;\n");
  CHECK(frames.next() == "143 < 146 < 7");
  CHECK(frames.next() == "143 < 146 < 146 < 7");
  CHECK(frames.next() == "146 < 146 < 146 < 7");
}

TEST_CASE("two calls of one function on two lines stay apart, though code has moved between them") {
  Frames frames(
      ".loc 1 7 3\n.loc 2 24 5, function_name sum, inlined_at 1 7 3\n"
      ".loc 3 82 5, function_name all, inlined_at 2 24 5\nnanosleep.u32 1;\n"
      // An address of the second call, computed early.
      ".loc 1 8 3\n.loc 2 24 5, function_name sum, inlined_at 1 8 3\n"
      ".loc 3 84 7, function_name all, inlined_at 2 24 5\nnanosleep.u32 1;\n"
      // The first call again.
      ".loc 3 82 5, function_name all, inlined_at 2 24 5\nnanosleep.u32 1;\n"
      ".loc 3 84 7, function_name all, inlined_at 2 24 5\nnanosleep.u32 1;\n"
      ".loc 3 90 7, function_name all, inlined_at 2 24 5\nnanosleep.u32 1;\n"
      // The second.
      ".loc 1 8 3\nnanosleep.u32 1;\n"
      ".loc 3 82 5, function_name all, inlined_at 2 24 5\nnanosleep.u32 1;\n"
      ".loc 3 90 7, function_name all, inlined_at 2 24 5\nnanosleep.u32 1;\n");
  CHECK(frames.next() == "82 < 24 < 7");
  CHECK(frames.next() == "84 < 24 < 8");
  CHECK(frames.next() == "82 < 24 < 7");
  CHECK(frames.next() == "84 < 24 < 7");
  CHECK(frames.next() == "90 < 24 < 7");
  CHECK(frames.next() == "8");
  CHECK(frames.next() == "82 < 24 < 8");
  CHECK(frames.next() == "90 < 24 < 8");
}

TEST_CASE("a place that nobody defined ends the chain") {
  Frames frames(".loc 3 9 1, function_name g, inlined_at 2 5 1\nnanosleep.u32 1;\n");
  CHECK(frames.next() == "9 < 5");
}

TEST_CASE("a chain without end is cut") {
  std::string text = ".loc 1 7 3\n.loc 2 5 1, function_name f, inlined_at 1 7 3\n";
  for (int i = 0; i < 2000; ++i) {
    text += ".loc 2 5 1, function_name f" + std::to_string(i) + ", inlined_at 2 5 1\n";
  }
  Frames frames(text + "nanosleep.u32 1;\n");
  CHECK(frames.next().size() < 3000);
}

}  // namespace
}  // namespace barracuda::ptx
