#include "tests/fakes/http2_server.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"

namespace denselet::fakes {

struct Http2ServerConnection::Callbacks {
  static Http2ServerConnection& Of(void* user_data) {
    return *static_cast<Http2ServerConnection*>(user_data);
  }
  static int Result(const Http2ServerConnection& connection) {
    return connection.closed_ ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
  }
  static std::string Text(const uint8_t* data, size_t size) {
    return {reinterpret_cast<const char*>(data), size};
  }

  static int OnBegin(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    Of(user_data).streams_.try_emplace(frame->hd.stream_id);
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    OpenStream* const stream = Of(user_data).Find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    const std::string key = Text(name, name_size);
    if (key == ":method") {
      stream->request.method = Text(value, value_size);
    } else if (key == ":path") {
      stream->request.target = Text(value, value_size);
    } else {
      stream->request.headers.Add(key, Text(value, value_size));
    }
    return 0;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user_data) {
    if (OpenStream* const stream = Of(user_data).Find(id)) {
      stream->request.body += Text(data, size);
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    Http2ServerConnection& connection = Of(user_data);
    const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (!last || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)) return 0;
    if (OpenStream* const stream = connection.Find(frame->hd.stream_id)) {
      connection.user_.OnRequest(connection, frame->hd.stream_id, std::move(stream->request));
    }
    return Result(connection);
  }

  static int OnStreamClose(nghttp2_session*, int32_t id, uint32_t, void* user_data) {
    Http2ServerConnection& connection = Of(user_data);
    if (connection.streams_.erase(id) > 0 && !connection.closed_) {
      connection.user_.OnStreamEnd(connection, id);
    }
    return Result(connection);
  }

  static ssize_t Read(nghttp2_session*, int32_t id, uint8_t* into, size_t size, uint32_t* flags,
                      nghttp2_data_source*, void* user_data) {
    OpenStream* const stream = Of(user_data).Find(id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const size_t count = std::min(size, stream->body.size() - stream->sent);
    std::memcpy(into, stream->body.data() + stream->sent, count);
    stream->sent += count;
    if (stream->sent == stream->body.size()) {
      stream->body.clear();
      stream->sent = 0;
      if (stream->ended) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
      } else if (count == 0) {
        return NGHTTP2_ERR_DEFERRED;
      }
    }
    return static_cast<ssize_t>(count);
  }
};

Http2ServerConnection::Http2ServerConnection(reactor::Loop& loop,
                                             std::unique_ptr<net::Stream> stream,
                                             uint32_t streams_max, Http2ServerUser& user)
    : loop_(loop),
      stream_(std::move(stream)),
      user_(user),
      self_(std::make_shared<Http2ServerConnection*>(this)) {
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Callbacks::OnBegin);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnStreamClose);
  CHECK(nghttp2_session_server_new(&session_, callbacks, this) == 0);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_max}};
  CHECK(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 1) == 0);
  stream_->Use(*this);
  ScheduleFlush();
}

Http2ServerConnection::~Http2ServerConnection() {
  *self_ = nullptr;
  closed_ = true;
  nghttp2_session_del(session_);
}

Http2ServerConnection::OpenStream* Http2ServerConnection::Find(int32_t stream) {
  const auto found = streams_.find(stream);
  return found == streams_.end() || closed_ ? nullptr : &found->second;
}

void Http2ServerConnection::Respond(int32_t id, int status, const net::Headers& headers) {
  OpenStream* const stream = Find(id);
  if (stream == nullptr || std::exchange(stream->responded, true)) return;
  const std::string status_text = std::to_string(status);
  std::vector<nghttp2_nv> fields;
  const auto add = [&](std::string_view name, std::string_view value) {
    // nghttp2 copies them.
    fields.push_back({reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
                      reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(),
                      value.size(), NGHTTP2_NV_FLAG_NONE});
  };
  add(":status", status_text);
  for (const auto& [name, value] : headers.entries()) add(name, value);
  nghttp2_data_provider body{};
  body.read_callback = Callbacks::Read;
  CHECK(nghttp2_submit_response(session_, id, fields.data(), fields.size(), &body) == 0);
  ScheduleFlush();
}

void Http2ServerConnection::Send(int32_t id, std::string_view data) {
  OpenStream* const stream = Find(id);
  if (stream == nullptr || stream->ended) return;
  stream->body += data;
  nghttp2_session_resume_data(session_, id);
  ScheduleFlush();
}

void Http2ServerConnection::End(int32_t id) {
  OpenStream* const stream = Find(id);
  if (stream == nullptr || std::exchange(stream->ended, true)) return;
  nghttp2_session_resume_data(session_, id);
  ScheduleFlush();
}

void Http2ServerConnection::Reset(int32_t id, uint32_t http2_error) {
  if (Find(id) == nullptr) return;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, http2_error);
  ScheduleFlush();
}

void Http2ServerConnection::GoAway() {
  if (closed_) return;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  ScheduleFlush();
}

void Http2ServerConnection::Close() {
  if (std::exchange(closed_, true)) return;
  stream_->Close();
}

void Http2ServerConnection::ScheduleFlush() {
  if (closed_ || std::exchange(flush_posted_, true)) return;
  loop_.Post([self = self_] {
    if (*self == nullptr) return;
    (*self)->flush_posted_ = false;
    (*self)->Flush();
  });
}

void Http2ServerConnection::Flush() {
  std::string out;
  while (!closed_ && stream_->unsent() + out.size() <= net::Stream::kRoomBytes) {
    const uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) return PeerClosed();
    if (size == 0) break;
    out += Callbacks::Text(data, static_cast<size_t>(size));
  }
  if (closed_) return;
  if (!out.empty()) stream_->Send(std::move(out));
  if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0) {
    PeerClosed();
  }
}

void Http2ServerConnection::OnReceived(std::span<const std::byte> data) {
  const ssize_t taken = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(data.data()), data.size());
  if (closed_) return;
  if (taken < 0) return PeerClosed();
  ScheduleFlush();
}

void Http2ServerConnection::OnReceiveEnd() { PeerClosed(); }
void Http2ServerConnection::OnBroken(const Error&) { PeerClosed(); }

void Http2ServerConnection::PeerClosed() {
  if (closed_) return;
  Close();
  user_.OnClosed(*this);
}

}  // namespace denselet::fakes
