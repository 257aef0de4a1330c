// A machine, other managers and a recorder of events for tests of the node's manager.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "managers/node/host_facts.h"
#include "managers/node/node_inputs.h"
#include "reactor/api/loop.h"
#include "sync/ports/events.h"

namespace denselet::node {

struct FakeFacts final : HostFactsSource {
  explicit FakeFacts(reactor::Loop& l) : loop(l) {}
  void ReadMachine(const Context&, reactor::Done<MachineFacts> done) override {
    loop.Post([this, done = std::move(done)]() mutable {
      if (machine_failures-- > 0) return done(Error(ErrorCode::kIo, "not yet"));
      done(machine);
    });
  }
  void ReadNetwork(const Context&, reactor::Done<NetworkFacts> done) override {
    loop.Post([this, done = std::move(done)]() mutable { done(network); });
  }
  void ReadPressure(const Context&, reactor::Done<PressureFacts> done) override {
    loop.Post([this, done = std::move(done)]() mutable { done(pressure); });
  }
  // Half of all is available, or next to nothing.
  void SetScarce(PressureSignal signal, bool scarce) {
    At(pressure, signal) = SignalReading{.available = scarce ? 1u : 500u, .capacity = 1000};
  }

  reactor::Loop& loop;
  int machine_failures = 0;
  MachineFacts machine{.cpus = 4,
                       .memory_bytes = uint64_t{8} << 30,
                       .boot_id = "boot-1",
                       .kernel_version = "6.1",
                       .os_image = "Debian",
                       .root_fs_bytes = uint64_t{100} << 30};
  NetworkFacts network{
      .interfaces = {{.name = "eth0", .up = true, .addresses = {*IpAddress::Parse("10.0.0.5")}}},
      .routes_known = true,
      .routes = {{"eth0", IpFamily::kIpv4}}};
  PressureFacts pressure = [] {
    PressureFacts facts;
    facts.fill(SignalReading{.available = 500, .capacity = 1000});
    return facts;
  }();
};

// Each signal has one, and a condition goes with its cause.
inline void SetPressureThresholds(NodeConfig& config) {
  for (size_t i = 0; i < kPressureSignals; ++i) {
    config.pressure_thresholds.push_back({static_cast<PressureSignal>(i), {.fraction = 0.1f}});
  }
  config.pressure_transition_period = Duration::zero();
}

struct FakeInputs final : NodeInputsSource {
  NodeInputs Collect() override {
    NodeInputs now = inputs;
    if (ready) {
      now.runtime.name = "containerd";
      now.runtime.version = "2.0.0";
      now.runtime.synced_at = loop.Now();
      now.runtime.network_error.reset();
    }
    return now;
  }
  explicit FakeInputs(reactor::Loop& l) : loop(l) {}

  reactor::Loop& loop;
  bool ready = false;
  NodeInputs inputs;
};

struct FakeEvents final : sync::EventRecorder {
  explicit FakeEvents(std::string name) : node_name(std::move(name)) {}
  void RecordWithAnnotations(const sync::EventObject& object, sync::EventType,
                             std::string_view reason, std::string message,
                             const sync::EventAnnotations&) override {
    EXPECT_EQ(object.name, node_name);
    reasons.emplace_back(reason);
    messages.push_back(std::move(message));
  }

  const std::string node_name;
  std::vector<std::string> reasons, messages;
};

}  // namespace denselet::node
