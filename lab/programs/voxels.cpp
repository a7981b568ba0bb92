#include <c10/util/Exception.h>

#include <vector>

// Part of a pooling operator: checks its sizes as operators built on PyTorch do.
extern "C" int pooled(int size, int window) {
  TORCH_CHECK(window > 0, "window must be positive, got ", window);
  std::vector<int> sums(size / window);
  for (int i = 0; i < size; ++i) sums[i / window] += i;
  return sums.back();
}
