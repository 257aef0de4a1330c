// Which socket of this machine an endpoint names. Apart from the endpoint itself, so that who only
// checks a configuration does without gRPC.
//
// A pure function, on any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace denselet::rpc {

// The path of a socket in one of three forms, "unix:///run/x.sock", "unix:/run/x.sock" and
// "/run/x.sock"; kInvalid otherwise (another scheme, no absolute path, too long for the kernel).
Result<std::string> SocketPath(std::string_view address);

}  // namespace denselet::rpc
