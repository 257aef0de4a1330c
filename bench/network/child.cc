#include "bench/network/child.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "reactor/shards.h"

extern char** environ;

namespace denselet::bench {
namespace {

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::vector<std::string> Pinned(int cpu, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"taskset", "-c", std::to_string(cpu)});
  return arguments;
}

std::string MakeFolder() {
  std::string folder = std::filesystem::temp_directory_path() / "denselet-bench-XXXXXX";
  CHECK(::mkdtemp(folder.data()) != nullptr);
  return folder;
}

}  // namespace

int MeasuredCpu() { return reactor::AllowedCpus().front(); }
int PeerCpu() { return reactor::AllowedCpus().back(); }

Child::Child(int cpu, std::vector<std::string> arguments)
    : Child(Pinned(cpu, std::move(arguments))) {}

Child::Child(std::vector<std::string> arguments) {
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  int in[2], out[2];
  CHECK(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  const int error = ::posix_spawnp(&pid_, words[0], &actions, nullptr, words.data(), environ);
  CHECK(error == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

Child::~Child() {
  ::close(input_);
  ::close(output_);
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

void Child::Kill(int signal) const { ::kill(pid_, signal); }

std::string Child::ReadLine() {
  std::string line;
  char c;
  while (::read(output_, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

std::string Child::ReadAll() {
  std::string all;
  std::array<char, 4096> part;
  for (ssize_t got; (got = ::read(output_, part.data(), part.size())) > 0;) {
    all.append(part.data(), static_cast<size_t>(got));
  }
  return all;
}

uint16_t FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  CHECK(::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
  CHECK(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

bool WaitForListener(uint16_t port) {
  for (int tries = 0; tries < 200; ++tries) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = Loopback(port);
    const bool there =
        ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    if (there) return true;
    ::poll(nullptr, 0, 50);
  }
  return false;
}

Nginx::Nginx(int cpu) : folder_(MakeFolder()), http1_port_(FreePort()), http2_port_(FreePort()) {
  std::ofstream(folder_ + "/nginx.conf")
      << "daemon off;\nworker_processes 1;\npid " << folder_ << "/pid;\nerror_log stderr crit;\n"
      << "events { worker_connections 16384; }\n"
      << "http {\n  access_log off;\n  keepalive_requests 1000000000;\n"
      << "  client_body_temp_path " << folder_ << "/b;\n  proxy_temp_path " << folder_ << "/p;\n"
      << "  fastcgi_temp_path " << folder_ << "/f;\n  uwsgi_temp_path " << folder_ << "/u;\n"
      << "  scgi_temp_path " << folder_ << "/s;\n"
      << "  server {\n    listen 127.0.0.1:" << http1_port_
      << ";\n    listen 127.0.0.1:" << http2_port_
      << " http2;\n    location / { default_type text/plain; return 200 \"hello, world\\n\"; }\n  "
         "}\n}\n";
  child_ = std::make_unique<Child>(
      cpu, std::vector<std::string>{"nginx", "-p", folder_, "-c", folder_ + "/nginx.conf"});
  CHECK(WaitForListener(http1_port_) && WaitForListener(http2_port_));
}

Nginx::~Nginx() {
  child_.reset();
  std::filesystem::remove_all(folder_);
}

}  // namespace denselet::bench
