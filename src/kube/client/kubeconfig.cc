#include "kube/client/kubeconfig.h"

#include <yyjson.h>

#include <cstdlib>
#include <set>

#include "base/base64.h"
#include "base/quoted.h"
#include "kube/api/codec/json_source.h"
#include "kube/api/codec/json_text.h"
#include "kube/api/codec/yaml.h"
#include "kube/api/fault.h"
#include "kube/client/proxy.h"

namespace denselet::kube {
namespace {

constexpr size_t kFaultsMax = 50;
constexpr size_t kQuotedBytesMax = 200;
constexpr std::string_view kExecV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";
constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

// Also of what is there and says nothing: null, "", [] and {}.
bool IsEmpty(yyjson_val* value) {
  return value == nullptr || yyjson_is_null(value) ||
         (yyjson_is_str(value) && yyjson_get_len(value) == 0) ||
         (yyjson_is_ctn(value) && yyjson_get_len(value) == 0);
}

// Takes what it wants out of objects, and notes what is wrong with it.
class Reader {
 public:
  Reader(const JsonSource& source, std::string_view path)
      : source_(source), folder_(path.substr(0, path.rfind('/') + 1)) {}

  void AddFault(std::string where, yyjson_val* at, std::string message) {
    if (faults_.size() >= kFaultsMax) return;
    const uint32_t line = at == nullptr ? 0 : source_.LineOf(PlaceOf(at));
    faults_.push_back({std::move(where), line, std::move(message)});
  }

  std::string Text(yyjson_val* object, const std::string& where, const char* name) {
    yyjson_val* const value = yyjson_obj_get(object, name);
    if (value == nullptr || yyjson_is_null(value)) return {};
    if (yyjson_is_str(value)) return std::string(TextOf(value));
    AddFault(where + "." + name, value, "found " + Describe(value) + ", wanted text");
    return {};
  }

  bool Flag(yyjson_val* object, const std::string& where, const char* name) {
    yyjson_val* const value = yyjson_obj_get(object, name);
    if (value == nullptr || yyjson_is_null(value)) return false;
    if (yyjson_is_bool(value)) return yyjson_get_bool(value);
    AddFault(where + "." + name, value, "found " + Describe(value) + ", wanted true or false");
    return false;
  }

  // The object called `name` within; null where there is none.
  yyjson_val* Object(yyjson_val* object, const std::string& where, const char* name) {
    yyjson_val* const value = yyjson_obj_get(object, name);
    if (value == nullptr || yyjson_is_null(value)) return nullptr;
    if (yyjson_is_obj(value)) return value;
    AddFault(where + "." + name, value, "found " + Describe(value) + ", wanted an object");
    return nullptr;
  }

  std::string Path(yyjson_val* object, const std::string& where, const char* name) {
    const std::string path = Text(object, where, name);
    if (path.empty() || path.starts_with('/')) return path;
    return folder_ + path;
  }

  InlineOrFile Bytes(yyjson_val* object, const std::string& where, const char* data_name,
                     const char* path_name) {
    InlineOrFile found{.data = {}, .path = Path(object, where, path_name)};
    const std::string text = Text(object, where, data_name);
    if (text.empty()) return found;
    Result<std::string> bytes = Base64Decode(text);
    if (!bytes) {
      AddFault(where + "." + data_name, yyjson_obj_get(object, data_name), "not base64");
      return found;
    }
    found.data = *std::move(bytes);
    return found;
  }

  // The elements of a list of objects.
  std::vector<yyjson_val*> Objects(yyjson_val* object, const std::string& where, const char* name) {
    std::vector<yyjson_val*> elements;
    ForEach(object, where, name, [&](yyjson_val* element, const std::string& place) {
      if (yyjson_is_obj(element)) {
        elements.push_back(element);
      } else {
        AddFault(place, element, "found " + Describe(element) + ", wanted an object");
      }
    });
    return elements;
  }

  // The elements of a list of texts.
  std::vector<std::string> Texts(yyjson_val* object, const std::string& where, const char* name) {
    std::vector<std::string> texts;
    ForEach(object, where, name, [&](yyjson_val* element, const std::string& place) {
      if (yyjson_is_str(element)) {
        texts.emplace_back(TextOf(element));
      } else {
        AddFault(place, element, "found " + Describe(element) + ", wanted text");
      }
    });
    return texts;
  }

  // The `what` of the entry called `wanted` in the list `list`: {name: wanted, what: {...}}. Names
  // are there once.
  yyjson_val* Named(yyjson_val* root, const char* list, const std::string& wanted,
                    const char* what) {
    std::set<std::string> names;
    yyjson_val* found = nullptr;
    size_t index = 0;
    for (yyjson_val* entry : Objects(root, "", list)) {
      const std::string place = std::string(list) + "[" + std::to_string(index++) + "]";
      const std::string name = Text(entry, place, "name");
      if (!names.insert(name).second) {
        AddFault(place + ".name", yyjson_obj_get(entry, "name"),
                 Quoted(name, kQuotedBytesMax) + " is there already");
      } else if (name == wanted) {
        found = entry;
      }
    }
    if (found != nullptr) return Object(found, list, what);
    AddFault("", nullptr, std::string(list) + " has none called \"" + wanted + "\"");
    return nullptr;
  }

