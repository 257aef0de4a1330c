#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace denselet {
namespace {

ErrorCode CodeOfErrno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
      return ErrorCode::kNotFound;
    case EEXIST:
    case ENOTEMPTY:
      return ErrorCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermission;
    case EINVAL:
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return ErrorCode::kInvalid;
    case EAGAIN:
    case ENOMEM:
    case ENOBUFS:
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kOverloaded;
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
    case ETIMEDOUT:  // the kernel gave up on the peer; whether a request took effect is the
                     // caller's to know
      return ErrorCode::kUnavailable;
    case EBUSY:
      return ErrorCode::kConflict;
    case ECANCELED:
      return ErrorCode::kCancelled;
    case ENOSYS:
    case EOPNOTSUPP:
      return ErrorCode::kUnsupported;
    default:  // errno is an open set; everything else is the operating system saying no
      return ErrorCode::kIo;
  }
}

}  // namespace

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kAlreadyExists:
      return "already exists";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kPermission:
      return "permission denied";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kOverloaded:
      return "overloaded";
    case ErrorCode::kDeadlineExceeded:
      return "deadline exceeded";
    case ErrorCode::kUnknownOutcome:
      return "unknown outcome";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kIo:
      return "i/o";
    case ErrorCode::kBug:
      return "bug";
  }
  return "?";
}

Error Error::FromErrno(int error_number, std::string_view what) {
  std::string message(what);
  message += ": ";
  message += std::system_category().message(error_number);
  return Error(CodeOfErrno(error_number), std::move(message));
}

Error Error::With(std::string_view doing) const {
  std::string message;
  message.reserve(doing.size() + 2 + message_.size());
  message.append(doing).append(": ").append(message_);
  Error error(code_, std::move(message));
  error.answered_ = answered_;
  return error;
}

Error Error::With(std::string_view doing, std::string_view subject) const {
  std::string context(doing);
  context.append(" \"").append(subject).append("\"");
  return With(context);
}

Error Error::AsAnswer() const {
  Error answer = *this;
  answer.answered_ = true;
  return answer;
}

}  // namespace denselet
