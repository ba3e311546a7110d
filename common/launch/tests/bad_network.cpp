// A bad network between hosts (hosts.sh): bad_network HOST... opens an interface lab0 in each host's network namespace,
// prints "ready", and carries packets between 10.78.0.1, 10.78.0.2, ... One in a hundred is lost, and each takes between
// one and four milliseconds, so that many overtake others. Runs until it is killed; then says what it did.

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kLeast{1000}, kMost{4000};
constexpr double kLost = 0.01;

volatile std::sig_atomic_t ended = 0;

/// An interface of that host, as a descriptor from which its packets are read; negative: not possible here.
int open_interface(const std::string& host) {
  const int there = ::open(("/run/netns/" + host).c_str(), O_RDONLY | O_CLOEXEC);
  if (there < 0 || ::setns(there, CLONE_NEWNET) != 0) return -1;
  ::close(there);
  const int fd = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request = {};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  std::strcpy(request.ifr_name, "lab0");
  return fd >= 0 && ::ioctl(fd, TUNSETIFF, &request) == 0 ? fd : -1;
}

/// The host that a packet is for, by the last byte of its IPv4 address, from 0; negative: none.
int host_of(const std::string& packet, std::size_t num_hosts) {
  if (packet.size() < 20 || static_cast<unsigned char>(packet[0]) >> 4 != 4) return -1;
  const int host = static_cast<unsigned char>(packet[19]) - 1;
  return host < static_cast<int>(num_hosts) ? host : -1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<pollfd> hosts;
  for (int i = 1; i < argc; ++i) {
    hosts.push_back({open_interface(argv[i]), POLLIN, 0});
    if (hosts.back().fd < 0) return std::perror("bad_network"), 77;
  }
  struct sigaction on_end = {};
  on_end.sa_handler = [](int) { ended = 1; };
  ::sigaction(SIGTERM, &on_end, nullptr);
  std::puts("ready");
  std::fflush(stdout);

  struct Packet {
    int host;
    long number;
    std::string bytes;
  };
  std::multimap<Clock::time_point, Packet> under_way;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> chance;
  long num_read = 0, num_lost = 0, num_overtaking = 0, latest = 0;
  std::string buffer(1 << 16, '\0');
  while (!ended) {
    auto next = under_way.begin();
    for (; next != under_way.end() && next->first <= Clock::now(); next = under_way.erase(next)) {
      const Packet& packet = next->second;
      if (packet.number < latest) ++num_overtaking;
      latest = std::max(latest, packet.number);
      [[maybe_unused]] const ssize_t written =
          ::write(hosts[static_cast<std::size_t>(packet.host)].fd, packet.bytes.data(), packet.bytes.size());
    }
    const auto rest =
        next == under_way.end() ? Clock::duration(std::chrono::milliseconds(50)) : next->first - Clock::now();
    const auto ns = std::max<std::int64_t>(0, std::chrono::nanoseconds(rest).count());
    const timespec patience = {ns / 1'000'000'000, ns % 1'000'000'000};
    if (::ppoll(hosts.data(), hosts.size(), &patience, nullptr) <= 0) continue;
    for (const pollfd& host : hosts) {
      if ((host.revents & POLLIN) == 0) continue;
      const ssize_t size = ::read(host.fd, buffer.data(), buffer.size());
      if (size <= 0) continue;
      std::string bytes(buffer.data(), static_cast<std::size_t>(size));
      const int to = host_of(bytes, hosts.size());
      if (to < 0) continue;
      const long number = ++num_read;
      if (chance(random) < kLost) {
        ++num_lost;
        continue;
      }
      const std::chrono::duration<double> takes =
          kLeast + chance(random) * std::chrono::duration<double>(kMost - kLeast);
      under_way.emplace(Clock::now() + std::chrono::duration_cast<Clock::duration>(takes),
                        Packet{to, number, std::move(bytes)});
    }
  }
  std::printf("%ld packets, %ld lost, %ld overtaken\n", num_read, num_lost, num_overtaking);
}
