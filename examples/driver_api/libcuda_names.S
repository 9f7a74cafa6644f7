// Every name that libcuda.so exports, at one address: enough for the linker, never run.
.text
#define NAME(x) .globl x; .type x, @function; x:
#include "emulator/driver_names.def"
  ud2
.section .note.GNU-stack, "", @progbits
