// The request of an HTTP hook.
//
// As the kubelet has it: an answer of any status is a success, and certificates are not looked at.
// A server that answers a hook over https in plain HTTP is asked once more without TLS, and without
// the Authorization that was meant for a secured connection.
#pragma once

#include <memory>

#include "base/context.h"
#include "managers/hooks/hook_handler.h"
#include "reactor/api/loop.h"
#include "reactor/net/address.h"
#include "reactor/net/tls/tls_client.h"
#include "sync/ports/pod_services.h"

namespace denselet::managers {

// `tls` is null for a hook over http. Answers once, later, by the context's deadline at the latest.
void AskHook(reactor::Loop& loop, const Context& context, const net::Address& address,
             std::shared_ptr<net::TlsClient> tls, HttpHook hook,
             reactor::Done<sync::HookOutcome> done);

}  // namespace denselet::managers
