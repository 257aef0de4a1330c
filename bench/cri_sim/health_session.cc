#include "bench/cri_sim/health_session.h"

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstring>

#include "base/check.h"

namespace denselet::cri_sim {
namespace {

nghttp2_nv Field(std::string_view name, std::string_view value) {
  // nghttp2 copies them.
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

struct HealthSession::Callbacks {
  static HealthSession& Of(void* user) { return *static_cast<HealthSession*>(user); }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user) {
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    if (key == ":path") {
      Of(user).paths_[frame->hd.stream_id].assign(reinterpret_cast<const char*>(value), value_size);
    }
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (!last || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)) return 0;
    const auto found = Of(user).paths_.find(frame->hd.stream_id);
    if (found != Of(user).paths_.end()) Of(user).Answer(found->first, found->second);
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t stream, uint32_t, void* user) {
    Of(user).paths_.erase(stream);
    Of(user).bodies_.erase(stream);
    return 0;
  }
  static ssize_t Read(nghttp2_session* session, int32_t stream, uint8_t* into, size_t size,
                      uint32_t* flags, nghttp2_data_source*, void* user) {
    const std::string& body = Of(user).bodies_[stream];
    CHECK(body.size() <= size);  // seven bytes
    std::memcpy(into, body.data(), body.size());
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const nghttp2_nv status = Field("grpc-status", "0");
    nghttp2_submit_trailer(session, stream, &status, 1);
    return static_cast<ssize_t>(body.size());
  }
};

HealthSession::HealthSession(UniqueFunction<bool()> healthy) : healthy_(std::move(healthy)) {
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnClose);
  CHECK(nghttp2_session_server_new(&session_, callbacks, this) == 0);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 16};
  CHECK(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &settings, 1) == 0);
}

HealthSession::~HealthSession() { nghttp2_session_del(session_); }

bool HealthSession::Feed(std::string_view bytes) {
  const ssize_t used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (used < 0) return false;
  return nghttp2_session_want_read(session_) != 0 || nghttp2_session_want_write(session_) != 0;
}

std::string HealthSession::Take() {
  std::string out;
  const uint8_t* data = nullptr;
  for (;;) {
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size <= 0) return out;
    out.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
  }
}

void HealthSession::Answer(int32_t stream, const std::string& path) {
  const nghttp2_nv ok = Field(":status", "200");
  const nghttp2_nv type = Field("content-type", "application/grpc");
  if (path != "/grpc.health.v1.Health/Check") {
    const std::array fields = {ok, type, Field("grpc-status", "12")};
    nghttp2_submit_response(session_, stream, fields.data(), fields.size(), nullptr);
    return;
  }
  // HealthCheckResponse{status: SERVING or NOT_SERVING}, behind gRPC's prefix of five bytes.
  const char status = healthy_() ? 1 : 2;
  bodies_[stream] = std::string({0, 0, 0, 0, 2, 0x08, status});
  nghttp2_data_provider body{};
  body.read_callback = Callbacks::Read;
  const std::array fields = {ok, type};
  nghttp2_submit_response(session_, stream, fields.data(), fields.size(), &body);
}

}  // namespace denselet::cri_sim
