#include "sync/admission/admission_record.h"

#include "sync/journal/record_fields.h"

namespace denselet::sync {
namespace {

// Given once, and never again.
enum class Tag : uint8_t {
  kUid = 1,
  kNamespace = 2,
  kName = 3,
  kOutcome = 4,  // u8
  kReason = 5,
  kMessage = 6,
  kDecided = 7,       // u64, nanoseconds since 1970
  kFlags = 8,         // u8
  kPriority = 9,      // u32
  kQos = 10,          // u8
  kGrace = 11,        // u64
  kRequest = 12,      // u64, then the name; one for each
  kOverhead = 13,     // the same
  kReclaimable = 14,  // the same
  kPort = 15,         // u32, protocol, 0, address; one for each
};

constexpr uint8_t kAdmitted = 1, kRejected = 2;
constexpr uint8_t kStatic = 1, kCritical = 2, kFromFile = 4, kFromHttp = 8;

using Writer = FieldWriter<Tag>;

void PutAmounts(Writer& out, Tag tag, const ResourceAmounts& amounts) {
  for (const auto& [name, amount] : amounts) {
    std::string bytes;
    PutLittleEndian(bytes, static_cast<uint64_t>(amount));
    out.Bytes(tag, bytes + name);
  }
}

uint8_t FlagsOf(const PodNeeds& needs) {
  return static_cast<uint8_t>((needs.is_static ? kStatic : 0) | (needs.critical ? kCritical : 0) |
                              (needs.source.Has(SourceKind::kFile) ? kFromFile : 0) |
                              (needs.source.Has(SourceKind::kHttp) ? kFromHttp : 0));
}

void TakeFlags(uint8_t flags, PodNeeds& needs) {
  needs.is_static = (flags & kStatic) != 0;
  needs.critical = (flags & kCritical) != 0;
  if ((flags & kFromFile) != 0) needs.source.Add(SourceKind::kFile);
  if ((flags & kFromHttp) != 0) needs.source.Add(SourceKind::kHttp);
}

void PutPort(Writer& out, const HostPort& port) {
  std::string bytes;
  PutLittleEndian(bytes, static_cast<uint32_t>(port.port));
  out.Bytes(Tag::kPort, bytes + port.protocol + '\0' + port.ip);
}

bool TakeAmount(std::string_view value, ResourceAmounts& out) {
  if (value.size() <= sizeof(uint64_t)) return false;
  const auto amount = static_cast<int64_t>(GetLittleEndian<uint64_t>(value, 0));
  out[std::string(value.substr(sizeof(uint64_t)))] = amount;
  return amount >= 0;
}

bool TakePort(std::string_view value, std::vector<HostPort>& out) {
  if (value.size() < sizeof(uint32_t)) return false;
  const std::string_view texts = value.substr(sizeof(uint32_t));
  const size_t zero = texts.find('\0');
  if (zero == texts.npos) return false;
  out.push_back({.ip = std::string(texts.substr(zero + 1)),
                 .protocol = std::string(texts.substr(0, zero)),
                 .port = static_cast<int32_t>(GetLittleEndian<uint32_t>(value, 0))});
  return out.back().port > 0;
}

class Reader {
 public:
  Result<AdmissionRecord> Read(std::string_view payload) {
    const bool whole = ReadFields<Tag>(
        payload, [this](Tag tag, std::string_view value) { return Take(tag, value); });
    if (!whole || record_.needs.pod.uid.empty() || outcome_ == 0) {
      return Error(ErrorCode::kCorrupt, "not the record of an admission");
    }
    if (outcome_ == kRejected) record_.rejected = rejection_;
    return std::move(record_);
  }

