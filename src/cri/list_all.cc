#include "cri/list_all.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "cri/list_collector.h"
#include "cri/messages.h"
#include "cri/observed_messages.h"
#include "rpc/call.h"

namespace denselet::cri {

namespace {

using reactor::Done;

// One list by its two calls. `Add` (void(T&, const Item&)) takes each object, on gRPC's thread.
// Streamed messages have the items where `Parts` finds them, plain answers where `Items` does.
template <class Call, class T, class Add>
void List(rpc::Client& client, Connection& connection, const Context& context,
          typename Call::Request plain, T sum, Add add, Done<T> done) {
  const auto unary = [](rpc::Client& to, const Context& with, typename Call::Request request,
                        T start, Add take, Done<T> then) {
    rpc::Call<typename Call::Response, T>(
        to, with, Call::Plain(), std::move(request),
        [start = std::move(start), take](typename Call::Response& response) mutable -> Result<T> {
          for (const auto& item : Call::Items(response)) take(start, item);
          return std::move(start);
        },
        std::move(then));
  };
  if (!connection.Streams(Call::kStream)) {
    return unary(client, context, std::move(plain), std::move(sum), std::move(add),
                 std::move(done));
  }
  typename Call::StreamRequest request;
  *request.mutable_filter() = plain.filter();
  // Shared by the fold on gRPC's thread and by the end here, which comes after the last of it.
  auto parts = std::make_shared<T>(std::move(sum));
  auto fold = [parts, add](Unit&, typename Call::StreamResponse& response) -> Status {
    for (const auto& item : Call::Parts(response)) add(*parts, item);
    return Ok();
  };
  auto ended = [&client, &connection, context, plain = std::move(plain), add, parts, unary,
                done = std::move(done)](Result<Unit> result) mutable {
    if (result) return done(std::move(*parts));
    if (result.error().code() != ErrorCode::kUnsupported) return done(result.error());
    connection.DoesNotStream(Call::kStream);
    // Nothing was added: a runtime that cannot, sends nothing.
    unary(client, context, std::move(plain), std::move(*parts), std::move(add), std::move(done));
  };
  rpc::CallForAll<typename Call::StreamResponse, Unit>(client, context, Call::Streamed(),
                                                       std::move(request), std::move(fold),
                                                       Done<Unit>(std::move(ended)));
}

struct Sandboxes {
  using Request = pb::ListPodSandboxRequest;
  using Response = pb::ListPodSandboxResponse;
  using StreamRequest = pb::StreamPodSandboxesRequest;
  using StreamResponse = pb::StreamPodSandboxesResponse;
  static constexpr ListStream kStream = ListStream::kSandboxes;
  static const rpc::Method& Plain() { return methods::kListPodSandbox; }
  static const rpc::Method& Streamed() { return methods::kStreamPodSandboxes; }
  static const auto& Items(const Response& response) { return response.items(); }
  static const auto& Parts(const StreamResponse& response) { return response.pod_sandboxes(); }
};

struct Containers {
  using Request = pb::ListContainersRequest;
  using Response = pb::ListContainersResponse;
  using StreamRequest = pb::StreamContainersRequest;
  using StreamResponse = pb::StreamContainersResponse;
  static constexpr ListStream kStream = ListStream::kContainers;
  static const rpc::Method& Plain() { return methods::kListContainers; }
  static const rpc::Method& Streamed() { return methods::kStreamContainers; }
  static const auto& Items(const Response& response) { return response.containers(); }
  static const auto& Parts(const StreamResponse& response) { return response.containers(); }
};

struct Stats {
  using Request = pb::ListContainerStatsRequest;
  using Response = pb::ListContainerStatsResponse;
  using StreamRequest = pb::StreamContainerStatsRequest;
  using StreamResponse = pb::StreamContainerStatsResponse;
  static constexpr ListStream kStream = ListStream::kStats;
  static const rpc::Method& Plain() { return methods::kListContainerStats; }
  static const rpc::Method& Streamed() { return methods::kStreamContainerStats; }
  static const auto& Items(const Response& response) { return response.stats(); }
  static const auto& Parts(const StreamResponse& response) { return response.container_stats(); }
};

struct Images {
  using Request = pb::ListImagesRequest;
  using Response = pb::ListImagesResponse;
  using StreamRequest = pb::StreamImagesRequest;
  using StreamResponse = pb::StreamImagesResponse;
  static constexpr ListStream kStream = ListStream::kImages;
  static const rpc::Method& Plain() { return methods::kListImages; }
  static const rpc::Method& Streamed() { return methods::kStreamImages; }
  static const auto& Items(const Response& response) { return response.images(); }
  static const auto& Parts(const StreamResponse& response) { return response.images(); }
};

constexpr auto kCollect = [](ListCollector& collector, const auto& object) {
  collector.Add(object);
};

}  // namespace

void ListAll(rpc::Client& client, Connection& connection, const Context& context,
             Done<Listed> done) {
  auto with_sandboxes = [&client, &connection, context,
                         done = std::move(done)](Result<ListCollector> sandboxes) mutable {
    if (!sandboxes) return done(sandboxes.error());
    auto with_containers = [done = std::move(done)](Result<ListCollector> both) mutable {
      if (!both) return done(both.error());
      const size_t unreadable = both->unreadable();
      done(Listed{.list = both->Take(), .unreadable = unreadable});
    };
    List<Containers>(client, connection, context, pb::ListContainersRequest(),
                     *std::move(sandboxes), kCollect,
                     Done<ListCollector>(std::move(with_containers)));
  };
  List<Sandboxes>(client, connection, context, pb::ListPodSandboxRequest(), ListCollector(),
                  kCollect, Done<ListCollector>(std::move(with_sandboxes)));
}

void ListStats(rpc::Client& client, Connection& connection, const Context& context,
               const std::optional<SandboxId>& only, Done<std::vector<sync::ContainerStats>> done) {
  pb::ListContainerStatsRequest request;
  if (only) request.mutable_filter()->set_pod_sandbox_id(only->value());
  const auto add = [](std::vector<sync::ContainerStats>& all, const pb::ContainerStats& stats) {
    if (std::optional<sync::ContainerStats> read = ReadStats(stats)) {
      all.push_back(std::move(*read));
    }
  };
  auto sorted = [done = std::move(done)](Result<std::vector<sync::ContainerStats>> all) mutable {
    if (all) {
      std::ranges::sort(*all, [](const auto& a, const auto& b) {
        return std::tie(a.pod, a.name, b.attempt, a.id) < std::tie(b.pod, b.name, a.attempt, b.id);
      });
    }
    done(std::move(all));
  };
  List<Stats>(client, connection, context, std::move(request), std::vector<sync::ContainerStats>(),
              add, Done<std::vector<sync::ContainerStats>>(std::move(sorted)));
}

void ListImages(rpc::Client& client, Connection& connection, const Context& context,
                Done<std::vector<sync::ObservedImage>> done) {
  const auto add = [](std::vector<sync::ObservedImage>& all, const pb::Image& image) {
    all.push_back(ReadImage(image));
  };
  auto sorted = [done = std::move(done)](Result<std::vector<sync::ObservedImage>> all) mutable {
    if (all) std::ranges::sort(*all, {}, &sync::ObservedImage::id);
    done(std::move(all));
  };
  List<Images>(client, connection, context, pb::ListImagesRequest(),
               std::vector<sync::ObservedImage>(), add,
               Done<std::vector<sync::ObservedImage>>(std::move(sorted)));
}

}  // namespace denselet::cri
