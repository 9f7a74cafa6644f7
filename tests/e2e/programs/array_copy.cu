// A copy from or to an array, of rows that a kernel of another stream writes: the end in memory
// counts, in whichever way the copy says where that is. Arguments: which copy; whether it waits.
// expect race: race kernel-copy global
// expect fixed: none
// flags: -g
#include <cstring>

#include "../../../examples/cuda_check.h"

constexpr int kWidth = 8, kHeight = 4;
constexpr size_t kRow = kWidth * sizeof(int);

__global__ void write(int* x) {
  if (threadIdx.x == 17 || threadIdx.x == 25) {  // the second words of the last two rows
    x[threadIdx.x] = 1;                          // RACE
  }
}

cudaMemcpy3DOperand in_memory(int* x) {
  cudaMemcpy3DOperand operand{};
  operand.type = cudaMemcpyOperandTypePointer;
  operand.op.ptr.ptr = x;
  operand.op.ptr.rowLength = kWidth;
  operand.op.ptr.layerHeight = kHeight;
  return operand;
}

cudaMemcpy3DOperand in_array(cudaArray_t array) {
  cudaMemcpy3DOperand operand{};
  operand.type = cudaMemcpyOperandTypeArray;
  operand.op.array.array = array;
  return operand;
}

cudaError_t copy_batch(const cudaMemcpy3DOperand& to, const cudaMemcpy3DOperand& from,
                       cudaStream_t stream) {
  cudaMemcpy3DBatchOp copy{};
  copy.src = from;
  copy.dst = to;
  copy.extent = make_cudaExtent(2, 3, 1);
  copy.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  return cudaMemcpy3DBatchAsync(1, &copy, 0, stream);  // RACE
}

int main(int argc, char** argv) {
  if (argc != 3) {
    return 1;
  }
  int* x;
  CUDA_CHECK(cudaMalloc(&x, kHeight * kRow));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  CUDA_CHECK(cudaMallocArray(&array, &format, kWidth, kHeight));
  cudaStream_t streams[2];
  CUDA_CHECK(cudaStreamCreateWithFlags(&streams[0], cudaStreamNonBlocking));
  CUDA_CHECK(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
  write<<<1, kWidth * kHeight, 0, streams[0]>>>(x);
  if (std::strcmp(argv[2], "fixed") == 0) {
    CUDA_CHECK(cudaStreamSynchronize(streams[0]));
  }
  cudaStream_t other = streams[1];
  constexpr auto kind = cudaMemcpyDefault;
  int* const row = x + 2 * kWidth;
  cudaMemcpy3DParms box{};
  box.srcPtr = make_cudaPitchedPtr(x, kRow, kWidth, kHeight);
  box.srcPos = make_cudaPos(4, 3, 0);
  box.dstArray = array;
  box.extent = make_cudaExtent(1, 1, 1);
  box.kind = cudaMemcpyDeviceToDevice;
  switch (argv[1][0]) {
    case '0':
      CUDA_CHECK(cudaMemcpy2DToArrayAsync(array, 0, 0, row, kRow, 8, 2, kind, other));  // RACE
      break;
    case '1':
      CUDA_CHECK(cudaMemcpy2DFromArrayAsync(row, kRow, array, 4, 1, 8, 2, kind, other));  // RACE
      break;
    case '2':
      CUDA_CHECK(cudaMemcpy3DAsync(&box, other));  // RACE
      break;
    case '3':
      CUDA_CHECK(copy_batch(in_array(array), in_memory(x), other));
      break;
    case '4':
      CUDA_CHECK(copy_batch(in_memory(x), in_array(array), other));
      break;
    default:
      return 1;
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
