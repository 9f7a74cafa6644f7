// Rodinia's lavaMD: the potential and forces on each particle from those in its box and the boxes
// around it; a block per box, the neighbour's particles in shared memory.
//
// expect: none
#include "benchmark_program.h"

constexpr int kParticles = 32;
constexpr float kAlpha = 0.5F;

struct Particle {
  float x, y, z, charge;
};

struct Force {
  float potential, x, y, z;
};

__host__ __device__ inline void interact(const Particle& a, const Particle& b, Force& force) {
  const float dx = a.x - b.x;
  const float dy = a.y - b.y;
  const float dz = a.z - b.z;
  const float u = 2 * kAlpha * kAlpha * (dx * dx + dy * dy + dz * dz);
  const float v = expf(-u);
  force.potential += b.charge * v;
  force.x += b.charge * 2 * v * dx;
  force.y += b.charge * 2 * v * dy;
  force.z += b.charge * 2 * v * dz;
}

__global__ void forces_of_box(const Particle* particles, Force* forces, int side) {
  __shared__ Particle home[kParticles];
  __shared__ Particle neighbour[kParticles];
  const int lane = threadIdx.x;
  const int box = (blockIdx.z * side + blockIdx.y) * side + blockIdx.x;
  home[lane] = particles[box * kParticles + lane];
  __syncthreads();
  Force force{};
  for (int k = 0; k < 27; ++k) {
    const int x = static_cast<int>(blockIdx.x) + k % 3 - 1;
    const int y = static_cast<int>(blockIdx.y) + k / 3 % 3 - 1;
    const int z = static_cast<int>(blockIdx.z) + k / 9 - 1;
    if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side) {
      continue;
    }
    neighbour[lane] = particles[((z * side + y) * side + x) * kParticles + lane];
    __syncthreads();
    for (int other = 0; other < kParticles; ++other) {
      interact(home[lane], neighbour[other], force);
    }
    __syncthreads();
  }
  forces[box * kParticles + lane] = force;
}

Force force_on_host(const std::vector<Particle>& particles, int side, int particle) {
  const int box = particle / kParticles;
  Force force{};
  for (int other = 0; other < side * side * side; ++other) {
    const bool near = std::abs(other % side - box % side) <= 1 &&
                      std::abs(other / side % side - box / side % side) <= 1 &&
                      std::abs(other / side / side - box / side / side) <= 1;
    for (int k = 0; near && k < kParticles; ++k) {
      interact(particles[particle], particles[other * kParticles + k], force);
    }
  }
  return force;
}

int main(int argc, char** argv) {
  const int side = size_argument(argc, argv, 2);
  Random random(26);
  std::vector<Particle> particles(static_cast<std::size_t>(side) * side * side * kParticles);
  for (Particle& particle : particles) {
    particle = {random.unit(), random.unit(), random.unit(), random.unit()};
  }
  const DeviceArray<Particle> device_particles(particles);
  const DeviceArray<Force> device_forces(particles.size());
  forces_of_box<<<dim3(side, side, side), kParticles>>>(device_particles.data(),
                                                        device_forces.data(), side);
  CUDA_CHECK(cudaGetLastError());
  const std::vector<Force> forces = device_forces.host();
  for (int particle = 0; particle < static_cast<int>(particles.size()); particle += 7) {
    const Force force = force_on_host(particles, side, particle);
    const Force& actual = forces[particle];
    expect_close("force", {actual.potential, actual.x, actual.y, actual.z},
                 {force.potential, force.x, force.y, force.z}, 1e-3F);
  }
  return result();
}
