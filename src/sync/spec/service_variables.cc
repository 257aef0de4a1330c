#include "sync/spec/service_variables.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "kube/api/types.h"
#include "sync/spec/variables.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

// Letters of ASCII are all that names of services and ports have.
std::string Cased(std::string text, char from, char to) {
  for (char& c : text) {
    if (c >= from && c <= from + ('z' - 'a')) c = static_cast<char>(c - from + to);
  }
  return text;
}
std::string Upper(std::string text) { return Cased(std::move(text), 'a', 'A'); }
std::string Lower(std::string text) { return Cased(std::move(text), 'A', 'a'); }

std::string VariableName(std::string name) {
  std::ranges::replace(name, '-', '_');
  return Upper(std::move(name));
}

bool HasAddress(const core::Service& service) {
  const std::string& ip = service.spec().clusterip();
  return !ip.empty() && ip != "None" && service.spec().ports_size() > 0;
}

std::string HostPort(const std::string& host, const std::string& port) {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
}

void AddLinks(const core::Service& service, KeyValues& out) {
  const std::string prefix = VariableName(service.metadata().name());
  const std::string& ip = service.spec().clusterip();
  for (int i = 0; i < service.spec().ports_size(); ++i) {
    const core::ServicePort& port = service.spec().ports(i);
    const std::string number = std::to_string(port.port());
    const std::string protocol = port.protocol().empty() ? "TCP" : port.protocol();
    const std::string url = Lower(protocol) + "://" + HostPort(ip, number);
    if (i == 0) PutValue(out, prefix + "_PORT", url);
    const std::string of_port = prefix + "_PORT_" + number + "_" + Upper(protocol);
    PutValue(out, of_port, url);
    PutValue(out, of_port + "_PROTO", Lower(protocol));
    PutValue(out, of_port + "_PORT", number);
    PutValue(out, of_port + "_ADDR", ip);
  }
}

void AddService(const core::Service& service, KeyValues& out) {
  const std::string prefix = VariableName(service.metadata().name());
  PutValue(out, prefix + "_SERVICE_HOST", service.spec().clusterip());
  const std::string of_port = prefix + "_SERVICE_PORT";
  PutValue(out, of_port, std::to_string(service.spec().ports(0).port()));
  for (const core::ServicePort& port : service.spec().ports()) {
    if (port.name().empty()) continue;
    PutValue(out, of_port + "_" + VariableName(port.name()), std::to_string(port.port()));
  }
  AddLinks(service, out);
}

}  // namespace

KeyValues ServiceVariables(const ServiceSet& services, const std::string& ns, ServiceLinks links) {
  std::map<std::string, core::Service> chosen;  // by name
  for (const ObjectBytes& bytes : services.services) {
    core::Service service;
    if (!service.ParseFromString(*bytes) || !HasAddress(service)) continue;
    const std::string& name = service.metadata().name();
    const bool master = service.metadata().namespace_() == "default" && name == "kubernetes";
    // One of the pod's own namespace goes before the master of that name.
    if (service.metadata().namespace_() == ns && (links == ServiceLinks::kAll) && !master) {
      chosen.insert_or_assign(name, service);
    } else if (master) {
      chosen.try_emplace(name, service);
    }
  }
  KeyValues out;
  for (const auto& [name, service] : chosen) AddService(service, out);
  return out;
}

}  // namespace denselet::sync
