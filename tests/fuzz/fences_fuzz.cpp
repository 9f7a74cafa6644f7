// Any text as a fences file: an error that says where, or lines that are read back as they were.
#include <string_view>

#include "base/assert.h"
#include "fuzz_target.h"
#include "ptx/fence_text.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace ptx = barracuda::ptx;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto fences = ptx::parse_fences(text, "fences");
  if (!fences) {
    ASSERT(!fences.error().message.empty() && fences.error().line != 0);
    return 0;
  }
  for (const ptx::FenceLine& fence : *fences) {
    if (!fence.place || !std::holds_alternative<ptx::InsertFence>(fence.edit.change)) {
      continue;
    }
    const auto& insert = std::get<ptx::InsertFence>(fence.edit.change);
    const auto again = ptx::parse_fences(ptx::fence_line(*fence.place, insert.fence), "again");
    ASSERT(again && again->size() == 1);
    ASSERT(again->front().edit.at == fence.edit.at && again->front().place == fence.place);
  }
  return 0;
}
