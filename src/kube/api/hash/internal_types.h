// The types of Kubernetes' internal Pod, which users never see: what the kubelet converts a v1 Pod
// to before it hashes it. A line of internal_types.txt is a struct:
//
//   core.Container k8s.io.api.core.v1.Container Name:string=1 LivenessProbe:*core.Probe=10 ...
//
// its name, the v1 message, and its fields in order: name, Go type, number in the message. A field
// without a number is not in that message; whoever writes it knows where it comes from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace denselet::kube {

struct FieldSchema;
struct InternalType;

struct InternalField {
  std::string_view name;
  std::string_view go_type;
  std::string label;  // "Name:(type)"
  bool pointer = false;
  const google::protobuf::FieldDescriptor* descriptor = nullptr;  // null: not in the message
  const FieldSchema* schema = nullptr;
  const InternalType* element = nullptr;  // of a struct, or of a list of such
};

struct InternalType {
  std::string_view name;
  const google::protobuf::Descriptor* descriptor = nullptr;
  std::vector<InternalField> fields;
};

// core.Pod. Built once, then read only.
const InternalType& InternalPod();

}  // namespace denselet::kube
