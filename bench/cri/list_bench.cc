// The list of everything a runtime has: what our side of it costs over plain protobuf, and what it
// costs as a whole beside a client in Go.
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <cstdio>
#include <filesystem>
#include <future>
#include <optional>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "bench/cri/benches.h"
#include "bench/cri/cri_access.h"
#include "bench/cri/usage.h"
#include "bench/network/child.h"
#include "cri/list_collector.h"
#include "cri/messages.h"

namespace denselet::bench {
namespace {

namespace pb = cri::pb;

constexpr int kRounds = 11;
constexpr int kProcessRounds = 3;
constexpr size_t kContainersOfPod = 2;
constexpr double kVsProtobufMax = 1.5;
constexpr double kVsGoMax = 1.0 / 3;

std::string NewFolder() {
  std::string folder = "/tmp/denselet-bench-XXXXXX";
  CHECK(::mkdtemp(folder.data()) != nullptr);
  return folder;
}

// A runtime with pods in it.
class Runtime {
 public:
  Runtime(const std::string& program, size_t pods)
      : child_({program, "--socket", socket_, "--image-folder", folder_, "--message-bytes-max",
                std::to_string(64 << 20), "--no-declared-ports", "--populate",
                std::to_string(pods) + "x" + std::to_string(kContainersOfPod)}) {
    CHECK(child_.ReadLine() == "serving on " + socket_);
  }
  ~Runtime() { std::filesystem::remove_all(folder_); }
  const std::string& socket() const { return socket_; }

