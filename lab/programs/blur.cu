#include <cstdio>

__global__ void blur(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}

int main() {
  float *in, *out;
  cudaError_t status = cudaMalloc(&in, 1 << 20);
  if (status != cudaSuccess) {
    fprintf(stderr, "blur.cu:12: CUDA error %d: %s\n", status, cudaGetErrorString(status));
    return 1;
  }
  cudaMalloc(&out, 1 << 20);
  blur<<<1024, 256>>>(in, out, 1 << 18);
  status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) fprintf(stderr, "blur.cu:19: CUDA error %d: %s\n", status, cudaGetErrorString(status));
  return status != cudaSuccess;
}
