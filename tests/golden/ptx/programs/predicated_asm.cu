// Predicated memory instructions, shadowed registers and odd operand forms, which nvcc itself never
// writes.
__global__ void predicated(int* p, int n) {
  __shared__ int shared[32];
  asm volatile(
      "{ .reg .pred p; .reg .b64 %rd1; .reg .b32 value;\n"
      "  setp.gt.s32 p, %1, 3;\n"
      "  mov.b64 %rd1, %0;\n"
      "  @p ld.global.b32 value, [%rd1];\n"
      "  @!p mov.b32 value, 4;\n"
      "  @p st.global.b32 [%rd1+4], value;\n"
      "  @!p st.global.b32 [%rd1+8], -1;\n"
      "  @p atom.global.add.u32 _, [%rd1], 1;\n"
      "  @!p red.global.add.u32 [%rd1], value;\n"
      "  @p membar.gl;\n"
      "  @p st.volatile.global.u32 [%rd1], value;\n"
      "  @!p ld.acquire.gpu.global.u32 value, [%rd1];\n"
      "  @p st.release.gpu.global.u32 [%rd1], value;\n"
      "  @!p atom.acq_rel.gpu.global.cas.b32 value, [%rd1], 0, 1;\n"
      "}" ::"l"(p),
      "r"(n)
      : "memory");
  asm volatile(
      "{ .reg .b64 address; .reg .b32 x, y, z, w; .reg .v2 .b32 v;\n"
      "  mov.b64 address, %0;\n"
      "  ld.global.v4.b32 {x, y, z, w}, [address];\n"
      "  st.global.v4.b32 [address+16], {w, 3, y, x};\n"
      "  .reg .b32 low; mov.b32 v.x, x; mov.b32 low, v.x; st.global.b8 [address+64], low;\n"
      "  ld.global.b64 address, [address];\n"
      "}" ::"l"(p)
      : "memory");
  asm volatile(
      "{ .reg .b32 id; mov.b32 id, 1; barrier.sync id, 64; bar.arrive 2, 64; bar.warp.sync -1;\n"
      "  .reg .pred q; setp.eq.s32 q, %0, 77; @q exit; }" ::"r"(n));
  shared[threadIdx.x % 32] = n;
  p[0] = shared[0];
}
