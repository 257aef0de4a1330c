#include "managers/secrets/trust_anchors.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/base64.h"
#include "base/hash.h"
#include "base/quoted.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/codec/wire_reader.h"
#include "kube/api/types.h"

namespace denselet::managers {
namespace {

using kube::WireField;
using kube::WireReader;

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";
constexpr size_t kLineBytes = 64;

std::string_view Trimmed(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) {
    line.remove_suffix(1);
  }
  return line;
}

// The next line, without its end; `rest` stands behind it.
std::string_view TakeLine(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  return Trimmed(line);
}

// "-----BEGIN CERTIFICATE-----" -> "CERTIFICATE"
std::optional<std::string_view> TypeOf(std::string_view line, std::string_view prefix) {
  if (!line.starts_with(prefix) || !line.ends_with(kDashes)) return std::nullopt;
  if (line.size() < prefix.size() + kDashes.size()) return std::nullopt;
  return line.substr(prefix.size(), line.size() - prefix.size() - kDashes.size());
}

// The block whose first line was read. Nothing: it is none.
std::optional<std::string> TakeBlock(std::string_view& rest, std::string_view type) {
  std::string text;
  while (!rest.empty()) {
    const std::string_view line = TakeLine(rest);
    if (const auto end = TypeOf(line, kEnd)) {
      if (*end != type) return std::nullopt;
      Result<std::string> bytes = Base64Decode(text);
      if (!bytes) return std::nullopt;
      return *std::move(bytes);
    }
    // Headers, as of keys.
    if (text.empty() && line.find(':') != line.npos) continue;
    for (const char c : line) {
      if (c != ' ' && c != '\t') text += c;
    }
  }
  return std::nullopt;
}

Status ReadSpec(std::string_view wire, TrustBundle& into) {
  WireReader reader(wire);
  std::set<std::string> anchors;
  for (WireField field; reader.Next(field);) {
    if (field.number != 1 && field.number != 2) continue;
    if (!Expect(reader, field, WireField::Type::kBytes)) break;
    if (field.number == 1) into.signer = field.bytes;
    if (field.number != 2) continue;
    for (std::string& anchor : DecodePem(field.bytes)) anchors.insert(std::move(anchor));
  }
  into.anchors.assign(anchors.begin(), anchors.end());
  return reader.ToStatus("ClusterTrustBundle.spec");
}

}  // namespace

std::vector<std::string> DecodePem(std::string_view text) {
  std::vector<std::string> blocks;
  while (!text.empty()) {
    const auto type = TypeOf(TakeLine(text), kBegin);
    if (!type) continue;
    std::string_view rest = text;
    std::optional<std::string> block = TakeBlock(rest, *type);
    if (!block) continue;  // what is behind its first line may begin another one
    blocks.push_back(*std::move(block));
    text = rest;
  }
  return blocks;
}

Result<TrustBundle> ReadTrustBundle(std::string_view wire) {
  TrustBundle bundle;
  WireReader reader(wire);
  for (WireField field; reader.Next(field);) {
    if (field.number != 1 && field.number != 2) continue;
    if (!Expect(reader, field, WireField::Type::kBytes)) break;
    if (field.number == 2) {
      if (Status read = ReadSpec(field.bytes, bundle); !read) return read.error();
      continue;
    }
    kube::meta::ObjectMeta meta;
    if (!meta.ParseFromArray(field.bytes.data(), static_cast<int>(field.bytes.size()))) {
      return Error(ErrorCode::kCorrupt, "ClusterTrustBundle.metadata");
    }
    bundle.name = meta.name();
    for (const auto* label : kube::Sorted(meta.labels())) {
      bundle.labels.emplace(label->first, label->second);
    }
  }
  if (Status read = reader.ToStatus("ClusterTrustBundle"); !read) return read.error();
  return bundle;
}

std::string PemOf(const std::vector<const TrustBundle*>& bundles, uint64_t seed) {
  // By a hash that nobody can foresee; those that have the same one by themselves.
  std::set<std::pair<uint64_t, std::string_view>> anchors;
  const uint64_t start = Fnv1a64(std::to_string(seed));
  for (const TrustBundle* bundle : bundles) {
    for (const std::string& anchor : bundle->anchors) {
      anchors.emplace(Fnv1a64(anchor, start), anchor);
    }
  }
  std::string pem;
  for (const auto& [hash, anchor] : anchors) {
    pem += "-----BEGIN CERTIFICATE-----\n";
    const std::string text = Base64Encode(anchor);
    for (size_t at = 0; at < text.size(); at += kLineBytes) {
      pem.append(text, at, kLineBytes).append("\n");
    }
    pem += "-----END CERTIFICATE-----\n";
  }
  return pem;
}

Result<bool> Selects(const std::string& wire, const std::map<std::string, std::string>& labels) {
  kube::meta::LabelSelector selector;
  if (!selector.ParseFromString(wire)) {
    return Error(ErrorCode::kCorrupt, "while parsing label selector");
  }
  bool selects = true;
  for (const auto* entry : kube::Sorted(selector.matchlabels())) {
    const auto label = labels.find(entry->first);
    selects = selects && label != labels.end() && label->second == entry->second;
  }
  for (const auto& term : selector.matchexpressions()) {
    const auto label = labels.find(term.key());
    const bool there = label != labels.end();
    const bool listed =
        there && std::ranges::find(term.values(), label->second) != term.values().end();
    if (term.operator_() == "In") {
      selects = selects && listed;
    } else if (term.operator_() == "NotIn") {
      selects = selects && !listed;
    } else if (term.operator_() == "Exists") {
      selects = selects && there;
    } else if (term.operator_() == "DoesNotExist") {
      selects = selects && !there;
    } else {
      return Error(ErrorCode::kInvalid,
                   "while parsing label selector: " + GoQuoted(term.operator_()) +
                       " is not a valid label selector operator");
    }
  }
  return selects;
}

}  // namespace denselet::managers
