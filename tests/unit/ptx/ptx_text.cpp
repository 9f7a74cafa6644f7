#include "ptx_text.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ptx/parse.h"

namespace barracuda::ptx {

std::string kernel_text(std::string_view body) {
  return fmt::format(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 p)\n{{\n"
      "{}\n}}\n",
      body);
}

Module parse_module(std::string text) {
  auto module = parse(std::move(text));
  if (!module) {
    FAIL(module.error().to_string());
  }
  return std::move(*module);
}

InstrumentedModule instrument_text(std::string text, const InstrumentOptions& options) {
  std::vector<Module> units;
  units.push_back(parse_module(std::move(text)));
  auto instrumented = instrument(std::move(units), options);
  INFO((instrumented ? "" : instrumented.error().to_string()));
  REQUIRE(instrumented);
  return std::move(*instrumented);
}

Module parse_kernel(std::string_view body) {
  return parse_module(kernel_text(body));
}

std::vector<const Statement*> body_of(const Module& module) {
  std::vector<const Statement*> body;
  const Function& function = module.functions.at(0);
  for (std::size_t i = function.body_begin + 1; i < function.body_end; ++i) {
    body.push_back(&module.statements[i]);
  }
  return body;
}

Instruction parse_instruction(std::string_view text) {
  // What the instruction's views point into lives as long as the tests run.
  static std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::make_unique<Module>(parse_kernel(text)));
  const auto body = body_of(*modules.back());
  const auto found = std::ranges::find_if(body, [](const Statement* statement) {
    return statement->kind == StatementKind::kInstruction;
  });
  REQUIRE(found != body.end());
  return (*found)->instruction;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> corpus(std::string_view suffix) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(BARRACUDA_PTX_CORPUS)) {
    if (entry.path().extension() == ".ptx" && entry.path().filename().string().ends_with(suffix)) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  REQUIRE_FALSE(paths.empty());
  return paths;
}

}  // namespace barracuda::ptx
