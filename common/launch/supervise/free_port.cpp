#include "common/launch/supervise/free_port.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "common/api/errors.h"
#include "common/base/files.h"

namespace lab::launch {
namespace {

// Binds briefly and returns the port that was bound.
int try_port(int port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;  // a port with connections in TIME_WAIT counts as free
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  // Only listen() detects an existing listener: with the option above, bind() alone could succeed.
  if (::bind(fd.get(), generic, length) != 0 || ::listen(fd.get(), 1) != 0) {
    throw UsageError(
        fmt::format("port {} cannot be used: {}; choose another with --master-port", port, std::strerror(errno)));
  }
  ::getsockname(fd.get(), generic, &length);
  return ntohs(address.sin_port);
}

}  // namespace

int free_port() {
  return try_port(0);
}

void check_port_is_free(int port) {
  try_port(port);
}

}  // namespace lab::launch
