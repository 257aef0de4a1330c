#include "bench/cri_sim/host.h"

#include <unistd.h>

#include <cstdio>
#include <future>
#include <utility>

namespace denselet::cri_sim {
namespace {

void PrintLine(const std::string& line) { std::fprintf(stderr, "cri_sim: %s\n", line.c_str()); }

}  // namespace

// Whether the ports that pods declare are opened is the host's decision.
class Host::DeclaredPorts final : public PortOpener {
 public:
  DeclaredPorts(Responder& responder, bool serve) : responder_(responder), serve_(serve) {}
  void OpenPort(uint16_t port) override {
    if (serve_) responder_.OpenPort(port);
  }
  std::string StreamUrl(const std::string& kind) override { return responder_.StreamUrl(kind); }

 private:
  Responder& responder_;
  const bool serve_;
};

Host::Host(HostOptions options) : options_(std::move(options)) {}

Result<std::unique_ptr<Host>> Host::Start(HostOptions options) {
  std::unique_ptr<Host> host(new Host(std::move(options)));
  if (Status begun = host->Begin(); !begun) return begun.error();
  return host;
}

Status Host::Begin() {
  reactor::ShardsOptions shards;
  shards.count = 1;
  shards.backend = reactor::Backend::kEpoll;
  shards.pinning = reactor::Pinning::kFloating;
  auto started = reactor::Shards::Start(shards, clock_);
  if (!started) return started.error();
  shards_ = std::move(*started);
  inbox_ = std::make_unique<Inbox>(*shards_);
  Status listening = Ok();
  shards_->RunAndWait(0, [&](reactor::Shard& shard) {
    reactor::Loop& loop = shard.loop();
    responder_ = std::make_unique<Responder>(
        loop,
        [this](Ipv4 ip) {
          if (ip.bits == (127u << 24 | 1))
            return PodHealth::kHealthy;  // pods on the host's network
          const Sandbox* const pod = simulator_->world().model.FindByAddress(ip);
          if (pod == nullptr) return PodHealth::kNoPod;
          return pod->healthy ? PodHealth::kHealthy : PodHealth::kUnhealthy;
        },
        PrintLine);
    declared_ = std::make_unique<DeclaredPorts>(*responder_, options_.serve_declared_ports);
    Violations::Print print;
    if (options_.print_violations) {
      print = [](const Violation& one) { PrintLine("VIOLATION " + one.rule + ": " + one.what); };
    }
    simulator_ = std::make_unique<Simulator>(loop, options_.identity, options_.settings,
                                             options_.seed, *declared_, std::move(print));
    control_ = std::make_unique<Control>(loop, *simulator_, static_cast<HostControl&>(*this));
    later_ = std::make_unique<Later>(loop);
    for (const uint16_t port : options_.ports) responder_->OpenPort(port);
    if (!options_.control_socket.empty()) {
      listening = control_->Listen(options_.control_socket);
      has_control_socket_ = static_cast<bool>(listening);
    }
    for (const TimedCommand& timed : options_.commands) {
      later_->Run(timed.at, [this, command = timed.command] {
        control_->Run(command, [command](const std::string& answer) {
          PrintLine("scenario: " + command + " -> " + answer);
        });
      });
    }
  });
  if (!listening) return listening.error().With("control socket");
  server_ = std::make_unique<GrpcServer>(
      *inbox_, GrpcServerOptions{options_.socket, options_.message_bytes_max}, this,
      [](void* owner, std::string_view path, std::string request, const CallPtr& call) {
        static_cast<Host*>(owner)->simulator_->Begin(path, std::move(request), call);
      });
  if (Status serving = server_->Start(); !serving) return serving;
  keeper_ = std::thread([this] { RunKeeper(); });
  return Ok();
}

Host::~Host() {
  if (keeper_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    keeper_.join();
  }
  if (server_ != nullptr) server_->Stop();  // the shard still ends its calls
  if (shards_ == nullptr) return;
  shards_->RunAndWait(0, [this](reactor::Shard&) {
    later_.reset();
    control_.reset();
    simulator_.reset();
    declared_.reset();
    responder_.reset();
  });
  shards_->Stop();
  if (has_control_socket_) unlink(options_.control_socket.c_str());
}

void Host::RunKeeper() {
  for (;;) {
    reactor::Task task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
      if (ending_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

void Host::Keep(reactor::Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

// The keeper stops the server, the shard loses state and waits, the keeper starts it again.
void Host::Crash(Duration downtime, KeepState keep, UniqueFunction<void(const Status&)> done) {
  waiting_for_crash_.push_back(std::move(done));
  if (std::exchange(crashing_, true)) return;  // one that is down crashes no further
  Keep([this, downtime, keep] {
    server_->Stop();
    inbox_->Post([this, downtime, keep] {
      simulator_->Crash(keep);
      later_->Run(downtime, [this] {
        Keep([this] {
          const Status started = server_->Start();
          if (!started) PrintLine("could not start again: " + started.error().message());
          inbox_->Post([this, started] {
            crashing_ = false;
            for (auto& one : std::exchange(waiting_for_crash_, {})) one(started);
          });
        });
      });
    });
  });
}

std::string Host::Run(const std::string& command) {
  std::promise<std::string> answer;
  shards_->RunAndWait(0, [&](reactor::Shard&) {
    control_->Run(command, [&](std::string line) { answer.set_value(std::move(line)); });
  });
  return answer.get_future().get();
}

void Host::OnShard(UniqueFunction<void(Simulator&)> work) {
  shards_->RunAndWait(0, [&](reactor::Shard&) { work(*simulator_); });
}

void Host::WaitForQuit() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return quit_; });
}

void Host::RequestQuit() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
}

}  // namespace denselet::cri_sim
