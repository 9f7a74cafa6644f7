// Runs a target on the files of the folders that are given: what was found once stays found where
// there is no libFuzzer.
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "fuzz_target.h"

int main(int count, char** folders) {
  int inputs = 0;
  for (int i = 1; i < count; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(folders[i])) {
      const auto content = barracuda::read_file(entry.path());
      if (!content) {
        std::fprintf(stderr, "%s\n", content.error().to_string().c_str());
        return 1;
      }
      // Said before, so that the last line names the input at which it crashed.
      std::printf("%s\n", entry.path().c_str());
      (void)std::fflush(stdout);
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(content->data()),
                             content->size());
      ++inputs;
    }
  }
  return inputs == 0 ? 1 : 0;
}
