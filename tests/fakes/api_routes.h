// A request to the API server out of its HTTP form.
#pragma once

#include <string>
#include <variant>

#include "base/time.h"
#include "sync/ports/api_server.h"
#include "tests/fakes/api_model.h"
#include "tests/fakes/http2_server.h"

namespace denselet::fakes {

struct ApiRoute {
  enum class Kind : uint8_t { kObject, kList, kWatch };

  Kind kind = Kind::kObject;
  sync::ApiRequest request = {};  // of kObject
  ListQuery query = {};           // of the others
  Duration timeout{};             // of a watch; zero: the server's own
};

// Or what the server answers when it is none.
std::variant<ApiRoute, ModelAnswer> ParseRoute(const Http2Request& http);

}  // namespace denselet::fakes
