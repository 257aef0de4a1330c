#include "reactor/net/http2/session_events.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reactor/net/http2/connection.h"
#include "reactor/net/http2/exchange.h"
#include "reactor/net/http2/goaway.h"

namespace denselet::net {
namespace {

constexpr size_t kDetailBytesMax = 200;

Http2Connection& Of(void* user_data) { return *static_cast<Http2Connection*>(user_data); }

std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

const char* FrameName(uint8_t type) {
  switch (type) {
    case NGHTTP2_DATA:
      return "empty DATA";
    case NGHTTP2_HEADERS:
      return "HEADERS";
    case NGHTTP2_PRIORITY:
      return "PRIORITY";
    case NGHTTP2_RST_STREAM:
      return "RST_STREAM";
    case NGHTTP2_SETTINGS:
      return "SETTINGS";
    case NGHTTP2_PING:
      return "PING";
    case NGHTTP2_GOAWAY:
      return "GOAWAY";
    case NGHTTP2_WINDOW_UPDATE:
      return "WINDOW_UPDATE";
    default:
      return "meaningless";
  }
}

// How much a frame weighs before it has proved useful.
int64_t Weight(const nghttp2_frame_hd& frame) {
  switch (frame.type) {
    case NGHTTP2_DATA: {
      // Nothing but padding fits into a small padded frame; bytes, if there are some, earn it back.
      const bool padding = (frame.flags & NGHTTP2_FLAG_PADDED) != 0 && frame.length <= 256;
      const bool end = (frame.flags & NGHTTP2_FLAG_END_STREAM) != 0;
      return !end && (frame.length == 0 || padding) ? 1 : 0;
    }
    case NGHTTP2_SETTINGS:
      return 10;
    default:
      return 1;
  }
}

}  // namespace

struct SessionEvents::Impl {
  // Null: the caller went, or the stream has ended.
  static Http2Exchange* Find(nghttp2_session* session, int32_t stream_id) {
    return static_cast<Http2Exchange*>(nghttp2_session_get_stream_user_data(session, stream_id));
  }

  // Calls to callers happen in here: one may have brought the connection down.
  static int GoOn(const Http2Connection& connection) {
    return connection.closed_ ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
  }

  // ---- receiving

  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* frame, void* user_data) {
    Http2Connection& connection = Of(user_data);
    if (frame->type == NGHTTP2_PUSH_PROMISE) {
      // nghttp2 minds only once the server has acknowledged our SETTINGS.
      connection.Break(Error(ErrorCode::kCorrupt, "the server pushes, which it must not"));
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    const int64_t weight = Weight(*frame);
    connection.frame_counted_ = weight != 0;
    if (weight == 0 || connection.guard_.Take(weight)) return GoOn(connection);
    connection.Break(Error(ErrorCode::kOverloaded, std::string("the server floods us with ") +
                                                       FrameName(frame->type) + " frames"));
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }

  static int OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    if (Http2Exchange* exchange = Find(session, frame->hd.stream_id)) {
      exchange->head_bytes_ = 0;
      if (!exchange->head_told_) exchange->head_ = {};
    }
    return GoOn(Of(user_data));
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    Http2Connection& connection = Of(user_data);
    Http2Exchange* exchange = Find(session, frame->hd.stream_id);
    if (exchange == nullptr) return GoOn(connection);
    exchange->head_bytes_ += name_size + value_size + 32;
    if (exchange->head_bytes_ > connection.options_.header_list_bytes_max) {
      connection.Fail(*exchange, Error(ErrorCode::kOverloaded, "the answer's head is too long"));
      return connection.closed_ ? NGHTTP2_ERR_CALLBACK_FAILURE
                                : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    if (exchange->head_told_) return 0;  // trailers
    if (name_size > 0 && name[0] == ':') {
      // nghttp2 lets only ":status" of three digits pass, but "051" too.
      const std::string_view digits = Text(value, value_size);
      std::from_chars(digits.data(), digits.data() + digits.size(), exchange->head_.status);
      if (exchange->head_.status < 100) {
        connection.Fail(
            *exchange, Error(ErrorCode::kCorrupt, "the answer's status is " + std::string(digits)));
        return connection.closed_ ? NGHTTP2_ERR_CALLBACK_FAILURE
                                  : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
      }
    } else {
      exchange->head_.headers.Add(std::string(Text(name, name_size)),
                                  std::string(Text(value, value_size)));
    }
    return 0;
  }

  static int OnDataChunk(nghttp2_session* session, uint8_t, int32_t stream_id, const uint8_t* data,
                         size_t size, void* user_data) {
    Http2Connection& connection = Of(user_data);
    if (std::exchange(connection.frame_counted_, false)) connection.guard_.Earn(1);
    nghttp2_session_consume_connection(session, size);
    if (Http2Exchange* exchange = Find(session, stream_id)) {
      exchange->Receive(std::as_bytes(std::span(data, size)));
    }
    return GoOn(connection);
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    Http2Connection& connection = Of(user_data);
    switch (frame->hd.type) {
      case NGHTTP2_SETTINGS:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) break;
        connection.settings_received_ = true;
        connection.streams_changed_ = true;
        connection.ShedUnsent();
        break;
      case NGHTTP2_GOAWAY:
        connection.draining_ = true;
        connection.streams_changed_ = true;
        connection.goaway_ =
            GoAwayText(frame->goaway.error_code,
                       Text(frame->goaway.opaque_data, frame->goaway.opaque_data_len));
        connection.FailUnsent(
            Error(ErrorCode::kUnavailable, "the server said " + connection.goaway_));
        break;
      default:
        if (Http2Exchange* exchange = Find(session, frame->hd.stream_id)) {
          OnStreamFrame(connection, *exchange, *frame);
        }
    }
    return GoOn(connection);
  }

