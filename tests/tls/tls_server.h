// A TLS server's end of one connection, in the test's own process: well-behaved unless a test
// makes it do something else at a chosen point.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reactor/net/stream.h"
#include "reactor/net/tls/openssl_ptr.h"
#include "reactor/net/tls/tls_client.h"
#include "tests/tls/certificates.h"

namespace denselet::net {

struct TlsServerOptions {
  TlsVersion version = TlsVersion::k13;     // this one only
  std::string client_authority = {};        // PEM: a client certificate of it is demanded
  std::vector<std::string> protocols = {};  // ALPN, accepted ones
  size_t record_bytes_max = 0;              // 0: as large as TLS allows
};

// What connections of one server share: its certificate and the keys of its tickets.
SslContextPtr MakeServerContext(const Identity& identity, const TlsServerOptions& options = {});

class TlsServer final : public reactor::Deletable, private StreamUser {
 public:
  TlsServer(std::unique_ptr<Stream> below, ssl_ctx_st* context);
  ~TlsServer() override;

  void Write(const std::string& data);
  void WriteEnd();    // close_notify; the stream below stays open
  void UpdateKeys();  // and asks the client to do so; goes out with the next Write
  void AskToRenegotiate();
  void WriteRaw(std::string bytes) { below_->Send(std::move(bytes)); }
  void EndRaw() { below_->SendEnd(); }
  void CloseRaw() { below_->Close(); }
  Stream& below() { return *below_; }

  bool established() const { return established_; }
  bool ended() const { return ended_; }    // the client's close_notify has come
  bool broken() const { return broken_; }  // the connection is gone, or its bytes make no sense
  const std::string& failure() const { return failure_; }
  std::string Received() { return received_; }
  size_t received_bytes() const { return received_.size(); }
  std::string server_name() const;

  // Called in the place of sending: may change, cut, or swallow what the server sends.
  std::function<std::string(std::string)> tamper;
  bool echo = false;

 private:
  void OnReceived(std::span<const std::byte> data) override;
  void OnReceiveEnd() override { broken_ = true; }
  void OnRoom() override {}
  void OnBroken(const Error&) override { broken_ = true; }

  void Advance();
  void Flush();

  std::unique_ptr<Stream> below_;
  SslPtr ssl_;
  bio_st* in_;   // the ssl's
  bio_st* out_;  // the ssl's
  std::string received_, failure_;
  bool established_ = false, ended_ = false, broken_ = false;
};

}  // namespace denselet::net
