#include "app/local_api/pods_answer.h"

#include <utility>

#include "app/local_api/pod_json.h"

namespace denselet::app {

PodsAnswer::PodsAnswer(reactor::Shard& shard, sync::PodCore& core, std::weak_ptr<void> ticket,
                       net::HttpServerExchange exchange, UniqueFunction<void()> over)
    : shard_(shard),
      core_(core),
      ticket_(std::move(ticket)),
      exchange_(std::move(exchange)),
      over_(std::move(over)) {}

void PodsAnswer::Start() {
  exchange_.Use(*this);
  exchange_.Begin({.status = 200, .headers = {{"Content-Type", "application/json"}}});
  exchange_.Send("{\"pods\":[");
  Continue();
}

void PodsAnswer::OnGone(const Error& /*reason*/) { End(); }

void PodsAnswer::Continue() {
  if (asking_ || !exchange_.alive() || exchange_.unsent() > net::Stream::kRoomBytes) return;
  if (next_shard_ < shard_.shards()) return Ask();
  SendWaiting();
  exchange_.Send("]}\n");
  exchange_.End();
  End();
}

// On the shard of the pods.
Result<PodsAnswer::Part> PodsAnswer::ReadPart(sync::PodCore& core, uint32_t shard,
                                              const Moment& moment, const PodUid& after) {
  const sync::PodShard* const pods = core.pods(shard);
  sync::PodStatuses* const statuses = core.statuses(shard);
  if (pods == nullptr || statuses == nullptr) {
    return Error(ErrorCode::kCancelled, "the agent ends");
  }
  Part part;
  if (after.empty()) {
    for (const sync::PodIdentity& pod : pods->HeldBack()) {
      if (!part.pods.empty()) part.pods += ',';
      AppendHeldBackRow(pod, shard, part.pods);
    }
  }
  for (const sync::PodWorker* const worker : pods->WorkersAfter(after, kPodsPerPart)) {
    part.last = worker->pod().uid;
    if (!part.pods.empty()) part.pods += ',';
    AppendPodRow({*worker, statuses->StatusOf(part.last), shard}, moment, part.pods);
  }
  part.more = !part.last.empty() && !pods->WorkersAfter(part.last, 1).empty();
  return part;
}

void PodsAnswer::Ask() {
  asking_ = true;
  const Status sent = shard_.Ask<Part>(
      next_shard_, {},
      [&core = core_, shard = next_shard_, after = after_, moment = Now()](
          const QueuedContext&, reactor::Reply<Part> reply) mutable {
        reply(ReadPart(core, shard, moment, after));
      },
      [answer = weak_from_this(), ticket = ticket_.lock()](Result<Part> part) {
        if (const auto self = answer.lock()) self->Take(std::move(part));
      });
  if (!sent) Take(sent.error());
}

void PodsAnswer::Take(Result<Part> part) {
  asking_ = false;
  if (!part) {
    exchange_.Abort();  // a half must not be taken for the whole
    return End();
  }
  if (!part->pods.empty()) Send(part->pods);
  after_ = part->more ? part->last : PodUid();
  if (!part->more) ++next_shard_;
  Continue();
}

void PodsAnswer::Send(const std::string& pods) {
  if (!std::exchange(first_, false)) exchange_.Send(",");
  exchange_.Send(pods);
}

void PodsAnswer::SendWaiting() {
  PodUid after;
  while (true) {
    const auto waiting = core_.gate().WaitingAfter(after, kPodsPerPart);
    if (waiting.empty()) return;
    std::string rows;
    for (const sync::PodIdentity& pod : waiting) {
      if (!rows.empty()) rows += ',';
      AppendWaitingRow(pod, core_.admission().Describe(pod.uid), Now(), rows);
    }
    Send(rows);
    after = waiting.back().uid;
  }
}

void PodsAnswer::End() {
  if (auto over = std::exchange(over_, nullptr)) over();
}

}  // namespace denselet::app
