#include "tests/fakes/http_api_server.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>

#include "base/check.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/envelope.h"
#include "kube/api/types.h"

namespace denselet::fakes {
namespace {

constexpr char kWatchContentType[] = "application/vnd.kubernetes.protobuf;stream=watch";
constexpr size_t kEventsAtOnceMax = 100;

std::string WatchFrame(const ModelEvent& event) {
  kube::meta::WatchEvent frame;
  frame.set_type(std::string(kube::WatchEventTypeName(event.type)));
  frame.mutable_object()->set_raw(kube::EncodeEnvelope(event.object_type, event.wire));
  const std::string bytes = kube::EncodeWire(frame);
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(bytes.size() >> shift);
  return out + bytes;
}

}  // namespace

HttpApiServer::HttpApiServer(reactor::Loop& loop, Random& random, ApiModel& model,
                             const HttpApiServerOptions& options)
    : loop_(loop),
      random_(random),
      model_(model),
      options_(options),
      self_(std::make_shared<HttpApiServer*>(this)) {
  subscription_ = model_.Subscribe([this] { PumpAll(); });
}

HttpApiServer::~HttpApiServer() {
  Crash();
  *self_ = nullptr;
  model_.Unsubscribe(subscription_);
}

void HttpApiServer::Start(const net::Address& address) {
  Http2ServerUser& user = *this;  // here, where that base is known
  auto listener =
      net::Listener::Open(loop_, address, [this, &user](std::unique_ptr<net::Socket> socket) {
        ++counters_.connections;
        connections_.emplace(next_connection_++,
                             std::make_unique<Http2ServerConnection>(loop_, std::move(socket),
                                                                     options_.streams_max, user));
      });
  CHECK(bool(listener));
  listener_ = *std::move(listener);
  address_ = listener_->address();
}

void HttpApiServer::Crash() {
  listener_.reset();
  DropConnections();
}

void HttpApiServer::DropConnections() {
  while (!connections_.empty()) Retire(connections_.begin()->first);
}

void HttpApiServer::GoAway() {
  for (auto& [number, connection] : connections_) connection->GoAway();
}

void HttpApiServer::EndWatches() {
  while (!watches_.empty()) EndWatch(watches_.begin()->first);
}

Http2ServerConnection* HttpApiServer::Find(uint64_t connection) {
  const auto found = connections_.find(connection);
  return found == connections_.end() ? nullptr : found->second.get();
}

uint64_t HttpApiServer::NumberOf(const Http2ServerConnection& connection) const {
  for (const auto& [number, one] : connections_) {
    if (one.get() == &connection) return number;
  }
  return 0;
}

void HttpApiServer::Retire(uint64_t connection) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  for (auto watch = watches_.lower_bound({connection, 0});
       watch != watches_.end() && watch->first.first == connection;
       watch = watches_.lower_bound({connection, 0})) {
    ForgetWatch(watch->first);
  }
  found->second->Close();
  loop_.DeferDelete(std::move(found->second));
  connections_.erase(found);
}

// ---- requests

HttpApiServer::Fault HttpApiServer::DrawFault() {
  const std::pair<double, Fault> chances[] = {{faults_.lost_request, Fault::kLostRequest},
                                              {faults_.lost_answer, Fault::kLostAnswer},
                                              {faults_.refused, Fault::kRefused},
                                              {faults_.silent, Fault::kSilent},
                                              {faults_.too_many, Fault::kTooMany},
                                              {faults_.server_error, Fault::kServerError},
                                              {faults_.cut_body, Fault::kCutBody},
                                              {faults_.slow_body, Fault::kSlowBody},
                                              {faults_.goaway, Fault::kGoAway}};
  for (const auto& [chance, fault] : chances) {
    if (chance > 0 && random_.Unit() < chance) return fault;
  }
  return Fault::kNone;
}

void HttpApiServer::After(Duration delay, reactor::Task task) {
  auto guarded = [self = self_, task = std::move(task)]() mutable {
    if (*self != nullptr) task();
  };
  if (delay <= Duration::zero()) return loop_.Post(std::move(guarded));
  loop_.Arm(denselet::After(loop_.Now(), delay), std::move(guarded));
}

