// One handshake under way, between TlsConnect and its answer.
#pragma once

#include <memory>
#include <string>

#include "base/context.h"
#include "reactor/net/tls/tls_connect.h"

namespace denselet::net {

// Owned by the callbacks of its timer, its cancel and its posted tasks; gone with the last of them.
class TlsHandshake : public std::enable_shared_from_this<TlsHandshake> {
 public:
  TlsHandshake(reactor::Loop& loop, std::unique_ptr<Stream> below,
               std::shared_ptr<TlsSettings> settings, std::string server_name,
               reactor::Done<std::unique_ptr<TlsStream>> done);

  void Start(const Context& context);
  // By the stream, which may be in a call of the stream below.
  void OnHandshake(Status status) { EndLater(std::move(status)); }

 private:
  Status TryStart(const Context& context);
  void EndLater(Status status);
  void End(Status status);

  reactor::Loop& loop_;
  const Duration time_max_;
  const bool verified_;
  const std::string server_name_;
  std::unique_ptr<TlsStream> stream_;
  reactor::Done<std::unique_ptr<TlsStream>> done_;
  reactor::TimerId deadline_;
  CancelRegistration cancel_;
  bool ending_ = false;
};

}  // namespace denselet::net
