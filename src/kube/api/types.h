// The Kubernetes types, whole: five megabytes of generated headers. For .cc files; headers take
// fwd.h.
#pragma once

#include <denselet/kubelet/config/v1beta1/types.pb.h>
#include <k8s.io/api/core/v1/generated.pb.h>
#include <k8s.io/apimachinery/pkg/api/resource/generated.pb.h>
#include <k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h>
#include <k8s.io/apimachinery/pkg/runtime/generated.pb.h>
#include <k8s.io/apimachinery/pkg/util/intstr/generated.pb.h>

#include "kube/api/fwd.h"

namespace denselet::kube {

namespace meta = ::k8s::io::apimachinery::pkg::apis::meta::v1;
namespace resource = ::k8s::io::apimachinery::pkg::api::resource;
namespace intstr = ::k8s::io::apimachinery::pkg::util::intstr;
namespace runtime = ::k8s::io::apimachinery::pkg::runtime;

}  // namespace denselet::kube
