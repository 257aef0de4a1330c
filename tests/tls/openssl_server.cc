#include "tests/tls/openssl_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/check.h"

namespace denselet::net {
namespace {

constexpr int kStartMillisecondsMax = 20'000;

void WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

OpensslServer::OpensslServer(const Identity& identity, const std::vector<std::string>& arguments) {
  std::string name = std::filesystem::temp_directory_path() / "tls_test.XXXXXX";
  CHECK(::mkdtemp(name.data()) != nullptr);
  folder_ = name;
  WriteFile(folder_ / "cert.pem", identity.pem);
  WriteFile(folder_ / "key.pem", identity.key_pem);
  std::vector<std::string> all = {"openssl", "s_server",           "-accept", "127.0.0.1:0",
                                  "-cert",   folder_ / "cert.pem", "-key",    folder_ / "key.pem"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  Spawn(all);
  ReadPort();
}

void OpensslServer::Spawn(const std::vector<std::string>& arguments) {
  int pipe[2];
  CHECK(::pipe2(pipe, O_CLOEXEC) == 0);
  output_ = pipe[0];
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder_.c_str());
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  if (::posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
}

// The line "ACCEPT 127.0.0.1:PORT".
void OpensslServer::ReadPort() {
  std::string text;
  while (pid_ > 0) {
    pollfd wait = {output_, POLLIN, 0};
    if (::poll(&wait, 1, kStartMillisecondsMax) != 1) return;
    char buffer[512];
    const ssize_t size = ::read(output_, buffer, sizeof(buffer));
    if (size <= 0) return;
    text.append(buffer, static_cast<size_t>(size));
    const size_t line = text.find("ACCEPT ");
    if (line == text.npos || text.find('\n', line) == text.npos) continue;
    const size_t colon = text.rfind(':', text.find('\n', line));
    port_ = static_cast<uint16_t>(std::strtoul(text.c_str() + colon + 1, nullptr, 10));
    return;
  }
}

OpensslServer::~OpensslServer() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(output_);
  std::filesystem::remove_all(folder_);
}

}  // namespace denselet::net
