// The pairs of a log line: a constant key and a small value that borrows what it shows.
//
//   log.Info("Started container", Pod(ref), Uid(uid), Container(id), KV("restarts", 3));
//
// Making a pair costs a few stores and never allocates, because most pairs belong to lines that the
// verbosity suppresses. A pair must not outlive the statement it stands in: it points into its
// argument. (Logger::WithValues copies what it keeps.)
#pragma once

#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"

namespace denselet {

namespace internal {
// Never defined: a call in a constant expression is a compile error that names the rule.
void LogKeyMustStartWithALetterAndHoldOnlyLettersDigitsDotsDashesAndUnderscores();
void LogKeyIsOneThatEveryLineHasAlready();
}  // namespace internal

// A key, or one part of a logger's name. Checked by the compiler, so lines need no escaping of keys
// and a JSON line never has its own keys (ts, msg, ...) twice.
class LogKey {
 public:
  consteval LogKey(const char* text) : text_(text) {  // implicit: callers write a literal
    if (!WellFormed()) {
      internal::LogKeyMustStartWithALetterAndHoldOnlyLettersDigitsDotsDashesAndUnderscores();
    }
    for (const char* taken : {"ts", "caller", "msg", "v", "logger", "cutBytes"}) {
      if (text_ == taken) internal::LogKeyIsOneThatEveryLineHasAlready();
    }
  }

  constexpr std::string_view text() const { return text_; }

 private:
  static consteval bool IsLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  consteval bool WellFormed() const {
    if (text_.empty() || !IsLetter(text_[0])) return false;
    for (const char c : text_) {
      const bool digit = c >= '0' && c <= '9';
      if (!IsLetter(c) && !digit && c != '.' && c != '-' && c != '_') return false;
    }
    return true;
  }

  std::string_view text_;
};

// One of a few kinds, all of whose fields are always set: std::variant would be the usual choice,
// but GCC 12 takes its unused bytes for uninitialised reads wherever a pair is inlined.
class LogValue {
 public:
  enum class Kind : uint8_t { kText, kInt, kUint, kDouble, kBool, kDuration, kObject };

  // All implicit: KV("key", anything of these). A char, a pointer or an enum does not compile;
  // it would come out as a number that nobody meant.
  LogValue(std::string_view text) : kind_(Kind::kText), text_(text) {}
  LogValue(const std::string& text) : LogValue(std::string_view(text)) {}
  // Null, as getenv() may give, is an empty text.
  LogValue(const char* text) : LogValue(std::string_view(text == nullptr ? "" : text)) {}
  template <std::same_as<bool> T>
  LogValue(T value) : kind_(Kind::kBool), bits_(value ? 1 : 0) {}
  template <std::signed_integral T>
  requires(!std::same_as<T, char>) LogValue(T value)
      : kind_(Kind::kInt), bits_(static_cast<uint64_t>(value)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>) LogValue(T value)
      : kind_(Kind::kUint), bits_(value) {}
  template <std::floating_point T>
  LogValue(T value)
      : kind_(Kind::kDouble), bits_(std::bit_cast<uint64_t>(static_cast<double>(value))) {}
  template <class Rep, class Period>
  LogValue(std::chrono::duration<Rep, Period> d)
      : kind_(Kind::kDuration),
        bits_(static_cast<uint64_t>(std::chrono::duration_cast<Duration>(d).count())) {}
  LogValue(const ObjectRef& ref) : LogValue(Object(ref.ns, ref.name)) {}
  LogValue(const Error& error) : LogValue(std::string_view(error.message())) {}
  template <class Tag>
  LogValue(const StringId<Tag>& id) : LogValue(std::string_view(id.value())) {}

  // "ns/name" in text, {"name":..,"namespace":..} in JSON.
  static LogValue Object(std::string_view ns, std::string_view name) {
    LogValue value(name);
    value.kind_ = Kind::kObject;
    value.ns_ = ns;
    return value;
  }

  Kind kind() const { return kind_; }
  std::string_view text() const { return text_; }  // kText, and the name of kObject
  std::string_view ns() const { return ns_; }      // kObject
  uint64_t AsUint() const { return bits_; }
  int64_t AsInt() const { return static_cast<int64_t>(bits_); }
  double AsDouble() const { return std::bit_cast<double>(bits_); }
  bool AsBool() const { return bits_ != 0; }
  Duration AsDuration() const { return Duration(AsInt()); }

  // The same value, pointing to copies of its strings.
  LogValue WithStrings(std::string_view ns, std::string_view text) const {
    LogValue copy = *this;
    copy.ns_ = ns;
    copy.text_ = text;
    return copy;
  }

  friend bool operator==(const LogValue&, const LogValue&) = default;

 private:
  Kind kind_;
  std::string_view text_;
  std::string_view ns_;
  uint64_t bits_ = 0;
};

struct LogPair {
  std::string_view key;
  LogValue value;
};

inline LogPair KV(LogKey key, LogValue value) { return {key.text(), value}; }

// The keys that operators grep for, as the kubelet spells them.
inline LogPair Pod(const ObjectRef& ref) { return KV("pod", ref); }
inline LogPair Uid(const PodUid& uid) { return KV("podUID", uid); }
inline LogPair Sandbox(const SandboxId& id) { return KV("podSandboxID", id); }
inline LogPair Container(const ContainerId& id) { return KV("containerID", id); }
inline LogPair ContainerName(std::string_view name) { return KV("containerName", name); }
// For an error that is handled, on an info or warning line. Logger::Error takes its own first.
inline LogPair Err(const Error& error) { return KV("err", error); }

}  // namespace denselet
