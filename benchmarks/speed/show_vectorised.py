#!/usr/bin/env python3
"""What the compiler made of the emulator's loops over lanes.

Disassembles the handlers of emulator/execute/lanes in a build folder and counts, for each, the
packed instructions (on several lanes at once), the scalar ones of the vector unit, moves between
the two kinds of registers, and loops that have no packed instruction at all: a handler is vectorised
if it has packed instructions and neither loops without them nor scalar ones for each lane. --check
ends with status 1 unless all main handlers are, for each target that was built; --all prints every
handler, not only the main ones.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

# What PTX programs execute most (the histogram over compiled programs), by handler.
MAIN = [
    ("mov.b32", "move<unsigned int>"),
    ("add.s32", "map2<kAdd<int>, int, int, int>"),
    ("add.s64", "map2<kAdd<long>, long, long, long>"),
    ("sub.s32", "map2<kSub<int>, int, int, int>"),
    ("mul.lo.s32", "map2<kMulLo<int>, int, int, int>"),
    ("mul.wide.s32", "map2<kMulWide<int>, long, int, int>"),
    ("mad.lo.s32", "map3<kMadLo<int>, int, int, int, int>"),
    ("min.s32", "map2<kMin<int>, int, int, int>"),
    ("and.b32", "map2<kAnd<unsigned int>, unsigned int, unsigned int, unsigned int>"),
    ("shl.b32", "map2<kShl<unsigned int>, unsigned int, unsigned int, unsigned int>"),
    ("shr.s32", "map2<kShr<int>, int, int, unsigned int>"),
    ("lop3.b32", "lop3"),
    ("add.f32", "map2<kFinished2<kAdd, false, false>, float, float, float>"),
    ("mul.f32", "map2<kFinished2<kMul, false, false>, float, float, float>"),
    ("fma.rn.f32", r"map3<kFinished3<kFma, false, false>, float, float, float, float>"),
    ("div.rn.f32", "map2<kFinished2<kDiv, false, false>, float, float, float>"),
    ("sqrt.rn.f32", "map1<kFinished1<kSqrt, false, false>, float, float>"),
    ("add.f64", "map2<kFinished2<kAdd, false, false>, double, double, double>"),
    ("fma.rn.f64", "map3<kFinished3<kFma, false, false>, double, double, double, double>"),
    ("setp.lt.s32", "set_predicates<int, 2>"),
    ("setp.lt.s64", "set_predicates<long, 2>"),
    ("setp.lt.f32", "set_predicates<float, 2>"),
    ("selp.b32", "select_by_predicate<unsigned int>"),
    ("cvt.u64.u32", "map1<kWrap<unsigned long, unsigned int>, unsigned long, unsigned int>"),
    ("cvt.s64.s32", "map1<kWrap<long, int>, long, int>"),
    ("cvt.rn.f32.s32", "map1<kToReal<float, int>, float, int>"),
    ("cvt.rzi.s32.f32", "map1<kToInteger<int, float, (Rounding)5, false>, int, float>"),
]


class Handler:
    """The instructions of one function: (address, mnemonic, operands). The compiler folds equal
    functions into one; the others then only jump there."""

    SCALAR = re.compile(r"^(?!v?p)\w*(ss|sd)$|^v?cvtt?s[sd]2si|^v?u?comis[sd]")
    BETWEEN = re.compile(r"^v?p?(extr|insr)[bwdq]$|^v?mov[dq]$|^v?extractps$|^v?insertps$")

    def __init__(self, name):
        self.name = name
        self.instructions = []

    @staticmethod
    def is_vector(operands):
        return "mm" in operands

    @classmethod
    def kind(cls, mnemonic, operands):
        if not cls.is_vector(operands):
            return "general"
        if cls.BETWEEN.match(mnemonic):
            # A move of 64 bits from memory or between vector registers stays in the vector unit.
            general = re.search(r"%(r|e)[a-z0-9]+(?![^(]*\))(?=,|$)", re.sub(r"\([^)]*\)", "", operands))
            return "between" if general else "packed"
        if mnemonic in ("movss", "movsd", "vmovss", "vmovsd", "vbroadcastss", "vbroadcastsd"):
            return "broadcast"
        return "scalar" if cls.SCALAR.match(mnemonic) else "packed"

    def counts(self):
        kinds = [self.kind(mnemonic, operands) for _, mnemonic, operands in self.instructions]
        return {name: kinds.count(name) for name in ("packed", "scalar", "between", "general")}

    def widths(self):
        text = " ".join(operands for _, _, operands in self.instructions)
        return 256 if "ymm" in text else 128 if "xmm" in text else 0

    def folded_into(self):
        """The address of the function that this one only jumps to, or None."""
        code = [one for one in self.instructions if not one[1].startswith(("endbr", "nop", "cs", "xchg", "data16"))]
        target = re.match(r"([0-9a-f]+) <", code[0][2]) if len(code) == 1 else None
        return int(target.group(1), 16) if target and code[0][1] == "jmp" else None

    def loops(self):
        """The bodies of loops, from their backward jumps."""
        first = self.instructions[0][0]
        for address, mnemonic, operands in self.instructions:
            target = re.match(r"([0-9a-f]+) <", operands)
            if not mnemonic.startswith("j") or not target:
                continue
            start = int(target.group(1), 16)
            body = [one for one in self.instructions if start <= one[0] <= address]
            counts = any(re.match(r"(add|sub)\w? \$0x\w+,%r|(inc|dec|blsr)\w? ", "%s %s" % one[1:])
                         for one in body)
            # A jump back without a condition or a counter only leads to code that lies apart.
            if first <= start < address and counts and mnemonic != "jmp":
                yield body

    def scalar_loops(self):
        return sum(not any(self.kind(one[1], one[2]) == "packed" for one in body)
                   for body in self.loops())

    def vectorised(self):
        """Constants reach the vector unit by a few moves; of 32 lanes done one by one there would be
        32 scalar instructions, or a loop of them."""
        counts = self.counts()
        return counts["packed"] > 0 and self.scalar_loops() == 0 and counts["scalar"] < 8 and \
            counts["between"] < 24


def shortened(name, target):
    name = name.replace("barracuda::emulator::%s::" % target, "").replace("barracuda::emulator::", "")
    name = name.replace("(anonymous namespace)::", "").replace("Step ", "")
    name = re.sub(r"::\{lambda\([^()]*\)#\d+\}\{\}", "", name)
    name = re.sub(r"\(Relation\)(\d+)", r"\1", name)
    return re.sub(r"\(Context&.*$", "", name)


def handlers_of(build, target):
    folder = "%s/emulator/CMakeFiles/barracuda.emulator_lanes.%s.dir/execute/lanes" % (build, target)
    found = {}
    for path in sorted(glob.glob(folder + "/*.o")):
        text = subprocess.run(["objdump", "-dC", "--no-show-raw-insn", path], capture_output=True,
                              text=True, check=True).stdout
        handler, by_address = None, {}
        for line in text.splitlines():
            start = re.match(r"([0-9a-f]+) <(.*)>:$", line)
            if start:
                takes_lanes = "Context&, barracuda::emulator::Instruction const&" in start.group(2)
                handler = Handler(shortened(start.group(2), target)) if takes_lanes else None
                if handler:
                    by_address[int(start.group(1), 16)] = handler
            elif handler:
                one = re.match(r"\s+([0-9a-f]+):\s+(\S+)\s*(.*)$", line)
                if one:
                    handler.instructions.append((int(one.group(1), 16), one.group(2), one.group(3)))
        for handler in by_address.values():
            found.setdefault(handler.name, by_address.get(handler.folded_into(), handler))
    return found


def print_table(title, chosen):
    print("%s\n%-16s %6s %7s %7s %8s %6s  %s" % (title, "form", "bits", "packed", "scalar", "between",
                                                "loops", ""))
    for form, handler in chosen:
        counts = handler.counts()
        print("%-16s %6d %7d %7d %8d %6d  %s" %
              (form, handler.widths(), counts["packed"], counts["scalar"], counts["between"],
               handler.scalar_loops(), "vectorised" if handler.vectorised() else "NOT vectorised"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    failed = False
    targets = [target for target in ("avx2", "baseline") if os.path.isdir(
        "%s/emulator/CMakeFiles/barracuda.emulator_lanes.%s.dir" % (arguments.build, target))]
    if not targets:
        sys.exit("%s has no compiled handlers" % arguments.build)
    for target in targets:
        handlers = handlers_of(arguments.build, target)
        if arguments.all:
            chosen = [(name, handlers[name]) for name in sorted(handlers)]
        else:
            missing = [name for _, name in MAIN if name not in handlers]
            if missing:
                sys.exit("no handler %s in %s" % (", ".join(missing), target))
            chosen = [(form, handlers[name]) for form, name in MAIN]
        print_table("handlers for %s" % target, chosen)
        good = sum(handler.vectorised() for handler in handlers.values())
        print("%d of all %d handlers are vectorised\n" % (good, len(handlers)))
        failed |= target == "avx2" and not all(one.vectorised() for _, one in chosen)
    return 1 if failed and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
