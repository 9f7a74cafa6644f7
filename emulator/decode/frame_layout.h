// Where the registers of a function lie in its frame. Those whose values are never wanted at the
// same time share a place, but only with registers of their own width: the lanes of a warp may
// stand at different steps, and only then is a lane's part of a place its own.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/decode/register_uses.h"

namespace barracuda::emulator {

struct FrameLayout {
  std::vector<Slot> slots;  // by the register's number
  std::uint32_t bytes = 0;
};

FrameLayout lay_out_frame(const std::vector<RegisterClass>& classes,
                          const std::vector<std::vector<Stretch>>& stretches, std::uint32_t steps);

}  // namespace barracuda::emulator
