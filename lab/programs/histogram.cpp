#include <charconv>
#include <cstring>

// Reads bin edges written by another program.
extern "C" double edge(const char* text) {
  double value = 0;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}
