// Kernels with mistakes; the first argument names the mistake, "right" as the second makes none.
#include <cstdio>
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

__global__ void __launch_bounds__(1024) big(float* x) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

int main(int argc, char** argv) {
  bool right = argc > 2 && !strcmp(argv[2], "right");
  float* x;
  CHECK(cudaMalloc(&x, 1 << 20));
  CHECK(cudaMemset(x, 0, 1 << 20));
  if (!strcmp(argv[1], "illegal")) scale<<<256, 256>>>(x, right ? 1 << 18 : 1L << 40, right ? 1 : 1 << 20);
  if (!strcmp(argv[1], "misaligned")) misaligned<<<1, 32>>>(reinterpret_cast<char*>(x), right ? 0 : 3);
  if (!strcmp(argv[1], "shared")) big<<<1, 256, right ? 4096 : 1 << 20>>>(x);
  if (!strcmp(argv[1], "threads")) big<<<1, right ? 256 : 2048, 8192>>>(x);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  printf("done\n");
}
