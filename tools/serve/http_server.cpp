#include "tools/serve/http_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace transformer {

namespace {

using Time = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

// A connection, read and written within the bounds; past them it fails as one that broke.
// The functions of httplib::Stream differ by a few between its versions: those here are not marked
// as overriding.
class BoundedStream : public httplib::Stream {
 public:
  BoundedStream(int socket, const HttpBounds& bounds, const std::atomic<bool>& stopping)
      : socket_(socket), bounds_(bounds), stopping_(stopping) {}

  // Waits for a request's first byte. False where none comes in time.
  bool begin_request() {
    read_ = 0;
    is_writing_ = false;
    deadline_ = now() + bounds_.idle;
    if (begin_ == end_ && !wait_for(POLLIN)) return false;
    deadline_ = now() + bounds_.to_read;
    return true;
  }

  bool is_readable() const { return begin_ < end_ || wait_for(POLLIN); }
  bool is_writable() const { return wait_for(POLLOUT); }

  ssize_t read(char* bytes, size_t most) {
    if (begin_ == end_ && !fill()) return -1;
    const size_t count = std::min({most, end_ - begin_, bounds_.request_bytes - read_});
    if (count == 0) return -1;  // the request is too long
    std::memcpy(bytes, buffer_ + begin_, count);
    begin_ += count;
    read_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* bytes, size_t count) {
    if (!is_writing_) deadline_ = now() + bounds_.to_write;
    is_writing_ = true;
    if (!wait_for(POLLOUT)) return -1;
    return send(socket_, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const { ip = "", port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const { ip = "", port = 0; }
  socket_t socket() const { return socket_; }

  // Lets the other side read the answer before the connection is gone, though it may still be
  // sending what is not read any more.
  void close() {
    constexpr milliseconds kLinger{500};
    shutdown(socket_, SHUT_WR);
    deadline_ = now() + kLinger;
    while (wait_for(POLLIN) && recv(socket_, buffer_, sizeof buffer_, MSG_DONTWAIT) > 0) {
    }
    ::close(socket_);
  }

 private:
  static Time now() { return std::chrono::steady_clock::now(); }

  bool wait_for(short event) const {  // NOLINT: poll's own type
    constexpr milliseconds kSlice{200};
    while (!stopping_) {
      const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - now());
      if (left.count() <= 0) return false;
      pollfd one{socket_, event, 0};
      const int ready = poll(&one, 1, static_cast<int>(std::min(left, kSlice).count()));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
    return false;
  }

  bool fill() {
    if (!wait_for(POLLIN)) return false;
    const ssize_t count = recv(socket_, buffer_, sizeof buffer_, MSG_DONTWAIT);
    if (count <= 0) return false;
    begin_ = 0;
    end_ = static_cast<size_t>(count);
    return true;
  }

  int socket_;
  const HttpBounds& bounds_;
  const std::atomic<bool>& stopping_;
  Time deadline_{};
  bool is_writing_ = false;
  size_t read_ = 0;  // of this request
  char buffer_[4096] = {};
  size_t begin_ = 0, end_ = 0;
};

// A request that sends anything is the connection's last: what is left of a body that was refused
// must not be taken for the next one.
bool sends_content(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") || request.has_header("Content-Encoding") ||
         (request.method != "GET" && request.method != "HEAD") ||
         (request.has_header("Content-Length") &&
          request.get_header_value("Content-Length") != "0");
}

}  // namespace

HttpServer::HttpServer(const HttpBounds& bounds) : bounds_(bounds) {
  set_payload_max_length(bounds_.body_bytes);
  new_task_queue = [count = bounds_.connections] { return new httplib::ThreadPool(count); };
  // Not httplib's own choice: with SO_REUSEPORT two servers could share a port.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

void HttpServer::stop_soon() {
  stopping_ = true;
  stop();
}

bool HttpServer::process_and_close_socket(socket_t socket) {
  BoundedStream stream(socket, bounds_, stopping_);
  bool goes_on = true;
  for (size_t i = 1; goes_on && i <= bounds_.requests && stream.begin_request(); ++i) {
    bool is_last = i == bounds_.requests;
    bool is_closed = false;
    const auto look_at = [&](httplib::Request& request) {
      request.ranges.clear();  // answers are small, and sent whole
      if (!sends_content(request)) return;
      is_last = true;
      request.headers.erase("Connection");
      request.headers.emplace("Connection", "close");
    };
    goes_on = process_request(stream, is_last, is_closed, look_at) && !is_closed && !is_last;
  }
  stream.close();
  return true;
}

}  // namespace transformer
