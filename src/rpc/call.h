// Starting calls, with the types of the messages: an adapter, included by .cc files only.
//
//   rpc::Call<v1::VersionResponse, Version>(client, context, kVersion, request,
//       [](v1::VersionResponse& answer) -> Result<Version> { ... },       // on gRPC's thread: pure
//       [this](Result<Version> version) { ... });                         // on the shard
//
// What the conversion returns crosses to the shard, the message does not: it lives in an arena and
// dies on gRPC's thread (poller.h). Conversions, folds and sinks run on it: they touch nothing but
// their arguments and what they own, never block, and keep nothing of the message.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message_lite.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/context.h"
#include "base/result.h"
#include "base/unique_function.h"
#include "reactor/api/file_system.h"
#include "rpc/client.h"
#include "rpc/method.h"
#include "rpc/operation.h"
#include "rpc/poller.h"

namespace denselet::rpc {

using reactor::Done;

// The reader of a stream that goes on and on, such as events. All calls come on gRPC's thread,
// one after the other, and must only post: as long as they return, the stream is drained. It is
// owned by the call until its last callback; the Done comes after the last of these calls.
template <class Response>
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  // The other side has taken the call: its headers came. Once, before the first message; never of a
  // call that is refused. (Servers in Go send headers with the first message unless told
  // otherwise.)
  virtual void OnEstablished() = 0;
  virtual void OnMessage(Response& message) = 0;
};

namespace internal {

// What all calls have in common on gRPC's side.
class GrpcOperation : public Operation {
 public:
  void Cancel() final { context_.TryCancel(); }

 protected:
  void Prepare(const Launch& launch);
  // The other side has ended the call without taking it. After headers were waited for.
  bool Refused();
  std::optional<Failure> FailureOf(const grpc::Status& status) const;

  grpc::ClientContext context_;

 private:
  const std::string* unsent_peer_ = nullptr;  // the endpoint's, which outlives its calls
};

// A message of protobuf in an arena, so that its parts die together; anything else as a value.
template <class Message, bool kInArena = std::is_base_of_v<google::protobuf::MessageLite, Message>>
class MessageBox {
 public:
  Message& get() { return message_; }
  void Clear() { message_ = Message(); }

 private:
  Message message_;
};

google::protobuf::ArenaOptions MessageArenaOptions();

template <class Message>
class MessageBox<Message, true> {
 public:
  Message& get() { return *message_; }
  void Clear() {
    message_ = nullptr;
    arena_.Reset();
  }

 private:
  google::protobuf::Arena arena_{MessageArenaOptions()};
  Message* message_ = google::protobuf::Arena::CreateMessage<Message>(&arena_);
};

template <class Request, class Response, class T, class Convert>
class UnaryOperation final : public GrpcOperation, private Poller::Tag {
 public:
  UnaryOperation(const Method& method, Request request, Convert convert, Done<T> done)
      : method_(method),
        request_(std::move(request)),
        convert_(std::move(convert)),
        done_(std::move(done)) {}

  void Deliver(std::optional<Error> error) override {
    if (error) return done_(std::move(*error));
    done_(std::move(*result_));
  }
  void Forget() override { done_ = nullptr; }

 protected:
  void Send(const Launch& launch) override {
    Prepare(launch);
    grpc::TemplatedGenericStub<Request, Response> stub(launch.endpoint.channel());
    reader_ =
        stub.PrepareUnaryCall(&context_, method_.path, request_, &launch.endpoint.poller().queue());
    reader_->StartCall();
    auto& reader = *reader_;
    Response* const response = &response_.get();
    reader.Finish(response, &status_, this->Hand());
  }

 private:
  void OnCompletion(bool /*always true of an end*/) override {
    std::optional<Failure> failure = FailureOf(status_);
    if (!failure) {
      result_.emplace(convert_(response_.get()));
      set_unusable(!*result_);
    }
    response_.Clear();
    Ended(std::move(failure));
  }

  const Method& method_;
  Request request_;
  MessageBox<Response> response_;
  grpc::Status status_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader_;
  Convert convert_;
  Done<T> done_;
  std::optional<Result<T>> result_;
};

// A stream of messages to its end. `Take` says what becomes of each and of all, and may find a
// fault that ends it. (The call goes out as one that streams both ways and writes once: the generic
// stub has no other, and on the wire there is none.)
//
//   the request goes --> written ------------------------------------> over
//          |                                                            ^
//          +---------> headers --> message --> message ... no more --> status
//                         | refused: there are none                     ^
//                         +---------------------------------------------+
template <class Request, class Response, class T, class Take>
class ReadOperation final : public GrpcOperation {
 public:
  ReadOperation(const Method& method, Request request, Take take, Done<T> done)
      : method_(method),
        request_(std::move(request)),
        take_(std::move(take)),
        done_(std::move(done)) {}

  void Deliver(std::optional<Error> error) override {
    // Whoever took the messages may have ended it: that is the reason then, not the cancel.
    if (take_.fault) return done_(std::move(*take_.fault));
    if (error) return done_(std::move(*error));
    done_(take_.Finish());
  }
  void Forget() override { done_ = nullptr; }

