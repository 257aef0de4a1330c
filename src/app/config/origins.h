// Where each value of the configuration came from: for messages about it, and for people who ask.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace denselet::app {

struct Origin {
  enum class Kind : uint8_t { kDefault, kFile, kDropIn, kFlag };
  Kind kind = Kind::kDefault;
  std::string name;   // of the file; of the flag without its dashes
  uint32_t line = 0;  // 0: not known

  friend bool operator==(const Origin&, const Origin&) = default;
};

// "default", "config.yaml:7", "--max-pods"
std::string ToString(const Origin& origin);

// By path, as the codec writes them. What is not named has the origin of what it lies in, and in
// the end the default.
class Origins {
 public:
  // Also of all that lies in it.
  void Set(const std::string& path, Origin origin);
  // Something stands around other values: it is no origin of theirs, but a place to point to.
  void Mention(const std::string& path, Origin origin);
  // Back to the default, with all that lies in it.
  void Forget(const std::string& path);

  const Origin& Of(std::string_view path) const;
  // For messages: the value's origin; of an entry of a list or a map also the nearest place around
  // it that somebody wrote.
  const Origin& Nearest(std::string_view path) const;
  // Whether somebody set it, or anything in it.
  bool Touched(const std::string& path) const;

  using Map = std::map<std::string, Origin, std::less<>>;
  // Those that were set, with their paths.
  const Map& all() const { return by_path_; }

 private:
  Map by_path_;
  Map mentioned_;
};

// Whether `path` lies in `outer`: "a.b", "a[0]" and "a[key]" lie in "a".
bool LiesIn(std::string_view path, std::string_view outer);

}  // namespace denselet::app
