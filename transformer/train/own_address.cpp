#include "transformer/train/own_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transformer/error.h"

namespace transformer {

std::string own_address(const Rendezvous& place) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(place.port);
  if (getaddrinfo(place.address.c_str(), port.c_str(), &hints, &found) != 0) {
    throw UserError("MASTER_ADDR: " + place.address + " is not the name of a machine known here");
  }
  std::string own;
  for (const auto* each = found; each != nullptr && own.empty(); each = each->ai_next) {
    const int socket = ::socket(each->ai_family, SOCK_DGRAM, 0);
    if (socket < 0) continue;
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    char text[NI_MAXHOST];
    auto* general = reinterpret_cast<sockaddr*>(&address);
    if (connect(socket, each->ai_addr, each->ai_addrlen) == 0 &&
        getsockname(socket, general, &size) == 0 &&
        getnameinfo(general, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) {
      own = text;
    }
    close(socket);
  }
  freeaddrinfo(found);
  if (own.empty()) {
    throw Failure("MASTER_ADDR: " + place.address + " cannot be reached from this machine");
  }
  return own;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace transformer
