// What all handlers of calls share; a plain bundle of parts of the Simulator's, on its shard.
#pragma once

#include <cstdint>
#include <string>

#include "bench/cri_sim/events.h"
#include "bench/cri_sim/images.h"
#include "bench/cri_sim/later.h"
#include "bench/cri_sim/log_writer.h"
#include "bench/cri_sim/model.h"
#include "bench/cri_sim/processes.h"
#include "bench/cri_sim/settings.h"
#include "bench/cri_sim/violations.h"
#include "reactor/api/loop.h"

namespace denselet::cri_sim {

// What does not change while it runs.
struct Identity {
  std::string runtime_name = "containerd";  // some clients treat runtimes by name
  std::string runtime_version = "v1.7.99-cri-sim";
  std::string node_ip;       // told for pods on the host's network; empty as containerd does
  std::string image_folder;  // the mount point that ImageFsInfo tells; must exist
  bool cgroupfs = true;      // the cgroup driver; false: systemd
};

// Where a wildcard listener answers for all pods (responder.h).
class PortOpener {
 public:
  virtual void OpenPort(uint16_t port) = 0;
  // Where exec, attach and port-forward streams would go: "http://127.0.0.1:port/kind/token".
  virtual std::string StreamUrl(const std::string& kind) = 0;

 protected:
  ~PortOpener() = default;
};

struct World {
  reactor::Loop& loop;
  const Identity& identity;
  Settings& settings;
  Random& random;
  Violations& violations;
  Images& images;
  Model& model;
  Processes& processes;
  LogWriter& logs;
  EventHub& events;
  PortOpener& ports;
  Later& later;

  WallTime Now() const { return loop.WallNow(); }
};

}  // namespace denselet::cri_sim
