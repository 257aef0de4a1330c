// The runtime's images over CRI.
//
// Lives on one shard, owned by CriShard; what it is given outlives it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_function.h"
#include "cri/connection.h"
#include "rpc/client.h"
#include "sync/ports/image_service.h"

namespace denselet::cri {

class CriImages final : public sync::ImageService {
 public:
  CriImages(rpc::Client& client, Connection& connection)
      : client_(client), connection_(connection) {}

  // Called when a pull or removal by this instance has ended, well or in a way that may have had an
  // effect.
  void WhenChanged(UniqueFunction<void()> changed) { changed_ = std::move(changed); }

  void Find(const Context&, const sync::ImageRequest&,
            reactor::Done<std::optional<sync::ObservedImage>>) override;
  void Pull(const Context&, const sync::ImageRequest&, const sync::ImageCredentials&,
            const sync::SandboxSpec& sandbox, reactor::Done<std::string>) override;
  void List(const Context&, reactor::Done<std::vector<sync::ObservedImage>>) override;
  void Remove(const Context&, const ImageId&, reactor::Done<Unit>) override;
  void Filesystems(const Context&, reactor::Done<sync::ImageFilesystems>) override;

 private:
  template <class T>
  reactor::Done<T> Telling(reactor::Done<T> done);

  rpc::Client& client_;
  Connection& connection_;
  UniqueFunction<void()> changed_;
};

}  // namespace denselet::cri
