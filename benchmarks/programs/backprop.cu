// Rodinia's back propagation, one hidden layer of 16 units: partial sums of the inputs in shared
// memory, then the correction of the weights with momentum.
//
// expect: none
#include "benchmark_program.h"

constexpr int kSide = 16;
constexpr float kRate = 0.3F;
constexpr float kMomentum = 0.3F;

// Weights are stored [input][hidden], both from 1: row and column 0 are the bias.
__global__ void forward(const float* input, float* weights, float* partial_sums, int hidden) {
  __shared__ float node[kSide];
  __shared__ float product[kSide][kSide];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int in = blockIdx.y * kSide + ty + 1;
  const int index = in * (hidden + 1) + tx + 1;
  if (tx == 0) {
    node[ty] = input[in];
  }
  __syncthreads();
  product[ty][tx] = weights[index];
  __syncthreads();
  product[ty][tx] *= node[ty];
  __syncthreads();
  for (int step = 2; step <= kSide; step *= 2) {
    if (ty % step == 0) {
      product[ty][tx] += product[ty + step / 2][tx];
    }
    __syncthreads();
  }
  weights[index] = product[ty][tx];
  __syncthreads();
  if (tx == 0) {
    partial_sums[blockIdx.y * hidden + ty] = product[tx][ty];
  }
}

__global__ void adjust(const float* delta, int hidden, const float* input, float* weights,
                       float* old_change) {
  const int in = blockIdx.y * kSide + threadIdx.y + 1;
  const int out = threadIdx.x + 1;
  const int index = in * (hidden + 1) + out;
  const float change = kRate * delta[out] * input[in] + kMomentum * old_change[index];
  weights[index] += change;
  old_change[index] = change;
  __syncthreads();
  if (threadIdx.y == 0 && blockIdx.y == 0) {
    const float bias = kRate * delta[out] + kMomentum * old_change[out];
    weights[out] += bias;
    old_change[out] = bias;
  }
}

struct Network {
  std::vector<float> input;
  std::vector<float> weights;
  std::vector<float> delta;
  std::vector<float> old_change;
};

Network make_network(int inputs) {
  Random random(21);
  Network network;
  const auto fill = [&](std::vector<float>& values, int count) {
    for (int i = 0; i < count; ++i) {
      values.push_back(random.unit() - 0.5F);
    }
  };
  fill(network.input, inputs + 1);
  fill(network.weights, (inputs + 1) * (kSide + 1));
  fill(network.delta, kSide + 1);
  fill(network.old_change, (inputs + 1) * (kSide + 1));
  return network;
}

int main(int argc, char** argv) {
  const int blocks = size_argument(argc, argv, 32);
  const int inputs = blocks * kSide;
  Network network = make_network(inputs);
  const DeviceArray<float> input(network.input);
  const DeviceArray<float> scratch(network.weights);
  const DeviceArray<float> weights(network.weights);
  const DeviceArray<float> delta(network.delta);
  const DeviceArray<float> old_change(network.old_change);
  const DeviceArray<float> partial_sums(static_cast<std::size_t>(blocks) * kSide);
  const dim3 grid(1, blocks);
  const dim3 block(kSide, kSide);
  forward<<<grid, block>>>(input.data(), scratch.data(), partial_sums.data(), kSide);
  CUDA_CHECK(cudaGetLastError());
  adjust<<<grid, block>>>(delta.data(), kSide, input.data(), weights.data(), old_change.data());
  CUDA_CHECK(cudaGetLastError());

  const std::vector<float> partial = partial_sums.host();
  std::vector<float> sums(kSide);
  std::vector<float> expected_sums(kSide);
  for (int out = 0; out < kSide; ++out) {
    for (int b = 0; b < blocks; ++b) {
      sums[out] += partial[b * kSide + out];
    }
    for (int in = 1; in <= inputs; ++in) {
      expected_sums[out] += network.input[in] * network.weights[in * (kSide + 1) + out + 1];
    }
  }
  expect_close("hidden", sums, expected_sums, 1e-4F);
  for (int in = 0; in <= inputs; ++in) {
    for (int out = 1; out <= kSide; ++out) {
      const int index = in * (kSide + 1) + out;
      network.weights[index] += kRate * network.delta[out] * (in == 0 ? 1 : network.input[in]) +
                                kMomentum * network.old_change[index];
    }
  }
  expect_close("weights", weights.host(), network.weights, 1e-5F);
  return result();
}
