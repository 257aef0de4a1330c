// Who we are towards the API server, as far as requests say it: a bearer token, or nothing where
// the connection's client certificate says it all.
#pragma once

#include <string>

#include "base/context.h"
#include "reactor/api/file_system.h"

namespace denselet::kube {

// Lives on the API shard and outlives the client.
class Credentials {
 public:
  virtual ~Credentials() = default;

  // The value of the Authorization header; empty: none is sent. Null: it is not known yet, and
  // WhenReady says when. Valid until the next turn.
  virtual const std::string* Authorization() = 0;
  // Answers once, in a later turn. An error says why there are none; asking again tries again.
  virtual void WhenReady(const Context& context, reactor::Done<Unit> done) = 0;
  // The server answered 401. True: there may be others soon, ask WhenReady.
  virtual bool Refused() = 0;
  // What is wrong with them as far as can be seen from here, for people; empty: nothing.
  virtual std::string Fault() const { return {}; }
  // What they are and where they come from, for people who look for what a server refuses.
  virtual std::string Origin() const { return {}; }
};

// For a server that knows us by our certificate, or not at all.
class NoCredentials final : public Credentials {
 public:
  const std::string* Authorization() override { return &none_; }
  void WhenReady(const Context&, reactor::Done<Unit>) override {}
  bool Refused() override { return false; }

 private:
  const std::string none_;
};

}  // namespace denselet::kube
