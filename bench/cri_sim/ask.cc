#include "bench/cri_sim/ask.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "reactor/net/address.h"
#include "reactor/unique_fd.h"

namespace denselet::cri_sim {

Result<std::string> Ask(const std::string& control_socket, const std::string& command) {
  const Result<net::Address> address = net::Address::Unix(control_socket);
  if (!address) return address.error();
  const reactor::UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), address->get(), address->size()) != 0) {
    return Error::FromErrno(errno, "connect to " + control_socket);
  }
  const std::string line = command + "\n";
  if (send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) {
    return Error::FromErrno(errno, "send to " + control_socket);
  }
  std::string answer;
  char buffer[65536];
  while (answer.find('\n') == std::string::npos) {
    const ssize_t size = recv(fd.get(), buffer, sizeof(buffer), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return Error(ErrorCode::kIo, "no answer came from " + control_socket);
    answer.append(buffer, static_cast<size_t>(size));
  }
  answer.pop_back();
  return answer;
}

}  // namespace denselet::cri_sim
