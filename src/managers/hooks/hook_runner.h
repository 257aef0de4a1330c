// Runs the hooks of containers: commands in them, requests to them, pauses.
//
// One a shard, owned by the composition root; what it is given outlives it. Answers once each, in a
// later turn, by the context's deadline at the latest. Destroyed, hooks under way go on and their
// askers hear nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/slot_map.h"
#include "managers/hooks/hook_handler.h"
#include "reactor/api/loop.h"
#include "reactor/net/address.h"
#include "reactor/net/tls/tls_client.h"
#include "sync/ports/pod_services.h"
#include "sync/ports/runtime.h"

namespace denselet::managers {

// As net::Resolve, whose shard and pool the caller has.
using HookLookup = UniqueFunction<void(const Context&, const std::string& host, uint16_t port,
                                       reactor::Done<std::vector<net::Address>>)>;

class HookRunner final : public sync::PodHooks {
 public:
  static constexpr size_t kOutputBytesMax = 10 * 1024;  // of a command, in the error it makes
  static constexpr uint32_t kSleepsMax = 16384;         // more are refused, to be asked again

  HookRunner(reactor::Loop& loop, sync::Runtime& runtime, HookLookup lookup);
  ~HookRunner() override;
  HookRunner(const HookRunner&) = delete;
  HookRunner& operator=(const HookRunner&) = delete;

  void Run(const Context&, sync::HookKind, const kube::PodRef&, const std::string& container,
           const ContainerId&, const std::vector<std::string>& pod_ips,
           reactor::Done<sync::HookOutcome>) override;

 private:
  struct Sleep {
    reactor::Done<sync::HookOutcome> done;
    reactor::TimerId timer = {};
    CancelRegistration cancelled = {};
  };

  void Exec(const Context& context, const ContainerId& container, const ExecHook& hook,
            reactor::Done<sync::HookOutcome> done);
  void Ask(const Context& context, HttpHook hook, reactor::Done<sync::HookOutcome> done);
  void Pause(const Context& context, const SleepHook& hook, reactor::Done<sync::HookOutcome> done);
  void EndPause(SlotKey key, const Status& status);
  void AnswerSoon(reactor::Done<sync::HookOutcome> done, Error error);
  Result<std::shared_ptr<net::TlsClient>> Tls();

  reactor::Loop& loop_;
  sync::Runtime& runtime_;
  HookLookup lookup_;
  // Made when it is first needed; shared with requests under way, which may outlive us.
  std::shared_ptr<net::TlsClient> tls_;
  SlotMap<Sleep> sleeps_;
};

}  // namespace denselet::managers