 private:
  bool Take(Tag tag, std::string_view value) {
    PodNeeds& needs = record_.needs;
    switch (tag) {
      case Tag::kUid:
        needs.pod.uid = PodUid(std::string(value));
        return true;
      case Tag::kNamespace:
        needs.pod.ref.ns = value;
        return true;
      case Tag::kName:
        needs.pod.ref.name = value;
        return true;
      case Tag::kReason:
        rejection_.reason = value;
        return true;
      case Tag::kMessage:
        rejection_.message = value;
        return true;
      case Tag::kRequest:
        return TakeAmount(value, needs.requests);
      case Tag::kOverhead:
        return TakeAmount(value, needs.overhead);
      case Tag::kReclaimable:
        return TakeAmount(value, needs.reclaimable);
      case Tag::kPort:
        return TakePort(value, needs.ports);
      case Tag::kOutcome:
      case Tag::kDecided:
      case Tag::kFlags:
      case Tag::kPriority:
      case Tag::kQos:
      case Tag::kGrace:
        return TakeSmall(tag, value);
    }
    return true;  // of a later agent
  }

  bool TakeSmall(Tag tag, std::string_view value) {
    PodNeeds& needs = record_.needs;
    uint8_t byte = 0;
    uint32_t word = 0;
    uint64_t number = 0;
    if (tag == Tag::kOutcome) {
      return TakeNumber(value, outcome_) && (outcome_ == kAdmitted || outcome_ == kRejected);
    }
    if (tag == Tag::kFlags && TakeNumber(value, byte)) {
      TakeFlags(byte, needs);
      return true;
    }
    if (tag == Tag::kQos && TakeNumber(value, byte)) {
      needs.qos = static_cast<QosClass>(byte);
      return byte <= static_cast<uint8_t>(QosClass::kBestEffort);
    }
    if (tag == Tag::kPriority && TakeNumber(value, word)) {
      needs.priority = static_cast<int32_t>(word);
      return true;
    }
    if (tag == Tag::kGrace && TakeNumber(value, number)) {
      needs.grace_seconds = static_cast<int64_t>(number);
      return true;
    }
    if (tag == Tag::kDecided && TakeNumber(value, number)) {
      record_.decided = WallTime(Duration(static_cast<int64_t>(number)));
      return true;
    }
    return false;
  }

  AdmissionRecord record_;
  Rejection rejection_;
  uint8_t outcome_ = 0;
};

}  // namespace

std::string EncodeAdmission(const AdmissionRecord& record) {
  const PodNeeds& needs = record.needs;
  Writer out;
  out.Text(Tag::kUid, needs.pod.uid.value());
  out.Text(Tag::kNamespace, needs.pod.ref.ns);
  out.Text(Tag::kName, needs.pod.ref.name);
  out.Number(Tag::kOutcome, record.rejected ? kRejected : kAdmitted);
  if (record.rejected) {
    out.Text(Tag::kReason, record.rejected->reason);
    out.Text(Tag::kMessage, record.rejected->message);
  }
  out.Number(Tag::kDecided, static_cast<uint64_t>(record.decided.time_since_epoch().count()));
  out.Number(Tag::kFlags, FlagsOf(needs));
  if (needs.priority) out.Number(Tag::kPriority, static_cast<uint32_t>(*needs.priority));
  out.Number(Tag::kQos, static_cast<uint8_t>(needs.qos));
  out.Number(Tag::kGrace, static_cast<uint64_t>(needs.grace_seconds));
  PutAmounts(out, Tag::kRequest, needs.requests);
  PutAmounts(out, Tag::kOverhead, needs.overhead);
  PutAmounts(out, Tag::kReclaimable, needs.reclaimable);
  for (const HostPort& port : needs.ports) PutPort(out, port);
  return out.Take();
}

Result<AdmissionRecord> DecodeAdmission(std::string_view payload) { return Reader().Read(payload); }

std::string EncodeAdmissionGone(const PodUid& pod) {
  Writer out;
  out.Text(Tag::kUid, pod.value());
  return out.Take();
}

Result<PodUid> DecodeAdmissionGone(std::string_view payload) {
  PodUid pod;
  const bool whole = ReadFields<Tag>(payload, [&pod](Tag tag, std::string_view value) {
    if (tag == Tag::kUid) pod = PodUid(std::string(value));
    return true;
  });
  if (!whole || pod.empty()) return Error(ErrorCode::kCorrupt, "not the record of a pod's end");
  return pod;
}

}  // namespace denselet::sync
