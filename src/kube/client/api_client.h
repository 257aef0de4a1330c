// The API server over HTTP/2: sync/ports/api_server for real.
//
// Lives on the API shard. Destroyed, it calls nobody any more; list-watches must be gone by then.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "base/random.h"
#include "kube/client/api_call.h"
#include "kube/client/api_transport.h"
#include "kube/client/list_watch.h"
#include "kube/client/request_line.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"

namespace denselet::kube {

struct ApiClientOptions {
  double requests_per_second = 50;  // kubeAPIQPS
  uint32_t requests_burst = 100;    // kubeAPIBurst
  double events_per_second = 50;    // eventRecordQPS
  uint32_t events_burst = 100;      // eventBurst
  // Under way, those that wait for their turn included. One more is refused with kOverloaded.
  size_t calls_max = 16384;
  ApiCallOptions call;
  ListWatchOptions list_watch;
};

class ApiClient final : public sync::ApiServer {
 public:
  // `transport` outlives this.
  ApiClient(reactor::Loop& loop, Random& random, ApiTransport& transport,
            const ApiClientOptions& options);
  ~ApiClient() override;

  void Send(const Context& context, sync::ApiRequest request,
            reactor::Done<sync::ApiObject> done) override;
  std::unique_ptr<sync::ListWatch> Follow(sync::ListWatchSpec spec,
                                          sync::ListWatchUser& user) override;
  bool IsBusy(sync::ApiTraffic traffic) const override;
  void DropIdleConnections() override { transport_.CloseIdle(); }

  size_t calls() const { return calls_.size(); }

 private:
  RequestLine* LineOf(sync::ApiTraffic traffic);
  void OnFinished(ApiCall& call);

  reactor::Loop& loop_;
  Random& random_;
  ApiTransport& transport_;
  const ApiClientOptions options_;
  const ApiCallParts parts_;
  RequestLine main_line_;
  RequestLine events_line_;
  std::map<ApiCall*, std::unique_ptr<ApiCall>> calls_;
};

}  // namespace denselet::kube
