// Integer, bit and comparison forms.
#include <algorithm>
#include <limits>

#include "tests/unit/emulator/forms.h"

using namespace barracuda::emulator::test;  // NOLINT(google-build-using-namespace)

namespace {

__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

const std::vector<u64> kValues = {0,
                                  1,
                                  5,
                                  31,
                                  33,
                                  0x7fff,
                                  0x8000,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  0x123456789abcdef0,
                                  0x7fffffffffffffff,
                                  0x8000000000000000,
                                  0xfffffffffffffff3};

u32 lo(u64 v) {
  return static_cast<u32>(v);
}

s32 si(u64 v) {
  return static_cast<s32>(v);
}

s64 sl(u64 v) {
  return static_cast<s64>(v);
}

u64 w(s32 v) {
  return static_cast<u32>(v);
}

u64 w16(s32 v) {
  return static_cast<u16>(v);
}

s16 sh(u64 v) {
  return static_cast<s16>(v);
}

template <class T>
T wrapping_divide(T a, T b) {
  return b == 0                                            ? T(-1)
         : b == T(-1) && std::numeric_limits<T>::is_signed ? T(0 - std::make_unsigned_t<T>(a))
                                                           : T(a / b);
}

template <class T>
T wrapping_remainder(T a, T b) {
  return b == 0 ? a : b == T(-1) && std::numeric_limits<T>::is_signed ? T(0) : T(a % b);
}

u64 bfe_u(u64 v, u32 position, u32 length, u32 width) {
  u64 result = 0;
  for (u32 i = 0; i < std::min(length, width); ++i) {
    const u32 bit = position + i;
    result |= bit < width ? ((v >> bit) & 1) << i : 0;
  }
  return result;
}

u64 bfe_s(u64 v, u32 position, u32 length, u32 width) {
  if (length == 0) {
    return 0;
  }
  u64 result = 0;
  const u32 sign_bit = std::min(position + length - 1, width - 1);
  const u64 sign = (v >> sign_bit) & 1;
  for (u32 i = 0; i < width; ++i) {
    const u32 bit = position + i;
    result |= (i < length && bit < width ? (v >> bit) & 1 : sign) << i;
  }
  return result;
}

u64 bfi(u64 a, u64 b, u32 position, u32 length, u32 width) {
  for (u32 i = 0; i < length && position + i < width; ++i) {
    b = (b & ~(u64{1} << (position + i))) | ((a >> i) & 1) << (position + i);
  }
  return b;
}

}  // namespace

