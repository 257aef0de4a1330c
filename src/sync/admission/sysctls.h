// Which sysctls a pod may set: those that are safe with this kernel, and those that the
// configuration allows (allowedUnsafeSysctls). A pure class.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/api/fwd.h"

namespace denselet::sync {

struct KernelVersion {
  uint32_t major = 0;
  uint32_t minor = 0;

  // Of "6.1.0-30-amd64". None: it says nothing.
  static std::optional<KernelVersion> Parse(std::string_view release);
  friend auto operator<=>(const KernelVersion&, const KernelVersion&) = default;
};

class SysctlAllowList {
 public:
  // `patterns`: names, or the beginning of some and "*"; their form is checked by who reads the
  // configuration. kInvalid: of no namespace, so that a pod would set the node's. Without a kernel
  // version only what was always safe is.
  static Result<SysctlAllowList> Make(const std::vector<std::string>& patterns,
                                      const std::optional<KernelVersion>& kernel);

  // The message of the rejection, if there is one; its reason is SysctlForbidden.
  std::optional<std::string> Refuse(const kube::core::Pod& pod) const;

 private:
  enum class Space : uint8_t { kNone, kIpc, kNet };

  static Space SpaceOf(std::string_view name);
  Status Allow(const std::string& pattern);
  std::optional<std::string> RefuseOne(const std::string& name,
                                       const kube::core::PodSpec& spec) const;

  std::map<std::string, Space, std::less<>> names_;
  std::map<std::string, Space, std::less<>> prefixes_;
};

}  // namespace denselet::sync
