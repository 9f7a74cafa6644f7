// Uses the driver alone: nvcc links no kernel and no runtime into it.
extern "C" int cuInit(unsigned flags);

int main() {
  return cuInit(0);
}