  static void OnStreamFrame(Http2Connection& connection, Http2Exchange& exchange,
                            const nghttp2_frame& frame) {
    if (frame.hd.type == NGHTTP2_RST_STREAM) exchange.reset_by_peer_ = true;
    if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
    connection.current_ = &exchange;
    if (frame.hd.type == NGHTTP2_HEADERS) OnHead(connection, exchange);
    const bool end = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (connection.current_ == &exchange && end) OnEndStream(connection, exchange);
    connection.current_ = nullptr;
  }

  static void OnHead(Http2Connection& connection, Http2Exchange& exchange) {
    if (exchange.head_told_ || exchange.head_.status / 100 == 1) return;
    connection.guard_.Earn(1);
    connection.proven_ = true;
    exchange.head_told_ = true;
    exchange.call_.OnHead(std::move(exchange.head_));
  }

  static void OnEndStream(Http2Connection& connection, Http2Exchange& exchange) {
    if (!exchange.streams_body_ || exchange.body_finished_) {
      connection.Detach(exchange);
    } else {
      connection.Abandon(exchange, kNoError);  // the answer is whole: nobody reads the body
    }
    exchange.Complete();
  }

  static int OnInvalidFrame(nghttp2_session*, const nghttp2_frame*, int error, void* user_data) {
    Http2Connection& connection = Of(user_data);
    if (connection.detail_.empty()) connection.detail_ = nghttp2_strerror(error);
    return GoOn(connection);
  }

  static int OnWords(nghttp2_session*, int, const char* text, size_t size, void* user_data) {
    Of(user_data).detail_.assign(text, std::min(size, kDetailBytesMax));
    return 0;
  }

  static int OnStreamClose(nghttp2_session* session, int32_t stream_id, uint32_t error,
                           void* user_data) {
    Http2Connection& connection = Of(user_data);
    if (Http2Exchange* exchange = Find(session, stream_id)) {
      const Error reason = WhyClosed(connection, *exchange, error);
      connection.Detach(*exchange);
      exchange->Fail(reason);
    }
    return GoOn(connection);
  }

  static Error WhyClosed(Http2Connection& connection, const Http2Exchange& exchange,
                         uint32_t error) {
    const std::string name = nghttp2_http2_strerror(error);
    if (error == NGHTTP2_REFUSED_STREAM) {
      // Without a reset it is nghttp2's word for a stream beyond the last that GOAWAY names.
      const bool by_goaway = !exchange.reset_by_peer_ && !connection.goaway_.empty();
      return Error(ErrorCode::kUnavailable, "the server has not processed the request: " +
                                                (by_goaway ? connection.goaway_ : name));
    }
    if (exchange.reset_by_peer_) {
      return Error(ErrorCode::kUnknownOutcome, "the server reset the stream: " + name);
    }
    const std::string detail = std::exchange(connection.detail_, {});
    return Error(ErrorCode::kCorrupt,
                 "the answer breaks the protocol: " + name + (detail.empty() ? "" : ": " + detail));
  }

