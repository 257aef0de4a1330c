// The manifests of this folder, and which fields of the Kubernetes types they use: so that a test
// can say that all do.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace denselet::kube::corpus {

struct Manifest {
  std::string name;  // of the file, without its ending
  std::string text;  // a Pod in YAML
};

// By ascending name.
std::vector<Manifest> Manifests();

// Fields that no manifest sets, each with the reason: lines "FIELD | REASON" of exceptions.txt.
std::set<std::string> Exceptions();

// Every field of a type and of the types within it: "k8s.io.api.core.v1.Probe.periodSeconds".
std::set<std::string> FieldsOf(const google::protobuf::Descriptor& type);
// Those of them that are set in a message.
std::set<std::string> FieldsSetIn(const google::protobuf::Message& message);
// Where they are set: "spec.containers[0].env[1].value", "metadata.labels[app]".
std::set<std::string> PathsSetIn(const google::protobuf::Message& message);

// What the one has and the other has not.
std::vector<std::string> Missing(const std::set<std::string>& wanted,
                                 const std::set<std::string>& found);

}  // namespace denselet::kube::corpus
