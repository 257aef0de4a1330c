#include "kube/api/pod/pod_hot_fields.h"

#include <array>

#include "kube/api/codec/wire_reader.h"

namespace denselet::kube {
namespace {

using Type = WireField::Type;

// One of a few words; what is not among them is the first.
template <class Enum, size_t n>
Enum FindWord(const std::array<std::string_view, n>& words, std::string_view word) {
  for (size_t i = 1; i < n; ++i) {
    if (words[i] == word) return static_cast<Enum>(i);
  }
  return static_cast<Enum>(0);
}

constexpr std::array<std::string_view, 6> kPhases = {"",          "Pending", "Running",
                                                     "Succeeded", "Failed",  "Unknown"};
constexpr std::array<std::string_view, 4> kQosClasses = {"", "Guaranteed", "Burstable",
                                                         "BestEffort"};
constexpr std::array<std::string_view, 4> kRestartPolicies = {"", "Always", "OnFailure", "Never"};

// The API server's times reach the year 9999; a WallTime ends in 2262.
WallTime ToWallTime(int64_t seconds) {
  constexpr int64_t kSecondsMax = INT64_MAX / 1'000'000'000;
  if (seconds > kSecondsMax) return WallTime::max();
  if (seconds < -kSecondsMax) return WallTime::min();
  return WallTime(Seconds(seconds));
}

// The fields of one message, asked for by the type that they must have: another one is a fault, and
// reads as nothing.
class Fields {
 public:
  explicit Fields(std::string_view message) : reader_(message) {}

  bool Next() { return reader_.Next(field_); }
  uint32_t number() const { return field_.number; }

  std::string_view Bytes() { return Expect(reader_, field_, Type::kBytes) ? field_.bytes : ""; }
  int64_t Int64() {
    return Expect(reader_, field_, Type::kVarint) ? static_cast<int64_t>(field_.value) : 0;
  }
  int32_t Int32() { return static_cast<int32_t>(Int64()); }
  bool Bool() { return Int64() != 0; }

  void Fail(const char* fault) { reader_.Refuse(fault); }
  bool ok() const { return reader_.ok(); }
  Status ToStatus(std::string_view what) const { return reader_.ToStatus(what); }

 private:
  WireReader reader_;
  WireField field_;
};

// A time that comes twice is merged like every message: one without seconds changes nothing.
WallTime ReadTime(Fields& parent, WallTime before) {
  constexpr uint32_t kSeconds = 1;
  WallTime time = before;
  Fields fields(parent.Bytes());
  while (fields.Next()) {
    if (fields.number() == kSeconds) time = ToWallTime(fields.Int64());
  }
  if (!fields.ok()) parent.Fail("a time is damaged");
  return time;
}

void ReadAnnotation(Fields& parent, PodHotFields& into) {
  constexpr uint32_t kKey = 1, kValue = 2;
  std::string_view key, value;
  Fields fields(parent.Bytes());
  while (fields.Next()) {
    if (fields.number() == kKey) key = fields.Bytes();
    if (fields.number() == kValue) value = fields.Bytes();
  }
  if (!fields.ok()) parent.Fail("an annotation is damaged");
  if (key == "kubernetes.io/config.source") into.config_source = value;
  if (key == "kubernetes.io/config.hash") into.config_hash = value;
  if (key == "kubernetes.io/config.mirror") into.config_mirror = value;
}

// The numbers of this and the following are those of the .proto files; a test holds them to the
// parsed form.
Status ReadMetadata(std::string_view message, PodHotFields& into) {
  Fields fields(message);
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        into.name = fields.Bytes();
        break;
      case 3:
        into.ns = fields.Bytes();
        break;
      case 5:
        into.uid = fields.Bytes();
        break;
      case 6:
        into.resource_version = fields.Bytes();
        break;
      case 7:
        into.generation = fields.Int64();
        break;
      case 8:
        into.creation_time = ReadTime(fields, into.creation_time);
        break;
      case 9:
        into.deletion_time = ReadTime(fields, into.deletion_time.value_or(WallTime()));
        break;
      case 10:
        into.deletion_grace_seconds = fields.Int64();
        break;
      case 12:
        ReadAnnotation(fields, into);
        break;
      default:
        break;
    }
  }
  return fields.ToStatus("metadata");
}

void CountElement(Fields& fields, uint32_t& count) {
  fields.Bytes();
  ++count;
}

Status ReadSpec(std::string_view message, PodHotFields& into) {
  Fields fields(message);
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        CountElement(fields, into.volumes);
        break;
      case 2:
        CountElement(fields, into.containers);
        break;
      case 3:
        into.restart_policy = FindWord<PodRestartPolicy>(kRestartPolicies, fields.Bytes());
        break;
      case 4:
        into.termination_grace_seconds = fields.Int64();
        break;
      case 5:
        into.active_deadline_seconds = fields.Int64();
        break;
      case 10:
        into.node_name = fields.Bytes();
        break;
      case 11:
        into.host_network = fields.Bool();
        break;
      case 12:
        into.host_pid = fields.Bool();
        break;
      case 13:
        into.host_ipc = fields.Bool();
        break;
      case 20:
        CountElement(fields, into.init_containers);
        break;
      case 25:
        into.priority = fields.Int32();
        break;
      case 29:
        into.runtime_class = fields.Bytes();
        break;
      case 34:
        CountElement(fields, into.ephemeral_containers);
        break;
      default:
        break;
    }
  }
  return fields.ToStatus("spec");
}

Status ReadStatus(std::string_view message, PodHotFields& into) {
  Fields fields(message);
  while (fields.Next()) {
    switch (fields.number()) {
      case 1:
        into.phase = FindWord<PodPhase>(kPhases, fields.Bytes());
        break;
      case 9:
        into.qos = FindWord<PodQos>(kQosClasses, fields.Bytes());
        break;
      case 17:
        into.observed_generation = fields.Int64();
        break;
      default:
        break;
    }
  }
  return fields.ToStatus("status");
}

}  // namespace

// A part that comes twice is merged, as protobuf has it: its later fields count.
Result<PodHotFields> ReadPodHotFields(std::string_view wire) {
  constexpr uint32_t kSpec = 2, kStatus = 3;
  PodHotFields hot;
  Fields fields(wire);
  while (fields.Next()) {
    Status read = Ok();
    if (fields.number() == kPodMetadataField) read = ReadMetadata(fields.Bytes(), hot);
    if (fields.number() == kSpec) read = ReadSpec(fields.Bytes(), hot);
    if (fields.number() == kStatus) read = ReadStatus(fields.Bytes(), hot);
    if (!read) return read.error().With("pod");
  }
  if (const Status status = fields.ToStatus("pod"); !status) return status.error();
  return hot;
}

}  // namespace denselet::kube