 private:
  const std::string folder_ = NewFolder();
  const std::string socket_ = folder_ + "/s";
  Child child_;
};

// An answer as it comes from the socket.
grpc::ByteBuffer Fetch(const std::string& socket, const char* method) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  grpc::GenericStub stub(
      grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  const grpc::Slice nothing;
  const grpc::ByteBuffer request(&nothing, 1);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> ended;
  stub.UnaryCall(&context, method, {}, &request, &response,
                 [&ended](const grpc::Status& status) { ended.set_value(status); });
  const grpc::Status status = ended.get_future().get();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error_message().c_str());
  CHECK(status.ok());
  return response;
}

std::string Joined(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  CHECK(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

struct Answers {
  grpc::ByteBuffer sandboxes, containers;
  std::string sandbox_bytes, container_bytes;
};

// What rpc and cri do with an answer, from gRPC's buffer on: put into one piece, read, sorted.
sync::RuntimeList TakeList(const Answers& answers) {
  cri::ListCollector collector;
  const auto bytes_of = [](const grpc::ByteBuffer& buffer, grpc::Slice& slice) {
    CHECK(buffer.DumpToSingleSlice(&slice).ok());
    return std::string_view(reinterpret_cast<const char*>(slice.begin()), slice.size());
  };
  grpc::Slice sandboxes, containers;
  CHECK(collector.AddSandboxes(bytes_of(answers.sandboxes, sandboxes)));
  CHECK(collector.AddContainers(bytes_of(answers.containers, containers)));
  return collector.Take();
}

// The messages, and nothing made of them.
void ParsePlain(const Answers& answers, size_t pods) {
  pb::ListPodSandboxResponse sandboxes;
  CHECK(sandboxes.ParseFromString(answers.sandbox_bytes));
  pb::ListContainersResponse containers;
  CHECK(containers.ParseFromString(answers.container_bytes));
  CHECK(sandboxes.items_size() == static_cast<int>(pods));
}

struct Cost {
  std::vector<double> cpu_us, allocations;
};

template <class Work>
void Measure(Cost& cost, size_t containers, Work work) {
  const uint64_t allocations = Allocations();
  const double begin = ThreadCpuSeconds();
  work();
  const auto count = static_cast<double>(containers);
  cost.cpu_us.push_back((ThreadCpuSeconds() - begin) * 1e6 / count);
  cost.allocations.push_back(static_cast<double>(Allocations() - allocations) / count);
}

void BenchDecoding(const Runtime& runtime, size_t pods, const std::string& suffix, Report& report) {
  Answers answers;
  answers.sandboxes = Fetch(runtime.socket(), "/runtime.v1.RuntimeService/ListPodSandbox");
  answers.containers = Fetch(runtime.socket(), "/runtime.v1.RuntimeService/ListContainers");
  answers.sandbox_bytes = Joined(answers.sandboxes);
  answers.container_bytes = Joined(answers.containers);
  const size_t containers = pods * kContainersOfPod;
  Cost ours, plain;
  for (int round = 0; round < kRounds; ++round) {
    Measure(ours, containers, [&] { CHECK(TakeList(answers).pods.size() == pods); });
    Measure(plain, containers, [&] { ParsePlain(answers, pods); });
  }
  const std::string work = std::to_string(pods) + " pods of two containers";
  report.Cost("list_cpu_vs_protobuf" + suffix, work + ": CPU a container, without transport",
              Percentile(ours.cpu_us, 0.5), Percentile(plain.cpu_us, 0.5), "us", kVsProtobufMax);
  report.Cost("list_allocations_vs_protobuf" + suffix, "  allocations a container",
              Percentile(ours.allocations, 0.5), Percentile(plain.allocations, 0.5), "", 0);
}

struct Usage {
  double cpu_ms = 0, wall_ms = 0, peak_bytes = 0;
};

Usage RunLists(std::vector<std::string> command) {
  Child child(std::move(command));
  Usage usage;
  const std::string line = child.ReadLine();
  CHECK(std::sscanf(line.c_str(), "took %lf %lf %lf", &usage.cpu_ms, &usage.wall_ms,
                    &usage.peak_bytes) == 3);
  return usage;
}

double MedianOf(const std::vector<Usage>& all, double Usage::*part) {
  std::vector<double> samples;
  for (const Usage& usage : all) samples.push_back(usage.*part);
  return Percentile(samples, 0.5);
}

void BenchWhole(const CriPeers& peers, const Runtime& runtime, size_t pods, const std::string& form,
                const std::string& suffix, Report& report) {
  const std::string rounds = std::to_string(pods >= 10'000 ? 20 : 100);
  const std::string count = std::to_string(pods);
  std::vector<Usage> ours, theirs;
  for (int round = 0; round < kProcessRounds; ++round) {
    ours.push_back(RunLists({peers.own, "list", runtime.socket(), form, rounds, count}));
    if (peers.go.empty()) continue;
    theirs.push_back(RunLists({peers.go, runtime.socket(), form, rounds, count}));
  }
  const std::string work =
      count + " pods listed" + (form == "stream" ? " in parts" : "") + ": CPU of the client";
  if (theirs.empty()) {
    std::puts("Go's client was not measured: there is no Go here.");
    return report.Show("list_cpu_ms" + suffix, work, MedianOf(ours, &Usage::cpu_ms), "ms");
  }
  const auto row = [&](const std::string& key, const std::string& text, double Usage::*part,
                       const char* unit, double scale, double limit) {
    report.Cost(key + suffix, text, MedianOf(ours, part) * scale, MedianOf(theirs, part) * scale,
                unit, limit);
  };
  row("list_cpu_vs_go", work, &Usage::cpu_ms, "ms", 1, kVsGoMax);
  row("list_time_vs_go", "  time, the server's included", &Usage::wall_ms, "ms", 1, 0);
  row("list_rss_vs_go", "  peak memory", &Usage::peak_bytes, "MiB", 1.0 / (1 << 20), 0);
}

}  // namespace

void BenchList(const CriPeers& peers, size_t pods, Report& report) {
  const Runtime runtime(peers.cri_sim, pods);
  const std::string suffix = pods == 1000 ? "" : "_" + std::to_string(pods);
  BenchDecoding(runtime, pods, suffix, report);
  // More than 16 MiB come in parts only.
  if (pods <= 1000) BenchWhole(peers, runtime, pods, "plain", suffix, report);
  BenchWhole(peers, runtime, pods, "stream", suffix + "_stream", report);
}

int ListMany(const std::string& socket, const std::string& form, size_t rounds, size_t pods) {
  constexpr size_t kWarmUp = 3;
  CriAccess access(socket);
  if (form == "plain") {
    access.connection().DoesNotStream(cri::ListStream::kSandboxes);
    access.connection().DoesNotStream(cri::ListStream::kContainers);
  }
  double cpu = 0;
  TimePoint begun;
  for (size_t round = 0; round < kWarmUp + rounds; ++round) {
    if (round == kWarmUp) {
      cpu = CpuSeconds();
      begun = access.clock().Now();
    }
    std::optional<Result<sync::RuntimeList>> list;
    access.cri().runtime().ListAll({}, [&](Result<sync::RuntimeList> answer) {
      list = std::move(answer);
      // Or this turn sleeps before the end is seen: a task of its own runs before that, and leaves
      // one for the next turn.
      reactor::Loop& loop = access.shard().loop();
      loop.Post([&loop] { loop.Post([] {}); });
    });
    access.RunUntil([&list] { return list.has_value(); });
    if (!*list) std::fprintf(stderr, "%s\n", list->error().message().c_str());
    CHECK(*list && (*list)->pods.size() == pods);
    CHECK((*list)->pods[0].containers.size() == kContainersOfPod);
  }
  const double count = static_cast<double>(rounds);
  const double wall = std::chrono::duration<double>(access.clock().Now() - begun).count();
  std::printf("took %f %f %ld\n", (CpuSeconds() - cpu) * 1e3 / count, wall * 1e3 / count,
              PeakBytes());
  return 0;
}

}  // namespace denselet::bench
