// TLS over another stream, at the client's end; TlsConnect makes them.
//
// Records are decrypted where they arrive and handed on at once: a silent connection holds no
// buffers. What is kept is bounded. Received and not taken by a user that holds: what the stream
// below had on its way when it was held in turn. Unsent: what the user sends without regard to
// kRoomBytes, mostly as ciphertext in the stream below.
//
// The peer's end counts only with its close_notify: a connection that ends without breaks with
// kCorrupt, for somebody on the way may have cut it. SendEnd sends ours; receiving goes on. Close
// sends none.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "reactor/net/stream.h"
#include "reactor/net/tls/openssl_ptr.h"
#include "reactor/net/tls/tls_client.h"
#include "reactor/net/tls/tls_verify.h"

namespace denselet::net {

class TlsHandshake;

class TlsStream final : public Stream, private StreamUser {
 public:
  ~TlsStream() override {
    Close();
    *self_ = nullptr;
  }
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  void Use(StreamUser& user) override;
  void Send(std::string data) override;
  void SendEnd() override;
  size_t unsent() const override;
  void Hold() override { held_ = true; }
  void Resume() override;
  void Close() override;

  // The ALPN protocol that the server chose; empty: it chose none.
  const std::string& protocol() const { return protocol_; }
  TlsVersion version() const { return version_; }
  bool session_reused() const { return session_reused_; }

 private:
  friend class TlsHandshake;  // makes it, and hears of the end of the handshake
  friend struct TlsCallbacks;

  enum class Stage : uint8_t { kHandshake, kOpen, kFailing, kClosed };

  TlsStream(reactor::Loop& loop, std::unique_ptr<Stream> below,
            std::shared_ptr<TlsSettings> settings, std::string server_name);
  // To be called once; `handshake` lives until it was told, or Close() was called.
  Status Start(TlsHandshake& handshake, ServerNameKind kind);

  // StreamUser, of the stream below.
  void OnReceived(std::span<const std::byte> data) override;
  void OnReceiveEnd() override;
  void OnRoom() override;
  void OnSent() override;
  void OnBroken(const Error& reason) override;

  // Ciphertext for OpenSSL.
  size_t TakeInput(std::span<std::byte> into);

  void Process();
  void ContinueHandshake();
  Status FinishHandshake();
  bool ReadRecord();
  void SendWaiting();
  bool CountAnswer();
  void FreeBuffers();
  void FlushOutput();
  void KeepInput();
  void HoldBelow();
  void TellRoom();

  bool sending_blocked() const { return !waiting_.empty() || (end_wanted_ && !end_sent_); }
  Error Failure();
  void Break(const Error& reason);
  void BreakLater(const Error& reason);
  void TellBroken();

  reactor::Loop& loop_;
  std::unique_ptr<Stream> below_;
  std::shared_ptr<TlsSettings> settings_;
  SslPtr ssl_;
  StreamUser* user_ = nullptr;
  TlsHandshake* handshake_ = nullptr;  // until it was told
  // For tasks that were posted: null when there is nothing to do for them any more.
  std::shared_ptr<TlsStream*> self_;

  std::span<const std::byte> input_;  // what the stream below is handing over, behind kept_
  std::string kept_;                  // ciphertext received and not decrypted yet
  size_t kept_used_ = 0;
  std::string output_;   // ciphertext on its way to the stream below; empty between calls
  std::string waiting_;  // plaintext that must wait for the rest of a message of the server's

  std::string server_name_;
  std::string protocol_;
  std::optional<Error> broken_;           // and there was no user to tell
  size_t lost_bytes_ = 0;                 // unsent when it broke
  std::unique_ptr<std::string> refusal_;  // why the server's certificate was not accepted
  std::array<char, 5> first_bytes_{};
  uint8_t first_count_ = 0;
  uint8_t answers_ = 0;  // since the server has last been seen reading
  Stage stage_ = Stage::kHandshake;
  TlsVersion version_ = TlsVersion::k12;
  bool session_reused_ = false;
  bool processing_ = false;
  bool held_ = true;  // until there is a user
  bool below_held_ = false;
  bool below_ended_ = false;
  bool receive_ended_ = false;
  bool end_owed_ = false;  // to the user that came after it was told
  bool end_wanted_ = false, end_sent_ = false;
  bool room_owed_ = false;  // more than kRoomBytes was unsent, and OnRoom was not called since
};

}  // namespace denselet::net
