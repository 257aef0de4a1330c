// One small call again and again: our client, with its queue, limits, metrics and the way home to a
// shard, beside gRPC's callback client, which starts the next call from the callback of the last.
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench/cri/benches.h"
#include "bench/cri/cri_access.h"
#include "bench/cri/fast_server.h"
#include "bench/cri/usage.h"
#include "bench/network/child.h"
#include "cri/messages.h"
#include "cri/methods.h"
#include "cri/observed_messages.h"
#include "rpc/call.h"

namespace denselet::bench {
namespace {

namespace pb = cri::pb;

constexpr int kRounds = 5;
constexpr size_t kAtOnce = 16;
constexpr size_t kCalls = 100'000;
constexpr size_t kCallsOneByOne = 20'000;
constexpr double kVsBareMax = 1.2;

struct Usage {
  double cpu_us = 0, wall_us = 0;
};

Usage Run(const std::string& program, const char* part, const std::string& socket, size_t calls,
          size_t at_once) {
  Child child({program, part, socket, std::to_string(calls), std::to_string(at_once)});
  Usage usage;
  const std::string line = child.ReadLine();
  CHECK(std::sscanf(line.c_str(), "took %lf %lf", &usage.cpu_us, &usage.wall_us) == 2);
  return usage;
}

void Print(size_t calls, double cpu, Duration wall) {
  const auto count = static_cast<double>(calls);
  std::printf("took %f %f\n", cpu * 1e6 / count,
              std::chrono::duration<double, std::micro>(wall).count() / count);
}

// CriRuntime::Version, but in the class of questions about pods, of which kAtOnce may be out from
// the beginning: of those about the runtime itself four are.
const rpc::Method& Question() {
  static const rpc::Method question = [] {
    rpc::Method method = cri::methods::kVersion;
    method.call_class = static_cast<rpc::ClassId>(cri::CallClass::kStatus);
    return method;
  }();
  return question;
}

// `at_once` chains of calls; each answer starts the next call of its chain.
class OurChains {
 public:
  OurChains(CriAccess& access, size_t calls) : access_(access), left_(calls) {}

  void Run(size_t at_once) {
    for (size_t i = 0; i < at_once; ++i) Next();
    // As many are out as in the clients that it is compared with, or it is no comparison.
    const auto of = static_cast<rpc::ClassId>(cri::CallClass::kStatus);
    CHECK(access_.cri().runtime_client().StateOf(of).running == at_once);
    access_.RunUntil([this] { return under_way_ == 0; });
  }

 private:
  void Next() {
    if (left_ == 0) return;
    --left_;
    ++under_way_;
    pb::VersionRequest request;
    request.set_version("0.1.0");
    rpc::Call<pb::VersionResponse, sync::RuntimeVersion>(
        access_.cri().runtime_client(), {}, Question(), std::move(request),
        [](pb::VersionResponse& response) { return cri::ReadVersion(response); },
        [this](Result<sync::RuntimeVersion> version) {
          CHECK(version && version->name == "fast");
          --under_way_;
          Next();
        });
  }

  CriAccess& access_;
  size_t left_;
  size_t under_way_ = 0;
};

struct Call {
  grpc::ClientContext context;
  pb::VersionRequest request;
  pb::VersionResponse response;
};

class BareChains {
 public:
  BareChains(pb::RuntimeService::Stub& stub, size_t calls) : stub_(stub), left_(calls) {}

  void Run(size_t at_once) {
    chains_ = at_once;
    for (size_t i = 0; i < at_once; ++i) Next();
    ended_.get_future().wait();
  }

 private:
  void Next() {
    if (left_.fetch_sub(1) <= 0) {
      if (chains_.fetch_sub(1) == 1) ended_.set_value();
      return;
    }
    auto* const call = new Call;
    call->request.set_version("0.1.0");
    call->context.set_deadline(gpr_time_from_seconds(120, GPR_TIMESPAN));
    stub_.async()->Version(&call->context, &call->request, &call->response,
                           [this, call](const grpc::Status& status) {
                             CHECK(status.ok() && call->response.runtime_name() == "fast");
                             delete call;
                             Next();
                           });
  }

  pb::RuntimeService::Stub& stub_;
  std::atomic<int64_t> left_;
  std::atomic<size_t> chains_ = 0;
  std::promise<void> ended_;
};

// The same as BareChains, but as one must who has state: the callback hands the answer to the one
// thread that may touch it, which starts the next call.
class HopChains {
 public:
  HopChains(pb::RuntimeService::Stub& stub, size_t calls) : stub_(stub), left_(calls) {}

