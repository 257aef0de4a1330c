// `openssl s_server` as a child process: a TLS server that nobody here has written.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "reactor/net/address.h"
#include "tests/tls/certificates.h"

namespace denselet::net {

// Listens on a port that the kernel chose; killed by the destructor.
class OpensslServer {
 public:
  // `arguments` beside certificate, key and address: {"-rev", "-tls1_2"}.
  OpensslServer(const Identity& identity, const std::vector<std::string>& arguments);
  ~OpensslServer();
  OpensslServer(const OpensslServer&) = delete;
  OpensslServer& operator=(const OpensslServer&) = delete;

  // The server's working folder, for files that arguments name.
  const std::filesystem::path& folder() const { return folder_; }
  Address address() const { return *Address::Ip("127.0.0.1", port_); }
  bool started() const { return port_ != 0; }

 private:
  void Spawn(const std::vector<std::string>& arguments);
  void ReadPort();

  std::filesystem::path folder_;
  pid_t pid_ = -1;
  int output_ = -1;
  uint16_t port_ = 0;
};

}  // namespace denselet::net
