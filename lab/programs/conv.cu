#include <cudnn.h>

#include <cstdio>

int main() {
  cudnnHandle_t handle;
  cudnnStatus_t status = cudnnCreate(&handle);
  printf("cuDNN %zu: %s\n", cudnnGetVersion(), cudnnGetErrorString(status));
  return status != CUDNN_STATUS_SUCCESS;
}
