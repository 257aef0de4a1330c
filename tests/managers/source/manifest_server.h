// A web server that has a manifest, and can be told to answer otherwise.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reactor/net/connect.h"
#include "reactor/net/http1/server.h"

namespace denselet::managers {

class ManifestServer final : public net::HttpService {
 public:
  explicit ManifestServer(reactor::Loop& loop) : server_(loop, *this, {}) {
    address_ = *server_.Listen(*net::Address::Ip("127.0.0.1", 0));
  }

  int status = 200;
  std::string body;
  std::map<std::string, std::string> redirects;  // from a target to a location
  bool silent = false;
  std::vector<net::HttpRequest> requests;

  const net::Address& address() const { return *address_; }

  void OnRequest(net::HttpRequest request, net::HttpServerExchange exchange) override {
    const std::string target = request.target;
    requests.push_back(std::move(request));
    if (silent) {
      held_.push_back(std::move(exchange));
      return;
    }
    if (const auto found = redirects.find(target); found != redirects.end()) {
      return exchange.Respond({.status = 302, .headers = {{"Location", found->second}}}, "");
    }
    exchange.Respond(status, "application/json", body);
  }

 private:
  std::vector<net::HttpServerExchange> held_;
  net::Http1Server server_;
  std::optional<net::Address> address_;
};

}  // namespace denselet::managers
