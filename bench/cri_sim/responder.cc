#include "bench/cri_sim/responder.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>
#include <optional>
#include <utility>

#include "bench/cri_sim/health_session.h"

namespace denselet::cri_sim {
namespace {

// Zero when it is none in 127.0.0.0/8.
uint32_t Loopback(int fd, decltype(getsockname)* ask) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  if (ask(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.sin_family != AF_INET) return 0;
  const uint32_t bits = ntohl(address.sin_addr.s_addr);
  return bits >> 24 == 127 ? bits : 0;
}

std::string HttpAnswer(int status, std::string_view body) {
  const std::string_view reason = status == 200 ? "OK" : "Told by cri_sim";
  return "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason) +
         "\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + std::string(body);
}

std::string_view PathOf(std::string_view request) {
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const size_t begin = std::min(line.find(' '), line.size() - 1) + 1;
  return line.substr(begin, line.find(' ', begin) - begin);
}

}  // namespace

// HTTP/1 or HTTP/2: the first bytes tell.
class Responder::Connection final : public reactor::Deletable, private net::StreamUser {
 public:
  Connection(Responder& owner, std::unique_ptr<net::Socket> socket, Ipv4 pod)
      : owner_(owner), socket_(std::move(socket)), pod_(pod) {}
  void Begin() { socket_->Use(*this); }

 private:
  void OnReceived(std::span<const std::byte> data) override {
    const std::string_view bytes(reinterpret_cast<const char*>(data.data()), data.size());
    if (http2_) return Feed(bytes);
    if (answered_) return;
    received_ += bytes;
    const std::string_view preface = HealthSession::kPreface;
    if (received_.size() >= preface.size() && received_.starts_with(preface)) {
      http2_.emplace([this] { return Health() == PodHealth::kHealthy; });
      return Feed(std::exchange(received_, {}));
    }
    if (received_.find("\r\n\r\n") != std::string::npos && !received_.starts_with("PRI ")) {
      return Answer();
    }
    if (received_.size() > kRequestBytesMax) owner_.Drop(*this);
  }
  void OnReceiveEnd() override { owner_.Drop(*this); }
  void OnRoom() override {}
  void OnSent() override {
    if (closing_) owner_.Drop(*this);
  }
  void OnBroken(const Error&) override { owner_.Drop(*this); }

  PodHealth Health() { return owner_.health_of_(pod_); }

  void Feed(std::string_view bytes) {
    const bool goes_on = http2_->Feed(bytes);
    std::string out = http2_->Take();
    closing_ = !goes_on;
    if (closing_ && out.empty()) return owner_.Drop(*this);
    if (!out.empty()) socket_->Send(std::move(out));
  }

  void Answer() {
    answered_ = true;
    const std::string_view path = PathOf(received_);
    constexpr std::string_view kStatus = "/status/";
    int status = Health() == PodHealth::kHealthy ? 200 : 503;
    if (path == "/hang") return;
    if (path.starts_with(kStatus)) {
      const std::string_view digits = path.substr(kStatus.size());
      std::from_chars(digits.data(), digits.data() + digits.size(), status);
    }
    for (const char* kind : {"/exec/", "/attach/", "/portforward/"}) {
      if (path.starts_with(kind)) status = 501;  // no streams in here
    }
    closing_ = true;
    socket_->Send(HttpAnswer(status, status == 200 ? "ok\n" : "not ok\n"));
  }

  Responder& owner_;
  std::unique_ptr<net::Socket> socket_;
  const Ipv4 pod_;
  std::string received_;
  std::optional<HealthSession> http2_;
  bool answered_ = false, closing_ = false;
};

Responder::Responder(reactor::Loop& loop, HealthOf health_of, Warn warn)
    : loop_(loop), health_of_(std::move(health_of)), warn_(std::move(warn)) {}

Responder::~Responder() = default;

void Responder::OpenPort(uint16_t port) {
  if (listeners_.contains(port)) return;
  if (listeners_.size() == kPortsMax) {
    return warn_("Port " + std::to_string(port) + " is not served: too many are");
  }
  auto opened = net::Listener::Open(
      loop_, *net::Address::Ip("0.0.0.0", port),
      [this](std::unique_ptr<net::Socket> socket) { Accept(std::move(socket)); });
  if (!opened) {
    warn_("Port " + std::to_string(port) + " is not served: " + opened.error().message());
    listeners_[port] = nullptr;
    return;
  }
  listeners_[port] = std::move(*opened);
}

std::string Responder::StreamUrl(const std::string& kind) {
  if (streams_ == nullptr) {
    auto opened = net::Listener::Open(
        loop_, *net::Address::Ip("127.0.0.1", 0),
        [this](std::unique_ptr<net::Socket> socket) { Accept(std::move(socket)); });
    if (!opened) {
      warn_("No port for streams: " + opened.error().message());
      return "http://127.0.0.1:1/" + kind + "/none";
    }
    streams_ = std::move(*opened);
  }
  return "http://" + streams_->address().ToString() + "/" + kind + "/" + std::to_string(++tokens_);
}

void Responder::Accept(std::unique_ptr<net::Socket> socket) {
  const Ipv4 local{Loopback(socket->fd(), getsockname)};
  const bool ours = local.any() && Loopback(socket->fd(), getpeername) != 0;
  if (!ours || connections_.size() == kConnectionsMax || health_of_(local) == PodHealth::kNoPod) {
    socket->Close();
    loop_.DeferDelete(std::move(socket));
    return;
  }
  auto connection = std::make_unique<Connection>(*this, std::move(socket), local);
  Connection& begun = *connection;
  connections_.emplace(&begun, std::move(connection));
  begun.Begin();
}

void Responder::Drop(Connection& connection) {
  const auto found = connections_.find(&connection);
  if (found == connections_.end()) return;
  loop_.DeferDelete(std::move(found->second));
  connections_.erase(found);
}

}  // namespace denselet::cri_sim
