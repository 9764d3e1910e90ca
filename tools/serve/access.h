#pragma once

// Who may ask: the one who was shown the token, from a page of this server itself.

#include <optional>
#include <string>

namespace httplib {
struct Request;
}

namespace transformer {

struct Refusal {
  int status;
  std::string message;
};

class Access {
 public:
  explicit Access(int port);  // draws a token

  const std::string& token() const { return token_; }

  // A request under another name than this machine's own (a page of elsewhere whose name was made
  // to lead here), or from a page of another origin. Whether or not it has the token.
  static std::optional<Refusal> foreign(const httplib::Request& request);

  // Whether it has the cookie, or the token as "Authorization: Bearer TOKEN".
  bool is_known(const httplib::Request& request) const;
  bool is_token(const std::string& word) const;
  std::string cookie() const;  // a Set-Cookie header's value

 private:
  std::string token_;
  std::string session_;  // the cookie's value: the token itself is kept nowhere
  std::string name_;     // the cookie's: cookies do not tell ports apart
};

}  // namespace transformer
