#include "sync/images/keyring.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "kube/api/patch/json_tree.h"
#include "kube/api/types.h"
#include "sync/images/url_glob.h"

namespace denselet::sync {
namespace {

using kube::Json;

constexpr std::string_view kDefaultRegistry = "index.docker.io";

Error Invalid(std::string text) { return {ErrorCode::kInvalid, std::move(text)}; }

bool SameWord(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// As Go reads a struct: of any case. Null: there is none.
const Json* Member(const Json& json, std::string_view name) {
  const Json* found = nullptr;
  for (const auto& [key, value] : *json.object()) {
    if (SameWord(key, name)) found = &value;
  }
  return found == nullptr || found->IsNull() ? nullptr : found;
}

Result<std::string> TextOf(const Json& json, std::string_view name) {
  const Json* const member = Member(json, name);
  if (member == nullptr) return std::string();
  if (member->text() == nullptr) return Invalid(std::string(name) + " is no text");
  return *member->text();
}

std::string WithoutBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin));
}

// base64("name:password"), padded or not.
Status ReadAuth(std::string auth, ImageCredentials& credentials) {
  if (!WithoutBlanks(auth).ends_with('=')) {
    std::erase_if(auth, [](char c) { return c == '\n' || c == '\r'; });
    // What is not padded must not need it, or be completed here.
    if (auth.size() % 4 == 1) return Invalid("illegal base64 data in the auth field");
    auth.append((4 - auth.size() % 4) % 4, '=');
  }
  const Result<std::string> decoded = Base64Decode(auth);
  if (!decoded) return Invalid("illegal base64 data in the auth field");
  const size_t colon = decoded->find(':');
  if (colon == std::string::npos) {
    return Invalid("unable to parse auth field, must be formatted as base64(username:password)");
  }
  credentials.username = decoded->substr(0, colon);
  credentials.password = decoded->substr(colon + 1);
  return Ok();
}

Result<ImageCredentials> ReadEntry(const Json& entry) {
  ImageCredentials credentials;
  if (entry.IsNull()) return credentials;
  if (entry.object() == nullptr) return Invalid("an entry is no object");
  Result<std::string> username = TextOf(entry, "username");
  Result<std::string> password = TextOf(entry, "password");
  const Result<std::string> email = TextOf(entry, "email");  // of no use, but it has to be a text
  Result<std::string> auth = TextOf(entry, "auth");
  const std::array<const Result<std::string>*, 4> texts = {&username, &password, &email, &auth};
  for (const Result<std::string>* text : texts) {
    if (!*text) return text->error();
  }
  credentials.username = *std::move(username);
  credentials.password = *std::move(password);
  if (!auth->empty()) {
    if (Status read = ReadAuth(*std::move(auth), credentials); !read) return read.error();
  }
  return credentials;
}

// {"place": {...}}
Status ReadPlaces(const Json& places, Keyring& into) {
  if (places.IsNull()) return Ok();
  if (places.object() == nullptr) return Invalid("no object of registries");
  for (const auto& [place, entry] : *places.object()) {
    const Result<ImageCredentials> credentials = ReadEntry(entry);
    if (!credentials) return credentials.error();
    into.Add(place, *credentials);
  }
  return Ok();
}

Status ReadSecret(const kube::core::Secret& secret, Keyring& into) {
  const auto data = [&secret](const char* key) -> const std::string* {
    const auto found = secret.data().find(key);
    return found == secret.data().end() || found->second.empty() ? nullptr : &found->second;
  };
  const std::string* text = nullptr;
  const bool nested = secret.type() == "kubernetes.io/dockerconfigjson";
  if (nested) text = data(".dockerconfigjson");
  if (secret.type() == "kubernetes.io/dockercfg") text = data(".dockercfg");
  if (text == nullptr) return Ok();
  const Result<Json> json = Json::Parse(*text);
  if (!json) return Invalid("it is no JSON");
  if (!nested) return ReadPlaces(*json, into);
  if (json->IsNull()) return Ok();
  if (json->object() == nullptr) return Invalid("it is no object");
  const Json* const auths = Member(*json, "auths");
  return auths == nullptr ? Ok() : ReadPlaces(*auths, into);
}

// What Docker takes for an image of its own registry.
bool IsOfDefaultRegistry(std::string_view repository) {
  const size_t slash = repository.find('/');
  if (slash == 0 || repository.empty()) return false;
  if (slash == repository.npos) return true;
  const std::string_view first = repository.substr(0, slash);
  return first == "docker.io" || first == kDefaultRegistry ||
         first.find_first_of(".:") == first.npos;
}

}  // namespace

Result<Keyring> Keyring::Read(const std::vector<ObjectBytes>& secrets) {
  Keyring keyring;
  for (const ObjectBytes& bytes : secrets) {
    kube::core::Secret secret;
    if (!secret.ParseFromString(*bytes)) return Error(ErrorCode::kCorrupt, "no secret");
    if (Status read = ReadSecret(secret, keyring); !read) {
      return read.error().With("image pull secret " + secret.metadata().name());
    }
  }
  return keyring;
}

void Keyring::Add(std::string_view place, const ImageCredentials& credentials) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!place.starts_with(scheme)) continue;
    place.remove_prefix(scheme.size());
    break;
  }
  const std::optional<UrlGlob> url = UrlGlob::Parse(place);
  if (!url) return;
  std::string path = url->path;
  // The two versions of the registry's API are as the host alone.
  if (path.starts_with("/v1/") || path.starts_with("/v2/")) path.erase(0, 3);
  if (path == "/") path.clear();
  places_[url->host + path].push_back(credentials);
}

std::vector<ImageCredentials> Keyring::Lookup(std::string_view repository) const {
  std::vector<ImageCredentials> found;
  const std::optional<UrlGlob> image = UrlGlob::Parse(repository);
  for (const auto& [place, credentials] : places_) {
    const std::optional<UrlGlob> pattern = UrlGlob::Parse(place);
    if (!image || !pattern || !pattern->Matches(*image)) continue;
    found.insert(found.end(), credentials.begin(), credentials.end());
  }
  if (!found.empty() || !IsOfDefaultRegistry(repository)) return found;
  const auto own = places_.find(std::string(kDefaultRegistry));
  return own == places_.end() ? found : own->second;
}

}  // namespace denselet::sync
