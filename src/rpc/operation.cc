#include "rpc/operation.h"

#include <utility>

#include "rpc/client_core.h"

namespace denselet::rpc {

void Operation::Begin(const Launch& launch, ReturnAddress address,
                      std::shared_ptr<Operation> self) {
  hold_.emplace(launch.endpoint);
  clock_ = &launch.endpoint.clock();
  address_.emplace(std::move(address));
  self_ = std::move(self);
  Send(launch);
}

void Operation::Ended(std::optional<Failure> failure) {
  failure_ = std::move(failure);
  ended_at_ = clock_->Now();
  reactor::ForeignSlot slot = std::move(address_->slot);
  slot.Post([self = std::move(self_), client = std::move(address_->client), key = address_->key] {
    if (const std::shared_ptr<ClientCore> core = client.lock()) core->OnEnded(key);
  });
}

}  // namespace denselet::rpc
