// Clients talk to an echo server over connections that break and fall silent: what comes back is
// what was sent, in order, as far as it comes; operations are cancelled at random; no descriptor is
// left over.
#include <netinet/in.h>

#include <array>
#include <map>
#include <string>

#include "tests/sim/scenario.h"

namespace denselet::sim {
namespace {

constexpr size_t kClientsMax = 6;
constexpr Duration kPatience = Milliseconds(300);

// One connection of the server: reads, writes back what it read, reads again.
struct Served {
  int fd;
  std::array<std::byte, 512> buffer;
  size_t filled = 0, written = 0;
};

struct Client {
  uint32_t shard;
  int fd;
  std::string sent;     // accepted by the connection so far
  std::string message;  // being sent
  std::string received;
  std::array<std::byte, 512> buffer;
  reactor::TimerId timer;
  reactor::OpId sending, receiving;
  int under_way = 0;  // operations
  bool is_sending = false;
  bool closing = false;
};

class EchoActor final : public Actor {
 public:
  explicit EchoActor(World& world) : world_(world) {
    reactor::Io& io = world.loop(0).io();
    listener_ = io.Socket(AF_INET, SOCK_STREAM);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address_.sin_port = htons(7);
    CHECK(io.Listen(listener_, reinterpret_cast<sockaddr*>(&address_), sizeof address_, 4) == 0);
    AcceptNext();
    Tick();
  }

  void Finish() override {
    finishing_ = true;
    for (auto& [number, client] : clients_) CloseClient(number);
  }

  void Check(std::vector<std::string>& problems) const override {
    if (garbled_ != 0)
      problems.push_back("echoes differ from what was sent: " + std::to_string(garbled_));
    if (echoed_bytes_ == 0) problems.push_back("nothing was ever echoed");
    if (!clients_.empty())
      problems.push_back("clients are left over: " + std::to_string(clients_.size()));
    // The listener, and connections whose silent peer never told them of its end.
    if (world_.network().open_sockets() > 1 + served_.size())
      problems.push_back("descriptors are left over");
  }

 private:
  // ---- server, on shard 0
  void AcceptNext() {
    accepting_ = world_.loop(0).io().Accept(listener_, [this](int32_t fd) {
      if (fd < 0) return;
      world_.Note("accepted");
      served_[fd] = Served{.fd = fd, .buffer = {}};
      ReadSome(fd);
      AcceptNext();
    });
  }

  void ReadSome(int fd) {
    Served& served = served_[fd];
    world_.loop(0).io().Receive(fd, served.buffer, [this, fd](int32_t count) {
      if (count <= 0) return EndServed(fd);
      Served& target = served_[fd];
      target.filled = static_cast<size_t>(count);
      target.written = 0;
      WriteBack(fd);
    });
  }

  void WriteBack(int fd) {
    Served& served = served_[fd];
    const auto rest = std::span<const std::byte>(served.buffer)
                          .subspan(served.written, served.filled - served.written);
    world_.loop(0).io().Send(fd, rest, [this, fd](int32_t count) {
      if (count < 0) return EndServed(fd);
      Served& target = served_[fd];
      target.written += static_cast<size_t>(count);
      if (target.written < target.filled) return WriteBack(fd);
      ReadSome(fd);
    });
  }

  void EndServed(int fd) {
    world_.loop(0).io().Close(fd);
    served_.erase(fd);
  }

  // ---- clients, on the other shards
  void Tick() {
    if (finishing_) return;
    if (clients_.size() < kClientsMax)
      Dial(1 + static_cast<uint32_t>(world_.random().Below(world_.size() - 1)));
    const auto pause = Milliseconds(1 + static_cast<int64_t>(world_.random().Below(60)));
    world_.Later(pause, [this] { Tick(); });
  }

  reactor::Io& io(const Client& client) { return world_.loop(client.shard).io(); }

