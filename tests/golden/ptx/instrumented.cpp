#include "instrumented.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/file.h"
#include "ptx/parse.h"

namespace barracuda::ptx {

InstrumentedModule instrument_files(const std::vector<std::string>& paths,
                                    const InstrumentOptions& options) {
  std::vector<Module> units;
  for (const std::string& path : paths) {
    auto text = read_file(path);
    REQUIRE(text);
    auto unit = parse(std::move(*text));
    INFO(path << (unit ? "" : unit.error().to_string()));
    REQUIRE(unit);
    units.push_back(std::move(*unit));
  }
  auto instrumented = instrument(std::move(units), options);
  INFO(paths.front() << (instrumented ? "" : ": " + instrumented.error().to_string()));
  REQUIRE(instrumented);
  return std::move(*instrumented);
}

std::string assemble(const std::string& text, std::string* machine_code) {
  const auto module = parse(text);
  if (!module) {
    return module.error().to_string();
  }
  return assemble_for(std::string(module->target), text, machine_code);
}

std::string assemble_for(const std::string& target, const std::string& text,
                         std::string* machine_code) {
#ifdef BARRACUDA_WITHOUT_PTXAS
  if (machine_code == nullptr) {
    return {};
  }
#endif
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("barracuda-assemble-{}", getpid());
  std::filesystem::create_directories(folder);
  const std::string input = folder / "module.ptx", said = folder / "said.txt";
  const std::string output = folder / "out";
  REQUIRE(write_file(input, text));
  // As the tool has it compiled (preload/machine_code.cpp); four times as fast as without.
  const std::string command = fmt::format("{} --Ofast-compile=min -arch={} {} -o {} > {} 2>&1",
                                          BARRACUDA_PTXAS, target, input, output, said);
  const int status = std::system(command.c_str());
  std::string answer = status == 0 ? std::string{} : read_file(said).value_or("ptxas failed");
  if (machine_code != nullptr) {
    *machine_code = read_file(output).value_or("");
  }
  std::filesystem::remove_all(folder);
  return answer;
}

}  // namespace barracuda::ptx
