#!/usr/bin/env bash
# Builds the programs that public.py measures, from checkouts of NVIDIA's samples and of Rodinia:
#   benchmarks/overhead/build_public.sh SAMPLES RODINIA FOLDER
# with SAMPLES from https://github.com/NVIDIA/cuda-samples, RODINIA from https://github.com/yuhc/gpu-rodinia, and what
# is built below FOLDER/bin and FOLDER/data. Each program has PTX, as its users' builds do; one that does not
# compile is named and left out. For another GPU than Hopper set ARCH.
set -euo pipefail

[ $# -eq 3 ] || { sed -n '2,6s/^# \?//p' "$0" >&2; exit 64; }
samples=$(realpath "$1") rodinia=$(realpath "$2") bin=$(realpath -m "$3")/bin data=$(realpath -m "$3")/data
arch=${ARCH:-90}
mkdir -p "$bin" "$data"
compiler=(nvcc -O3 -w -lineinfo -cudart shared -std=c++17 -gencode "arch=compute_$arch,code=[sm_$arch,compute_$arch]"
          --compiler-options -fopenmp -lcurand -lcuda)

# compile NAME FILE..., in the folder of the program
compile() {
  local name=$1
  shift
  if "${compiler[@]}" "$@" -o "$bin/$name" >"$bin/$name.log" 2>&1; then
    rm "$bin/$name.log"
  else
    echo "$name: does not compile, see $bin/$name.log" >&2
  fi
}

sample() {
  local name=$1 folder sources
  folder=$(echo "$samples"/Samples/*/"$name")
  shopt -s nullglob
  sources=("$folder"/*.cu "$folder"/*.cpp "$folder"/src/*.cu "$folder"/src/*.cpp)
  shopt -u nullglob
  ( cd "$folder" && compile "$name" -I"$samples/Common" -I"$folder/inc" "${sources[@]}" )
  [ ! -d "$folder/data" ] || cp -r "$folder/data/." "$data"
}

benchmark() {  # NAME FOLDER ARGUMENTS...
  local name=$1 folder=$rodinia/cuda/$2
  shift 2
  ( cd "$folder" && compile "$name" "$@" )
}

for name in matrixMul convolutionSeparable globalToShmemAsyncCopy transpose mergeSort histogram scan scalarProd \
    BlackScholes fastWalshTransform sortingNetworks reductionMultiBlockCG shfl_scan FDTD3d MonteCarloMultiGPU dct8x8 \
    threadFenceReduction warpAggregatedAtomicsCG binaryPartitionCG radixSortThrust reduction \
    bf16TensorCoreGemm tf32TensorCoreGemm dmmaTensorCoreGemm immaTensorCoreGemm cudaTensorCoreGemm simpleAWBarrier \
    asyncAPI simpleMultiCopy simpleStreams simpleHyperQ MC_EstimatePiP MC_EstimatePiQ MC_SingleAsianOptionP eigenvalues \
    interval segmentationTreeThrust binomialOptions quasirandomGenerator dwtHaar1D dxtc HSOpticalFlow \
    NV12toBGRandResize alignedTypes jacobiCudaGraphs conjugateGradientMultiBlockCG simpleCudaGraphs newdelete \
    UnifiedMemoryPerf cudaGraphsPerfScaling streamOrderedAllocation fp16ScalarProduct simpleAtomicIntrinsics vectorAdd \
    lineOfSight stereoDisparity convolutionTexture systemWideAtomics; do
  sample "$name"
done
# Rodinia's sources call what CUDA 12 dropped.
old=(-DcudaThreadSynchronize=cudaDeviceSynchronize)
benchmark srad_v2 srad/srad_v2 "${old[@]}" srad.cu
benchmark hotspot hotspot "${old[@]}" hotspot.cu
benchmark nw nw "${old[@]}" needle.cu
benchmark pathfinder pathfinder "${old[@]}" pathfinder.cu
benchmark backprop backprop "${old[@]}" backprop.c facetrain.c imagenet.c backprop_cuda.cu
benchmark lud lud/cuda "${old[@]}" -I../common lud.cu lud_kernel.cu ../common/common.c
benchmark lavaMD lavaMD "${old[@]}" -I. main.c kernel/kernel_gpu_cuda_wrapper.cu util/num/num.c util/timer/timer.c \
  util/device/device.cu
