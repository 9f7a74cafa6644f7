#include "cli/option_docs.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/options.h"

namespace barracuda::cli {
namespace {

TEST_CASE("docs/OPTIONS.md is current, tools/generate_option_docs.sh writes it") {
  CHECK(*read_file(BARRACUDA_SOURCE_DIR "/docs/OPTIONS.md") == options_as_markdown());
}

TEST_CASE("every option has a row") {
  const std::string page = options_as_markdown();
  for (const OptionDescription& option : option_descriptions()) {
    INFO(option.name);
    CHECK(page.find("\n| `" + std::string(option.name) + "` |") != std::string::npos);
  }
}

}  // namespace
}  // namespace barracuda::cli
