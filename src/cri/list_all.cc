#include "cri/list_all.h"

#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cri/list_collector.h"
#include "cri/messages.h"
#include "cri/observed_messages.h"
#include "cri/stats_messages.h"
#include "rpc/call.h"

namespace denselet::cri {

namespace {

using reactor::Done;
using Collected = std::unique_ptr<ListCollector>;

// What parts of a stream have added is taken back; what was there before it stays.
template <class Call, class T>
void TakeBack(T& parts) {
  if constexpr (requires { Call::TakeBack(parts); }) {
    Call::TakeBack(parts);
  } else {
    parts.clear();
  }
}

// On the wire.
uint64_t BytesOf(const grpc::ByteBuffer& part) { return part.Length(); }
uint64_t BytesOf(const google::protobuf::MessageLite& part) { return part.ByteSizeLong(); }

// One list by its two calls. `Take` (Status(T&, answer)) takes what came, all or a part, on gRPC's
// thread.
template <class Call, class T, class Take>
void List(rpc::Client& client, Connection& connection, const Context& context,
          typename Call::Request plain, T sum, Take take, Done<T> done) {
  const auto unary = [](rpc::Client& to, const Context& with, typename Call::Request request,
                        T start, Take add, Done<T> then) {
    rpc::Call<typename Call::Response, T>(
        to, with, Call::Plain(), std::move(request),
        [start = std::move(start), add](typename Call::Response& response) mutable -> Result<T> {
          if (const Status taken = add(start, response); !taken) return taken.error();
          return std::move(start);
        },
        std::move(then));
  };
  if (!connection.Streams(Call::kStream)) {
    return unary(client, context, std::move(plain), std::move(sum), std::move(take),
                 std::move(done));
  }
  typename Call::StreamRequest request;
  if constexpr (requires { plain.filter(); }) *request.mutable_filter() = plain.filter();
  // Shared by the fold on gRPC's thread and by the end here, which comes after the last of it.
  auto parts = std::make_shared<T>(std::move(sum));
  auto fold = [parts, take, bytes = uint64_t{0}, bytes_max = connection.list_bytes_max()](
                  Unit&, typename Call::StreamResponse& response) mutable -> Status {
    bytes += BytesOf(response);
    if (bytes > bytes_max) {
      return Error(ErrorCode::kOverloaded, "received list larger than max (" +
                                               std::to_string(bytes) + " vs. " +
                                               std::to_string(bytes_max) + ")");
    }
    return take(*parts, response);
  };
  auto ended = [&client, &connection, context, plain = std::move(plain), take, parts, unary,
                done = std::move(done)](Result<Unit> result) mutable {
    if (result) return done(std::move(*parts));
    if (result.error().code() != ErrorCode::kUnsupported) return done(result.error());
    connection.DoesNotStream(Call::kStream);
    // A runtime that cannot sends nothing; one in between that can, may have sent some of it.
    TakeBack<Call>(*parts);
    unary(client, context, std::move(plain), std::move(*parts), std::move(take), std::move(done));
  };
  rpc::CallForAll<typename Call::StreamResponse, Unit>(client, context, Call::Streamed(),
                                                       std::move(request), std::move(fold),
                                                       Done<Unit>(std::move(ended)));
}

// The objects of an answer, whichever of the two forms it has, one by one.
template <class Call, class T, class Add>
auto EachBy(Add add) {
  return [add](T& all, const auto& answer) -> Status {
    if constexpr (std::is_same_v<decltype(answer), const typename Call::Response&>) {
      for (const auto& item : Call::Items(answer)) add(all, item);
    } else {
      for (const auto& item : Call::Parts(answer)) add(all, item);
    }
    return Ok();
  };
}

// The two large ones are read from their bytes (list_collector.h).
struct Sandboxes {
  using Request = pb::ListPodSandboxRequest;
  using Response = grpc::ByteBuffer;
  using StreamRequest = pb::StreamPodSandboxesRequest;
  using StreamResponse = grpc::ByteBuffer;
  static constexpr ListStream kStream = ListStream::kSandboxes;
  static const rpc::Method& Plain() { return methods::kListPodSandbox; }
  static const rpc::Method& Streamed() { return methods::kStreamPodSandboxes; }
  static void TakeBack(Collected& all) { all = std::make_unique<ListCollector>(); }
};

struct Containers {
  using Request = pb::ListContainersRequest;
  using Response = grpc::ByteBuffer;
  using StreamRequest = pb::StreamContainersRequest;
  using StreamResponse = grpc::ByteBuffer;
  static constexpr ListStream kStream = ListStream::kContainers;
  static const rpc::Method& Plain() { return methods::kListContainers; }
  static const rpc::Method& Streamed() { return methods::kStreamContainers; }
  static void TakeBack(Collected& all) { all->TakeContainersBack(); }
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

struct PodStats {
  using Request = pb::ListPodSandboxStatsRequest;
  using Response = pb::ListPodSandboxStatsResponse;
  using StreamRequest = pb::StreamPodSandboxStatsRequest;
  using StreamResponse = pb::StreamPodSandboxStatsResponse;
  static constexpr ListStream kStream = ListStream::kPodStats;
  static const rpc::Method& Plain() { return methods::kListPodSandboxStats; }
  static const rpc::Method& Streamed() { return methods::kStreamPodSandboxStats; }
  static const auto& Items(const Response& response) { return response.stats(); }
  static const auto& Parts(const StreamResponse& response) { return response.pod_sandbox_stats(); }
};

struct PodMetrics {
  using Request = pb::ListPodSandboxMetricsRequest;
  using Response = pb::ListPodSandboxMetricsResponse;
  using StreamRequest = pb::StreamPodSandboxMetricsRequest;
  using StreamResponse = pb::StreamPodSandboxMetricsResponse;
  static constexpr ListStream kStream = ListStream::kPodMetrics;
  static const rpc::Method& Plain() { return methods::kListPodSandboxMetrics; }
  static const rpc::Method& Streamed() { return methods::kStreamPodSandboxMetrics; }
  static const auto& Items(const Response& response) { return response.pod_metrics(); }
  static const auto& Parts(const StreamResponse& response) {
    return response.pod_sandbox_metrics();
  }
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

// `add` sees the bytes in one piece.
template <class Add>
Status WithBytes(const grpc::ByteBuffer& buffer, Add add) {
  grpc::Slice slice;
  if (!buffer.TrySingleSlice(&slice).ok() && !buffer.DumpToSingleSlice(&slice).ok()) {
    return Error(ErrorCode::kCorrupt, "the answer has no bytes");
  }
  return add(std::string_view(reinterpret_cast<const char*>(slice.begin()), slice.size()));
}

constexpr auto kTakeSandboxes = [](Collected& all, const grpc::ByteBuffer& answer) {
  return WithBytes(answer, [&all](std::string_view bytes) { return all->AddSandboxes(bytes); });
};
constexpr auto kTakeContainers = [](Collected& all, const grpc::ByteBuffer& answer) {
  return WithBytes(answer, [&all](std::string_view bytes) { return all->AddContainers(bytes); });
};

}  // namespace

void ListAll(rpc::Client& client, Connection& connection, const Context& context,
             Done<Listed> done) {
  auto with_sandboxes = [&client, &connection, context,
                         done = std::move(done)](Result<Collected> sandboxes) mutable {
    if (!sandboxes) return done(sandboxes.error());
    auto with_containers = [done = std::move(done)](Result<Collected> both) mutable {
      if (!both) return done(both.error());
      ListCollector& all = **both;
      done(Listed{.list = all.Take(), .unreadable = all.unreadable()});
    };
    List<Containers>(client, connection, context, pb::ListContainersRequest(),
                     *std::move(sandboxes), kTakeContainers,
                     Done<Collected>(std::move(with_containers)));
  };
  List<Sandboxes>(client, connection, context, pb::ListPodSandboxRequest(),
                  std::make_unique<ListCollector>(), kTakeSandboxes,
                  Done<Collected>(std::move(with_sandboxes)));
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
              EachBy<Stats, std::vector<sync::ContainerStats>>(add),
              Done<std::vector<sync::ContainerStats>>(std::move(sorted)));
}

void ListPodStats(rpc::Client& client, Connection& connection, const Context& context,
                  const std::optional<SandboxId>& only, Done<std::vector<sync::PodStats>> done) {
  pb::ListPodSandboxStatsRequest request;
  if (only) request.mutable_filter()->set_id(only->value());
  const auto add = [](std::vector<sync::PodStats>& all, const pb::PodSandboxStats& stats) {
    std::optional<sync::PodStats> read = ReadPodStats(stats);
    if (!read) return;
    std::ranges::sort(read->containers, [](const auto& a, const auto& b) {
      return std::tie(a.name, b.attempt, a.id) < std::tie(b.name, a.attempt, b.id);
    });
    all.push_back(std::move(*read));
  };
  auto sorted = [done = std::move(done)](Result<std::vector<sync::PodStats>> all) mutable {
    if (all) {
      std::ranges::sort(*all, [](const auto& a, const auto& b) {
        return std::tie(a.pod.uid, b.attempt, a.id) < std::tie(b.pod.uid, a.attempt, b.id);
      });
    }
    done(std::move(all));
  };
  List<PodStats>(client, connection, context, std::move(request), std::vector<sync::PodStats>(),
                 EachBy<PodStats, std::vector<sync::PodStats>>(add),
                 Done<std::vector<sync::PodStats>>(std::move(sorted)));
}

void ListPodMetrics(rpc::Client& client, Connection& connection, const Context& context,
                    Done<std::vector<sync::PodMetrics>> done) {
  const auto add = [](std::vector<sync::PodMetrics>& all, const pb::PodSandboxMetrics& metrics) {
    all.push_back(ReadPodMetrics(metrics));
  };
  auto sorted = [done = std::move(done)](Result<std::vector<sync::PodMetrics>> all) mutable {
    if (all) std::ranges::sort(*all, {}, &sync::PodMetrics::sandbox);
    done(std::move(all));
  };
  List<PodMetrics>(client, connection, context, pb::ListPodSandboxMetricsRequest(),
                   std::vector<sync::PodMetrics>(),
                   EachBy<PodMetrics, std::vector<sync::PodMetrics>>(add),
                   Done<std::vector<sync::PodMetrics>>(std::move(sorted)));
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
               std::vector<sync::ObservedImage>(),
               EachBy<Images, std::vector<sync::ObservedImage>>(add),
               Done<std::vector<sync::ObservedImage>>(std::move(sorted)));
}

}  // namespace denselet::cri
