// CRI's messages and stubs, whole: megabytes of generated headers. For .cc files; headers take
// fwd.h.
#pragma once

#include <k8s.io/cri-api/pkg/apis/runtime/v1/api.grpc.pb.h>
#include <k8s.io/cri-api/pkg/apis/runtime/v1/api.pb.h>

#include "cri/fwd.h"
