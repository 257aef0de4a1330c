// A kubeconfig: which API server, whom to trust, and who we are. What an agent cannot use (a login
// by browser, acting as another user, a server without TLS) is refused by name.
//
// Pure functions, on any thread; what a kubeconfig points to is read by who uses it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace denselet::kube {

// Bytes that stand in the kubeconfig, or a file that holds them. Neither: there are none.
struct InlineOrFile {
  std::string data;
  std::string path;  // absolute; only looked at when there is no data

  bool empty() const { return data.empty() && path.empty(); }
};

// A program that says who we are.
struct ExecPlugin {
  std::string api_version;
  std::string command;  // a name without a slash is looked for on the PATH; a path is absolute
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> environment;  // beside that of the agent
  std::string install_hint;
  bool provide_cluster_info = false;
};

// Everything of one context.
struct ClusterAccess {
  std::string kubeconfig_path;  // where all this stands, for messages

  // The cluster.
  std::string server;        // "https://10.0.0.1:6443/base"
  InlineOrFile authorities;  // PEM
  std::string server_name;   // in the server's certificate, where it is not the host
  bool skip_verification = false;
  std::string proxy_url;
  std::string exec_config_json;  // what an exec plugin is to know besides, as it stands there

  // The user.
  std::string user_name;     // of its entry, for messages
  InlineOrFile certificate;  // PEM
  InlineOrFile key;
  InlineOrFile token;
  std::string username, password;
  std::optional<ExecPlugin> exec;

  // False: nothing in it says who we are.
  bool HasCredentials() const {
    return !certificate.empty() || !token.empty() || !username.empty() || !password.empty() || exec;
  }
};

// `path` is the file's, for what stands in it relative to it. The error names every fault with its
// line, as kInvalid.
Result<ClusterAccess> ReadKubeconfig(std::string_view text, std::string_view path);

// The kubeconfig of an agent whose certificate and key stand in one file, as TLS bootstrap leaves
// it behind for the next start.
std::string WriteKubeconfig(const ClusterAccess& cluster, std::string_view certificate_path);

// "https://HOST[:PORT][/PATH]" in its parts. A server without a scheme is one of https. That of a
// kubeconfig must be; http:// is for proxies, and for servers of tests.
struct ServerUrl {
  std::string scheme;  // "https" or "http"
  std::string host;    // without brackets
  uint16_t port = 443;
  std::string path;  // without a slash at its end

  std::string Authority() const;  // "10.0.0.1:6443", "[::1]:6443"
};
Result<ServerUrl> ParseServerUrl(std::string_view url);

}  // namespace denselet::kube
