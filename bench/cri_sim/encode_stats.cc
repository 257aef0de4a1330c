// Statistics and metrics of the model. What is told is made up, but never contradicts itself: a
// container uses a constant part of a core and a constant amount of memory while it runs.
#include <algorithm>

#include "bench/cri_sim/encode.h"
#include "bench/cri_sim/wire.h"

namespace denselet::cri_sim {
namespace {

int64_t Nanos(WallTime at) { return at.time_since_epoch().count(); }

// From the id: hexadecimal digits that are as good as random.
uint64_t Character(const std::string& id) {
  uint64_t value = 0;
  for (size_t i = 0; i < std::min<size_t>(id.size(), 6); ++i) {
    value = value * 31 + static_cast<uint8_t>(id[i]);
  }
  return value % 1000;
}

uint64_t MemoryBytes(const Container& container) {
  return container.state == ContainerState::kRunning ? (4096 + 16 * Character(container.id)) * 1024
                                                     : 0;
}

uint64_t NanoCores(const Container& container) {
  return container.state == ContainerState::kRunning ? (1 + Character(container.id)) * 10'000 : 0;
}

uint64_t CpuNanos(const Container& container, WallTime now) {
  if (Nanos(container.started_at) == 0) return 0;
  const WallTime end = container.state == ContainerState::kRunning ? now : container.finished_at;
  const int64_t ran_us = std::max<int64_t>((end - container.started_at).count() / 1000, 0);
  return static_cast<uint64_t>(ran_us) * (1 + Character(container.id)) / 100;
}

void AppendValue(std::string& out, int field, uint64_t value) {
  std::string boxed;
  AppendNumber(boxed, 1, static_cast<int64_t>(value));
  AppendBytes(out, field, boxed);
}

std::string Cpu(uint64_t nanos, uint64_t nano_cores, WallTime now) {
  std::string out;
  AppendNumber(out, 1, Nanos(now));
  AppendValue(out, 2, nanos);
  AppendValue(out, 3, nano_cores);
  return out;
}

std::string Memory(uint64_t bytes, WallTime now) {
  std::string out;
  AppendNumber(out, 1, Nanos(now));
  AppendValue(out, 2, bytes);
  for (const int field : {4, 5}) AppendValue(out, field, bytes);
  for (const int field : {6, 7}) AppendValue(out, field, 0);
  return out;
}

void AppendPairs(std::string& out, int field, const Pairs& pairs) {
  pairs.ForEach([&](std::string_view entry, std::string_view, std::string_view) {
    AppendBytes(out, field, entry);
  });
}

std::string Metric(std::string_view name, uint64_t value, int type, const std::string& label,
                   WallTime now) {
  std::string out;
  AppendText(out, 1, name);
  AppendNumber(out, 2, Nanos(now));
  AppendNumber(out, 3, type);
  AppendBytes(out, 4, label);
  AppendValue(out, 5, value);
  return out;
}

}  // namespace

std::string EncodeContainerStats(const Container& container, const std::string& mountpoint,
                                 WallTime now) {
  std::string metadata, attributes, fs_id, layer, out;
  AppendText(metadata, 1, container.spec.name);
  AppendNumber(metadata, 2, container.spec.attempt);
  AppendText(attributes, 1, container.id);
  AppendBytes(attributes, 2, metadata);
  AppendPairs(attributes, 3, container.spec.labels);
  AppendPairs(attributes, 4, container.spec.annotations);
  AppendText(fs_id, 1, mountpoint);
  AppendNumber(layer, 1, Nanos(now));
  AppendBytes(layer, 2, fs_id);
  AppendValue(layer, 3, 4096 * (1 + Character(container.id) % 16));
  AppendValue(layer, 4, 8);
  AppendBytes(out, 1, attributes);
  AppendBytes(out, 2, Cpu(CpuNanos(container, now), NanoCores(container), now));
  AppendBytes(out, 3, Memory(MemoryBytes(container), now));
  AppendBytes(out, 4, layer);
  return out;
}

std::string EncodeSandboxStats(const Sandbox& sandbox, const std::string& mountpoint,
                               WallTime now) {
  std::string metadata, attributes, of_linux, network, interface, processes, out;
  AppendText(metadata, 1, sandbox.spec.name);
  AppendText(metadata, 2, sandbox.spec.uid);
  AppendText(metadata, 3, sandbox.spec.pod_namespace);
  AppendNumber(metadata, 4, sandbox.spec.attempt);
  AppendText(attributes, 1, sandbox.id);
  AppendBytes(attributes, 2, metadata);
  AppendPairs(attributes, 3, sandbox.spec.labels);
  AppendPairs(attributes, 4, sandbox.spec.annotations);
  uint64_t cpu = 0, cores = 0, memory = 0, running = 0;
  for (const Container* container : sandbox.containers) {
    cpu += CpuNanos(*container, now);
    cores += NanoCores(*container);
    memory += MemoryBytes(*container);
    running += container->state == ContainerState::kRunning ? 1 : 0;
  }
  AppendText(interface, 1, "eth0");
  for (const int field : {2, 3, 4, 5}) AppendValue(interface, field, 0);
  AppendNumber(network, 1, Nanos(now));
  AppendBytes(network, 2, interface);
  AppendNumber(processes, 1, Nanos(now));
  AppendValue(processes, 2, running + 1);  // and the one that holds the sandbox
  AppendBytes(of_linux, 1, Cpu(cpu, cores, now));
  AppendBytes(of_linux, 2, Memory(memory, now));
  AppendBytes(of_linux, 3, network);
  AppendBytes(of_linux, 4, processes);
  for (const Container* container : sandbox.containers) {
    if (container->state != ContainerState::kRunning) continue;
    AppendBytes(of_linux, 5, EncodeContainerStats(*container, mountpoint, now));
  }
  AppendBytes(out, 1, attributes);
  AppendBytes(out, 2, of_linux);
  return out;
}

std::string EncodeSandboxMetrics(const Sandbox& sandbox, WallTime now) {
  std::string out;
  AppendText(out, 1, sandbox.id);
  for (const Container* container : sandbox.containers) {
    if (container->state != ContainerState::kRunning) continue;
    std::string of_container;
    AppendText(of_container, 1, container->id);
    AppendBytes(of_container, 2,
                Metric("container_cpu_usage_seconds_total",
                       CpuNanos(*container, now) / 1'000'000'000, 0, container->spec.name, now));
    AppendBytes(of_container, 2,
                Metric("container_memory_working_set_bytes", MemoryBytes(*container), 1,
                       container->spec.name, now));
    AppendBytes(out, 3, of_container);
  }
  return out;
}

std::string EncodeMetricDescriptors() {
  std::string out;
  const auto add = [&](std::string_view name, std::string_view help) {
    std::string descriptor;
    AppendText(descriptor, 1, name);
    AppendText(descriptor, 2, help);
    AppendText(descriptor, 3, "container");
    AppendBytes(out, 1, descriptor);
  };
  add("container_cpu_usage_seconds_total", "Cumulative cpu time consumed in seconds.");
  add("container_memory_working_set_bytes", "Current working set in bytes.");
  return out;
}

}  // namespace denselet::cri_sim