TEST_CASE("integer arithmetic of all widths agrees with the host's") {
  check_forms(
      {{"add.s32 %r, %a, %b;", [](u64 x, u64 y, u64) { return u64{lo(x) + lo(y)}; }},
       {"add.u64 %R, %x, %y;", [](u64 x, u64 y, u64) { return x + y; }},
       {"add.s16 %s, %h, %i;", [](u64 x, u64 y, u64) { return w16(sh(x) + sh(y)); }},
       {"sub.s32 %r, %a, 7;", [](u64 x, u64, u64) { return u64{lo(x) - 7}; }},
       {"sub.s64 %R, %x, %y;", [](u64 x, u64 y, u64) { return x - y; }},
       {"add.sat.s32 %r, %a, %b;",
        [](u64 x, u64 y, u64) {
          return w(static_cast<s32>(std::clamp<s64>(s64{si(x)} + si(y), INT32_MIN, INT32_MAX)));
        }},
       {"sub.sat.s32 %r, %a, %b;",
        [](u64 x, u64 y, u64) {
          return w(static_cast<s32>(std::clamp<s64>(s64{si(x)} - si(y), INT32_MIN, INT32_MAX)));
        }},
       {"mul.lo.s32 %r, %a, %b;", [](u64 x, u64 y, u64) { return u64{lo(x) * lo(y)}; }},
       {"mul.hi.s32 %r, %a, %b;",
        [](u64 x, u64 y, u64) { return w(si((s64{si(x)} * si(y)) >> 32)); }},
       {"mul.hi.u32 %r, %a, %b;", [](u64 x, u64 y, u64) { return (u64{lo(x)} * lo(y)) >> 32; }},
       {"mul.wide.s32 %R, %a, %b;",
        [](u64 x, u64 y, u64) { return static_cast<u64>(s64{si(x)} * si(y)); }},
       {"mul.wide.u32 %R, %a, %b;", [](u64 x, u64 y, u64) { return u64{lo(x)} * lo(y); }},
       {"mul.wide.s16 %r, %h, %i;", [](u64 x, u64 y, u64) { return w(sh(x) * sh(y)); }},
       {"mul.wide.u16 %r, %h, %i;", [](u64 x, u64 y, u64) { return u64{u32{u16(x)} * u16(y)}; }},
       {"mul.lo.s64 %R, %x, %y;", [](u64 x, u64 y, u64) { return x * y; }},
       {"mul.hi.s64 %R, %x, %y;",
        [](u64 x, u64 y, u64) { return static_cast<u64>((s128{sl(x)} * sl(y)) >> 64); }},
       {"mul.hi.u64 %R, %x, %y;",
        [](u64 x, u64 y, u64) { return static_cast<u64>((u128{x} * y) >> 64); }},
       {"mul.hi.u16 %s, %h, %i;",
        [](u64 x, u64 y, u64) { return u64{(u32{u16(x)} * u16(y)) >> 16}; }},
       {"mul.lo.s16 %s, %h, %i;", [](u64 x, u64 y, u64) { return w16(sh(x) * sh(y)); }},
       {"mad.lo.s32 %r, %a, %b, %c;",
        [](u64 x, u64 y, u64 z) { return u64{lo(x) * lo(y) + lo(z)}; }},
       {"mad.hi.u32 %r, %a, %b, %c;",
        [](u64 x, u64 y, u64 z) { return u64{lo((u64{lo(x)} * lo(y)) >> 32) + lo(z)}; }},
       {"mad.wide.s32 %R, %a, %b, %z;",
        [](u64 x, u64 y, u64 z) { return static_cast<u64>(s64{si(x)} * si(y)) + z; }},
       {"mad.lo.s64 %R, %x, %y, %z;", [](u64 x, u64 y, u64 z) { return x * y + z; }},
       {"div.s32 %r, %a, %b;", [](u64 x, u64 y, u64) { return w(wrapping_divide(si(x), si(y))); }},
       {"div.u32 %r, %a, %b;",
        [](u64 x, u64 y, u64) { return u64{wrapping_divide(lo(x), lo(y))}; }},
       {"div.s64 %R, %x, %y;",
        [](u64 x, u64 y, u64) { return static_cast<u64>(wrapping_divide(sl(x), sl(y))); }},
       {"div.u64 %R, %x, %y;", [](u64 x, u64 y, u64) { return wrapping_divide(x, y); }},
       {"rem.s32 %r, %a, %b;",
        [](u64 x, u64 y, u64) { return w(wrapping_remainder(si(x), si(y))); }},
       {"rem.u32 %r, %a, %b;",
        [](u64 x, u64 y, u64) { return u64{wrapping_remainder(lo(x), lo(y))}; }},
       {"rem.u64 %R, %x, %y;", [](u64 x, u64 y, u64) { return wrapping_remainder(x, y); }},
       {"min.s32 %r, %a, %b;", [](u64 x, u64 y, u64) { return w(std::min(si(x), si(y))); }},
       {"max.u32 %r, %a, %b;", [](u64 x, u64 y, u64) { return u64{std::max(lo(x), lo(y))}; }},
       {"min.s64 %R, %x, %y;",
        [](u64 x, u64 y, u64) { return static_cast<u64>(std::min(sl(x), sl(y))); }},
       {"max.u16 %s, %h, %i;", [](u64 x, u64 y, u64) { return u64{std::max(u16(x), u16(y))}; }},
       {"abs.s32 %r, %a;", [](u64 x, u64, u64) { return u64{si(x) < 0 ? 0 - lo(x) : lo(x)}; }},
       {"neg.s64 %R, %x;", [](u64 x, u64, u64) { return 0 - x; }},
       {"sad.s32 %r, %a, %b, %c;",
        [](u64 x, u64 y, u64 z) {
          return u64{lo(z) + (si(x) < si(y) ? lo(y) - lo(x) : lo(x) - lo(y))};
        }},
       {"dp4a.s32.u32 %r, %a, %b, %c;",
        [](u64 x, u64 y, u64 z) {
          u32 sum = lo(z);
          for (int i = 0; i < 32; i += 8) {
            sum += static_cast<u32>(static_cast<std::int8_t>(x >> i) *
                                    static_cast<std::uint8_t>(y >> i));
          }
          return u64{sum};
        }},
       {"dp4a.s32.s32 %r, %a, %b, %c;",
        [](u64 x, u64 y, u64 z) {
          u32 sum = lo(z);
          for (int i = 0; i < 32; i += 8) {
            sum += static_cast<u32>(static_cast<std::int8_t>(x >> i) *
                                    static_cast<std::int8_t>(y >> i));
          }
          return u64{sum};
        }},
       {"vabsdiff4.u32.u32.u32 %r, %a, %b, %c;",
        [](u64 x, u64 y, u64) {
          u32 bytes = 0;
          for (int i = 0; i < 32; i += 8) {
            const int difference =
                static_cast<int>((x >> i) & 255) - static_cast<int>((y >> i) & 255);
            bytes |= static_cast<u32>(std::abs(difference)) << i;
          }
          return u64{bytes};
        }},
       {"dp2a.hi.u32.s32 %r, %a, %b, %c;",
        [](u64 x, u64 y, u64 z) {
          return u64{
              lo(z) +
              static_cast<u32>(static_cast<s32>(u16(x)) * static_cast<std::int8_t>(y >> 16)) +
              static_cast<u32>(static_cast<s32>(u16(x >> 16)) * static_cast<std::int8_t>(y >> 24))};
        }},
       {"vabsdiff4.u32.u32.u32.add %r, %a, %b, %c;",
        [](u64 x, u64 y, u64 z) {
          u32 sum = lo(z);
          for (int i = 0; i < 32; i += 8) {
            sum += static_cast<u32>(
                std::abs(static_cast<int>((x >> i) & 255) - static_cast<int>((y >> i) & 255)));
          }
          return u64{sum};
        }}},
      kValues);
}

