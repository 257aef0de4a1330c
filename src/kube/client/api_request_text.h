// What a request to the API server looks like in HTTP.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "reactor/net/http/message.h"
#include "sync/ports/api_server.h"

namespace denselet::kube {

inline constexpr char kAcceptAnswer[] = "application/vnd.kubernetes.protobuf,application/json";

// Method, target and headers that follow from the request; not who asks and whom. `timeout`: how
// long the server may take for it, where it is told.
net::HttpRequest ToHttpRequest(const sync::ApiRequest& request,
                               std::optional<Duration> timeout = std::nullopt);
std::string ToHttpBody(const sync::ApiRequest& request);

// "?a=1&b=x%3Dy" of what is not empty.
class Query {
 public:
  Query& Add(std::string_view name, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace denselet::kube
