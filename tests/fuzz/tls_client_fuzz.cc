// A server may send anything at any time: the client's end of TLS survives it, tells its user each
// thing once and in order, and lets go of everything.
//
// The input's first byte says what the server is: of nothing but the input's bytes (0 to 63), or a
// real one of TLS 1.2 (up to 127) or 1.3 into whose bytes the input is written. Then two bytes:
// after how many of the server's own. Then one: into pieces of that size the bytes are cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/check.h"
#include "reactor/net/tls/tls_connect.h"
#include "tests/sim/world.h"
#include "tests/tls/memory_stream.h"
#include "tests/tls/tls_server.h"

namespace denselet::net {
namespace {

class User final : public StreamUser {
 public:
  void OnReceived(std::span<const std::byte> data) override {
    CHECK(!ended_ && !broken_ && !data.empty());
    if (++calls_ % 3 == 0) stream->Hold();
    stream->Send("answer");
  }
  void OnReceiveEnd() override {
    CHECK(!ended_ && !broken_);
    ended_ = true;
    stream->SendEnd();
  }
  void OnRoom() override { CHECK(!broken_); }
  void OnBroken(const Error& reason) override {
    CHECK(!broken_ && !reason.message().empty());
    broken_ = true;
  }

  TlsStream* stream = nullptr;

 private:
  int calls_ = 0;
  bool ended_ = false, broken_ = false;
};

class Nobody final : public StreamUser {
 public:
  void OnReceived(std::span<const std::byte>) override {}
  void OnReceiveEnd() override {}
  void OnRoom() override {}
  void OnBroken(const Error&) override {}
};

// Made once: keys take time.
struct Fixed {
  Identity authority = MakeAuthority("authority");
  Identity identity = MakeServer(authority);
  SslContextPtr servers[2] = {MakeServerContext(identity, {.version = TlsVersion::k12}),
                              MakeServerContext(identity, {.version = TlsVersion::k13})};
};

constexpr Duration kRunTime = Seconds(60);

class Run {
 public:
  explicit Run(const Fixed& fixed) : world_({.seed = 1, .shards = 1}), loop_(world_.loop(0)) {
    TlsClientOptions options;
    options.authorities = fixed.authority.pem;
    client_ = *TlsClient::Make(options);
  }

  void AgainstBytes(const std::string& bytes, size_t piece_bytes) {
    auto [ours, theirs] = MemoryStream::MakePair(loop_, piece_bytes);
    Nobody nobody;
    theirs->Use(nobody);
    Connect(std::move(ours));
    theirs->Send(bytes);
    theirs->SendEnd();
    Finish();
  }

  void AgainstServer(ssl_ctx_st* context, const std::string& bytes, size_t at, size_t piece_bytes) {
    auto [ours, theirs] = MemoryStream::MakePair(loop_, piece_bytes);
    TlsServer server(std::move(theirs), context);
    size_t sent = 0;
    server.tamper = [&](std::string own) {
      const size_t begin = std::exchange(sent, sent + own.size());
      if (at >= begin && at < sent) own.replace(at - begin, bytes.size(), bytes);
      return own;
    };
    Connect(std::move(ours));
    Turns();
    if (server.established()) {
      server.Write("hello");
      Turns();
      server.Write(std::string(20'000, 'x'));
      server.WriteEnd();
    }
    if (at >= sent) server.WriteRaw(bytes);
    Turns();
    server.EndRaw();
    Finish();
  }

 private:
  void Connect(std::unique_ptr<Stream> below) {
    TlsConnect(loop_, {}, std::move(below), *client_, "localhost",
               [this](Result<std::unique_ptr<TlsStream>> result) {
                 CHECK(++answers_ == 1);
                 if (!result) return;
                 stream_ = *std::move(result);
                 user_.stream = stream_.get();
                 stream_->Use(user_);
               });
  }
  void Turns() {
    for (int i = 0; i < 200 && loop_.Runnable(); ++i) loop_.Turn();
  }
  void Finish() {
    world_.RunUntil(After(world_.clock().Now(), kRunTime));
    CHECK(answers_ == 1);
    for (int i = 0; i < 8 && stream_ != nullptr; ++i) {
      stream_->Resume();
      Turns();
    }
    stream_.reset();
    Turns();
  }

  sim::World world_;
  sim::SimLoop& loop_;
  std::optional<TlsClient> client_;
  User user_;
  std::unique_ptr<TlsStream> stream_;
  int answers_ = 0;
};

}  // namespace
}  // namespace denselet::net

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet::net;
  static const Fixed fixed;
  if (size < 4) return 0;
  const size_t at = static_cast<size_t>(data[1]) << 8 | data[2];
  const size_t piece_bytes = data[3] == 0 ? 16384 : data[3] * size_t{8};
  const std::string bytes(reinterpret_cast<const char*>(data) + 4, size - 4);
  Run run(fixed);
  if (data[0] < 64) {
    run.AgainstBytes(bytes, piece_bytes);
  } else {
    run.AgainstServer(fixed.servers[data[0] < 128 ? 0 : 1].get(), bytes, at, piece_bytes);
  }
  return 0;
}
