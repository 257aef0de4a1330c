// What can go wrong, as a value. Callers branch on the code and never on the text; the text is for
// people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace denselet {

// Closed on purpose: a new code is a decision about how callers react, not a new sentence.
enum class ErrorCode : uint8_t {
  kInvalid,           // the input is wrong and stays wrong
  kNotFound,          // the thing does not exist
  kAlreadyExists,     // the thing exists already
  kConflict,          // a precondition (version, uid, state) did not hold
  kPermission,        // not allowed, not authenticated
  kUnavailable,       // the other side cannot be reached or is not ready; try again later
  kOverloaded,        // a bound was hit (queue, window, quota); shed or try again later
  kDeadlineExceeded,  // the deadline passed before the call was made: it had no effect
  kUnknownOutcome,    // the call may or may not have taken effect: look before repeating it
  kCancelled,         // nobody wants the answer any more
  kUnsupported,       // the other side or this kernel cannot do it
  kCorrupt,           // stored or received data failed its check
  kIo,                // the operating system refused
  kBug,               // our own invariant about one pod's data did not hold (see ENSURE)
};

std::string_view ErrorCodeName(ErrorCode code);

// A code and a message that grows context on its way up: "sync pod: mount volume "data": permission
// denied".
class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  // From errno: the code that fits the number, and "what: text of the number".
  static Error FromErrno(int error_number, std::string_view what);

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  // The other side itself said so: it was reached, and to ask the same again brings the same. False
  // also where nobody took note of it.
  bool answered() const { return answered_; }

  // A copy with context in front: `doing: message`, or `doing "subject": message`.
  Error With(std::string_view doing) const;
  Error With(std::string_view doing, std::string_view subject) const;
  // A copy that is known to be an answer.
  Error AsAnswer() const;

  friend bool operator==(const Error&, const Error&) = default;

 private:
  ErrorCode code_;
  bool answered_ = false;
  std::string message_;
};

}  // namespace denselet
