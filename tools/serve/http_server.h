#pragma once

// cpp-httplib's server, with bounds that it lacks: on the time that a request takes to arrive and
// its answer to leave, and on its bytes, headers included, however they are sent.

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstddef>

namespace transformer {

struct HttpBounds {
  std::chrono::milliseconds to_read{10'000};   // a whole request, from its first byte
  std::chrono::milliseconds to_write{30'000};  // a whole answer
  std::chrono::milliseconds idle{4'000};       // between the requests of a connection
  size_t request_bytes = size_t{96} << 10;     // line, headers and body
  size_t body_bytes = size_t{32} << 10;
  size_t requests = 200;    // of one connection
  size_t connections = 64;  // at a time; further ones wait
};

class HttpServer : public httplib::Server {
 public:
  explicit HttpServer(const HttpBounds& bounds);

  const HttpBounds& bounds() const { return bounds_; }

  // Answers what is being answered, takes nothing more. `listen_after_bind` then returns.
  void stop_soon();
  const std::atomic<bool>& stopping() const { return stopping_; }

 private:
  bool process_and_close_socket(socket_t socket) override;

  HttpBounds bounds_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace transformer
