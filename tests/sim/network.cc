#include "tests/sim/network.h"

#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tests/sim/sim_loop.h"

namespace denselet::sim {
namespace {

std::string KeyOf(const sockaddr* address, socklen_t size) {
  return {reinterpret_cast<const char*>(address), size};
}

}  // namespace

Network::Endpoint* Network::Find(int fd) {
  const auto found = sockets_.find(fd);
  return found == sockets_.end() ? nullptr : &found->second;
}

int Network::Socket(int, int) {
  sockets_.try_emplace(next_fd_);
  return next_fd_++;
}

int Network::Listen(int fd, const sockaddr* address, socklen_t size, int backlog) {
  Endpoint* end = Find(fd);
  if (end == nullptr) return -EBADF;
  sockaddr_storage copy{};
  std::memcpy(&copy, address, size);
  auto* inet = reinterpret_cast<sockaddr_in*>(&copy);
  if (copy.ss_family == AF_INET && inet->sin_port == 0) inet->sin_port = htons(next_port_++);
  const std::string key = KeyOf(reinterpret_cast<sockaddr*>(&copy), size);
  if (!listeners_.try_emplace(key, fd).second) return -EADDRINUSE;
  end->address = key;
  end->backlog = static_cast<size_t>(std::max(backlog, 1));
  return 0;
}

int Network::LocalAddress(int fd, sockaddr_storage& address, socklen_t& size) {
  const Endpoint* end = Find(fd);
  if (end == nullptr) return -EBADF;
  std::memcpy(&address, end->address.data(), end->address.size());
  size = static_cast<socklen_t>(end->address.size());
  return 0;
}

void Network::Connect(int fd, const sockaddr* address, socklen_t size, Waiter waiter) {
  Endpoint* end = Find(fd);
  if (end == nullptr) return waiter.loop->Complete(waiter.op, -EBADF);
  later_(NextArrival(*end),
         [this, fd, key = KeyOf(address, size), waiter] { Meet(fd, key, waiter); });
}

void Network::Meet(int client, const std::string& address, Waiter waiter) {
  Endpoint* end = Find(client);
  if (end == nullptr) return;  // closed, or the process that connected is gone
  const auto listener = listeners_.find(address);
  if (listener == listeners_.end() ||
      Find(listener->second)->arrived.size() >= Find(listener->second)->backlog) {
    waiter.loop->Complete(waiter.op, -ECONNREFUSED);
    return;
  }
  const int server = Socket(0, 0);
  end = Find(client);
  end->peer = server;
  end->connected = true;
  Endpoint& other = *Find(server);
  other.peer = client;
  other.connected = true;
  waiter.loop->Complete(waiter.op, 0);
  Find(listener->second)->arrived.push_back(server);
  Progress(listener->second);
}

void Network::Accept(int fd, Waiter waiter) {
  Endpoint* end = Find(fd);
  if (end == nullptr) return waiter.loop->Complete(waiter.op, -EBADF);
  end->acceptors.push_back(waiter);
  Progress(fd);
}

void Network::Receive(int fd, std::span<std::byte> into, Waiter waiter) {
  Endpoint* end = Find(fd);
  if (end == nullptr) return waiter.loop->Complete(waiter.op, -EBADF);
  end->receivers.push_back({waiter, into.data(), into.size()});
  Progress(fd);
}

void Network::Send(int fd, std::span<const std::byte> from, Waiter waiter) {
  Endpoint* end = Find(fd);
  if (end == nullptr) return waiter.loop->Complete(waiter.op, -EBADF);
  if (random_.Unit() < faults_.reset) Break(fd);
  if (random_.Unit() < faults_.silence) end->silent = true;
  end->senders.push_back({waiter, const_cast<std::byte*>(from.data()), from.size()});
  Progress(fd);
}

void Network::Poll(int fd, uint32_t events, Waiter waiter) {
  Endpoint* end = Find(fd);
  if (end == nullptr) return waiter.loop->Complete(waiter.op, -EBADF);
  end->polls.push_back({waiter, events});
  Progress(fd);
}

void Network::Forget(int fd, Waiter waiter) {
  Endpoint* end = Find(fd);
  if (end == nullptr) return;
  const auto is_it = [&](const auto& entry) { return entry.waiter == waiter; };
  std::erase_if(end->receivers, is_it);
  std::erase_if(end->senders, is_it);
  std::erase_if(end->polls, is_it);
  std::erase(end->acceptors, waiter);
}

void Network::Progress(int fd) {
  Endpoint* end = Find(fd);
  if (end == nullptr) return;
  while (!end->acceptors.empty() && !end->arrived.empty()) {
    const Waiter waiter = end->acceptors.front();
    end->acceptors.erase(end->acceptors.begin());
    waiter.loop->Complete(waiter.op, end->arrived.front());
    end->arrived.pop_front();
  }
  ServeReceivers(*end);
  ServeSenders(fd, *end);
  ServePolls(*end);
}

void Network::ServeReceivers(Endpoint& end) {
  while (!end.receivers.empty() && (end.reset || end.ended || !end.received.empty())) {
    const Transfer transfer = end.receivers.front();
    end.receivers.erase(end.receivers.begin());
    if (end.reset) {
      transfer.waiter.loop->Complete(transfer.waiter.op, -ECONNRESET);
      continue;
    }
    const size_t count = std::min(transfer.size, end.received.size());
    const auto last = end.received.begin() + static_cast<std::ptrdiff_t>(count);
    std::copy(end.received.begin(), last, transfer.data);
    end.received.erase(end.received.begin(), last);
    transfer.waiter.loop->Complete(transfer.waiter.op, static_cast<int32_t>(count));
    // Reading makes room: whoever sends to us may go on, but not inside this walk.
    if (count > 0 && end.peer != 0)
      later_(Microseconds(1), [this, peer = end.peer] { Progress(peer); });
  }
}

size_t Network::RoomToSend(const Endpoint& end) {
  const Endpoint* peer = Find(end.peer);
  if (peer == nullptr) return kWindowBytes;  // a send finds out that the peer is gone
  const size_t used = peer->received.size() + peer->in_flight;
  return used >= kWindowBytes ? 0 : kWindowBytes - used;
}

void Network::ServeSenders(int fd, Endpoint& end) {
  while (!end.senders.empty() && (end.reset || end.shut_write || RoomToSend(end) > 0)) {
    const Transfer transfer = end.senders.front();
    end.senders.erase(end.senders.begin());
    const Waiter& waiter = transfer.waiter;
    if (end.reset) {
      waiter.loop->Complete(waiter.op, -ECONNRESET);
    } else if (end.shut_write || !end.connected || Find(end.peer) == nullptr) {
      waiter.loop->Complete(waiter.op, end.connected ? -EPIPE : -ENOTCONN);
    } else {
      size_t count = std::min(transfer.size, RoomToSend(end));
      if (count > 1 && random_.Below(4) == 0)
        count = 1 + random_.Below(count);  // kernels send in pieces too
      Carry(fd, end, {transfer.data, count});
      waiter.loop->Complete(waiter.op, static_cast<int32_t>(count));
    }
  }
}

void Network::Carry(int from, Endpoint& end, std::span<const std::byte> data) {
  const int to = end.peer;
  Endpoint& peer = *Find(to);
  peer.in_flight += data.size();
  if (end.silent) return;  // in flight for ever
  later_(NextArrival(end),
         [this, from, to, bytes = std::vector<std::byte>(data.begin(), data.end())] {
           Endpoint* target = Find(to);
           if (target == nullptr || target->peer != from) return;
           target->in_flight -= bytes.size();
           target->received.insert(target->received.end(), bytes.begin(), bytes.end());
           Progress(to);
         });
}

Duration Network::NextArrival(Endpoint& from) {
  const uint64_t spread = static_cast<uint64_t>(faults_.delay_max.count()) + 1;
  const TimePoint now = clock_.Now();
  const TimePoint chosen =
      now + Microseconds(1) + Duration(static_cast<int64_t>(random_.Below(spread)));
  from.last_arrival = std::max(chosen, from.last_arrival + Duration(1));
  return from.last_arrival - now;
}

void Network::ServePolls(Endpoint& end) {
  uint32_t holds = 0;
  if (end.reset) holds |= POLLERR | POLLHUP | POLLIN;
  if (end.ended || !end.received.empty() || !end.arrived.empty()) holds |= POLLIN;
  if (end.connected && RoomToSend(end) > 0) holds |= POLLOUT;
  std::erase_if(end.polls, [&](const Endpoint::Polled& polled) {
    const uint32_t result = holds & (polled.events | POLLERR | POLLHUP);
    if (result == 0) return false;
    polled.waiter.loop->Complete(polled.waiter.op, static_cast<int32_t>(result));
    return true;
  });
}

void Network::Break(int fd) {
  Endpoint& end = *Find(fd);
  end.reset = true;
  if (Endpoint* peer = Find(end.peer)) {
    peer->reset = true;
    Progress(end.peer);
  }
}

int Network::Shutdown(int fd, int how) {
  Endpoint* end = Find(fd);
  if (end == nullptr) return -EBADF;
  if (how == SHUT_RD || end->shut_write) return 0;
  end->shut_write = true;
  DeliverEnd(fd);
  return 0;
}

void Network::DeliverEnd(int from) {
  Endpoint* end = Find(from);
  if (end == nullptr || end->silent || end->peer == 0) return;
  later_(NextArrival(*end), [this, to = end->peer] {
    Endpoint* target = Find(to);
    if (target == nullptr) return;
    target->ended = true;
    Progress(to);
  });
}

void Network::Close(int fd) {
  Endpoint* end = Find(fd);
  if (end == nullptr) return;
  if (!end->address.empty()) listeners_.erase(end->address);
  if (!end->shut_write) DeliverEnd(fd);
  const std::deque<int> orphans = end->arrived;
  sockets_.erase(fd);
  for (const int orphan : orphans) Close(orphan);
}

}  // namespace denselet::sim
