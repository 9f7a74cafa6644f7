// Every name that libcuda.so exports, at one address: enough for the linker, never run.
.text
#define FUNCTION(x, ...) .globl x; .type x, @function; x:;
#include "emulator/libcuda.def"
  ud2
.section .note.GNU-stack, "", @progbits