TEST_CASE("carries go from one instruction to the next, lane by lane") {
  check_forms(
      {{"add.cc.u32 %r2, %a, %b; addc.u32 %r, %c, 0;",
        [](u64 x, u64 y, u64 z) { return u64{lo(z) + (lo(x) + lo(y) < lo(x) ? 1U : 0U)}; }},
       {"sub.cc.u32 %r2, %a, %b; subc.u32 %r, %c, %a;",
        [](u64 x, u64 y, u64 z) { return u64{lo(z) - lo(x) - (lo(x) < lo(y) ? 1U : 0U)}; }},
       {"mad.lo.cc.u32 %r2, %a, %b, %c; madc.hi.u32 %r, %a, %b, 5;",
        [](u64 x, u64 y, u64 z) {
          const u64 product = u64{lo(x)} * lo(y);
          return u64{lo((product + lo(z)) >> 32) + 5};
        }},
       {"add.cc.u32 %r2, %a, %b; addc.cc.u32 %r2, %b, %c; addc.u32 %r, 0, 0;",
        [](u64 x, u64 y, u64 z) {
          const u64 carry = lo(x) + lo(y) < lo(x) ? 1 : 0;
          return (u64{lo(y)} + lo(z) + carry) >> 32;
        }},
       {"sub.cc.u32 %r2, %a, %b; subc.cc.u32 %r2, %b, %c; subc.u32 %r, 0, 0;",
        [](u64 x, u64 y, u64 z) {
          const u64 borrow = lo(x) < lo(y) ? 1 : 0;
          return u64{lo(y)} < lo(z) + borrow ? 0xffffffffU : u64{0};
        }},
       {"mad.lo.cc.u32 %r2, %a, %b, %c; madc.lo.cc.u32 %r2, %b, %c, %a; addc.u32 %r, %r2, 0;",
        [](u64 x, u64 y, u64 z) {
          const u64 first = u64{lo(lo(x) * lo(y))} + lo(z);
          const u64 second = u64{lo(lo(y) * lo(z))} + lo(x) + (first >> 32);
          return u64{lo(second + (second >> 32))};
        }},
       {"mad.lo.cc.u32 %r2, %a, %b, %c; madc.hi.cc.u32 %r2, %b, %c, %a; addc.u32 %r, %r2, 0;",
        [](u64 x, u64 y, u64 z) {
          const u64 first = u64{lo(lo(x) * lo(y))} + lo(z);
          const u64 second = ((u64{lo(y)} * lo(z)) >> 32) + lo(x) + (first >> 32);
          return u64{lo(second + (second >> 32))};
        }},
       {"add.cc.u64 %R, %x, %y; addc.u64 %R, %z, %z;",
        [](u64 x, u64 y, u64 z) { return z + z + (x + y < x ? 1 : 0); }}},
      kValues);
}