void HttpApiServer::OnRequest(Http2ServerConnection& connection, int32_t stream,
                              Http2Request request) {
  ++counters_.requests;
  streams_peak_ = std::max(streams_peak_, connection.streams());
  const StreamKey key{NumberOf(connection), stream};
  const Fault fault = DrawFault();
  if (fault == Fault::kSilent) return;
  if (fault == Fault::kRefused) return connection.Reset(stream, NGHTTP2_REFUSED_STREAM);
  const Duration delay = faults_.delay_max > Duration::zero()
                             ? Duration(static_cast<int64_t>(
                                   random_.Below(static_cast<uint64_t>(faults_.delay_max.count()))))
                             : Duration::zero();
  After(delay, [this, key, request = std::move(request), fault] { Serve(key, request, fault); });
}

void HttpApiServer::OnStreamEnd(Http2ServerConnection& connection, int32_t stream) {
  ForgetWatch({NumberOf(connection), stream});
}

void HttpApiServer::OnClosed(Http2ServerConnection& connection) { Retire(NumberOf(connection)); }

void HttpApiServer::Serve(StreamKey key, const Http2Request& request, Fault fault) {
  if (Find(key.first) == nullptr) return;  // it broke meanwhile, and nothing is done
  if (fault == Fault::kLostRequest) return Break(key);
  const std::string* const authorization = request.headers.Find("authorization");
  last_authorization_ = authorization == nullptr ? "" : *authorization;
  last_target_ = request.target;
  if (!options_.token.empty() && last_authorization_ != options_.token) {
    ++counters_.refused_401;
    return Respond(key, Unauthorized(), Fault::kNone);
  }
  if (fault == Fault::kTooMany) {
    return Respond(key, TooManyRequests(1 + static_cast<int>(random_.Below(3))), Fault::kNone);
  }
  if (fault == Fault::kServerError) {
    ModelAnswer answer = InternalError();
    if (random_.Below(2) == 0) answer.http_status = 503;
    return Respond(key, answer, Fault::kNone);
  }
  const auto route = ParseRoute(request);
  if (const auto* refusal = std::get_if<ModelAnswer>(&route)) {
    return Respond(key, *refusal, Fault::kNone);
  }
  const ApiRoute& served = std::get<ApiRoute>(route);
  if (served.kind == ApiRoute::Kind::kWatch) {
    if (fault == Fault::kLostAnswer) return Break(key);
    StartWatch(key, served);
    if (fault == Fault::kGoAway) Find(key.first)->GoAway();
    if (fault == Fault::kCutBody) {
      After(Milliseconds(random_.Below(20000)), [this, key] {
        if (watches_.contains(key)) FinishBody(key, Fault::kCutBody);
      });
    }
    return;
  }
  const ModelAnswer answer = Execute(served);
  if (fault == Fault::kLostAnswer) return Break(key);
  Respond(key, answer, fault);
}

ModelAnswer HttpApiServer::Execute(const ApiRoute& route) {
  if (route.kind == ApiRoute::Kind::kObject) return model_.Serve(route.request, loop_.WallNow());
  ++counters_.lists;
  return model_.List(route.query).ToAnswer(route.query.resource);
}

void HttpApiServer::Break(StreamKey key) { Retire(key.first); }

// ---- answers

void HttpApiServer::Respond(StreamKey key, const ModelAnswer& answer, Fault fault) {
  Http2ServerConnection* const connection = Find(key.first);
  if (connection == nullptr) return;
  net::Headers headers;
  headers.Add("content-type", std::string(kube::kProtobufContentType));
  if (answer.retry_after_seconds) {
    headers.Add("retry-after", std::to_string(*answer.retry_after_seconds));
  }
  connection->Respond(key.second, answer.http_status, headers);
  SendBody(key, kube::EncodeEnvelope(answer.type, answer.wire), fault);
}

void HttpApiServer::SendBody(StreamKey key, std::string body, Fault fault) {
  if (fault == Fault::kSlowBody) {
    const size_t size = body.size();
    return SendPieces(key, std::move(body), 0, size, fault);
  }
  if (fault == Fault::kCutBody && !body.empty()) body.resize(random_.Below(body.size()));
  Find(key.first)->Send(key.second, body);
  FinishBody(key, fault);
}

void HttpApiServer::SendPieces(StreamKey key, std::string body, size_t from, size_t until,
                               Fault fault) {
  Http2ServerConnection* const connection = Find(key.first);
  if (connection == nullptr) return;
  const size_t count = std::min(options_.piece_bytes, until - from);
  connection->Send(key.second, std::string_view(body).substr(from, count));
  if (from + count == until) return FinishBody(key, fault);
  After(options_.piece_pause, [this, key, body = std::move(body), from, count, until, fault] {
    SendPieces(key, body, from + count, until, fault);
  });
}

