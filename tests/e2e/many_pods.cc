#include "tests/e2e/many_pods.h"

#include <utility>

#include "base/check.h"
#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::e2e {
namespace {

using sync::ApiRequest;
using sync::ApiVerb;

kube::core::Pod Parse(const std::string& wire) {
  kube::core::Pod pod;
  CHECK(pod.ParseFromString(wire));
  return pod;
}

ApiRequest CreateRequest(const kube::Resource& resource, const std::string& ns,
                         const google::protobuf::Message& object) {
  return {.verb = ApiVerb::kCreate,
          .resource = resource,
          .object = {ns, ""},
          .body = kube::EncodeWire(object)};
}

}  // namespace

std::string SmallPod() {
  kube::core::Pod pod;
  pod.mutable_spec()->set_automountserviceaccounttoken(false);
  auto* container = pod.mutable_spec()->add_containers();
  container->set_name("main");
  container->set_image("none");
  return kube::EncodeWire(pod);
}

ManyPods::ManyPods(sync::ApiServer& api, ManyPodsOptions options)
    : api_(api), options_(std::move(options)), self_(std::make_shared<ManyPods*>(this)) {}

ManyPods::~ManyPods() { *self_ = nullptr; }

std::string ManyPods::NameOf(size_t pod) const {
  return options_.node + "-pod-" + std::to_string(pod);
}

ApiRequest ManyPods::PodRequest(ApiVerb verb, size_t pod) const {
  return {.verb = verb, .resource = kube::kPods, .object = {options_.ns, NameOf(pod)}};
}

void ManyPods::Create() {
  kube::core::Pod pod = Parse(options_.pod);
  const kube::core::PodStatus status = pod.status();
  pod.clear_status();
  auto& meta = *pod.mutable_metadata();
  for (std::string* made_by_server :
       {meta.mutable_uid(), meta.mutable_resourceversion(), meta.mutable_generatename()}) {
    made_by_server->clear();
  }
  meta.clear_creationtimestamp();
  meta.set_namespace_(options_.ns);
  pod.mutable_spec()->set_nodename(options_.node);
  pod.mutable_spec()->set_schedulername("nobody");

  kube::core::Namespace ns;
  ns.mutable_metadata()->set_name(options_.ns);
  Do(1, [ns](size_t) { return CreateRequest(kube::kNamespaces, "", ns); });
  kube::core::Node node;
  node.mutable_metadata()->set_name(options_.node);
  Do(1, [node](size_t) { return CreateRequest(kube::kNodes, "", node); });
  kube::core::ServiceAccount account;
  const std::string& account_name = pod.spec().serviceaccountname();
  account.mutable_metadata()->set_name(account_name.empty() ? "default" : account_name);
  Do(1, [account, where = options_.ns](size_t) {
    return CreateRequest(kube::kServiceAccounts, where, account);
  });
  Do(options_.count, [this, pod](size_t i) mutable {
    pod.mutable_metadata()->set_name(NameOf(i));
    return CreateRequest(kube::kPods, options_.ns, pod);
  });
  if (status.ByteSizeLong() == 0) return;
  Do(options_.count, [this, patch = R"({"status":)" + kube::EncodeJson(status) + "}"](size_t i) {
    ApiRequest request = PodRequest(ApiVerb::kPatch, i);
    request.subresource = "status";
    request.body = patch;
    return request;
  });
}

void ManyPods::Label(const std::string& value) {
  const std::string patch =
      R"({"metadata":{"labels":{")" + std::string(kLabel) + R"(":")" + value + R"("}}})";
  Do(options_.count, [this, patch](size_t i) {
    ApiRequest request = PodRequest(ApiVerb::kPatch, i);
    request.body = patch;
    return request;
  });
}

void ManyPods::Delete() {
  Do(options_.count, [this](size_t i) {
    ApiRequest request = PodRequest(ApiVerb::kDelete, i);
    request.grace_seconds = 0;
    return request;
  });
  Do(1, [this](size_t) {
    return ApiRequest{
        .verb = ApiVerb::kDelete, .resource = kube::kNodes, .object = {"", options_.node}};
  });
}

void ManyPods::Do(size_t count, std::function<ApiRequest(size_t)> request) {
  if (count == 0 || failed_) return;
  passes_.push_back({count, std::move(request)});
  if (passes_.size() == 1) Feed();
}

void ManyPods::Feed() {
  Pass& pass = passes_.front();
  while (pass.started < pass.count && pass.under_way < options_.requests_max) {
    ++pass.under_way;
    api_.Send({}, pass.request(pass.started++), [self = self_](Result<sync::ApiObject> answer) {
      if (*self != nullptr) (*self)->OnAnswer(answer);
    });
  }
}

// What is there already was made by somebody else or before a lost answer, and will do.
void ManyPods::OnAnswer(const Result<sync::ApiObject>& answer) {
  if (failed_) return;
  if (!answer && answer.error().code() != ErrorCode::kAlreadyExists) {
    failed_ = answer.error();
    passes_.clear();
    return;
  }
  --passes_.front().under_way;
  const Pass& pass = passes_.front();
  if (pass.started == pass.count && pass.under_way == 0) passes_.pop_front();
  if (!passes_.empty()) Feed();
}

}  // namespace denselet::e2e