TEST_CASE("bit operations agree with bit by bit definitions") {
  check_forms(
      {{"and.b32 %r, %a, %b;", [](u64 x, u64 y, u64) { return u64{lo(x) & lo(y)}; }},
       {"or.b64 %R, %x, %y;", [](u64 x, u64 y, u64) { return x | y; }},
       {"xor.b16 %s, %h, %i;", [](u64 x, u64 y, u64) { return (x ^ y) & 0xffff; }},
       {"not.b32 %r, %a;", [](u64 x, u64, u64) { return u64{~lo(x)}; }},
       {"not.b16 %s, %h;", [](u64 x, u64, u64) { return ~x & 0xffff; }},
       {"cnot.b32 %r, %a;", [](u64 x, u64, u64) { return u64{lo(x) == 0}; }},
       {"shl.b32 %r, %a, %b;",
        [](u64 x, u64 y, u64) { return lo(y) > 31 ? 0 : u64{lo(x) << lo(y)}; }},
       {"shr.u32 %r, %a, %b;",
        [](u64 x, u64 y, u64) { return lo(y) > 31 ? 0 : u64{lo(x) >> lo(y)}; }},
       {"shr.s32 %r, %a, %b;", [](u64 x, u64 y, u64) { return w(si(x) >> std::min(lo(y), 31U)); }},
       {"shl.b64 %R, %x, %b;", [](u64 x, u64 y, u64) { return lo(y) > 63 ? 0 : x << lo(y); }},
       {"shr.s64 %R, %x, %b;",
        [](u64 x, u64 y, u64) { return static_cast<u64>(sl(x) >> std::min(lo(y), 63U)); }},
       {"shr.u16 %s, %h, %b;",
        [](u64 x, u64 y, u64) { return lo(y) > 15 ? 0 : u64{u16(x)} >> lo(y); }},
       {"shl.b16 %s, %h, %b;",
        [](u64 x, u64 y, u64) { return lo(y) > 15 ? 0 : (x << lo(y)) & 0xffff; }},
       {"popc.b32 %r, %a;", [](u64 x, u64, u64) { return u64(std::popcount(lo(x))); }},
       {"popc.b64 %r, %x;", [](u64 x, u64, u64) { return u64(std::popcount(x)); }},
       {"clz.b32 %r, %a;", [](u64 x, u64, u64) { return u64(std::countl_zero(lo(x))); }},
       {"clz.b64 %r, %x;", [](u64 x, u64, u64) { return u64(std::countl_zero(x)); }},
       {"brev.b32 %r, %a;",
        [](u64 x, u64, u64) {
          u64 result = 0;
          for (int i = 0; i < 32; ++i) {
            result |= ((x >> i) & 1) << (31 - i);
          }
          return result;
        }},
       {"bfind.u32 %r, %a;", [](u64 x, u64, u64) { return w(31 - std::countl_zero(lo(x))); }},
       {"bfind.s32 %r, %a;",
        [](u64 x, u64, u64) { return w(31 - std::countl_zero(si(x) < 0 ? ~lo(x) : lo(x))); }},
       {"bfind.shiftamt.u32 %r, %a;",
        [](u64 x, u64, u64) { return lo(x) == 0 ? 0xffffffffU : u64(std::countl_zero(lo(x))); }},
       {"bfe.u32 %r, %a, %b, %c;",
        [](u64 x, u64 y, u64 z) { return bfe_u(lo(x), lo(y) & 255, lo(z) & 255, 32); }},
       {"bfe.s32 %r, %a, %b, %c;",
        [](u64 x, u64 y, u64 z) { return bfe_s(lo(x), lo(y) & 255, lo(z) & 255, 32); }},
       {"bfe.u64 %R, %x, %b, %c;",
        [](u64 x, u64 y, u64 z) { return bfe_u(x, lo(y) & 255, lo(z) & 255, 64); }},
       {"bfe.s64 %R, %x, %b, %c;",
        [](u64 x, u64 y, u64 z) { return bfe_s(x, lo(y) & 255, lo(z) & 255, 64); }},
       {"bfi.b32 %r, %a, %b, %c, 9;",
        [](u64 x, u64 y, u64 z) { return bfi(lo(x), lo(y), lo(z) & 255, 9, 32); }},
       {"bfi.b64 %R, %x, %y, 32, %c;",
        [](u64 x, u64 y, u64 z) { return bfi(x, y, 32, lo(z) & 255, 64); }},
       {"bmsk.clamp.b32 %r, %a, %b;",
        [](u64 x, u64 y, u64) {
          u64 result = 0;
          for (u32 i = 0; i < 32; ++i) {
            result |= i >= lo(x) && i - lo(x) < lo(y) ? u64{1} << i : 0;
          }
          return result;
        }},
       {"shf.l.wrap.b32 %r, %a, %b, %c;",
        [](u64 x, u64 y, u64 z) {
          const u32 n = lo(z) & 31;
          return u64{lo(((u64{lo(y)} << 32 | lo(x)) << n) >> 32)};
        }},
       {"shf.r.clamp.b32 %r, %a, %b, %c;",
        [](u64 x, u64 y, u64 z) {
          const u32 n = std::min(lo(z), 32U);
          return u64{lo((u64{lo(y)} << 32 | lo(x)) >> n)};
        }},
       {"lop3.b32 %r, %a, %b, %c, 0xE8;",
        [](u64 x, u64 y, u64 z) {
          return u64{(lo(x) & lo(y)) | (lo(x) & lo(z)) | (lo(y) & lo(z))};
        }},
       {"prmt.b32 %r, %a, %b, 0x7b20;",
        [](u64 x, u64 y, u64) {
          const u32 sign = (lo(x) & 0x80000000U) != 0 ? 0xffU : 0;
          return u64{(lo(x) & 255) | ((lo(x) >> 16) & 255) << 8 | sign << 16 | (lo(y) >> 24) << 24};
        }},
       {"mov.b64 {%r2, %r }, %x; mov.b32 %r, %r;", [](u64 x, u64, u64) { return x >> 32; }},
       {"mov.b64 %R, {%b, %a};", [](u64 x, u64 y, u64) { return x << 32 | lo(y); }},
       {"mov.b32 %r, {%h, %i};",
        [](u64 x, u64 y, u64) { return (y & 0xffff) << 16 | (x & 0xffff); }},
       {"fns.b32 %r, %a, 0, 3;",
        [](u64 x, u64, u64) {
          u32 seen = 0;
          for (u32 i = 0; i < 32; ++i) {
            seen += (x >> i) & 1;
            if (seen == 3) {
              return u64{i};
            }
          }
          return u64{0xffffffffU};
        }}},
      kValues);
}