void HttpApiServer::FinishBody(StreamKey key, Fault fault) {
  Http2ServerConnection* const connection = Find(key.first);
  if (connection == nullptr) return;
  ForgetWatch(key);
  if (fault == Fault::kCutBody) {
    switch (random_.Below(3)) {
      case 0:
        return Break(key);
      case 1:
        return connection->Reset(key.second, NGHTTP2_INTERNAL_ERROR);
      default:
        break;  // as if that were all
    }
  }
  connection->End(key.second);
  if (fault == Fault::kGoAway) connection->GoAway();
}

// ---- watches

void HttpApiServer::StartWatch(StreamKey key, const ApiRoute& route) {
  ++counters_.watches;
  Watching watching;
  const ModelAnswer answer = model_.Watch(route.query, watching.watch);
  if (!answer.ok()) return Respond(key, answer, Fault::kNone);
  net::Headers headers;
  headers.Add("content-type", kWatchContentType);
  Find(key.first)->Respond(key.second, 200, headers);
  if (faults_.watch_error > 0 && random_.Unit() < faults_.watch_error) {
    const ModelAnswer too_old = TooOld("too old resource version");
    SendEvent(key, {kube::WatchEventType::kError, too_old.type, too_old.wire});
    return Find(key.first)->End(key.second);
  }
  const bool may_be_junk = faults_.watch_junk > 0 && !route.query.send_initial_events;
  if (may_be_junk && random_.Unit() < faults_.watch_junk) {
    Find(key.first)->Send(key.second, std::string_view("\0\0\0\4junk", 8));
    return Find(key.first)->End(key.second);
  }
  const Duration time = route.timeout > Duration::zero() ? route.timeout : options_.watch_time;
  watching.end = loop_.Arm(denselet::After(loop_.Now(), time), [this, key] { EndWatch(key); });
  if (route.query.allow_bookmarks) {
    watching.bookmark = loop_.Arm(denselet::After(loop_.Now(), options_.bookmark_period),
                                  [this, key] { SendBookmark(key); });
  }
  watches_.emplace(key, std::move(watching));
  Pump(key);
}

void HttpApiServer::PumpAll() {
  for (auto& [key, watching] : watches_) {
    if (watching.pump != reactor::TimerId{}) continue;
    const auto delay_max = static_cast<uint64_t>(faults_.delay_max.count());
    const Duration delay(delay_max == 0 ? 0 : static_cast<int64_t>(random_.Below(delay_max)));
    watching.pump = loop_.Arm(denselet::After(loop_.Now(), delay), [this, key = key] {
      watches_.find(key)->second.pump = {};
      Pump(key);
    });
  }
}

void HttpApiServer::Pump(StreamKey key) {
  Watching& watching = watches_.find(key)->second;
  while (true) {
    const std::vector<ModelEvent> events = model_.Take(watching.watch, kEventsAtOnceMax);
    for (const ModelEvent& event : events) SendEvent(key, event);
    if (watching.watch.over) {
      ++counters_.expired_watches;
      return EndWatch(key);
    }
    if (events.size() < kEventsAtOnceMax) return;
  }
}

void HttpApiServer::SendEvent(StreamKey key, const ModelEvent& event) {
  Find(key.first)->Send(key.second, WatchFrame(event));
}

void HttpApiServer::SendBookmark(StreamKey key) {
  Pump(key);
  const auto found = watches_.find(key);
  if (found == watches_.end()) return;
  SendEvent(key, model_.Bookmark(found->second.watch));
  found->second.bookmark = loop_.Arm(denselet::After(loop_.Now(), options_.bookmark_period),
                                     [this, key] { SendBookmark(key); });
}

void HttpApiServer::EndWatch(StreamKey key) {
  ForgetWatch(key);
  if (Http2ServerConnection* const connection = Find(key.first)) connection->End(key.second);
}

void HttpApiServer::ForgetWatch(StreamKey key) {
  const auto found = watches_.find(key);
  if (found == watches_.end()) return;
  loop_.Disarm(found->second.pump);
  loop_.Disarm(found->second.bookmark);
  loop_.Disarm(found->second.end);
  watches_.erase(found);
}

}  // namespace denselet::fakes