  void Run(size_t at_once) {
    for (size_t i = 0; i < at_once; ++i) Next();
    while (under_way_ > 0) {
      std::vector<Call*> answered;
      {
        std::unique_lock lock(mutex_);
        came_.wait(lock, [this] { return !answered_.empty(); });
        answered.swap(answered_);
      }
      for (Call* const call : answered) {
        CHECK(call->response.runtime_name() == "fast");
        delete call;
        --under_way_;
        Next();
      }
    }
  }

 private:
  void Next() {
    if (left_ == 0) return;
    --left_;
    ++under_way_;
    auto* const call = new Call;
    call->request.set_version("0.1.0");
    call->context.set_deadline(gpr_time_from_seconds(120, GPR_TIMESPAN));
    stub_.async()->Version(&call->context, &call->request, &call->response,
                           [this, call](const grpc::Status& status) {
                             CHECK(status.ok());
                             const std::lock_guard lock(mutex_);
                             answered_.push_back(call);
                             came_.notify_one();
                           });
  }

  pb::RuntimeService::Stub& stub_;
  size_t left_, under_way_ = 0;
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Call*> answered_;
};

template <class Chains>
int RunChains(const std::string& socket, size_t calls, size_t at_once) {
  const reactor::RealClock clock;
  pb::RuntimeService::Stub stub(
      grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials()));
  Chains(stub, calls / 10 + 1).Run(at_once);
  const double cpu = CpuSeconds();
  const TimePoint begun = clock.Now();
  Chains(stub, calls).Run(at_once);
  Print(calls, CpuSeconds() - cpu, clock.Now() - begun);
  return 0;
}

}  // namespace

void BenchUnary(const CriPeers& peers, Report& report) {
  const FastServer server(peers.own, 0);
  const auto compare = [&](size_t calls, size_t at_once, auto rows) {
    std::map<std::string, std::vector<double>> cpu, wall;
    for (int round = 0; round < kRounds; ++round) {
      for (const char* part : {"calls", "bare", "hop"}) {
        const Usage usage = Run(peers.own, part, server.socket(), calls, at_once);
        cpu[part].push_back(usage.cpu_us);
        wall[part].push_back(usage.wall_us);
      }
    }
    const auto median = [](auto& of, const char* part) { return Percentile(of[part], 0.5); };
    rows([&](const char* part) { return median(cpu, part); },
         [&](const char* part) { return median(wall, part); });
  };
  compare(kCalls, kAtOnce, [&](auto cpu, auto wall) {
    report.Cost("unary_vs_bare", "a unary call, 16 at once: CPU of the client", cpu("calls"),
                cpu("bare"), "us", kVsBareMax);
    report.Cost("unary_vs_hop", "  against one whose answers go to another thread", cpu("calls"),
                cpu("hop"), "us", 0);
    report.Cost("unary_time_vs_bare", "  time a call", wall("calls"), wall("bare"), "us", 0);
  });
  compare(kCallsOneByOne, 1, [&](auto cpu, auto wall) {
    report.Cost("unary_alone_vs_bare", "a unary call, one at a time: CPU of the client",
                cpu("calls"), cpu("bare"), "us", 0);
    report.Cost("unary_alone_vs_hop", "  against one whose answers go to another thread",
                cpu("calls"), cpu("hop"), "us", 0);
    report.Cost("unary_latency_vs_bare", "  time a call", wall("calls"), wall("bare"), "us", 0);
  });
}

int CallMany(const std::string& socket, size_t calls, size_t at_once) {
  CriAccess access(socket);
  OurChains(access, calls / 10 + 1).Run(at_once);
  const double cpu = CpuSeconds();
  const TimePoint begun = access.clock().Now();
  OurChains(access, calls).Run(at_once);
  Print(calls, CpuSeconds() - cpu, access.clock().Now() - begun);
  return 0;
}

int CallManyBare(const std::string& socket, size_t calls, size_t at_once) {
  return RunChains<BareChains>(socket, calls, at_once);
}

int CallManyHop(const std::string& socket, size_t calls, size_t at_once) {
  return RunChains<HopChains>(socket, calls, at_once);
}

}  // namespace denselet::bench
