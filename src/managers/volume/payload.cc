#include "managers/volume/payload.h"

#include <algorithm>
#include <vector>

#include "base/quoted.h"
#include "kube/api/types.h"
#include "managers/volume/object_keys.h"
#include "managers/volume/volume_plan.h"

namespace denselet::managers {
namespace {

namespace core = kube::core;
using sync::ObjectKey;
using sync::ObjectKind;

constexpr size_t kPathBytesMax = 4096;
constexpr size_t kNameBytesMax = 255;
constexpr size_t kNamesMax = 128;  // in one path: each is a directory that is compared and removed
constexpr int64_t kTokenSecondsDefault = 3600;
constexpr uint32_t kOwnersMode = 0600;

Error Invalid(std::string text) { return {ErrorCode::kInvalid, std::move(text)}; }
std::string MissingKey(ObjectKind kind) {
  return kind == ObjectKind::kSecret ? "references non-existent secret key: "
                                     : "configmap references non-existent config key: ";
}
Error NoMode() { return Invalid("no defaultMode used, not even the default value for it"); }

using Items = google::protobuf::RepeatedPtrField<core::KeyToPath>;
using DownwardFiles = google::protobuf::RepeatedPtrField<core::DownwardAPIVolumeFile>;

// One of the things that a volume is made of, whatever the volume's kind.
struct Projection {
  const Items* items = nullptr;
  ObjectKey key = {};
  bool optional = false;
};

ObjectKey KeyOf(const core::Pod& pod, ObjectKind kind, const std::string& name) {
  return {.kind = kind, .ref = {pod.metadata().namespace_(), name}};
}

sync::TrustWish TrustOf(const core::ClusterTrustBundleProjection& source) {
  sync::TrustWish wish{
      .name = source.name(), .signer = source.signername(), .optional = source.optional()};
  if (source.has_labelselector()) wish.selector = source.labelselector().SerializeAsString();
  return wish;
}

sync::TokenWish TokenOf(const core::Pod& pod, const core::ServiceAccountTokenProjection& source) {
  return {.ns = pod.metadata().namespace_(),
          .service_account = pod.spec().serviceaccountname(),
          .audience = source.audience(),
          .expiration_seconds =
              source.has_expirationseconds() ? source.expirationseconds() : kTokenSecondsDefault,
          .pod_name = pod.metadata().name(),
          .pod_uid = PodUid(pod.metadata().uid())};
}

// Several faults are told as upstream's list of errors is.
class Faults {
 public:
  void Add(const Error& error) {
    code_ = texts_.empty() ? error.code() : code_;
    if (std::ranges::find(texts_, error.message()) == texts_.end()) {
      texts_.push_back(error.message());
    }
  }
  bool empty() const { return texts_.empty(); }
  Error Told() const {
    if (texts_.size() == 1) return {code_, texts_.front()};
    std::string all = "[";
    for (const std::string& text : texts_) all += (all.size() > 1 ? ", " : "") + text;
    return {code_, all + "]"};
  }

 private:
  ErrorCode code_ = ErrorCode::kInvalid;
  std::vector<std::string> texts_;
};

// Items "a" and "a/b": the API server lets them pass.
Status CheckNoFileIsADirectory(const Payload& payload) {
  for (const auto& [path, content] : payload) {
    for (size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
      if (payload.count(path.substr(0, end)) == 0) continue;
      return Invalid("invalid path: " + GoQuoted(path.substr(0, end)) +
                     " is a file and cannot be the directory of " + GoQuoted(path));
    }
  }
  return Ok();
}

class Maker {
 public:
  Maker(const core::Pod& pod, const SourceAnswers& answers,
        const kube::NodeAllocatable& allocatable, uint32_t mode, PayloadBudget& budget)
      : pod_(pod), answers_(answers), allocatable_(allocatable), mode_(mode), budget_(budget) {}

  Status Add(const Projection& projection) {
    const auto answer = answers_.objects.find(projection.key);
    const bool secret = projection.key.kind == ObjectKind::kSecret;
    sync::ObjectBytes object;
    if (answer == answers_.objects.end()) return Invalid("was not asked for");
    if (answer->second) {
      object = *answer->second;
    } else if (answer->second.error().code() != ErrorCode::kNotFound) {
      return answer->second.error();
    } else if (!projection.optional) {
      return Error(ErrorCode::kNotFound, std::string(secret ? "secret " : "configmap ") +
                                             GoQuoted(projection.key.ref.name) + " not found");
    }
    const Result<KeyViews> keys =
        object == nullptr ? Result<KeyViews>(KeyViews()) : KeysOf(projection.key.kind, *object);
    if (!keys) return keys.error();
    return AddKeys(projection, object, *keys);
  }

