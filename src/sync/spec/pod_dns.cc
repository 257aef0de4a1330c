#include "sync/spec/pod_dns.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kube/api/types.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

constexpr size_t kServersMax = 3;
constexpr size_t kSearchesMax = 32;
constexpr size_t kSearchLineMax = 2048;
constexpr size_t kSearchMax = 253;

constexpr std::string_view kForming = "DNSConfigForming";

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\v\f\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> Fields(std::string_view line) {
  constexpr std::string_view kBlank = " \t\v\f\r";
  std::vector<std::string_view> fields;
  for (size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const size_t end = line.find_first_of(kBlank, at);
    fields.push_back(line.substr(at, end - at));
    at = end == std::string_view::npos ? end : line.find_first_not_of(kBlank, end);
  }
  return fields;
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text;
  return all;
}

void AddEach(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

std::vector<std::string> WithoutRepeats(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) AddEach(out, text);
  return out;
}

// "name" or "name:value", by name; upstream has no order, ours is by name.
using Options = std::map<std::string, std::string>;

Options ByName(const std::vector<std::string>& options) {
  Options out;
  for (const std::string& option : options) {
    const size_t colon = option.find(':');
    out[option.substr(0, colon)] = colon == std::string::npos ? "" : option.substr(colon + 1);
  }
  return out;
}

std::vector<std::string> ToList(const Options& options) {
  std::vector<std::string> out;
  for (const auto& [name, value] : options)
    out.push_back(value.empty() ? name : name + ":" + value);
  return out;
}

enum class Base : uint8_t { kCluster, kHost, kNone };

Base BaseOf(const core::PodSpec& spec) {
  const std::string& policy = spec.dnspolicy();
  if (policy == "None") return Base::kNone;
  if (policy == "Default") return Base::kHost;
  if (policy == "ClusterFirst" && spec.hostnetwork()) return Base::kHost;
  return Base::kCluster;
}

void UseCluster(const core::Pod& pod, const DnsNode& node, DnsSpec& dns) {
  dns.servers = node.cluster_servers;
  dns.options = {"ndots:5"};
  const std::string& domain = node.cluster_domain;
  if (domain.empty()) return;
  std::vector<std::string> searches = {pod.metadata().namespace_() + ".svc." + domain,
                                       "svc." + domain, domain};
  searches.insert(searches.end(), dns.searches.begin(), dns.searches.end());
  dns.searches = WithoutRepeats(searches);
}

// Without settings of the node's: names are asked of the node itself, if it answers.
void UseLocalhost(const std::vector<std::string>& node_ips, DnsSpec& dns) {
  for (const std::string& ip : node_ips) {
    dns.servers.push_back(ip.find(':') == std::string::npos ? "127.0.0.1" : "::1");
  }
  if (dns.servers.empty()) dns.servers.push_back("127.0.0.1");
  dns.searches = {"."};
}

void Append(const core::PodDNSConfig& config, DnsSpec& dns) {
  for (const std::string& server : config.nameservers()) dns.servers.push_back(server);
  for (const std::string& search : config.searches()) dns.searches.push_back(search);
  dns.servers = WithoutRepeats(dns.servers);
  dns.searches = WithoutRepeats(dns.searches);
  Options options = ByName(dns.options);
  // tidy: allow random-order because a pod has its options as a list
  for (const auto& option : config.options()) options[option.name()] = option.value();
  dns.options = ToList(options);
}

void FitServers(PodDns& out) {
  std::vector<std::string>& servers = out.dns.servers;
  if (servers.size() <= kServersMax) return;
  servers.resize(kServersMax);
  out.notes.push_back({.reason = std::string(kForming),
                       .message = "Nameserver limits were exceeded, some nameservers have been "
                                  "omitted, the applied nameserver line is: " +
                                  Joined(servers)});
}

void FitSearches(PodDns& out) {
  std::vector<std::string>& searches = out.dns.searches;
  const size_t before = searches.size();
  if (searches.size() > kSearchesMax) searches.resize(kSearchesMax);
  // Some resolvers end their process over a longer one.
  std::erase_if(searches, [](const std::string& search) { return search.size() > kSearchMax; });
  size_t length = Joined(searches).size();
  while (length > kSearchLineMax) {
    length -= std::min(length, searches.back().size() + 1);
    searches.pop_back();
  }
  if (searches.size() == before) return;
  out.notes.push_back({.reason = std::string(kForming),
                       .message = "Search Line limits were exceeded, some search paths have been "
                                  "omitted, the applied search line is: " +
                                  Joined(searches)});
}

void NoteMissing(const core::Pod& pod, PodDns& out) {
  const std::string why =
      "kubelet does not have ClusterDNS IP configured and cannot create Pod using "
      "\"ClusterFirst\" policy. Falling back to \"Default\" policy.";
  out.notes.push_back({.reason = "MissingClusterDNS", .message = why, .of = PodNote::Of::kNode});
  const auto& metadata = pod.metadata();
  out.notes.push_back({.reason = "MissingClusterDNS",
                       .message = "pod: \"" + metadata.name() + "_" + metadata.namespace_() + "(" +
                                  metadata.uid() + ")\". " + why});
}

}  // namespace

Result<DnsSpec> ParseResolvConf(std::string_view text) {
  DnsSpec dns;
  std::map<std::string, std::string> options;  // by name, as they are written
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = Trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.starts_with('#')) continue;
    const std::vector<std::string_view> fields = Fields(line);
    if (fields.empty()) continue;
    if (fields[0] == "nameserver") {
      if (fields.size() < 2) return Error(ErrorCode::kInvalid, "nameserver list is empty ");
      dns.servers.emplace_back(fields[1]);
    } else if (fields[0] == "search") {
      dns.searches.clear();
      for (size_t i = 1; i < fields.size(); ++i) {
        std::string_view search = fields[i];
        if (search == ".") continue;
        if (search.ends_with('.')) search.remove_suffix(1);
        dns.searches.emplace_back(search);
      }
    } else if (fields[0] == "options") {
      for (size_t i = 1; i < fields.size(); ++i) {
        options[std::string(fields[i].substr(0, fields[i].find(':')))] = fields[i];
      }
    }
  }
  for (const auto& [name, option] : options) dns.options.push_back(option);
  return dns;
}

PodDns MakePodDns(const core::Pod& pod, const DnsNode& node, DnsSpec host,
                  const std::vector<std::string>& node_ips) {
  PodDns out;
  Base base = BaseOf(pod.spec());
  if (base != Base::kNone) out.dns = std::move(host);
  if (base == Base::kCluster && node.cluster_servers.empty()) {
    NoteMissing(pod, out);
    base = Base::kHost;
  }
  if (base == Base::kCluster) UseCluster(pod, node, out.dns);
  if (base == Base::kHost && node.resolv_conf_path.empty()) UseLocalhost(node_ips, out.dns);
  if (pod.spec().has_dnsconfig()) Append(pod.spec().dnsconfig(), out.dns);
  FitServers(out);
  FitSearches(out);
  return out;
}

}  // namespace denselet::sync
