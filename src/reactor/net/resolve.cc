#include "reactor/net/resolve.h"

#include <netdb.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace denselet::net {
namespace {

Error Failure(int code, const std::string& host) {
  if (code == EAI_SYSTEM) return Error::FromErrno(errno, "resolve \"" + host + "\"");
  const bool absent = code == EAI_NONAME || code == EAI_NODATA || code == EAI_ADDRFAMILY;
  return Error(absent ? ErrorCode::kNotFound : ErrorCode::kUnavailable, ::gai_strerror(code))
      .With("resolve", host);
}

}  // namespace

Result<std::vector<Address>> ResolveBlocking(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) return Failure(code, host);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    sockaddr_storage storage{};
    std::memcpy(&storage, one->ai_addr, one->ai_addrlen);
    addresses.push_back(*Address::From(storage, one->ai_addrlen));
  }
  if (addresses.empty()) return Failure(EAI_NONAME, host);
  return addresses;
}

void Resolve(reactor::Shard& home, reactor::BlockingPool& pool, const Context& context,
             std::string host, uint16_t port, reactor::Done<std::vector<Address>> done) {
  const auto answer = [&](Result<std::vector<Address>> result) {
    home.loop().Post([done = std::move(done), result = std::move(result)]() mutable {
      done(std::move(result));
    });
  };
  if (host.empty() || host.find('\0') != std::string::npos) {
    return answer(Error(ErrorCode::kInvalid, "not a host name").With("resolve", host.c_str()));
  }
  if (auto literal = Address::Ip(host, port)) return answer(std::vector<Address>{*literal});
  pool.Run<std::vector<Address>>(
      home, context, {"resolve", host}, [host, port] { return ResolveBlocking(host, port); },
      std::move(done));
}

}  // namespace denselet::net
