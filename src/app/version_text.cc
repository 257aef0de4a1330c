#include "app/version_text.h"

#include "app/version.h"

namespace denselet::app {

std::string VersionText(std::string_view kubernetes_version) {
  return "Kubernetes " + std::string(kubernetes_version) + "\n";
}

std::string RawVersionText(std::string_view kubernetes_version, reactor::Backend backend) {
  return VersionText(kubernetes_version) + "denselet v" + std::string(kDenseletVersion) +
         "\ncompiler " __VERSION__ + "\nreactor " + std::string(reactor::BackendName(backend)) +
         "\n";
}

}  // namespace denselet::app
