// Inline assembly as people write it: nested scopes, names without %, several statements a line.
__global__ void assembly(unsigned* data, unsigned long long* clock) {
  unsigned value = data[threadIdx.x], result = 0;
  asm volatile(
      "{ .reg .pred p; .reg .u32 add, r<4>; add.u32 add, %1, 1; mov.u32 r0, add; /* why */ "
      "setp.gt.u32 p, "
      "r0, 3;\n"
      "  { .reg .u32 r0; mov.u32 r0, %%laneid; @p add.u32 add, add, r0; }\n"
      "  @!p bra done_%=;\n mad.lo.u32 add, r0, (1+2)*3, -(4<<2); // more\n"
      "done_%=: mov.u32 %0, add; }"
      : "=r"(result)
      : "r"(value)
      : "memory");
  asm volatile("{.reg .pred p, q; setp.eq.or.u32 p|q, %1, 0x1F, !p; selp.u32 %0, 1, 0, q;}"
               : "+r"(result)
               : "r"(value));
  asm volatile(
      "st.relaxed.gpu.global.u32 [%0+-4], %1; fence.gpu.acq_rel; ld.global.gpu.acquire.u32 %2, "
      "[%0+(4*2)];"
      :
      : "l"(data + threadIdx.x), "r"(result), "r"(value)
      : "memory");
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock[threadIdx.x]));
  asm volatile("{ .reg .v2 .u32 v; mov.b64 {v.x, v.y}, %0; atom.add.release.gpu.u32 _, [%0], v.x; }"
               :
               : "l"(data)
               : "memory");
  data[threadIdx.x] = result;
}
