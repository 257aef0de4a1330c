// Simulated stream sockets between simulated loops: bytes arrive late and in pieces, connections
// break or fall silent. All loops of a World share one.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/time.h"
#include "base/unique_function.h"
#include "reactor/api/io.h"

namespace denselet::sim {

class SimLoop;

struct NetworkFaults {
  Duration delay_max = Milliseconds(2);  // of every piece, on top of a microsecond
  double reset = 0;                      // chance that a send breaks the connection
  double silence = 0;                    // chance that from a send on nothing arrives any more
};

class Network {
 public:
  struct Waiter {
    SimLoop* loop = nullptr;
    reactor::OpId op;
    friend bool operator==(const Waiter&, const Waiter&) = default;
  };
  // Runs a task at a later virtual time, outside of all loops.
  using Later = UniqueFunction<void(Duration, UniqueFunction<void()>)>;

  static constexpr size_t kWindowBytes = 64 * 1024;
  static constexpr int kFirstDescriptor = 1 << 20;  // no kernel descriptor looks like this

  Network(const Clock& clock, Random& random, Later later)
      : clock_(clock), random_(random), later_(std::move(later)) {}

  NetworkFaults& faults() { return faults_; }
  size_t open_sockets() const { return sockets_.size(); }

  int Socket(int domain, int type);
  int Listen(int fd, const sockaddr* address, socklen_t size, int backlog);
  int LocalAddress(int fd, sockaddr_storage& address, socklen_t& size);
  int Shutdown(int fd, int how);
  void Close(int fd);

  void Poll(int fd, uint32_t events, Waiter waiter);
  void Receive(int fd, std::span<std::byte> into, Waiter waiter);
  void Send(int fd, std::span<const std::byte> from, Waiter waiter);
  void Accept(int fd, Waiter waiter);
  void Connect(int fd, const sockaddr* address, socklen_t size, Waiter waiter);
  // The operation was cancelled: nobody waits any more.
  void Forget(int fd, Waiter waiter);

 private:
  struct Transfer {
    Waiter waiter;
    std::byte* data;
    size_t size;
  };
  struct Endpoint {
    std::string address;  // of a listener
    size_t backlog = 0;
    std::deque<int> arrived;  // accepted by nobody yet
    int peer = 0;             // 0: not connected, or the peer is gone
    bool connected = false;
    bool reset = false;   // broken: every operation fails
    bool silent = false;  // what it sends gets lost
    bool ended = false;   // the peer will send no more, and all it sent has arrived
    bool shut_write = false;
    std::deque<std::byte> received;  // arrived, not yet read
    size_t in_flight = 0;            // sent to it, not yet arrived
    TimePoint last_arrival;          // of what it sent: nothing overtakes
    std::vector<Transfer> receivers, senders;
    std::vector<Waiter> acceptors;
    struct Polled {
      Waiter waiter;
      uint32_t events;
    };
    std::vector<Polled> polls;
  };

  Endpoint* Find(int fd);
  void Progress(int fd);  // serves whoever waits on it and can be served
  void ServeReceivers(Endpoint& end);
  void ServeSenders(int fd, Endpoint& end);
  void ServePolls(Endpoint& end);
  size_t RoomToSend(const Endpoint& end);
  void Carry(int from, Endpoint& end, std::span<const std::byte> data);
  void Break(int fd);
  void DeliverEnd(int from);
  void Meet(int client, const std::string& address, Waiter waiter);

  // The delay after which the next thing that `from` sends arrives.
  Duration NextArrival(Endpoint& from);

  const Clock& clock_;
  Random& random_;
  Later later_;
  NetworkFaults faults_;
  std::map<int, Endpoint> sockets_;
  std::map<std::string, int> listeners_;
  int next_fd_ = kFirstDescriptor;
  uint16_t next_port_ = 30000;
};

}  // namespace denselet::sim
