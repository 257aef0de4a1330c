#include "managers/node/host_facts.h"

#include <memory>
#include <utility>
#include <vector>

namespace denselet::node {

namespace {

constexpr const char* kIpv4Routes = "/proc/net/route";
constexpr const char* kIpv6Routes = "/proc/net/ipv6_route";

// Shared by the answers that are still to come; the last one has `done` called.
struct Reading {
  FileTexts texts;
  size_t waiting = 0;
  UniqueFunction<void(FileTexts)> done;
};

// What cannot be read is missing from the answer.
void ReadAll(reactor::FileSystem& files, const Context& context, std::vector<std::string> paths,
             UniqueFunction<void(FileTexts)> done) {
  auto reading = std::make_shared<Reading>();
  reading->waiting = paths.size();
  reading->done = std::move(done);
  for (std::string& path : paths) {
    files.ReadFile(context, path, HostFactsReader::kFileBytesMax,
                   [reading, path](Result<std::string> text) {
                     if (text) reading->texts.emplace(path, std::move(*text));
                     if (--reading->waiting == 0) reading->done(std::move(reading->texts));
                   });
  }
}

std::vector<std::string> WithHugePages(const Result<std::vector<reactor::DirectoryEntry>>& sizes) {
  std::vector<std::string> paths = MachineFiles();
  // A kernel without huge pages has no such folder.
  if (!sizes) return paths;
  for (const reactor::DirectoryEntry& size : *sizes) {
    if (HugePageKib(size.name) == 0) continue;
    paths.push_back(std::string(kHugePagesFolder) + "/" + size.name + "/nr_hugepages");
  }
  return paths;
}

void AddRoutes(const FileTexts& texts, NetworkFacts& facts) {
  const auto v4 = texts.find(kIpv4Routes);
  if (v4 == texts.end()) return;
  facts.routes_known = true;
  if (auto routes = ParseIpv4Routes(v4->second)) facts.routes = std::move(*routes);
  const auto v6 = texts.find(kIpv6Routes);
  if (v6 == texts.end()) return;
  if (const auto routes = ParseIpv6Routes(v6->second)) {
    facts.routes.insert(facts.routes.end(), routes->begin(), routes->end());
  }
}

void AddFileSystem(const FileSystemSpace& space, PressureFacts& facts) {
  At(facts, PressureSignal::kNodeFsAvailable) =
      SignalReading{.available = space.bytes_available, .capacity = space.bytes};
  // One without a fixed number of them does not run out.
  At(facts, PressureSignal::kNodeFsInodesFree) = SignalReading{
      .available = space.inodes == 0 ? UINT64_MAX : space.inodes_free, .capacity = space.inodes};
}

// Those of the paths that there are. One after the other, handed from callback to callback: a large
// machine has more of them than the pool has places.
struct PathSearch {
  reactor::FileSystem& files;
  const Context context;
  const std::vector<std::string> paths;
  UniqueFunction<void(std::vector<std::string>)> done;
  std::vector<std::string> found = {};
  size_t next = 0;

