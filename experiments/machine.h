#pragma once

#include <cstdint>
#include <string>

#include "transformer/fields.h"

namespace transformer {

// Where a result was made.
struct Machine {
  std::string cpu;
  int64_t cores = 0;  // that this process may use
  int64_t memory_bytes = 0;
  std::string vector_width;  // the widest instructions: avx512, avx2 or other
  std::string system;        // kernel name and release

  static void visit(auto& self, auto&& field) {
    field("cpu", self.cpu);
    field("cores", self.cores);
    field("memory_bytes", self.memory_bytes);
    field("vector_width", self.vector_width);
    field("system", self.system);
  }
};

Machine this_machine();

}  // namespace transformer
