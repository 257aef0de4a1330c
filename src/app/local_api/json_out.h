// JSON written straight into a text: what the agent answers is made of these three.
//
//   JsonObject pod(out);
//   pod.Text("name", "a");
//   JsonList list(pod.Key("calls"));
//   JsonText(list.Next(), "start main");
//
// Each is closed by its end of life, the inner ones first.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/api/codec/json_text.h"

namespace denselet::app {

inline void JsonText(std::string& out, std::string_view text) { kube::AppendJsonText(text, out); }

class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  ~JsonObject() { out_ += '}'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  // The value is to be appended to what this returns.
  std::string& Key(std::string_view key) {
    if (!first_) out_ += ',';
    first_ = false;
    JsonText(out_, key);
    out_ += ':';
    return out_;
  }
  void Text(std::string_view key, std::string_view value) { JsonText(Key(key), value); }
  void Bool(std::string_view key, bool value) { Key(key) += value ? "true" : "false"; }
  void Number(std::string_view key, std::integral auto value) { Key(key) += std::to_string(value); }
  // Seconds with three digits behind the point.
  void SecondsOf(std::string_view key, Duration value) {
    char text[48];
    const int size =
        std::snprintf(text, sizeof text, "%.3f", std::chrono::duration<double>(value).count());
    Key(key).append(text, static_cast<size_t>(size));
  }

 private:
  std::string& out_;
  bool first_ = true;
};

class JsonList {
 public:
  explicit JsonList(std::string& out) : out_(out) { out_ += '['; }
  ~JsonList() { out_ += ']'; }
  JsonList(const JsonList&) = delete;
  JsonList& operator=(const JsonList&) = delete;

  std::string& Next() {
    if (!first_) out_ += ',';
    first_ = false;
    return out_;
  }

 private:
  std::string& out_;
  bool first_ = true;
};

// One moment on both clocks: turns what the agent decides by into what people read.
struct Moment {
  TimePoint now;
  WallTime wall;

  WallTime WallOf(TimePoint t) const { return wall - (now - t); }
};

// KEY: the time of day, and KEYSecondsAgo: how long that is ago.
inline void AddTime(JsonObject& object, const std::string& key, TimePoint at,
                    const Moment& moment) {
  object.Text(key, FormatRfc3339(moment.WallOf(at), 3));
  // The moment may be another shard's, and a hair older.
  object.SecondsOf(key + "SecondsAgo", std::max(moment.now - at, Duration::zero()));
}

}  // namespace denselet::app