  void Dial(uint32_t shard) {
    const uint64_t number = dialled_++;
    Client& client = clients_[number];
    client.shard = shard;
    client.fd = io(client).Socket(AF_INET, SOCK_STREAM);
    reactor::Loop& loop = world_.loop(shard);
    client.timer = loop.Arm(loop.Now() + kPatience, [this, number] { CloseClient(number); });
    ++client.under_way;
    client.sending = io(client).Connect(client.fd, reinterpret_cast<sockaddr*>(&address_),
                                        sizeof address_, [this, number](int32_t result) {
                                          world_.Note("connected " + std::to_string(result));
                                          if (!Ended(number, result < 0))
                                            SendNext(number), ReceiveNext(number);
                                        });
  }

  // Common to all callbacks of a client. True: the client is going or gone.
  bool Ended(uint64_t number, bool failed) {
    Client& client = clients_[number];
    --client.under_way;
    if (failed) CloseClient(number);
    if (!client.closing) return false;
    FinishClose(number);
    return true;
  }

  void SendNext(uint64_t number) {
    Client& client = clients_[number];
    // One after the other: compilers differ in which argument of a call they evaluate first.
    const uint64_t size = 1 + world_.random().Below(2000);
    const uint64_t letter = world_.random().Below(26);
    client.message.assign(size, static_cast<char>('a' + letter));
    ++client.under_way;
    client.is_sending = true;
    client.sending = io(client).Send(
        client.fd, std::as_bytes(std::span(client.message)), [this, number](int32_t count) {
          if (count > 0)
            clients_[number].sent += clients_[number].message.substr(0, static_cast<size_t>(count));
          clients_[number].is_sending = false;
          if (!Ended(number, count < 0)) GoOn(number);
        });
  }

  void ReceiveNext(uint64_t number) {
    Client& client = clients_[number];
    ++client.under_way;
    client.receiving = io(client).Receive(client.fd, client.buffer, [this, number](int32_t count) {
      if (count > 0) Compare(clients_[number], static_cast<size_t>(count));
      if (Ended(number, count <= 0)) return;
      ReceiveNext(number);
      GoOn(number);
    });
  }

  // When everything that was sent has come back: says something else, or hangs up.
  void GoOn(uint64_t number) {
    const Client& client = clients_[number];
    if (client.is_sending || client.received.size() < client.sent.size()) return;
    if (world_.random().Below(10) == 0) return CloseClient(number);
    SendNext(number);
  }

  void Compare(Client& client, size_t count) {
    client.received.append(reinterpret_cast<const char*>(client.buffer.data()), count);
    echoed_bytes_ += count;
    // A send's bytes may come back before its callback has run; they are the message's then.
    if (!(client.sent + client.message).starts_with(client.received)) ++garbled_;
  }

  // Cancels what is under way; the descriptor is closed when the last of it has called back.
  void CloseClient(uint64_t number) {
    Client& client = clients_[number];
    if (client.closing) return;
    client.closing = true;
    world_.loop(client.shard).Disarm(client.timer);
    io(client).Cancel(client.sending);
    io(client).Cancel(client.receiving);
    if (client.under_way == 0) {
      world_.loop(client.shard).Post([this, number] { FinishClose(number); });
    }
  }

  void FinishClose(uint64_t number) {
    const auto found = clients_.find(number);
    if (found == clients_.end() || found->second.under_way != 0) return;
    world_.Note("closed " + std::to_string(found->second.received.size()));
    io(found->second).Close(found->second.fd);
    clients_.erase(found);
  }

  World& world_;
  sockaddr_in address_{};
  int listener_ = -1;
  reactor::OpId accepting_;
  std::map<int, Served> served_;
  std::map<uint64_t, Client> clients_;
  bool finishing_ = false;
  uint64_t dialled_ = 0, garbled_ = 0, echoed_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Actor> MakeEchoActor(World& world) { return std::make_unique<EchoActor>(world); }

}  // namespace denselet::sim
