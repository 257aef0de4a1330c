// What happened to an object, told to people: Kubernetes events. managers/events sends them; who
// has something to tell holds this port.
//
// Lives on the API shard. Telling never fails and never waits: what is too much is dropped there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace denselet::sync {

enum class EventType : uint8_t { kNormal, kWarning };

// What it happened to. Without a namespace the event goes to "default".
struct EventObject {
  std::string kind = {};
  std::string ns = {};
  std::string name = {};
  std::string uid = {};
  std::string api_version = "v1";
  std::string resource_version = {};
  std::string field_path = {};  // "spec.containers{web}"
};

// One that is on its way to the recorder.
struct ObjectEvent {
  EventObject object = {};
  EventType type = EventType::kNormal;
  std::string reason = {};
  std::string message = {};
};

using EventAnnotations = std::map<std::string, std::string>;

class EventRecorder {
 public:
  virtual ~EventRecorder() = default;

  // `reason` is one word that programs may branch on, `message` is for people.
  void Record(const EventObject& object, EventType type, std::string_view reason,
              std::string message) {
    RecordWithAnnotations(object, type, reason, std::move(message), {});
  }
  virtual void RecordWithAnnotations(const EventObject& object, EventType type,
                                     std::string_view reason, std::string message,
                                     const EventAnnotations& annotations) = 0;
};

// Events of the node itself carry no uid: who looks for them knows its name only.
inline EventObject NodeEventObject(std::string node_name) {
  return {.kind = "Node", .name = std::move(node_name)};
}

}  // namespace denselet::sync
