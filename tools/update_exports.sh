#!/bin/bash
# Writes the tables of CUDA's exported names from an installed toolkit and the older libcudarts of
# `tools/install_cuda.sh older`: emulator/cudart_names.def, emulator/driver_names.def and
# emulator/libcuda/entry_versions.def. The tables are kept in the tree because the compiler's wheels
# hold no libcuda stub. Usage: tools/update_exports.sh [CUDA_HOME]
set -euo pipefail
export LC_ALL=C

tree=$(cd "$(dirname "$0")/.." && pwd)
cuda=${1:-/usr/local/cuda}
runtime=$(readlink -f "$cuda/lib64/libcudart.so.13")
names=$(mktemp)
trap 'rm -f "$names"' EXIT
driver=$(readlink -f "$cuda/lib64/stubs/libcuda.so")
typedefs="$cuda/include/cudaTypedefs.h"

functions_of() {
  nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort -u
}

write_names() {  # FILE LIBRARY
  echo "Writing $1 from $2"
  {
    echo "// The functions that $(basename "$2") exports, one NAME(x) a row. Written by tools/update_exports.sh."
    functions_of "$2" | sed 's/.*/NAME(&)/'
  } > "$1"
}

# Each libcudart has a version node of its own: preload/exports/trampolines.S, preload/preload.map.
write_runtime_names() {  # FILE LIBRARY_13 LIBRARY_12 LIBRARY_11
  echo "Writing $1 from $2, $3 and $4"
  {
    echo "// The functions that libcudart.so.13, .12 and .11.0 export: NAME(x, is in 13, is in 12, is in 11.0). Written by"
    echo "// tools/update_exports.sh."
    awk '{ exported[FILENAME == ARGV[1] ? 1 : FILENAME == ARGV[2] ? 2 : 3, $1] = 1; names[$1] = 1 }
      END { for (name in names) printf "NAME(%s, %d, %d, %d)\n", name, (1, name) in exported, (2, name) in exported, (3, name) in exported }' \
      <(functions_of "$2") <(functions_of "$3") <(functions_of "$4") | sort -t, -k1,1
  } > "$1"
}

# Which exported name a (function, version) pair of cuGetProcAddress stands for: the versions that
# cudaTypedefs.h lists, newest first, meet the exported suffixes, newest first.
write_versions() {
  echo "Writing $1 from $typedefs"
  {
    echo "// ENTRY(symbol, version, per_thread, exported name): what cuGetProcAddress answers to whom asks for"
    echo "// that version or a later one. Written by tools/update_exports.sh."
    functions_of "$driver" > "$names"
    grep -o 'PFN_cu[A-Za-z0-9]*_v[0-9]*\(_pt[ds][sz]\)\?)' "$typedefs" | tr -d ')' | sort -u | awk -v names="$names" '
      BEGIN { while ((getline name < names) > 0) exported[name] = 1 }
      {
        symbol = substr($0, 5); suffix = ""
        if (match(symbol, /_pt[ds][sz]$/)) { suffix = substr(symbol, RSTART); symbol = substr(symbol, 1, RSTART - 1) }
        match(symbol, /_v[0-9]+$/)
        number = substr(symbol, RSTART + 2); symbol = substr(symbol, 1, RSTART - 1)
        key = symbol SUBSEP suffix
        versions[key] = versions[key] " " number
      }
      END {
        for (key in versions) {
          split(key, part, SUBSEP); symbol = part[1]; suffix = part[2]
          count = 0; delete candidate
          if ((symbol suffix) in exported) candidate[++count] = symbol suffix
          for (n = 2; n <= 9; n++) if ((symbol "_v" n suffix) in exported) candidate[++count] = symbol "_v" n suffix
          total = split(versions[key], version, " ")
          for (i = 1; i <= total; i++) for (j = i + 1; j <= total; j++)
            if (version[j] + 0 > version[i] + 0) { swap = version[i]; version[i] = version[j]; version[j] = swap }
          for (i = 1; i <= total && i <= count; i++)
            printf "ENTRY(%s, %d, %d, %s)\n", symbol, version[i], suffix != "", candidate[count - i + 1]
        }
      }' | sort -t'(' -k2,2
  } > "$1"
}

write_runtime_names "$tree/emulator/cudart_names.def" "$runtime" "$tree"/build/cuda-12.*/lib64/libcudart.so.12 \
  "$tree"/build/cuda-11.*/lib64/libcudart.so.11.0
write_names "$tree/emulator/driver_names.def" "$driver"
write_versions "$tree/emulator/libcuda/entry_versions.def"
