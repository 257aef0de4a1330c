// The server's side of one HTTP/2 connection that answers grpc.health.v1.Health/Check and nothing
// else. No I/O of its own: bytes in, bytes out. Owned by a connection of the Responder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/unique_function.h"

struct nghttp2_session;

namespace denselet::cri_sim {

class HealthSession {
 public:
  static constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

  explicit HealthSession(UniqueFunction<bool()> healthy);
  ~HealthSession();
  HealthSession(const HealthSession&) = delete;
  HealthSession& operator=(const HealthSession&) = delete;

  // False: the peer broke the protocol or is done; the connection is to be closed once what Take()
  // gives has been sent.
  [[nodiscard]] bool Feed(std::string_view bytes);
  std::string Take();

 private:
  struct Callbacks;

  void Answer(int32_t stream, const std::string& path);

  UniqueFunction<bool()> healthy_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, std::string> paths_;   // of open streams
  std::map<int32_t, std::string> bodies_;  // to be sent
};

}  // namespace denselet::cri_sim