  Status Add(const DownwardFiles& files) {
    Faults faults;
    for (const auto& file : files) {
      Result<std::string> value = std::string();
      if (file.has_fieldref()) {
        value = kube::PodField(pod_, file.fieldref().fieldpath());
      } else if (file.has_resourcefieldref()) {
        value = kube::ResourceField(pod_, file.resourcefieldref(), "", allocatable_);
      }
      if (!value) {
        faults.Add(value.error());
        continue;
      }
      if (Status put = PutOwn(
              file.path(), {.data = *std::move(value),
                            .mode = file.has_mode() ? static_cast<uint32_t>(file.mode()) : mode_});
          !put) {
        return put;
      }
    }
    if (!faults.empty()) return faults.Told();
    return Ok();
  }

  Status Add(const core::ServiceAccountTokenProjection& source) {
    const auto answer = answers_.tokens.find(TokenOf(pod_, source));
    if (answer == answers_.tokens.end()) return Invalid("was not asked for");
    if (!answer->second) return answer->second.error();
    return PutForOwners(source.path(), answer->second->token);
  }

  Status Add(const core::ClusterTrustBundleProjection& source) {
    if (!source.has_name() && !source.has_signername()) {
      return Invalid("ClusterTrustBundle projection requires either name or signerName to be set");
    }
    const auto answer = answers_.trusts.find(TrustOf(source));
    if (answer == answers_.trusts.end()) return Invalid("was not asked for");
    if (!answer->second) return answer->second.error();
    return PutForOwners(source.path(), **answer->second);
  }

  Result<Payload> Take() {
    for (const auto& [path, content] : payload_) {
      if (Status checked = CheckPayloadPath(path); !checked) return checked.error();
    }
    Payload clean;
    for (auto& [path, content] : payload_) {
      std::string name = CleanPath(path);
      // "./..data"
      if (Status checked = CheckPayloadPath(name); !checked) return checked.error();
      clean[std::move(name)] = std::move(content);
    }
    if (Status checked = CheckNoFileIsADirectory(clean); !checked) return checked.error();
    return clean;
  }

 private:
  Status AddKeys(const Projection& projection, const sync::ObjectBytes& object,
                 const KeyViews& keys) {
    if (projection.items->empty()) {
      for (const auto& [key, value] : keys) {
        const Status put = Put(std::string(key), {.data = {object, value}, .mode = mode_});
        if (!put) return put;
      }
      return Ok();
    }
    for (const auto& item : *projection.items) {
      const auto found = keys.find(item.key());
      if (found == keys.end() && projection.optional) continue;
      if (found == keys.end()) return Invalid(MissingKey(projection.key.kind) + item.key());
      const uint32_t mode = item.has_mode() ? static_cast<uint32_t>(item.mode()) : mode_;
      const Status put = Put(item.path(), {.data = {object, found->second}, .mode = mode});
      if (!put) return put;
    }
    return Ok();
  }

  Status Put(const std::string& path, FileContent content) {
    const size_t bytes = content.data.view().size();
    if (budget_.files == 0) return Invalid("the pod's volumes have too many files");
    if (budget_.bytes < bytes) return Invalid("the files of the pod's volumes are too large");
    --budget_.files;
    budget_.bytes -= bytes;
    payload_[path] = std::move(content);
    return Ok();
  }
  // Of bytes that no object has.
  Status PutOwn(const std::string& path, FileContent content) {
    const size_t bytes = content.data.view().size();
    if (budget_.copied_bytes < bytes) {
      return Invalid("fields and tokens in the pod's volumes are too large");
    }
    budget_.copied_bytes -= bytes;
    return Put(path, std::move(content));
  }
  // For those who run as its owner, or are of the pod's group: ShareTree adds that.
  Status PutForOwners(const std::string& path, const std::string& data) {
    const std::optional<uint32_t> user = FsUser(pod_);
    const bool restricted = user || pod_.spec().securitycontext().has_fsgroup();
    return PutOwn(path, {.data = data, .mode = restricted ? kOwnersMode : mode_, .uid = user});
  }

