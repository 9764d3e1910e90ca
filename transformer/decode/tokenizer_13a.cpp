#include "transformer/decode/tokenizer_13a.h"

#include <cstddef>

namespace transformer {

namespace {

bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool is_period_or_comma(char c) { return c == '.' || c == ','; }

// ASCII punctuation but for the apostrophe, hyphen, period and comma.
bool always_stands_alone(char c) {
  return ('{' <= c && c <= '~') || ('[' <= c && c <= '`') || (' ' <= c && c <= '&') ||
         ('(' <= c && c <= '+') || (':' <= c && c <= '@') || c == '/';
}

// Bytes of the white space character at the start, 0 if there is none.
size_t space_at_start(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0);
  if ((0x09 <= first && first <= 0x0d) || (0x1c <= first && first <= 0x20)) return 1;
  if (first == 0xc2) return byte(1) == 0x85 || byte(1) == 0xa0 ? 2 : 0;
  const unsigned rest = byte(1) << 8 | byte(2);
  if (first == 0xe1) return rest == 0x9a80 ? 3 : 0;  // U+1680
  if (first == 0xe2) {                               // U+2000..200A, 2028, 2029, 202F, 205F
    const bool space = (0x8080 <= rest && rest <= 0x808a) || rest == 0x80a8 || rest == 0x80a9 ||
                       rest == 0x80af || rest == 0x819f;
    return space ? 3 : 0;
  }
  return first == 0xe3 && rest == 0x8080 ? 3 : 0;  // U+3000
}

// From left to right, the text behind a replacement not looked at again.
void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Replaces every pair of neighbours that `matches`, from left to right; pairs don't overlap, which
// decides what becomes of "..". Bytes will do for characters: a pair has one ASCII character, and
// the other one stays as it is.
template <class Matches, class Write>
std::string replace_pairs(const std::string& text, const Matches& matches, const Write& write) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && matches(text[i], text[i + 1])) {
      write(out, text[i], text[i + 1]);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string split_off_punctuation(const std::string& line) {
  std::string text;
  for (const char c : line) {
    if (always_stands_alone(c)) {
      text.append({' ', c, ' '});
    } else {
      text += c;
    }
  }
  // A period or comma stays in a number: where digits stand on both sides.
  text = replace_pairs(
      text, [](char a, char b) { return !is_digit(a) && is_period_or_comma(b); },
      [](std::string& out, char a, char b) {
        out.append({a, ' ', b, ' '});
      });
  text = replace_pairs(
      text, [](char a, char b) { return is_period_or_comma(a) && !is_digit(b); },
      [](std::string& out, char a, char b) {
        out.append({' ', a, ' ', b});
      });
  return replace_pairs(
      text, [](char a, char b) { return is_digit(a) && b == '-'; },
      [](std::string& out, char a, char b) {
        out.append({a, ' ', b, ' '});
      });
}

std::string with_single_spaces(std::string_view text) {
  std::string out;
  bool between = false;
  while (!text.empty()) {
    if (const size_t space = space_at_start(text); space > 0) {
      between = !out.empty();
      text.remove_prefix(space);
      continue;
    }
    if (between) out += ' ';
    between = false;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace

std::string tokenize_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  // In this order: "&amp;lt;" becomes "<".
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
  return with_single_spaces(split_off_punctuation(" " + text + " "));
}

std::string_view strip_right(std::string_view line) {
  for (bool stripped = true; stripped;) {
    stripped = false;
    for (const size_t width : {1, 2, 3}) {
      if (width > line.size() || space_at_start(line.substr(line.size() - width)) != width)
        continue;
      line.remove_suffix(width);
      stripped = true;
    }
  }
  return line;
}

}  // namespace transformer