TEST_CASE("comparisons and selections agree with the host's") {
  check_forms(
      {{"setp.lt.s32 %p, %a, %b;", [](u64 x, u64 y, u64) { return u64{si(x) < si(y)}; }},
       {"setp.hi.u32 %p, %a, %b;", [](u64 x, u64 y, u64) { return u64{lo(x) > lo(y)}; }},
       {"setp.ge.s64 %p, %x, %y;", [](u64 x, u64 y, u64) { return u64{sl(x) >= sl(y)}; }},
       {"setp.ne.b16 %p, %h, %i;", [](u64 x, u64 y, u64) { return u64{u16(x) != u16(y)}; }},
       {"setp.gt.s16 %p, %h, %i;", [](u64 x, u64 y, u64) { return u64{sh(x) > sh(y)}; }},
       {"setp.eq.s32 %p2, %c, 0; setp.lt.and.u64 %p, %x, %y, %p2;",
        [](u64 x, u64 y, u64 z) { return u64{x < y && lo(z) == 0}; }},
       {"setp.eq.s32 %p2, %c, 0; setp.lt.xor.s32 %p, %a, %b, !%p2;",
        [](u64 x, u64 y, u64 z) { return u64{(si(x) < si(y)) != (lo(z) != 0)}; }},
       {"setp.lt.u32 %p2|%p, %a, %b;", [](u64 x, u64 y, u64) { return u64{lo(x) >= lo(y)}; }},
       {"set.lt.u32.s32 %r, %a, %b;",
        [](u64 x, u64 y, u64) { return si(x) < si(y) ? 0xffffffffU : u64{0}; }},
       {"setp.eq.s32 %p2, %c, 1; selp.b32 %r, %a, %b, %p2;",
        [](u64 x, u64 y, u64 z) { return u64{lo(z) == 1 ? lo(x) : lo(y)}; }},
       {"setp.eq.s32 %p2, %c, 1; selp.b64 %R, %x, 12, !%p2;",
        [](u64 x, u64, u64 z) { return lo(z) != 1 ? x : 12; }},
       {"slct.b64.s32 %R, %x, %y, %c;", [](u64 x, u64 y, u64 z) { return si(z) >= 0 ? x : y; }},
       {"setp.eq.s32 %p2, %c, 1; mov.pred %p, -1; and.pred %p, %p, %p2; not.pred %p, %p;",
        [](u64, u64, u64 z) { return u64{lo(z) != 1}; }},
       {"mov.b32 %r, 3; setp.eq.u32 %p2, %a, 5; @%p2 mov.b32 %r, %b; @!%p2 add.u32 %r, %r, 1;",
        [](u64 x, u64 y, u64) { return u64{lo(x) == 5 ? lo(y) : 4}; }}},
      kValues);
}

