#include "app/local_api/local_api.h"

#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <optional>
#include <utility>

#include "app/local_api/gather.h"
#include "app/local_api/journal_json.h"
#include "app/local_api/metrics_json.h"
#include "app/local_api/pod_json.h"
#include "app/local_api/process_metrics.h"
#include "app/metrics_text.h"
#include "app/version.h"
#include "base/quoted.h"

namespace denselet::app {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kPaths =
    "/agent, /pods, /pods/NAMESPACE/NAME, /pleg, /metrics, /metrics.json";
constexpr size_t kTargetShownMax = 128;
constexpr Duration kFileTimeMax = Seconds(5);

net::Http1ServerOptions ServerOptions() {
  net::Http1ServerOptions options;
  options.limits = {.head_bytes_max = 8 * 1024, .headers_max = 32, .body_bytes_max = 0};
  options.connections_max = LocalApi::kConnectionsMax;
  // People and scripts on the same machine: who is silent for so long wants nothing.
  options.idle_timeout = Seconds(5);
  options.head_timeout = Seconds(5);
  options.transfer_timeout = Seconds(10);
  return options;
}

void Refuse(net::HttpServerExchange& exchange, int status, std::string_view why) {
  std::string body;
  {
    JsonObject object(body);
    object.Text("error", why);
  }
  exchange.Respond(status, kJson, body + "\n");
}

void Refuse(net::HttpServerExchange& exchange, const Error& error) {
  Refuse(exchange, 503, error.message());
}

struct PodPath {
  std::string ns, name;
};

// Of "/pods/NS/NAME".
std::optional<PodPath> ParsePodPath(std::string_view path) {
  constexpr std::string_view kPrefix = "/pods/";
  if (!path.starts_with(kPrefix)) return std::nullopt;
  path.remove_prefix(kPrefix.size());
  const size_t slash = path.find('/');
  if (slash == path.npos || slash == 0 || slash + 1 == path.size()) return std::nullopt;
  if (path.find('/', slash + 1) != path.npos) return std::nullopt;
  return PodPath{std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

// On the shard of the pods: those of that name, one behind the other.
Result<std::string> ReadPods(sync::PodCore& core, uint32_t shard, const PodPath& path,
                             const Moment& moment) {
  const sync::PodShard* const pods = core.pods(shard);
  sync::PodStatuses* const statuses = core.statuses(shard);
  if (pods == nullptr || statuses == nullptr) {
    return Error(ErrorCode::kCancelled, "the agent ends");
  }
  std::string found;
  for (const sync::PodWorker* const worker : pods->WorkersAfter({}, pods->size())) {
    const sync::PodIdentity& pod = worker->pod();
    if (pod.ref.name != path.name || pod.ref.ns != path.ns) continue;
    if (!found.empty()) found += ',';
    AppendPodDetail({*worker, statuses->StatusOf(pod.uid), shard, pods->reader().Health(pod.uid)},
                    moment, found);
  }
  for (const sync::PodIdentity& pod : pods->HeldBack()) {
    if (pod.ref.name != path.name || pod.ref.ns != path.ns) continue;
    if (!found.empty()) found += ',';
    AppendHeldBackRow(pod, shard, found);
  }
  return found;
}

// The second number of /proc/self/statm, in pages.
uint64_t RssOf(std::string_view statm) {
  const size_t blank = statm.find(' ');
  if (blank == statm.npos) return 0;
  uint64_t pages = 0;
  std::from_chars(statm.data() + blank + 1, statm.data() + statm.size(), pages);
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

Duration CpuTime() {
  rusage used = {};
  (void)::getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) { return Seconds(t.tv_sec) + Microseconds(t.tv_usec); };
  return of(used.ru_utime) + of(used.ru_stime);
}

}  // namespace

LocalApi::LocalApi(const LocalApiSeams& seams, LocalApiOptions options)
    : seams_(seams),
      options_(std::move(options)),
      started_(seams.shard.loop().Now()),
      ticket_(std::make_shared<int>(0)),
      server_(seams.shard.loop(), *this, ServerOptions()) {}

LocalApi::~LocalApi() = default;

void LocalApi::OnRequest(net::HttpRequest request, net::HttpServerExchange exchange) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  if (request.method != "GET" && request.method != "HEAD") {
    return Refuse(exchange, 405, "only GET is answered here");
  }
  if (ticket_.use_count() > kAsksMax) return Refuse(exchange, 503, "too many ask at once");
  if (path == "/agent") return AnswerAgent(std::move(exchange));
  if (path == "/pods") return AnswerPods(std::move(exchange));
  if (path == "/pleg") return exchange.Respond(200, kJson, PlegText());
  if (path == "/metrics") return AnswerMetrics(MetricsForm::kText, std::move(exchange));
  if (path == "/metrics.json") return AnswerMetrics(MetricsForm::kJson, std::move(exchange));
  if (auto pod = ParsePodPath(path)) {
    return AnswerPod(std::move(pod->ns), std::move(pod->name), std::move(exchange));
  }
  Refuse(exchange, 404,
         "there is no " + Quoted(path, kTargetShownMax) + "; there are " + std::string(kPaths));
}

void LocalApi::AnswerPods(net::HttpServerExchange exchange) {
  // Known only when it is made, and its end is told with it.
  const auto place = std::make_shared<std::weak_ptr<PodsAnswer>>();
  const auto answer =
      std::make_shared<PodsAnswer>(seams_.shard, seams_.core, ticket_, std::move(exchange),
                                   [this, place] { streams_.erase(place->lock()); });
  *place = answer;
  streams_.insert(answer);
  answer->Start();
}

void LocalApi::AnswerPod(std::string ns, std::string name, net::HttpServerExchange exchange) {
  const PodPath path{std::move(ns), std::move(name)};
  // Those that have no worker yet are known here.
  std::string waiting;
  const sync::AdmissionGate& gate = seams_.core.gate();
  for (const sync::PodIdentity& pod : gate.WaitingAfter({}, gate.waiting())) {
    if (pod.ref.name != path.name || pod.ref.ns != path.ns) continue;
    if (!waiting.empty()) waiting += ',';
    AppendWaitingRow(pod, seams_.core.admission().Describe(pod.uid), Now(), waiting);
  }
  GatherFromShards<std::string>(
      seams_.shard,
      [&core = seams_.core, path, moment = Now()](uint32_t shard) {
        return ReadPods(core, shard, path, moment);
      },
      [exchange = std::move(exchange), ticket = ticket_, path,
       waiting = std::move(waiting)](Result<std::vector<std::string>> parts) mutable {
        if (!parts) return Refuse(exchange, parts.error());
        parts->push_back(std::move(waiting));
        std::string pods;
        for (const std::string& part : *parts) {
          if (!pods.empty() && !part.empty()) pods += ',';
          pods += part;
        }
        if (pods.empty()) {
          return Refuse(exchange, 404,
                        "there is no pod " + Quoted(path.ns + "/" + path.name, kTargetShownMax));
        }
        exchange.Respond(200, kJson, "{\"pods\":[" + pods + "]}\n");
      });
}

void LocalApi::WithProcess(UniqueFunction<void(const Process&)> then) {
  Context context;
  context.deadline = After(seams_.shard.loop().Now(), kFileTimeMax);
  // A pool that is busy costs the number, not the answer.
  seams_.files.ReadFile(context, "/proc/self/statm", 4096,
                        [then = std::move(then)](Result<std::string> statm) mutable {
                          then({.rss_bytes = statm ? RssOf(*statm) : 0, .cpu = CpuTime()});
                        });
}

void LocalApi::AnswerMetrics(MetricsForm form, net::HttpServerExchange exchange) {
  auto with_parts = [this, form, exchange = std::move(exchange),
                     ticket = ticket_](Result<std::vector<MetricsSnapshot>> parts) mutable {
    if (!parts) return Refuse(exchange, parts.error());
    if (!exchange.alive()) return;  // so is this object, while the exchange is
    MetricsSnapshot all = seams_.source.MetricsOfHome();
    Status merged = Ok();
    for (MetricsSnapshot& part : *parts) {
      if (Status one = all.Merge(std::move(part)); !one && merged) merged = one;
    }
    if (!merged) seams_.log.Error(merged.error(), "Metrics of shards do not fit together");
    WithProcess([this, form, all = std::move(all), exchange = std::move(exchange),
                 ticket = std::move(ticket)](const Process& process) mutable {
      if (!exchange.alive()) return;
      AddProcessMetrics(
          {.cpu = process.cpu, .rss_bytes = process.rss_bytes, .started = Now().WallOf(started_)},
          all);
      if (form == MetricsForm::kJson) return exchange.Respond(200, kJson, RenderMetricsJson(all));
      exchange.Respond(200, kMetricsType, RenderMetricsText(all));
    });
  };
  GatherFromShards<MetricsSnapshot>(
      seams_.shard,
      [&source = seams_.source](uint32_t shard) -> Result<MetricsSnapshot> {
        return source.MetricsOfShard(shard);
      },
      std::move(with_parts));
}

void LocalApi::AnswerAgent(net::HttpServerExchange exchange) {
  auto with_shards = [this, exchange = std::move(exchange),
                      ticket = ticket_](Result<std::vector<ShardNumbers>> shards) mutable {
    if (!shards) return Refuse(exchange, shards.error());
    if (!exchange.alive()) return;
    WithProcess([this, shards = *std::move(shards), exchange = std::move(exchange),
                 ticket = std::move(ticket)](const Process& process) mutable {
      if (exchange.alive()) exchange.Respond(200, kJson, AgentText(process, shards));
    });
  };
  GatherFromShards<ShardNumbers>(
      seams_.shard,
      [&core = seams_.core](uint32_t shard) -> Result<ShardNumbers> {
        const sync::PodShard* const pods = core.pods(shard);
        if (pods == nullptr) return Error(ErrorCode::kCancelled, "the agent ends");
        return ShardNumbers{.pods = pods->size(), .calls = pods->ops(), .line = pods->line()};
      },
      std::move(with_shards));
}

std::string LocalApi::AgentText(const Process& process,
                                const std::vector<ShardNumbers>& shards) const {
  const Moment moment = Now();
  std::string text;
  {
    JsonObject agent(text);
    agent.Text("version", kDenseletVersion);
    agent.Text("kubernetesVersion", kKubernetesVersion);
    agent.Text("node", options_.node);
    agent.Number("pid", ::getpid());
    agent.Text("runtime", options_.runtime_endpoint);
    agent.Bool("standalone", !options_.has_api_server);
    agent.Text("now", FormatRfc3339(moment.wall, 3));
    AddTime(agent, "started", started_, moment);
    agent.SecondsOf("cpuSeconds", process.cpu);
    agent.Number("rssBytes", process.rss_bytes);
    agent.Text("plegMode", sync::PlegModeName(seams_.core.pleg().mode()));
    agent.Number("missedEvents", seams_.core.pleg().missed_events());
    agent.Number("podsWaitingForAdmission", seams_.core.gate().waiting());
    const sync::Journal& journal = seams_.core.journal();
    AppendJournal(journal.report(), journal.state(),
                  seams_.core.admission().records_not_understood(), moment, agent.Key("journal"));
    JsonList list(agent.Key("shards"));
    for (const ShardNumbers& shard : shards) {
      JsonObject entry(list.Next());
      entry.Number("pods", shard.pods);
      entry.Number("calls", shard.calls);
      entry.Number("line", shard.line);
    }
  }
  return text + "\n";
}

std::string LocalApi::PlegText() const {
  const sync::Pleg& pleg = seams_.core.pleg();
  const Moment moment = Now();
  std::string text;
  {
    JsonObject object(text);
    object.Text("mode", sync::PlegModeName(pleg.mode()));
    if (!pleg.uses_events()) object.Bool("eventsSwitchedOff", true);
    object.Number("missedEvents", pleg.missed_events());
    object.SecondsOf("crossCheckPeriodSeconds", pleg.cross_check_period());
    if (pleg.last_list() != TimePoint()) AddTime(object, "lastList", pleg.last_list(), moment);
    object.Bool("listing", pleg.listing());
    const std::string why = pleg.WhyUnhealthy(moment.now);
    object.Bool("healthy", why.empty());
    if (!why.empty()) object.Text("whyUnhealthy", why);
    JsonList list(object.Key("history"));
    for (const sync::PlegModeChange& change : pleg.history()) {
      JsonObject entry(list.Next());
      AddTime(entry, "at", change.at, moment);
      entry.Text("mode", sync::PlegModeName(change.mode));
      entry.Text("why", change.why);
    }
  }
  return text + "\n";
}

}  // namespace denselet::app
