#include "kube/client/exec_credential.h"

#include <algorithm>

#include "base/base64.h"
#include "kube/api/codec/json_source.h"
#include "kube/api/codec/json_text.h"

namespace denselet::kube {
namespace {

constexpr size_t kLastWordsBytesMax = 512;

void AppendMember(std::string_view name, std::string_view text, std::string& json) {
  if (text.empty()) return;
  json += ",\"";
  json.append(name).append("\":");
  AppendJsonText(text, json);
}

// What the plugin may want to know of the cluster.
std::string ClusterInfo(const ClusterAccess& cluster) {
  std::string json = R"("cluster":{"server":)";
  AppendJsonText(cluster.server, json);
  AppendMember("tls-server-name", cluster.server_name, json);
  AppendMember("proxy-url", cluster.proxy_url, json);
  AppendMember("certificate-authority-data",
               cluster.authorities.data.empty() ? "" : Base64Encode(cluster.authorities.data),
               json);
  if (cluster.skip_verification) json += R"(,"insecure-skip-tls-verify":true)";
  if (!cluster.exec_config_json.empty()) json += ",\"config\":" + cluster.exec_config_json;
  return json + "},";
}

std::string Text(yyjson_val* object, const char* name) {
  yyjson_val* const value = yyjson_obj_get(object, name);
  return yyjson_is_str(value) ? std::string(TextOf(value)) : std::string();
}

std::string LastWords(std::string_view output) {
  while (!output.empty() && (output.back() == '\n' || output.back() == ' '))
    output.remove_suffix(1);
  const size_t size = std::min(output.size(), kLastWordsBytesMax);
  std::string words(output.substr(output.size() - size));
  std::ranges::replace_if(
      words, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return words;
}

Error PluginError(const ExecPlugin& plugin, std::string_view why) {
  std::string text = "credential plugin \"" + plugin.command + "\": " + std::string(why);
  if (!plugin.install_hint.empty()) text.append("; ").append(plugin.install_hint);
  return Error(ErrorCode::kUnavailable, std::move(text));
}

}  // namespace

reactor::ProcessSpec ExecProcess(const ExecPlugin& plugin, const ClusterAccess& cluster,
                                 const std::vector<std::string>& environment) {
  reactor::ProcessSpec spec;
  // A name is looked for on the PATH that the plugin itself gets.
  if (plugin.command.find('/') == std::string::npos) spec.argv = {"/usr/bin/env"};
  spec.argv.push_back(plugin.command);
  spec.argv.insert(spec.argv.end(), plugin.args.begin(), plugin.args.end());
  const auto is_replaced = [&](const std::string& variable) {
    return variable.starts_with("KUBERNETES_EXEC_INFO=") ||
           std::ranges::any_of(plugin.environment, [&](const auto& own) {
             return variable.starts_with(own.first + "=");
           });
  };
  std::ranges::remove_copy_if(environment, std::back_inserter(spec.environment), is_replaced);
  for (const auto& [name, value] : plugin.environment) {
    spec.environment.push_back(name + "=" + value);
  }
  std::string info = R"({"kind":"ExecCredential","apiVersion":)";
  AppendJsonText(plugin.api_version, info);
  info += R"(,"spec":{)";
  if (plugin.provide_cluster_info) info += ClusterInfo(cluster);
  spec.environment.push_back("KUBERNETES_EXEC_INFO=" + info + R"("interactive":false}})");
  return spec;
}

Result<ExecCredential> ReadExecCredential(std::string_view output, const ExecPlugin& plugin) {
  const JsonSource source(output);
  if (source.root() == nullptr) return PluginError(plugin, ToString(source.fault()));
  if (Text(source.root(), "kind") != "ExecCredential" ||
      Text(source.root(), "apiVersion") != plugin.api_version) {
    return PluginError(plugin, "its answer is no ExecCredential of " + plugin.api_version);
  }
  yyjson_val* const status = yyjson_obj_get(source.root(), "status");
  if (!yyjson_is_obj(status)) return PluginError(plugin, "its answer has no status");
  ExecCredential credential{.token = Text(status, "token"),
                            .certificate = Text(status, "clientCertificateData"),
                            .key = Text(status, "clientKeyData"),
                            .expires = {}};
  if (credential.certificate.empty() != credential.key.empty()) {
    return PluginError(plugin, "its answer has only one of certificate and key");
  }
  if (credential.token.empty() && credential.certificate.empty()) {
    return PluginError(plugin, "its answer has neither a token nor a certificate");
  }
  if (const std::string expires = Text(status, "expirationTimestamp"); !expires.empty()) {
    const Result<Timestamp> time = ParseRfc3339(expires);
    if (!time) return PluginError(plugin, "expirationTimestamp: " + time.error().message());
    credential.expires = ToWallTime(*time);
  }
  return credential;
}

Result<ExecCredential> ReadExecResult(const reactor::ProcessResult& result,
                                      const ExecPlugin& plugin) {
  if (result.signal != 0) {
    return PluginError(plugin, "ended by signal " + std::to_string(result.signal));
  }
  if (result.exit_code != 0) {
    return PluginError(plugin, "exit code " + std::to_string(result.exit_code) + ": " +
                                   LastWords(result.error_output));
  }
  return ReadExecCredential(result.output, plugin);
}

}  // namespace denselet::kube
