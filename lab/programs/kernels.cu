// Kernels with mistakes; the first argument names the mistake, "right" as the second makes none.
#include <cstdio>
#include <cstdlib>
#include <cstring>

static void check(cudaError_t status, const char* file, int line) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s:%d: CUDA error %d (%s): %s\n", file, line, status, cudaGetErrorName(status), cudaGetErrorString(status));
  exit(1);
}
#define CHECK(call) check(call, __FILE__, __LINE__)

__global__ void scale(float* x, long n, long step) {
  long i = (blockIdx.x * (long)blockDim.x + threadIdx.x) * step;
  if (i < n) x[i] *= 2;
}

__global__ void misaligned(char* x, int offset) { *reinterpret_cast<double*>(x + offset + threadIdx.x * 8) = 1.0; }

__global__ void many_registers(float* x) {
  float held[200];
#pragma unroll
  for (int i = 0; i < 200; ++i) held[i] = x[i * 1024 + threadIdx.x];
  __syncthreads();  // all of them are needed on the other side
#pragma unroll
  for (int i = 0; i < 200; ++i) x[i * 1024 + threadIdx.x] = held[199 - i] * held[i];
}

int main(int argc, char** argv) {
  bool right = argc > 2 && !strcmp(argv[2], "right");
  float* x;
  CHECK(cudaMalloc(&x, 1 << 20));
  CHECK(cudaMemset(x, 0, 1 << 20));
  if (!strcmp(argv[1], "illegal")) scale<<<256, 256>>>(x, right ? 1 << 18 : 1L << 40, right ? 1 : 1 << 20);
  if (!strcmp(argv[1], "misaligned")) misaligned<<<1, 32>>>(reinterpret_cast<char*>(x), right ? 0 : 3);
  if (!strcmp(argv[1], "registers")) many_registers<<<1, right ? 128 : 1024>>>(x);
  if (!strcmp(argv[1], "threads")) scale<<<1, right ? 256 : 2048>>>(x, 1 << 18, 1);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  printf("done\n");
}
