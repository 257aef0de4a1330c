// Who we are, out of a kubeconfig: certificates, token and authorities, from its text, from files
// that are renewed under us, or from a plugin. Owns the TLS side of it, too.
//
// Lives on the API shard, and outlives transport and client. What cannot be read at first is tried
// again when somebody asks; what cannot be read later leaves the old in use and is told as trouble.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/repeated_trouble.h"
#include "kube/client/credentials.h"
#include "kube/client/exec_credential.h"
#include "kube/client/kubeconfig.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/api/path_watcher.h"
#include "reactor/api/process.h"
#include "reactor/net/tls/tls_client.h"

namespace denselet::kube {

struct KubeCredentialsOptions {
  // kWhenAsked: nothing is read before somebody asks for them, and what is in the way of the first
  // is told by who asked.
  enum class Beginning : uint8_t { kAtOnce, kWhenAsked };

  Beginning beginning = Beginning::kAtOnce;
  // Files are read again at least so often: not every file system tells of changes.
  Duration reload_period = Minutes(1);
  Duration file_timeout = Seconds(10);
  Duration plugin_timeout = Minutes(1);
  // A plugin's credential is asked for anew so long before it expires.
  Duration expiry_margin = Seconds(30);
  // After a failed attempt nobody's question starts another one for so long.
  Duration retry_pause = Seconds(1);
  // A plugin whose credentials the server refuses is asked again after retry_pause, then after
  // twice as long, and so on up to this; unless none was refused for refusal_calm.
  Duration refusal_pause_max = Minutes(1);
  Duration refusal_calm = Minutes(3);
  std::vector<std::string> environment;  // the agent's own, for plugins
};

struct CredentialParts {
  reactor::Loop& loop;
  reactor::FileSystem& files;
  reactor::PathWatcher& watcher;
  reactor::ProcessRunner& processes;
  Logger log;
};

class KubeCredentials final : public Credentials {
 public:
  // `renewed` is called in later turns, whenever new connections would differ from those that
  // stand: another certificate, other authorities.
  KubeCredentials(const CredentialParts& parts, ClusterAccess access,
                  KubeCredentialsOptions options, UniqueFunction<void()> renewed);
  ~KubeCredentials() override;

  // Credentials
  const std::string* Authorization() override;
  void WhenReady(const Context& context, reactor::Done<Unit> done) override;
  bool Refused() override;
  std::string Fault() const override;
  std::string Origin() const override;

  // Null for a server without TLS, and before it is ready. Stays where it is.
  net::TlsClient* tls() { return tls_ ? &*tls_ : nullptr; }
  bool ready() const { return ready_; }
  // Why what is in use is old, or why there is nothing.
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  // What was read in one go.
  struct Material {
    std::string authorities, certificate, key, token;
    friend bool operator==(const Material&, const Material&) = default;
  };
  // A reading under way. An answer to an older one finds nobody.
  struct Reading {
    Material material;
    int missing = 0;
    std::optional<Error> error;
    bool plugin_waits = false;  // for the authorities, which it is told
  };

  void Load();
  void ReadInto(uint64_t reading, const InlineOrFile& from, std::string Material::*to);
  void RunPlugin(uint64_t reading);
  bool PluginMayRun(TimePoint now);
  void TakePluginCredential(ExecCredential credential);
  void OnRead(uint64_t reading, Status status);
  void FinishLoad();
  Status Use(Material material);
  bool PluginIsDue() const;
  void WatchFiles();
  void ScheduleReload();
  void AnswerWaiters(const Status& status);

  CredentialParts parts_;
  const ClusterAccess access_;
  const KubeCredentialsOptions options_;
  const bool uses_tls_;
  UniqueFunction<void()> renewed_;
  const std::shared_ptr<KubeCredentials*> self_;  // shared with answers under way

  std::optional<net::TlsClient> tls_;
  Material in_use_;
  std::string authorization_;
  std::optional<ExecCredential> plugin_credential_;
  // What a plugin has just said is used, even when it has expired: the server decides.
  TimePoint plugin_fresh_until_ = TimePoint::min();
  // Of refusals.
  TimePoint refused_at_ = TimePoint::min();
  TimePoint plugin_not_before_ = TimePoint::min();
  Duration refusal_pause_{};
  bool ready_ = false;
  bool was_ready_ = false;
  std::optional<Error> trouble_;
  RepeatedTrouble told_trouble_;

  uint64_t reading_number_ = 0;
  std::optional<Reading> reading_;
  bool load_again_ = false;  // something changed while it was read
  TimePoint load_not_before_ = TimePoint::min();
  std::vector<reactor::Done<Unit>> waiters_;  // as many as requests of the client at most
  std::vector<reactor::WatchId> watches_;
  reactor::TimerId timer_;
};

}  // namespace denselet::kube
