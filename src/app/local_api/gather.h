// Asks every shard the same question by mail and brings the answers together on the shard that
// asks. No shard waits for another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "reactor/shard.h"

namespace denselet::app {

// `ask` is copied and runs on each shard with its number; `done` runs here, once, when all have
// answered. An error: of the first that could not be asked, or did not answer.
template <class T, class Ask>
void GatherFromShards(reactor::Shard& here, Ask ask,
                      UniqueFunction<void(Result<std::vector<T>>)> done) {
  struct Gathering {
    std::vector<T> parts = {};
    uint32_t open = 0;
    std::optional<Error> error = {};
    UniqueFunction<void(Result<std::vector<T>>)> done;

    void Take(uint32_t shard, Result<T> part) {
      if (part) {
        parts[shard] = *std::move(part);
      } else if (!error) {
        error = part.error();
      }
      if (--open > 0) return;
      if (error) return done(*error);
      done(std::move(parts));
    }
  };
  // Shared by the answers that are on their way.
  const auto gathering = std::make_shared<Gathering>();
  gathering->parts.resize(here.shards());
  gathering->open = here.shards();
  gathering->done = std::move(done);
  for (uint32_t shard = 0; shard < here.shards(); ++shard) {
    const Status sent = here.template Ask<T>(
        shard, {},
        [ask, shard](const QueuedContext&, reactor::Reply<T> reply) mutable { reply(ask(shard)); },
        [gathering, shard](Result<T> part) { gathering->Take(shard, std::move(part)); });
    if (!sent) gathering->Take(shard, sent.error());
  }
}

}  // namespace denselet::app
