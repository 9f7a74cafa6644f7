#include "ptx/analysis/async_registers.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "ptx/analysis/source_frames.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::async_registers {
namespace {

// Without optimisation each register is written to memory at once: what the compiler does then is
// not what the program says.
bool is_for_debugging(const Module& module) {
  return std::ranges::any_of(module.statements, [](const Statement& statement) {
    return statement.kind == StatementKind::kTarget &&
           std::ranges::find(statement.targets, "debug") != statement.targets.end();
  });
}

class FunctionReader {
 public:
  FunctionReader(Program& program, SourceFrames& frames, std::uint32_t index)
      : program_(program), frames_(frames), index_(index) {}

  // One for each pair of lines.
  void read() {
    std::set<
        std::tuple<RegisterHazard::Kind, std::string, std::uint32_t, std::string, std::uint32_t>>
        lines;
    for (const FoundHazard& found : find_register_hazards(program_, index_)) {
      RegisterHazard hazard{.kind = found.kind,
                            .function = std::string(program_.function(index_).name),
                            .register_name = std::string(found.register_name),
                            .product = place(found.product),
                            .touch = place(found.touch)};
      const SourceFrame &product = hazard.product.frames.front(),
                        &touch = hazard.touch.frames.front();
      if (touch.line == 0 ||
          lines.emplace(found.kind, product.file, product.line, touch.file, touch.line).second) {
        program_.register_hazards.push_back(std::move(hazard));
      }
    }
  }

 private:
  RegisterHazard::Place place(std::size_t statement) {
    const Statement& at = program_.module.statements[statement];
    frames_.enter(program_.function(index_));
    return {.instruction = name_of(at.instruction),
            .ptx_line = at.position.line,
            .frames = frames_.at(statement)};
  }

  Program& program_;
  SourceFrames& frames_;
  std::uint32_t index_;
};

}  // namespace

Expected<void> run(Program& program) {
  if (is_for_debugging(program.module)) {
    return {};
  }
  SourceFrames frames(program.module);
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    if (program.functions[i].is_instrumented) {
      FunctionReader(program, frames, i).read();
    }
  }
  return {};
}

}  // namespace barracuda::ptx::async_registers
