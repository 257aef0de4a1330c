// port_bridge PID PORT: a port of the loopback out here is PORT of the loopback in the network of
// process PID. Prints its own port, and runs until it is killed. One process a connection: it is
// for people with kubectl, and for tests.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr int kBacklog = 64;

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

int ListenHere() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd, any, size) != 0 || ::listen(fd, kBacklog) != 0) Die("listen");
  if (::getsockname(fd, any, &size) != 0) Die("getsockname");
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return fd;
}

// What is connected from now on is connected there; what listens stays here.
void EnterNetworkOf(const std::string& pid) {
  const int network = ::open(("/proc/" + pid + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC);
  if (network < 0 || ::setns(network, CLONE_NEWNET) != 0) Die("enter the network");
  ::close(network);
}

// False: no more comes from there.
bool Carry(int from, int to) {
  std::array<char, 64 * 1024> bytes;
  const ssize_t count = ::read(from, bytes.data(), bytes.size());
  if (count <= 0) return false;
  for (ssize_t sent = 0; sent < count;) {
    const ssize_t part =
        ::send(to, bytes.data() + sent, static_cast<size_t>(count - sent), MSG_NOSIGNAL);
    if (part <= 0) return false;
    sent += part;
  }
  return true;
}

void Serve(int client, uint16_t port) {
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
  std::array<pollfd, 2> ways{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
  while (ways[0].fd >= 0 || ways[1].fd >= 0) {
    if (::poll(ways.data(), ways.size(), -1) < 0) return;
    for (size_t i = 0; i < ways.size(); ++i) {
      if (ways[i].fd < 0 || ways[i].revents == 0) continue;
      const int to = i == 0 ? server : client;
      if (Carry(ways[i].fd, to)) continue;
      ::shutdown(to, SHUT_WR);
      ways[i].fd = -1;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto port = static_cast<uint16_t>(std::atoi(argv[2]));
  const int listening = ListenHere();
  EnterNetworkOf(argv[1]);
  std::signal(SIGCHLD, SIG_IGN);  // nobody waits for them
  while (true) {
    const int client = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(listening);
      Serve(client, port);
      ::_exit(0);
    }
    ::close(client);
  }
}
