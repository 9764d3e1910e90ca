#include "transformer/data/normalisation.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "transformer/utf8.h"

namespace transformer {

namespace {

uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < sizeof value; ++i) {
    value |= uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}

// A trie of the texts that have a rule, as a double array of Darts-clone: a unit has the byte that
// leads to it, the place of those that follow, and whether a rule ends here. Parts may be shared.
class RuleTrie {
 public:
  RuleTrie(std::string_view units, std::string_view texts)
      : units_(units), texts_(texts), rules_from_(units.size() / sizeof(uint32_t), kUnseen) {}

  // Depth first, each unit once.
  std::string fault() {
    std::string fault = enter(0);
    while (fault.empty() && !path_.empty()) {
      Visit& last = path_.back();
      if (last.byte == kBytes) {
        fault = leave();
        continue;
      }
      const size_t next = last.following ^ last.byte;
      const uint32_t byte = last.byte++;
      if ((unit(next) & kByteMask) != byte) continue;
      if (rules_from_[next] == kOpen) return "its rules have no end";
      if (rules_from_[next] == kUnseen) {
        fault = enter(next);
      } else {
        last.rules = std::max(last.rules, rules_from_[next]);
      }
    }
    return fault;
  }

 private:
  static constexpr uint32_t kBytes = 256;
  static constexpr uint32_t kByteMask = 0x800000ff;  // with the highest bit it is a rule's value
  static constexpr int kUnseen = -1;
  static constexpr int kOpen = -2;

  struct Visit {
    size_t at;
    size_t following;   // where the unit of byte 0 would be
    uint32_t byte = 0;  // to be looked at next
    int rules = 0;      // the most that one text meets from here on
  };

  uint32_t unit(size_t at) const { return number_at(units_, at * sizeof(uint32_t)); }

  std::string enter(size_t at) {
    const uint32_t here = unit(at);
    const size_t following = at ^ (size_t{here >> 10} << ((here & 0x200) >> 6));
    if ((following | (kBytes - 1)) >= rules_from_.size()) return "its rules lead out of it";
    const bool is_rule = (here & 0x100) != 0;
    if (is_rule) {
      if (auto wrong = fault_of_text(unit(following) & 0x7fffffff); !wrong.empty()) return wrong;
    }
    rules_from_[at] = kOpen;
    path_.push_back({.at = at, .following = following, .rules = 0});
    return "";
  }

  std::string leave() {
    constexpr int kMost = 32;  // SentencePiece has no room for more
    const Visit last = path_.back();
    path_.pop_back();
    const int rules = last.rules + ((unit(last.at) & 0x100) != 0 ? 1 : 0);
    if (rules > kMost) return "its rules are more than 32 deep";
    rules_from_[last.at] = rules;
    if (!path_.empty()) path_.back().rules = std::max(path_.back().rules, rules);
    return "";
  }

  // Of what a rule writes.
  std::string fault_of_text(size_t at) const {
    constexpr size_t kLongest = 256;  // Unicode's own, 33; else a line would become any length
    if (at >= texts_.size()) return "its rules lead out of it";
    const auto text = texts_.substr(at, kLongest + 1);
    const size_t end = text.find('\0');
    if (end == std::string_view::npos) return "a rule's text has no end within 256 bytes";
    return is_utf8(text.substr(0, end)) ? "" : "a rule's text is not UTF-8";
  }

  std::string_view units_;
  std::string_view texts_;
  std::vector<int> rules_from_;  // of each unit, where it was left
  std::vector<Visit> path_;
};

}  // namespace

std::string fault_of_rules(std::string_view charsmap) {
  constexpr size_t kUnit = sizeof(uint32_t);
  if (charsmap.empty()) return "";
  const size_t length = charsmap.size() < kUnit ? 0 : number_at(charsmap, 0);
  if (length == 0 || length % kUnit != 0 || length > charsmap.size() - kUnit) {
    return "its rules are cut";
  }
  return RuleTrie(charsmap.substr(kUnit, length), charsmap.substr(kUnit + length)).fault();
}

}  // namespace transformer