TEST_CASE("integer conversions extend, wrap and saturate") {
  check_forms(
      {{"cvt.s64.s32 %R, %a;", [](u64 x, u64, u64) { return static_cast<u64>(s64{si(x)}); }},
       {"cvt.u64.u32 %R, %a;", [](u64 x, u64, u64) { return u64{lo(x)}; }},
       {"cvt.u32.u64 %r, %x;", [](u64 x, u64, u64) { return u64{lo(x)}; }},
       {"cvt.s32.s8 %r, %a;", [](u64 x, u64, u64) { return w(static_cast<std::int8_t>(x)); }},
       {"cvt.s32.s16 %r, %h;", [](u64 x, u64, u64) { return w(sh(x)); }},
       {"cvt.u16.u32 %s, %a;", [](u64 x, u64, u64) { return x & 0xffff; }},
       {"cvt.s8.s32 %r, %a;", [](u64 x, u64, u64) { return w(static_cast<std::int8_t>(x)); }},
       {"cvt.u8.u32 %R, %a;", [](u64 x, u64, u64) { return x & 0xff; }},
       {"cvt.s16.s64 %R, %x;", [](u64 x, u64, u64) { return static_cast<u64>(s64{sh(x)}); }},
       {"cvt.sat.u8.s32 %r, %a;", [](u64 x, u64, u64) { return w(std::clamp(si(x), 0, 255)); }},
       {"cvt.sat.s16.s64 %r, %x;",
        [](u64 x, u64, u64) { return w(static_cast<s32>(std::clamp<s64>(sl(x), -32768, 32767))); }},
       {"cvt.sat.u32.s64 %r, %x;",
        [](u64 x, u64, u64) { return static_cast<u64>(std::clamp<s64>(sl(x), 0, 0xffffffffLL)); }},
       {"cvt.sat.s32.u32 %r, %a;",
        [](u64 x, u64, u64) { return u64{std::min(lo(x), 0x7fffffffU)}; }}},
      kValues);
}
