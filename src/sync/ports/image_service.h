// The images of the container runtime: looked up, pulled, listed and removed. cri/ implements it,
// over a connection of its own where the configuration names another endpoint.
//
// One instance a shard; answers and codes as in sync/ports/runtime.h.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/ids.h"
#include "base/result.h"
#include "reactor/api/file_system.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::sync {

struct ObservedImage {
  ImageId id = {};
  std::vector<std::string> repo_tags = {};
  std::vector<std::string> repo_digests = {};
  uint64_t size_bytes = 0;
  std::optional<int64_t> uid = {};  // the user that it names by number
  std::string username = {};        // ... or by name
  bool pinned = false;
  friend bool operator==(const ObservedImage&, const ObservedImage&) = default;
};

// Never printed, never logged: it holds secrets.
struct ImageCredentials {
  std::string username = {};
  std::string password = {};
  std::string auth = {};
  std::string server_address = {};
  std::string identity_token = {};
  std::string registry_token = {};
  friend auto operator<=>(const ImageCredentials&, const ImageCredentials&) = default;
};

struct ImageRequest {
  std::string image = {};
  std::string user_specified = {};
  std::string runtime_handler = {};
  KeyValues annotations = {};
};

struct FilesystemUsage {
  std::string mountpoint = {};
  uint64_t used_bytes = 0;
  uint64_t inodes_used = 0;
};

struct ImageFilesystems {
  std::vector<FilesystemUsage> images = {};
  std::vector<FilesystemUsage> containers = {};
};

class ImageService {
 public:
  virtual ~ImageService() = default;

  // Nothing: the runtime does not have it.
  virtual void Find(const Context&, const ImageRequest&,
                    reactor::Done<std::optional<ObservedImage>>) = 0;
  // Has no deadline but the context's. Answers with the reference that containers are made of.
  // Empty credentials: without.
  virtual void Pull(const Context&, const ImageRequest&, const ImageCredentials&,
                    const SandboxSpec& sandbox, reactor::Done<std::string>) = 0;
  virtual void List(const Context&, reactor::Done<std::vector<ObservedImage>>) = 0;
  virtual void Remove(const Context&, const ImageId&, reactor::Done<Unit>) = 0;
  virtual void Filesystems(const Context&, reactor::Done<ImageFilesystems>) = 0;
};

}  // namespace denselet::sync
