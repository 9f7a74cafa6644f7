#!/usr/bin/env bash
# Where no nvcc of CUDA 13 is found, puts the compiler from NVIDIA's PyPI wheels into build/cuda, where
# cmake/CudaToolkit.cmake looks first. With `wheels` it does so even where there is one. Where the toolkit
# has no PTX compiler library, that is fetched into build/ptx_compiler; the build goes on without it.
# With `older` it fetches what clang needs of CUDA 12.9 and 11.8 to build a program into build/cuda-VERSION, and
# nothing else: the tests of such programs are left out where there is none.
set -euo pipefail
cd "$(dirname "$0")/.."

target=build/cuda
toolkit=$target/nvidia/cu13
wheels=(nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl
        nvidia-cuda-nvrtc nvidia-cuda-profiler-api)
version='13.0.*'

# A toolkit's home is the argument.
install_ptx_compiler() {
  local target=build/ptx_compiler archive=libnvptxcompiler_static.a
  if [ -f "$1/lib64/$archive" ]; then
    echo "PTX compiler: $1/lib64/$archive"
    return
  fi
  if [ ! -f "$target/nvidia/cu13/lib/$archive" ]; then
    rm -rf "$target.unfinished"
    if ! python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        --retries 1 --timeout 20 --no-deps --target "$target.unfinished" "nvidia-nvptxcompiler==$version"; then
      echo "PTX compiler: none, and it could not be fetched from PyPI: the driver will compile" >&2
      return
    fi
    rm -rf "$target"
    mv "$target.unfinished" "$target"
  fi
  echo "PTX compiler: $target, from a PyPI wheel"
}

# From wheels of the runtime and of ptxas: headers, libcudart and libdevice, as one tree.
install_older() {  # VERSION SUFFIX RUNTIME COMPILER
  local target=build/cuda-$1
  if [ -d "$target" ]; then
    echo "CUDA $1: $target"
    return
  fi
  rm -rf "$target.unfinished"
  if ! python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
      --retries 1 --timeout 20 --no-deps --target "$target.unfinished/wheels" \
      "nvidia-cuda-runtime-$2==$3" "nvidia-cuda-nvcc-$2==$4"; then
    echo "CUDA $1: none, and it could not be fetched from PyPI: programs of it are not tested" >&2
    return
  fi
  local runtime=$target.unfinished/wheels/nvidia/cuda_runtime compiler=$target.unfinished/wheels/nvidia/cuda_nvcc
  mv "$compiler/bin" "$compiler/nvvm" "$runtime/include" "$target.unfinished"
  mv "$compiler/include/crt" "$target.unfinished/include"
  mv "$runtime/lib" "$target.unfinished/lib64"
  chmod u+x "$target.unfinished"/bin/*
  ln -s "$(cd "$target.unfinished/lib64" && echo libcudart.so.*)" "$target.unfinished/lib64/libcudart.so"
  rm -rf "$target.unfinished/wheels"
  mv "$target.unfinished" "$target"
  echo "CUDA $1: $target, from PyPI wheels"
}

is_cuda_13() { [ -x "$1" ] && "$1" --version 2>/dev/null | grep -q 'release 13\.'; }

if [ "${1:-}" = older ]; then
  install_older 12.9 cu12 12.9.79 12.9.86
  install_older 11.8 cu11 11.8.89 11.8.89
  exit 0
fi
if [ -x "$toolkit/bin/nvcc" ]; then
  echo "CUDA compiler: $toolkit/bin/nvcc, from PyPI wheels"
  install_ptx_compiler "$toolkit"
  exit 0
fi
if [ "${1:-}" != wheels ]; then
  for nvcc in "${CUDA_HOME:-}/bin/nvcc" "${CUDA_PATH:-}/bin/nvcc" "$(command -v nvcc || true)" \
              /usr/local/cuda/bin/nvcc; do
    if is_cuda_13 "$nvcc"; then
      echo "CUDA compiler: $nvcc"
      install_ptx_compiler "$(dirname "$(dirname "$(realpath "$nvcc")")")"
      exit 0
    fi
  done
fi

echo "CUDA compiler: none of CUDA 13 is installed; fetching it from PyPI into $target (about 250 MB)"
if ! python3 -m pip --version >/dev/null 2>&1; then
  echo "python3 has no pip here; install it (Debian: python3-pip), then start again" >&2
  exit 1
fi
# Unfinished work never looks like a toolkit: it gets its name at the end.
rm -rf "$target.unfinished"
mkdir -p "$target.unfinished"
python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-warn-script-location \
  --target "$target.unfinished" "${wheels[@]/%/==$version}"

root=$target.unfinished/nvidia/cu13
ln -sfn lib "$root/lib64"
for library in "$root"/lib/*.so.*; do
  name=${library##*/}
  case $name in
    *.so.13) ln -sfn "$name" "$root/lib/${name%.13}" ;;
  esac
done
chmod u+x "$root"/bin/* "$root"/nvvm/bin/*
rm -rf "$target"
mv "$target.unfinished" "$target"
"$toolkit/bin/nvcc" --version | tail -n 1
install_ptx_compiler "$toolkit"
