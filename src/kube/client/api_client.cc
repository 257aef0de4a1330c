#include "kube/client/api_client.h"

#include <utility>

namespace denselet::kube {

ApiClient::ApiClient(reactor::Loop& loop, Random& random, ApiTransport& transport,
                     const ApiClientOptions& options)
    : loop_(loop),
      random_(random),
      transport_(transport),
      options_(options),
      parts_{loop, random, transport, options_.call},
      main_line_(loop, "kubeAPIQPS", options.requests_per_second, options.requests_burst),
      events_line_(loop, "eventRecordQPS", options.events_per_second, options.events_burst) {}

ApiClient::~ApiClient() = default;

RequestLine* ApiClient::LineOf(sync::ApiTraffic traffic) {
  switch (traffic) {
    case sync::ApiTraffic::kHeartbeat:
      return nullptr;
    case sync::ApiTraffic::kMain:
      return &main_line_;
    case sync::ApiTraffic::kEvents:
      return &events_line_;
  }
  return nullptr;
}

bool ApiClient::IsBusy(sync::ApiTraffic traffic) const {
  switch (traffic) {
    case sync::ApiTraffic::kHeartbeat:
      return false;
    case sync::ApiTraffic::kMain:
      return main_line_.size() > 0;
    case sync::ApiTraffic::kEvents:
      return events_line_.size() > 0;
  }
  return false;
}

void ApiClient::Send(const Context& context, sync::ApiRequest request,
                     reactor::Done<sync::ApiObject> done) {
  if (calls_.size() >= options_.calls_max) {
    loop_.Post([done = std::move(done)]() mutable {
      done(Error(ErrorCode::kOverloaded, "too many requests to the API server are under way"));
    });
    return;
  }
  auto call = std::make_unique<ApiCall>(parts_, LineOf(request.traffic), context,
                                        std::move(request), std::move(done),
                                        [this](ApiCall& finished) { OnFinished(finished); });
  ApiCall* const key = call.get();
  calls_.emplace(key, std::move(call));
}

void ApiClient::OnFinished(ApiCall& call) {
  const auto found = calls_.find(&call);
  loop_.DeferDelete(std::move(found->second));
  calls_.erase(found);
}

std::unique_ptr<sync::ListWatch> ApiClient::Follow(sync::ListWatchSpec spec,
                                                   sync::ListWatchUser& user) {
  return std::make_unique<HttpListWatch>(loop_, random_, transport_, main_line_,
                                         options_.list_watch, std::move(spec), user);
}

}  // namespace denselet::kube
