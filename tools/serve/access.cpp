#include "tools/serve/access.h"

#include <httplib.h>
#include <unistd.h>

#include <array>

#include "transformer/error.h"

namespace transformer {

namespace {

std::string drawn_word() {
  std::array<unsigned char, 24> bytes{};
  if (getentropy(bytes.data(), bytes.size()) != 0) {
    throw Failure("the system gives no random bytes for a token");
  }
  std::string word;
  for (const unsigned char byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    word += kDigits[byte >> 4];
    word += kDigits[byte & 15];
  }
  return word;
}

// In a time that does not tell how much of it is right.
bool same_word(const std::string& given, const std::string& right) {
  if (given.size() != right.size()) return false;
  unsigned char different = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    different |= static_cast<unsigned char>(given[i] ^ right[i]);
  }
  return different == 0;
}

bool is_own_host(std::string host) {
  const size_t port = host.rfind(':');
  const bool has_port = port != std::string::npos && host.find(']', port) == std::string::npos;
  if (has_port) host.erase(port);  // of an SSH forwarding it may be another than ours
  return host == "127.0.0.1" || host == "localhost" || host == "[::1]";
}

// The value of a cookie among "a=1; b=2".
std::string cookie_in(const std::string& header, const std::string& name) {
  for (size_t start = 0; start < header.size();) {
    const size_t end = std::min(header.find(';', start), header.size());
    const size_t first = header.find_first_not_of(' ', start);
    if (first == std::string::npos) break;
    if (header.compare(first, name.size() + 1, name + "=") == 0) {
      return header.substr(first + name.size() + 1, end - first - name.size() - 1);
    }
    start = end + 1;
  }
  return "";
}

}  // namespace

Access::Access(int port)
    : token_(drawn_word()), session_(drawn_word()), name_("transformer-" + std::to_string(port)) {}

std::optional<Refusal> Access::foreign(const httplib::Request& request) {
  const auto host = request.get_header_value("Host");
  if (request.get_header_value_count("Host") != 1 || !is_own_host(host)) {
    return Refusal{421, "Host: expected 127.0.0.1 or localhost"};
  }
  if (request.has_header("Origin") && request.get_header_value("Origin") != "http://" + host) {
    return Refusal{403, "Origin: expected this page's own"};
  }
  if (request.has_header("Sec-Fetch-Site")) {
    const auto site = request.get_header_value("Sec-Fetch-Site");
    if (site == "same-origin" || site == "none") return std::nullopt;
    // A link from elsewhere may open the page; nothing else may be asked from there.
    const bool opens_page =
        request.path == "/" && request.get_header_value("Sec-Fetch-Mode") == "navigate";
    if (!opens_page) return Refusal{403, "expected a request of this page's own"};
  }
  return std::nullopt;
}

bool Access::is_known(const httplib::Request& request) const {
  if (same_word(cookie_in(request.get_header_value("Cookie"), name_), session_)) return true;
  constexpr std::string_view kBearer = "Bearer ";
  const auto given = request.get_header_value("Authorization");
  return given.starts_with(kBearer) && is_token(given.substr(kBearer.size()));
}

bool Access::is_token(const std::string& word) const { return same_word(word, token_); }

std::string Access::cookie() const {
  return name_ + "=" + session_ + "; Path=/; HttpOnly; SameSite=Strict";
}

}  // namespace transformer
