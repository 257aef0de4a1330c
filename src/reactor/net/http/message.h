// The words of HTTP, shared by HTTP/1 and HTTP/2, client and server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace denselet::net {

// Names compare without case and are kept as they came (HTTP/2: always lower case). Few enough that
// a list beats a map.
class Headers {
 public:
  using Entry = std::pair<std::string, std::string>;

  Headers() = default;
  Headers(std::initializer_list<Entry> entries) : entries_(entries) {}

  void Reserve(size_t count) { entries_.reserve(count); }
  void Add(std::string name, std::string value);
  // Instead of all that have this name.
  void Set(std::string_view name, std::string value);
  void Remove(std::string_view name);

  // The first value of that name; null when there is none.
  const std::string* Find(std::string_view name) const;
  // Is `token` in the comma-separated lists of that name, without regard to case? For Connection,
  // Upgrade, Transfer-Encoding.
  bool HasToken(std::string_view name, std::string_view token) const;

  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  friend bool operator==(const Headers&, const Headers&) = default;

 private:
  std::vector<Entry> entries_;
};

bool EqualsIgnoringCase(std::string_view a, std::string_view b);

struct HttpRequest {
  std::string method = "GET";
  std::string scheme = "http";  // HTTP/2 says it to the peer
  std::string authority;        // the Host header, :authority; a client must set it
  std::string target = "/";     // path and query as they stand on the wire
  Headers headers;              // without Host and without what frames the body

  friend bool operator==(const HttpRequest&, const HttpRequest&) = default;
};

struct HttpResponseHead {
  int status = 200;
  Headers headers;

  friend bool operator==(const HttpResponseHead&, const HttpResponseHead&) = default;
};

// A whole answer, for who does not stream.
struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;
};

// "Not Found" of 404; empty for a number without a name.
std::string_view ReasonPhrase(int status);

// Can it stand in a message without changing the message's shape (no control characters, no
// blanks in a name)? What comes from configuration is asked before it is sent.
bool IsHeaderName(std::string_view name);
bool IsHeaderValue(std::string_view value);
bool IsRequestTarget(std::string_view target);
// Host and port, or nothing: no blanks, no user, no path.
bool IsAuthority(std::string_view authority);

}  // namespace denselet::net