  const core::Pod& pod_;
  const SourceAnswers& answers_;
  const kube::NodeAllocatable& allocatable_;
  const uint32_t mode_;
  PayloadBudget& budget_;
  Payload payload_;
};

Projection Of(const core::Pod& pod, const core::ConfigMapVolumeSource& source) {
  return {&source.items(), KeyOf(pod, ObjectKind::kConfigMap, source.localobjectreference().name()),
          source.optional()};
}
Projection Of(const core::Pod& pod, const core::ConfigMapProjection& source) {
  return {&source.items(), KeyOf(pod, ObjectKind::kConfigMap, source.localobjectreference().name()),
          source.optional()};
}
Projection Of(const core::Pod& pod, const core::SecretVolumeSource& source) {
  return {&source.items(), KeyOf(pod, ObjectKind::kSecret, source.secretname()), source.optional()};
}
Projection Of(const core::Pod& pod, const core::SecretProjection& source) {
  return {&source.items(), KeyOf(pod, ObjectKind::kSecret, source.localobjectreference().name()),
          source.optional()};
}

Status AddProjected(const core::Pod& pod, const core::ProjectedVolumeSource& projected,
                    Maker& maker) {
  Faults faults;
  for (const auto& source : projected.sources()) {
    Status added = Ok();
    if (source.has_secret()) {
      added = maker.Add(Of(pod, source.secret()));
    } else if (source.has_configmap()) {
      added = maker.Add(Of(pod, source.configmap()));
    } else if (source.has_downwardapi()) {
      added = maker.Add(source.downwardapi().items());
    } else if (source.has_serviceaccounttoken()) {
      added = maker.Add(source.serviceaccounttoken());
    } else if (source.has_clustertrustbundle()) {
      added = maker.Add(source.clustertrustbundle());
    } else if (source.has_podcertificate()) {
      added = Error(ErrorCode::kUnsupported, "PodCertificate projection is not supported yet");
    }
    if (!added) faults.Add(added.error());
  }
  if (!faults.empty()) return faults.Told();
  return Ok();
}

}  // namespace

SourceWishes WishesOf(const core::Pod& pod, const core::Volume& volume) {
  SourceWishes wishes;
  const core::VolumeSource& source = volume.volumesource();
  if (source.has_configmap()) wishes.objects.insert(Of(pod, source.configmap()).key);
  if (source.has_secret()) wishes.objects.insert(Of(pod, source.secret()).key);
  for (const auto& part : source.projected().sources()) {
    if (part.has_secret()) wishes.objects.insert(Of(pod, part.secret()).key);
    if (part.has_configmap()) wishes.objects.insert(Of(pod, part.configmap()).key);
    if (part.has_serviceaccounttoken()) {
      wishes.tokens.insert(TokenOf(pod, part.serviceaccounttoken()));
    }
    if (part.has_clustertrustbundle()) wishes.trusts.insert(TrustOf(part.clustertrustbundle()));
  }
  return wishes;
}

Result<Payload> PayloadOf(const core::Pod& pod, const core::Volume& volume,
                          const SourceAnswers& answers, const kube::NodeAllocatable& allocatable,
                          PayloadBudget& budget) {
  const core::VolumeSource& source = volume.volumesource();
  const auto fill = [&](const auto& parts, auto add) -> Result<Payload> {
    if (!parts.has_defaultmode()) return NoMode();
    Maker maker(pod, answers, allocatable, static_cast<uint32_t>(parts.defaultmode()), budget);
    if (Status added = add(maker); !added) return added.error();
    return maker.Take();
  };
  if (source.has_configmap()) {
    return fill(source.configmap(), [&](Maker& m) { return m.Add(Of(pod, source.configmap())); });
  }
  if (source.has_secret()) {
    return fill(source.secret(), [&](Maker& m) { return m.Add(Of(pod, source.secret())); });
  }
  if (source.has_downwardapi()) {
    return fill(source.downwardapi(),
                [&](Maker& m) { return m.Add(source.downwardapi().items()); });
  }
  if (source.has_projected()) {
    return fill(source.projected(),
                [&](Maker& m) { return AddProjected(pod, source.projected(), m); });
  }
  return Payload();
}

Status CheckPayloadPath(const std::string& path) {
  if (path.empty()) return Invalid("invalid path: must not be empty: " + GoQuoted(path));
  if (path.starts_with('/')) return Invalid("invalid path: must be relative path: " + path);
  if (path.size() > kPathBytesMax) {
    return Invalid("invalid path: must be less than or equal to 4096 characters");
  }
  if (static_cast<size_t>(std::ranges::count(path, '/')) >= kNamesMax) {
    return Invalid("invalid path: must not have more than 128 parts");
  }
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = std::string_view(path).substr(begin, end - begin);
    if (name == "..") return Invalid("invalid path: must not contain '..': " + path);
    if (name.size() > kNameBytesMax) {
      return Invalid("invalid path: filenames must be less than or equal to 255 characters");
    }
    if (begin == 0 && name.starts_with("..")) {
      return Invalid("invalid path: must not start with '..': " + path);
    }
    begin = end + 1;
  }
  // "." and the like: no name at all.
  if (CleanPath(path).empty() || path.find('\0') != std::string::npos) {
    return Invalid("invalid path: " + GoQuoted(path));
  }
  return Ok();
}

}  // namespace denselet::managers
