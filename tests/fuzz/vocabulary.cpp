#include "tests/fuzz/targets.h"
#include "transformer/data/tokenizer.h"
#include "transformer/utf8.h"

namespace transformer::fuzz {

void vocabulary(const std::string& bytes) {
  const Tokenizer read(file_with("vocabulary.model", bytes));
  const std::string long_one(100, 'A');  // rules and pieces may begin with one another
  for (const auto& line : std::vector<std::string>{"", "a", "Ein  Haus, ein \u00e4lteres.",
                                                   "\uff21\u2460\ufb01", "\xff", long_one}) {
    const auto ids = read.encode(line);
    for (const int32_t id : ids) {
      promise(id >= 0 && id < read.size(), "an id is a piece's");
      read.piece(id);
    }
    promise(is_utf8(read.decode(ids)), "what is written is UTF-8");
  }
}

}  // namespace transformer::fuzz
