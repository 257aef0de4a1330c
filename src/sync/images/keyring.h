// Credentials for registries, as a pod's imagePullSecrets have them, and which of them are for an
// image: the rules of the kubelet's keyring.
//
//   registry.example.com          every image of that host
//   registry.example.com/team     those whose path begins so
//   *.example.com, r*.x:5000      a part of the host's name is a pattern; as many parts, same port
//   index.docker.io               what names no host, if nothing else is for it
//
// The more specific place comes first: places are tried in reverse order of their names, and those
// of one place in the order of the secrets.
//
// A value; on any thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sync/ports/image_service.h"
#include "sync/ports/pod_objects.h"

namespace denselet::sync {

class Keyring {
 public:
  // Secrets of another type have none. kInvalid: one of them cannot be read, and then none counts;
  // the message tells nothing of what is in it.
  static Result<Keyring> Read(const std::vector<ObjectBytes>& secrets);

  // `place` is as Docker's configuration names it, with or without a scheme. One that is no URL is
  // left out.
  void Add(std::string_view place, const ImageCredentials& credentials);

  // By the full name of an image without tag and digest (RepositoryOf). Nothing: it is tried
  // without.
  std::vector<ImageCredentials> Lookup(std::string_view repository) const;

 private:
  std::map<std::string, std::vector<ImageCredentials>, std::greater<>> places_;
};

}  // namespace denselet::sync
