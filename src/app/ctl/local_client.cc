#include "app/ctl/local_client.h"

#include <optional>
#include <utility>

#include "app/ctl/rows.h"
#include "reactor/net/http1/fetch.h"

namespace denselet::app {
namespace {

constexpr Duration kAnswerTimeMax = Seconds(30);
constexpr Duration kSleepMax = Milliseconds(50);
// Of ten thousand pods a few megabytes.
constexpr size_t kAnswerBytesMax = size_t{256} * 1024 * 1024;

Error Explained(const Error& error, const std::string& socket) {
  switch (error.code()) {
    case ErrorCode::kNotFound:
      return Error(error.code(), "no denselet is running here: there is no socket " + socket +
                                     " (--socket PATH names another one)");
    case ErrorCode::kUnavailable:
      return Error(error.code(), "no denselet is running here: nobody listens on " + socket +
                                     ", which one left behind that has ended");
    case ErrorCode::kPermission:
      return Error(error.code(), "the socket " + socket +
                                     " is for its owner only: run this as the user that runs "
                                     "denselet (root, mostly)");
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kUnknownOutcome:
      return Error(error.code(), "denselet did not answer on " + socket + ": " + error.message());
    case ErrorCode::kInvalid:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConflict:
    case ErrorCode::kOverloaded:
    case ErrorCode::kCancelled:
    case ErrorCode::kUnsupported:
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
    case ErrorCode::kBug:
      break;
  }
  return error;
}

}  // namespace

Result<std::unique_ptr<LocalClient>> LocalClient::Make(const std::string& socket,
                                                       const Clock& clock) {
  const Result<net::Address> address = net::Address::Unix(socket);
  if (!address) return address.error();
  Result<std::unique_ptr<reactor::EventLoop>> loop =
      reactor::MakeEventLoop(reactor::Backend::kEpoll, clock);
  if (!loop) return loop.error();
  return std::unique_ptr<LocalClient>(new LocalClient(socket, *address, *std::move(loop)));
}

Result<net::HttpResponse> LocalClient::Fetch(const std::string& path) {
  std::optional<Result<net::HttpResponse>> answer;
  Context context;
  context.deadline = After(loop_->ReadClock(), kAnswerTimeMax);
  net::HttpRequest request;
  request.authority = "denselet";
  request.target = path;
  net::FetchOptions options;
  options.body_bytes_max = kAnswerBytesMax;
  net::Fetch(*loop_, context, address_, std::move(request), "", options,
             [&answer](Result<net::HttpResponse> came) { answer = std::move(came); });
  // A turn sleeps at its end, also when the answer came before that.
  while (!answer) loop_->RunTurn(After(loop_->ReadClock(), kSleepMax));
  return *std::move(answer);
}

Result<std::string> LocalClient::Get(const std::string& path) {
  Result<net::HttpResponse> answer = Fetch(path);
  if (!answer) return Explained(answer.error(), socket_);
  if (answer->status == 200) return std::move(answer->body);
  const ErrorCode code = answer->status == 404 ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
  return Error(code, ReadErrorText(answer->body));
}

void LocalClient::Wait(Duration time) {
  const TimePoint end = After(loop_->ReadClock(), time);
  while (loop_->ReadClock() < end) loop_->RunTurn(end);
}

}  // namespace denselet::app