  static void Next(std::unique_ptr<PathSearch> self) {
    PathSearch& it = *self;
    if (it.next == it.paths.size()) return it.done(std::move(it.found));
    it.files.Stat(it.context, it.paths[it.next],
                  [self = std::move(self)](const Result<reactor::FileInfo>& there) mutable {
                    if (there) self->found.push_back(self->paths[self->next]);
                    ++self->next;
                    Next(std::move(self));
                  });
  }
};

void LookForPaths(reactor::FileSystem& files, const Context& context, const FileTexts& texts,
                  MachineFacts facts, UniqueFunction<void(MachineFacts)> done) {
  const MachinePaths wanted = PathsToLookFor(texts);
  std::vector<std::string> paths = wanted.thermal_throttle;
  if (!wanted.swap_control.empty()) paths.push_back(wanted.swap_control);
  PathSearch::Next(std::make_unique<PathSearch>(
      PathSearch{files, context, std::move(paths),
                 [facts = std::move(facts), swap_control = wanted.swap_control,
                  done = std::move(done)](std::vector<std::string> found) mutable {
                   facts.swap_controller = std::erase(found, swap_control) != 0;
                   facts.thermal_throttle_paths = std::move(found);
                   done(std::move(facts));
                 }}));
}

void ResolveName(HostCalls& calls, const Context& context, const std::string& name,
                 NetworkFacts facts, reactor::Done<NetworkFacts> done) {
  if (name.empty()) return done(std::move(facts));
  calls.Resolve(context, name,
                [facts = std::move(facts),
                 done = std::move(done)](Result<std::vector<IpAddress>> found) mutable {
                  if (found) facts.of_node_name = std::move(*found);
                  done(std::move(facts));
                });
}

}  // namespace

template <class T>
std::optional<reactor::Done<T>> HostFactsReader::Enter(reactor::Done<T>& done) {
  std::optional<reactor::Gate::Pass> pass = gate_.Enter();
  if (!pass) {
    loop_.Post([done = std::move(done)]() mutable {
      done(Error(ErrorCode::kCancelled, "the machine is not asked any more"));
    });
    return std::nullopt;
  }
  return reactor::Done<T>([pass = *std::move(pass), done = std::move(done)](
                              Result<T> answer) mutable { done(std::move(answer)); });
}

void HostFactsReader::ReadMachine(const Context& context, reactor::Done<MachineFacts> asker) {
  std::optional<reactor::Done<MachineFacts>> done = Enter(asker);
  if (!done) return;
  const auto measure = [&calls = calls_, context, root = options_.root_folder](
                           MachineFacts facts, reactor::Done<MachineFacts> finish) {
    calls.MeasureFileSystem(context, root,
                            [facts = std::move(facts),
                             finish = std::move(finish)](Result<FileSystemSpace> space) mutable {
                              if (space) facts.root_fs_bytes = space->bytes;
                              finish(std::move(facts));
                            });
  };
  const auto parse = [&files = files_, context, measure](const FileTexts& texts,
                                                         reactor::Done<MachineFacts> finish) {
    Result<MachineFacts> facts = ParseMachineFacts(texts);
    if (!facts) return finish(facts.error());
    LookForPaths(files, context, texts, *std::move(facts),
                 [measure, finish = std::move(finish)](MachineFacts more) mutable {
                   measure(std::move(more), std::move(finish));
                 });
  };
  files_.List(context, std::string(kHugePagesFolder), kHugePageSizesMax,
              [&files = files_, context, parse, done = *std::move(done)](
                  Result<std::vector<reactor::DirectoryEntry>> sizes) mutable {
                ReadAll(files, context, WithHugePages(sizes),
                        [parse, done = std::move(done)](const FileTexts& texts) mutable {
                          parse(texts, std::move(done));
                        });
              });
}

void HostFactsReader::ReadNetwork(const Context& context, reactor::Done<NetworkFacts> asker) {
  std::optional<reactor::Done<NetworkFacts>> done = Enter(asker);
  if (!done) return;
  calls_.Interfaces(
      context, [&files = files_, &calls = calls_, context, name = options_.name_to_resolve,
                done = *std::move(done)](Result<std::vector<NetworkInterface>> interfaces) mutable {
        if (!interfaces) return done(interfaces.error());
        NetworkFacts facts{.interfaces = std::move(*interfaces)};
        ReadAll(files, context, {kIpv4Routes, kIpv6Routes},
                [&calls, context, name, facts = std::move(facts),
                 done = std::move(done)](FileTexts texts) mutable {
                  AddRoutes(texts, facts);
                  ResolveName(calls, context, name, std::move(facts), std::move(done));
                });
      });
}

void HostFactsReader::ReadPressure(const Context& context, reactor::Done<PressureFacts> asker) {
  std::optional<reactor::Done<PressureFacts>> done = Enter(asker);
  if (!done) return;
  const auto measure = [&calls = calls_, context, root = options_.root_folder](
                           PressureFacts facts, reactor::Done<PressureFacts> finish) {
    calls.MeasureFileSystem(
        context, root, [facts, finish = std::move(finish)](Result<FileSystemSpace> space) mutable {
          if (space) AddFileSystem(*space, facts);
          finish(facts);
        });
  };
  ReadAll(files_, context, PressureFiles(),
          [measure, done = *std::move(done)](const FileTexts& texts) mutable {
            measure(ParsePressureFacts(texts), std::move(done));
          });
}

}  // namespace denselet::node
