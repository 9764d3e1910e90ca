#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace transformer {

// Lines of as many cells each, columns under one another: the first `left_aligned` of them to the
// left, the others to the right.
void print_cells(std::ostream& out, const std::vector<std::vector<std::string>>& lines,
                 size_t left_aligned);

// A number by printf's pattern: formatted("%.2e", flops).
std::string formatted(const char* pattern, double number);

}  // namespace transformer