 protected:
  void Send(const Launch& launch) override {
    Prepare(launch);
    context_.set_initial_metadata_corked(true);  // to go with the request, in one piece
    grpc::TemplatedGenericStub<Request, Response> stub(launch.endpoint.channel());
    stream_ = stub.PrepareCall(&context_, method_.path, &launch.endpoint.poller().queue());
    auto& stream = *stream_;
    stream.StartCall(nullptr);
    stream.Write(request_, grpc::WriteOptions().set_last_message(), written_.Hand());
    stream.ReadInitialMetadata(headers_.Hand());
  }

 private:
  // One thread runs them all, one after the other.
  struct Step final : Poller::Tag {
    using Next = void (ReadOperation::*)(bool ok);
    Step(ReadOperation& its_operation, Next its_next) : operation(its_operation), next(its_next) {}
    void OnCompletion(bool ok) override { (operation.*next)(ok); }
    ReadOperation& operation;
    const Next next;
  };

  void OnWritten(bool) { Over(); }
  void OnHeaders(bool ok) {
    if (!ok || this->Refused()) return stream_->Finish(&status_, end_.Hand());
    take_.Established();
    stream_->Read(&response_, message_.Hand());
  }
  void OnMessage(bool ok) {
    if (!ok) return stream_->Finish(&status_, end_.Hand());
    take_.Message(response_);
    if (take_.fault) context_.TryCancel();
    stream_->Read(&response_, message_.Hand());
  }
  void OnStatus(bool) { Over(); }
  void Over() {
    if (++over_ < 2) return;
    this->set_unusable(take_.fault.has_value());
    this->Ended(this->FailureOf(status_));
  }

  const Method& method_;
  Request request_;
  Response response_;
  grpc::Status status_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<Request, Response>> stream_;
  Step written_{*this, &ReadOperation::OnWritten}, headers_{*this, &ReadOperation::OnHeaders},
      message_{*this, &ReadOperation::OnMessage}, end_{*this, &ReadOperation::OnStatus};
  int over_ = 0;
  Take take_;
  Done<T> done_;
};

template <class Response, class T, class Fold>
struct FoldTake {
  Fold fold;
  T sum = {};
  std::optional<Error> fault = {};

  void Established() {}
  void Message(Response& message) {
    if (fault) return;
    const Status taken = fold(sum, message);
    if (!taken) fault = taken.error();
  }
  Result<T> Finish() { return std::move(sum); }
};

template <class Response>
struct SinkTake {
  std::unique_ptr<StreamSink<Response>> sink;
  std::optional<Error> fault = {};

  void Established() { sink->OnEstablished(); }
  void Message(Response& message) { sink->OnMessage(message); }
  Result<Unit> Finish() { return Unit{}; }
};

}  // namespace internal

// One request, one answer, which `convert` (Result<T>(Response&)) makes a T of. An error of the
// conversion is the call's.
template <class Response, class T, class Request, class Convert>
void Call(Client& client, const Context& context, const Method& method, Request request,
          Convert convert, Done<T> done, const CallOptions& options = {}) {
  client.Start(context, method, options,
               std::make_shared<internal::UnaryOperation<Request, Response, T, Convert>>(
                   method, std::move(request), std::move(convert), std::move(done)));
}

// The answer itself, for small ones.
template <class Response, class Request>
void Call(Client& client, const Context& context, const Method& method, Request request,
          Done<Response> done, const CallOptions& options = {}) {
  Call<Response, Response>(
      client, context, method, std::move(request),
      [](Response& answer) -> Result<Response> { return std::move(answer); }, std::move(done),
      options);
}

// One request, an answer in many messages to be taken together (a list in parts):
// `fold` (Status(T&, Response&)) adds each. Its error ends the call and is the call's.
template <class Response, class T, class Request, class Fold>
void CallForAll(Client& client, const Context& context, const Method& method, Request request,
                Fold fold, Done<T> done, const CallOptions& options = {}) {
  using Take = internal::FoldTake<Response, T, Fold>;
  client.Start(context, method, options,
               std::make_shared<internal::ReadOperation<Request, Response, T, Take>>(
                   method, std::move(request), Take{std::move(fold)}, std::move(done)));
}

// One request, messages until somebody ends it: by the context's cancel, by the class's deadline
// (Duration::max() for a class of such streams), or the other side; Unit when that did it in order.
// Starting over is the caller's. It counts in its class like any call as long as it goes on.
template <class Response, class Request>
void OpenStream(Client& client, const Context& context, const Method& method, Request request,
                std::unique_ptr<StreamSink<Response>> sink, Done<Unit> done) {
  using Take = internal::SinkTake<Response>;
  client.Start(context, method, {},
               std::make_shared<internal::ReadOperation<Request, Response, Unit, Take>>(
                   method, std::move(request), Take{std::move(sink)}, std::move(done)));
}

}  // namespace denselet::rpc
