#include "common/comm/rendezvous/loopback.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "common/api/errors.h"
#include "common/base/files.h"

namespace lab {
namespace {

/// True if the address, with any port, is this machine's.
template <typename Address>
bool is_here(const Address& address, sa_family_t family) {
  const UniqueFd fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return fd.get() >= 0 && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace

std::string loopback_address() {
  sockaddr_in ipv4 = {};
  ipv4.sin_family = AF_INET;
  ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (is_here(ipv4, AF_INET)) return "127.0.0.1";
  sockaddr_in6 ipv6 = {};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_addr = in6addr_loopback;
  if (is_here(ipv6, AF_INET6)) return "::1";
  throw UsageError(
      "this machine's loopback interface: expected the address 127.0.0.1 or ::1, got neither; hint: ip link set lo up, "
      "or name another interface with GLOO_SOCKET_IFNAME");
}

}  // namespace lab
