// tests/tidy knows the fields whose order in memory is random from a list; here it is compared with
// the generated types.
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <k8s.io/api/authentication/v1/generated.pb.h>
#include <k8s.io/api/authorization/v1/generated.pb.h>
#include <k8s.io/api/certificates/v1/generated.pb.h>
#include <k8s.io/api/node/v1/generated.pb.h>
#include <k8s.io/api/resource/v1/generated.pb.h>
#include <k8s.io/api/storage/v1/generated.pb.h>
#include <k8s.io/cri-api/pkg/apis/runtime/v1/api.pb.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <string>

#include "kube/api/types.h"
#include "tests/source_dir.h"

namespace denselet::kube {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FileDescriptor;
namespace api = ::k8s::io::api;

// As the accessor in C++ is called.
std::string AccessorName(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

void Collect(const Descriptor& message, std::set<std::string>& names) {
  for (int i = 0; i < message.field_count(); ++i) {
    if (message.field(i)->is_map()) names.insert(AccessorName(message.field(i)->name()));
  }
  for (int i = 0; i < message.nested_type_count(); ++i) Collect(*message.nested_type(i), names);
}

void Collect(const FileDescriptor& file, std::set<std::string>& names) {
  for (int i = 0; i < file.message_type_count(); ++i) Collect(*file.message_type(i), names);
  for (int i = 0; i < file.dependency_count(); ++i) Collect(*file.dependency(i), names);
}

TEST(MapFields, TheListOfTheTidyTestIsComplete) {
  std::set<std::string> expected;
  for (const Descriptor* message :
       {core::Pod::descriptor(), config::KubeletConfiguration::descriptor(),
        api::authentication::v1::TokenReview::descriptor(),
        api::authorization::v1::SubjectAccessReview::descriptor(),
        api::certificates::v1::CertificateSigningRequest::descriptor(),
        api::node::v1::RuntimeClass::descriptor(), api::resource::v1::ResourceClaim::descriptor(),
        api::storage::v1::CSIDriver::descriptor(), ::runtime::v1::PodSandboxConfig::descriptor()}) {
    Collect(*message->file(), expected);
  }
  std::set<std::string> listed;
  std::ifstream file(tests::SourcePath("tests/tidy/map_fields.txt"));
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && !line.starts_with('#')) listed.insert(line);
  }
  std::string wanted;
  for (const std::string& name : expected) wanted += name + "\n";
  EXPECT_EQ(listed, expected) << "tests/tidy/map_fields.txt should list:\n" << wanted;
}

}  // namespace
}  // namespace denselet::kube
