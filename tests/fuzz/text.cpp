#include "tests/fuzz/targets.h"
#include "transformer/data/lines.h"
#include "transformer/data/parallel_text.h"
#include "transformer/printable.h"
#include "transformer/utf8.h"

namespace transformer::fuzz {

void text(const std::string& bytes) {
  const auto path = file_with("text.en", bytes);
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    promise(line.find('\n') == std::string::npos, "a line is one");
    promise(is_utf8(printable(line, 100)), "a message is UTF-8");
  }
  promise(scan_text(path).lines == reader.number(), "lines are counted as they are read");
  read_lines(path);
}

}  // namespace transformer::fuzz
