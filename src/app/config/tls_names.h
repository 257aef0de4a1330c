// The names and numbers by which operators choose how TLS is spoken: those of Go's crypto/tls,
// which the kubelet hands them to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace denselet::app {

bool IsCipherSuite(std::string_view name);
bool IsInsecureCipherSuite(std::string_view name);
// All secure ones, for messages.
std::string CipherSuiteList();

bool IsCurve(int32_t id);
std::string CurveList();

}  // namespace denselet::app
