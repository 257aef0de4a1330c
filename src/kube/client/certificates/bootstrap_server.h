// The bootstrap's API server for real: a connection of its own, with the bootstrap kubeconfig.
#pragma once

#include <memory>
#include <utility>

#include "kube/client/api_connection.h"
#include "kube/client/certificates/bootstrap.h"

namespace denselet::kube {

class ConnectedBootstrapServer final : public BootstrapServer {
 public:
  explicit ConnectedBootstrapServer(std::unique_ptr<ApiConnection> connection)
      : connection_(std::move(connection)) {}

  sync::ApiServer& api() override { return connection_->client(); }
  void CheckHealth(const Context& context, reactor::Done<Unit> done) override {
    connection_->CheckHealth(context, std::move(done));
  }

 private:
  const std::unique_ptr<ApiConnection> connection_;
};

}  // namespace denselet::kube