  const std::vector<Fault>& faults() const { return faults_; }

 private:
  template <class Visit>
  void ForEach(yyjson_val* object, const std::string& where, const char* name, Visit visit) {
    yyjson_val* const list = yyjson_obj_get(object, name);
    if (list == nullptr || yyjson_is_null(list)) return;
    if (!yyjson_is_arr(list)) {
      return AddFault(where + "." + name, list, "found " + Describe(list) + ", wanted a list");
    }
    size_t index, count;
    yyjson_val* element;
    yyjson_arr_foreach(list, index, count, element) {
      visit(element, where + "." + name + "[" + std::to_string(index) + "]");
    }
  }

  const JsonSource& source_;
  const std::string folder_;
  std::vector<Fault> faults_;
};

std::string JsonOf(yyjson_val* value) {
  size_t size = 0;
  char* const text = value == nullptr ? nullptr : yyjson_val_write(value, 0, &size);
  std::string json(text == nullptr ? "" : std::string_view(text, size));
  std::free(text);
  return json;
}

void ReadCluster(Reader& reader, yyjson_val* cluster, ClusterAccess& access) {
  const std::string where = "cluster";
  access.server = reader.Text(cluster, where, "server");
  access.authorities =
      reader.Bytes(cluster, where, "certificate-authority-data", "certificate-authority");
  access.server_name = reader.Text(cluster, where, "tls-server-name");
  access.skip_verification = reader.Flag(cluster, where, "insecure-skip-tls-verify");
  access.proxy_url = reader.Text(cluster, where, "proxy-url");
  if (const auto proxy = ParseProxy(access.proxy_url); !access.proxy_url.empty() && !proxy) {
    reader.AddFault(where + ".proxy-url", yyjson_obj_get(cluster, "proxy-url"),
                    proxy.error().message());
  }
  for (yyjson_val* extension : reader.Objects(cluster, where, "extensions")) {
    if (reader.Text(extension, where + ".extensions", "name") != kExecExtension) continue;
    access.exec_config_json = JsonOf(yyjson_obj_get(extension, "extension"));
  }
  if (access.skip_verification && !access.authorities.empty()) {
    reader.AddFault(where, nullptr,
                    "insecure-skip-tls-verify and a certificate authority exclude each other");
  }
  yyjson_val* const server = yyjson_obj_get(cluster, "server");
  if (const auto url = ParseServerUrl(access.server); !url) {
    reader.AddFault(where + ".server", server, url.error().message());
  } else if (url->scheme != "https") {
    reader.AddFault(where + ".server", server,
                    "found " + Quoted(access.server, kQuotedBytesMax) +
                        ", wanted https://HOST[:PORT][/PATH]: the API server is spoken to in "
                        "HTTP/2 over TLS only");
  }
}

void CheckInteractiveMode(Reader& reader, yyjson_val* exec, const std::string& where,
                          const std::string& api_version) {
  const std::string mode = reader.Text(exec, where, "interactiveMode");
  const auto refuse = [&](const std::string& why) {
    reader.AddFault(where + ".interactiveMode", yyjson_obj_get(exec, "interactiveMode"), why);
  };
  if (mode == "Always") return refuse("\"Always\" needs somebody at a terminal");
  if (mode == "Never" || mode == "IfAvailable") return;
  if (!mode.empty()) {
    return refuse("found " + Quoted(mode, kQuotedBytesMax) + ", wanted Never or IfAvailable");
  }
  if (api_version == kExecV1) refuse("there is none, wanted Never or IfAvailable");
}

std::optional<ExecPlugin> ReadExec(Reader& reader, yyjson_val* user) {
  const std::string where = "user.exec";
  yyjson_val* const exec = reader.Object(user, "user", "exec");
  if (exec == nullptr) return std::nullopt;
  ExecPlugin plugin;
  plugin.api_version = reader.Text(exec, where, "apiVersion");
  plugin.command = reader.Text(exec, where, "command");
  if (plugin.command.find('/') != std::string::npos) {
    plugin.command = reader.Path(exec, where, "command");
  }
  plugin.install_hint = reader.Text(exec, where, "installHint");
  plugin.provide_cluster_info = reader.Flag(exec, where, "provideClusterInfo");
  if (plugin.command.empty()) reader.AddFault(where + ".command", nullptr, "there is none");
  if (plugin.api_version != kExecV1 && plugin.api_version != kExecV1Beta1) {
    reader.AddFault(
        where + ".apiVersion", yyjson_obj_get(exec, "apiVersion"),
        "found \"" + plugin.api_version + "\", wanted client.authentication.k8s.io/v1 or v1beta1");
  }
  CheckInteractiveMode(reader, exec, where, plugin.api_version);
  plugin.args = reader.Texts(exec, where, "args");
  for (yyjson_val* variable : reader.Objects(exec, where, "env")) {
    plugin.environment.emplace_back(reader.Text(variable, where + ".env", "name"),
                                    reader.Text(variable, where + ".env", "value"));
  }
  return plugin;
}

void ReadUser(Reader& reader, yyjson_val* user, ClusterAccess& access) {
  const std::string where = "user";
  access.certificate = reader.Bytes(user, where, "client-certificate-data", "client-certificate");
  access.key = reader.Bytes(user, where, "client-key-data", "client-key");
  access.token = {.data = reader.Text(user, where, "token"),
                  .path = reader.Path(user, where, "tokenFile")};
  // A file that is renewed says more than a text that was copied.
  if (!access.token.path.empty()) access.token.data.clear();
  access.username = reader.Text(user, where, "username");
  access.password = reader.Text(user, where, "password");
  access.exec = ReadExec(reader, user);
  for (const char* name : {"auth-provider", "as", "as-uid", "as-groups", "as-user-extra"}) {
    if (yyjson_val* const value = yyjson_obj_get(user, name); !IsEmpty(value)) {
      reader.AddFault(where + "." + name, value, "not supported by a node agent");
    }
  }
  if (access.certificate.empty() != access.key.empty()) {
    reader.AddFault(where, nullptr,
                    "a client certificate and its key go together; one of them is missing");
  }
  const bool has_token = !access.token.empty();
  const bool has_password = !access.username.empty() || !access.password.empty();
  if (has_token + has_password + access.exec.has_value() > 1) {
    reader.AddFault(where, nullptr, "more than one of token, username and exec");
  }
}

void ReadDocument(Reader& reader, yyjson_val* root, ClusterAccess& access) {
  if (IsEmpty(root)) return reader.AddFault("", nullptr, "the file is empty");
  if (!yyjson_is_obj(root)) {
    return reader.AddFault("", root, "found " + Describe(root) + ", wanted an object");
  }
  const std::string kind = reader.Text(root, "", "kind");
  if (kind != "Config" && !kind.empty()) {
    reader.AddFault("kind", yyjson_obj_get(root, "kind"), "found \"" + kind + "\", wanted Config");
  }
  const std::string version = reader.Text(root, "", "apiVersion");
  if (version != "v1" && !version.empty()) {
    reader.AddFault("apiVersion", yyjson_obj_get(root, "apiVersion"),
                    "found " + Quoted(version, kQuotedBytesMax) + ", wanted v1");
  }
  const std::string current = reader.Text(root, "", "current-context");
  if (current.empty()) return reader.AddFault("current-context", nullptr, "there is none");
  yyjson_val* const context = reader.Named(root, "contexts", current, "context");
  if (context == nullptr) return;
  if (yyjson_val* const cluster =
          reader.Named(root, "clusters", reader.Text(context, "context", "cluster"), "cluster")) {
    ReadCluster(reader, cluster, access);
  }
  const std::string user = reader.Text(context, "context", "user");
  access.user_name = user;
  if (user.empty()) return;  // a server that asks for nobody's name
  if (yyjson_val* const found = reader.Named(root, "users", user, "user")) {
    ReadUser(reader, found, access);
  }
}

}  // namespace

Result<ClusterAccess> ReadKubeconfig(std::string_view text, std::string_view path) {
  YamlResult yaml = YamlToJson(text);
  ClusterAccess access;
  access.kubeconfig_path = path;
  Status status = ToStatus(yaml.faults);
  if (status) {
    const JsonSource source(yaml.text.json, &yaml.text);
    if (source.root() == nullptr) return Error(ErrorCode::kInvalid, ToString(source.fault()));
    Reader reader(source, path);
    ReadDocument(reader, source.root(), access);
    status = ToStatus(reader.faults());
  }
  if (!status) return status.error().With("kubeconfig", path);
  return access;
}

std::string WriteKubeconfig(const ClusterAccess& cluster, std::string_view certificate_path) {
  std::string text = "apiVersion: v1\nclusters:\n- cluster:\n";
  // JSON's form of a text is YAML, too.
  const auto quoted = [](std::string_view value) {
    std::string json;
    AppendJsonText(value, json);
    return json;
  };
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text.append("    ").append(name).append(": ").append(value).append("\n");
  };
  if (!cluster.authorities.data.empty()) {
    line("certificate-authority-data", Base64Encode(cluster.authorities.data));
  } else {
    line("certificate-authority",
         cluster.authorities.path.empty() ? "" : quoted(cluster.authorities.path));
  }
  if (cluster.skip_verification) line("insecure-skip-tls-verify", "true");
  if (!cluster.proxy_url.empty()) line("proxy-url", quoted(cluster.proxy_url));
  line("server", quoted(cluster.server));
  if (!cluster.server_name.empty()) line("tls-server-name", quoted(cluster.server_name));
  const std::string file = quoted(certificate_path);
  return text +
         "  name: default-cluster\ncontexts:\n- context:\n    cluster: default-cluster\n"
         "    namespace: default\n    user: default-auth\n  name: default-context\n"
         "current-context: default-context\nkind: Config\nusers:\n- name: default-auth\n"
         "  user:\n    client-certificate: " +
         file + "\n    client-key: " + file + "\n";
}

}  // namespace denselet::kube
