// Where the agent goes for what others have: the runtime's sockets, and the URL of static pods.
// Each is read by who will go there, so that a check and the start agree.
#include "app/config/validate.h"
#include "app/config/validate_parts.h"
#include "kube/api/types.h"
#include "managers/source/manifest_url.h"
#include "rpc/socket_path.h"

namespace denselet::app {
namespace {

// Without the user and the password that may stand in it.
std::string WithoutUser(std::string url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == url.npos ? 0 : scheme + 3;
  const size_t at = url.substr(0, url.find('/', begin)).rfind('@');
  if (at != url.npos && at >= begin) url.erase(begin, at + 1 - begin);
  return url;
}

}  // namespace

void ConfigRules::Endpoints() {
  const auto check = [this](const char* path, const std::string& endpoint) {
    if (rpc::SocketPath(endpoint)) return;
    Wanted(path, InQuotes(endpoint),
           "a unix socket as unix:///PATH or /PATH, with a PATH of 107 bytes at most");
  };
  if (config_.containerruntimeendpoint().empty()) {
    Wanted("containerRuntimeEndpoint", "nothing", "the runtime's socket");
  } else {
    check("containerRuntimeEndpoint", config_.containerruntimeendpoint());
  }
  // Without one of its own, images are the runtime's.
  if (!config_.imageserviceendpoint().empty()) {
    check("imageServiceEndpoint", config_.imageserviceendpoint());
  }
}

std::vector<kube::Fault> UnusablePodUrls(const kube::config::KubeletConfiguration& config) {
  const std::string& url = config.staticpodurl();
  if (url.empty() || managers::ParseManifestUrl(url)) return {};
  return {{.path = "staticPodURL",
           .line = 0,
           .message = "found " + InQuotes(WithoutUser(url)) +
                      ", wanted an http or https URL with a host"}};
}

}  // namespace denselet::app