  // ---- sending

  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    Http2Connection& connection = Of(user_data);
    if (frame->hd.type == NGHTTP2_HEADERS) {
      if (Http2Exchange* exchange = Find(session, frame->hd.stream_id)) {
        exchange->head_sent_ = true;
        exchange->progress_at_ = connection.loop_.Now();
      }
    }
    if (frame->hd.type == NGHTTP2_DATA && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      if (Http2Exchange* exchange = Find(session, frame->hd.stream_id)) {
        exchange->body_finished_ = true;
      }
    }
    if (frame->hd.type == NGHTTP2_GOAWAY && !connection.fault_) {
      // nghttp2 gives up: its debug data say why.
      const auto& goaway = frame->goaway;
      std::string why(Text(goaway.opaque_data, goaway.opaque_data_len));
      if (why.empty()) why = connection.detail_;
      const std::string name = nghttp2_http2_strerror(goaway.error_code);
      connection.fault_ = Error(ErrorCode::kCorrupt, (connection.settings_received_
                                                          ? "the server broke the protocol: "
                                                          : "the server does not speak HTTP/2: ") +
                                                         name + (why.empty() ? "" : ": " + why));
    }
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session* session, int32_t stream_id, uint8_t*, size_t size,
                          uint32_t* flags, nghttp2_data_source*, void*) {
    Http2Exchange* exchange = Find(session, stream_id);
    if (exchange == nullptr) return NGHTTP2_ERR_DEFERRED;  // its reset is on the way
    const size_t bytes = std::min(size, exchange->unsent());
    if (bytes == 0 && !exchange->body_ended_) {
      exchange->deferred_ = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    if (bytes > 0) *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (bytes == exchange->unsent() && exchange->body_ended_) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return static_cast<ssize_t>(bytes);
  }

  static int WriteBody(nghttp2_session* session, nghttp2_frame* frame, const uint8_t* head,
                       size_t size, nghttp2_data_source*, void* user_data) {
    constexpr size_t kFrameHeadBytes = 9;
    Http2Connection& connection = Of(user_data);
    Http2Exchange* exchange = Find(session, frame->hd.stream_id);
    if (exchange == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    // nghttp2 would go on as long as the windows allow.
    if (connection.out_.size() + connection.stream_->unsent() > Stream::kRoomBytes) {
      return NGHTTP2_ERR_WOULDBLOCK;
    }
    const size_t before = exchange->unsent();
    connection.out_.append(Text(head, kFrameHeadBytes));
    connection.out_.append(exchange->body_, exchange->body_sent_, size);
    connection.guard_.Earn(2);  // window updates, of the stream and of the connection
    exchange->body_sent_ += size;
    exchange->progress_at_ = connection.loop_.Now();
    if (exchange->unsent() == 0) {
      exchange->body_ = {};
      exchange->body_sent_ = 0;
    }
    if (before > Stream::kRoomBytes && exchange->unsent() <= Stream::kRoomBytes) {
      connection.room_.push_back(exchange);
    }
    return 0;
  }
};

void SessionEvents::Register(nghttp2_session_callbacks* callbacks) {
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, Impl::OnBeginFrame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Impl::OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Impl::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Impl::OnDataChunk);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Impl::OnFrame);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, Impl::OnInvalidFrame);
  nghttp2_session_callbacks_set_error_callback2(callbacks, Impl::OnWords);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Impl::OnStreamClose);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, Impl::OnFrameSent);
  nghttp2_session_callbacks_set_send_data_callback(callbacks, Impl::WriteBody);
}

int32_t SessionEvents::Submit(Http2Connection& connection, const RequestHead& head,
                              RequestBody body, Http2Exchange& exchange) {
  std::vector<nghttp2_nv> fields;
  fields.reserve(head.size());
  const auto bytes = [](std::string_view text) {
    // nghttp2 copies; its struct serves both directions.
    return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
  };
  for (const auto& [name, value] : head) {
    fields.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  nghttp2_data_provider provider{};
  provider.read_callback = Impl::ReadBody;
  return nghttp2_submit_request(connection.session_, nullptr, fields.data(), fields.size(),
                                body == RequestBody::kStreamed ? &provider : nullptr, &exchange);
}

void SessionEvents::ResumeData(Http2Connection& connection, int32_t stream_id) {
  nghttp2_session_resume_data(connection.session_, stream_id);
}

void SessionEvents::Consumed(Http2Connection& connection, int32_t stream_id, size_t bytes) {
  if (connection.closed_) return;
  nghttp2_session_consume_stream(connection.session_, stream_id, bytes);
  if (!connection.in_session_) connection.ScheduleFlush();
}

}  // namespace denselet::net
