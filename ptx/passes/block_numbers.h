// Lets a launch choose which block of the program each block of the device is: what reads %ctaid
// gets the number that the logger makes of it (device_logger/block_order.h).
#pragma once

#include "base/expected.h"

namespace barracuda::ptx {

struct Program;

namespace block_numbers {
Expected<void> run(Program& program);
}  // namespace block_numbers

}  // namespace barracuda::ptx
