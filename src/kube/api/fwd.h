// Names of the Kubernetes types, for headers that only hand them on.
#pragma once

namespace google::protobuf {
class Message;
}

namespace k8s::io::api::core::v1 {
class ConfigMap;
class Container;
class Node;
class NodeStatus;
class Pod;
class PodSpec;
class PodStatus;
class ResourceFieldSelector;
class Secret;
class Volume;
}  // namespace k8s::io::api::core::v1

namespace denselet::kubelet::config::v1beta1 {
class KubeletConfiguration;
}

namespace denselet::kube {

namespace core = ::k8s::io::api::core::v1;
namespace config = ::denselet::kubelet::config::v1beta1;

}  // namespace denselet::kube
