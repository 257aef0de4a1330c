#include "managers/poddirs/termination_messages.h"

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "managers/poddirs/last_words.h"

namespace denselet::managers {
namespace {

using sync::ObservedContainer;

constexpr uint32_t kFolderMode = 0750;
constexpr uint32_t kFileMode = 0666;  // whoever runs in the container writes it
constexpr std::string_view kPathAnnotation = "io.kubernetes.container.terminationMessagePath";

bool IsName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos;
}

// Where the container finds its file; empty: it wants none.
std::string MessagePath(const sync::ContainerSpec& spec) {
  for (const auto& [key, value] : spec.annotations) {
    if (key == kPathAnnotation) return value.empty() || value[0] == '/' ? value : "/" + value;
  }
  return "";
}

// On the node; empty: there is none.
std::string MessageFile(const ObservedContainer& container) {
  if (container.termination_message_path.empty()) return "";
  for (const sync::ObservedMount& mount : container.mounts) {
    if (mount.container_path == container.termination_message_path ||
        mount.container_path == "/" + container.termination_message_path) {
      return mount.host_path;
    }
  }
  return "";
}

bool TellsOfItsLog(const ObservedContainer& container) {
  return container.termination_message_policy == "FallbackToLogsOnError" &&
         container.exit_code != 0 && container.reason != "ContainerCannotRun";
}

void Join(ObservedContainer& container, const std::string& message) {
  if (message.empty()) return;
  if (!container.message.empty()) container.message += ": ";
  container.message += message;
}

}  // namespace

// Makes the file of one container, then lets the runtime make the container. Handed from callback
// to callback, each of which runs once.
class TerminationMessages::Creation {
 public:
  Creation(TerminationMessages& owner, const Context& context, SandboxId sandbox,
           sync::ContainerSpec spec, sync::SandboxSpec sandbox_spec,
           reactor::Done<ContainerId> done)
      : owner_(owner),
        alive_(owner.alive_),
        context_(context),
        file_context_(context.WithTimeout(owner.loop_.Now(), kWaitMax)),
        sandbox_(std::move(sandbox)),
        spec_(std::move(spec)),
        sandbox_spec_(std::move(sandbox_spec)),
        done_(std::move(done)) {}
  using Ptr = std::unique_ptr<Creation>;

  static void Begin(Ptr self) {
    Creation& it = *self;
    if (!IsName(it.spec_.pod.value()) || !IsName(it.spec_.name)) return it.Create();
    std::array<char, 9> number = {};
    std::snprintf(number.data(), number.size(), "%08x", it.spec_.attempt);
    std::string folder = it.owner_.options_.root_folder + "/pods/" + it.spec_.pod.value() +
                         "/containers/" + it.spec_.name;
    it.file_ = folder + "/" + number.data();
    it.owner_.files_.MakeDirectories(
        it.file_context_, std::move(folder), kFolderMode, reactor::Durability::kCached,
        [self = std::move(self)](const denselet::Status& made) mutable {
          if (!*self->alive_) return;
          if (!made) return self->Without(made.error());
          MakeFile(std::move(self));
        });
  }

 private:
  static void MakeFile(Ptr self) {
    Creation& it = *self;
    it.owner_.files_.Open(it.file_context_, it.file_, reactor::OpenMode::kCreateOrTruncate,
                          kFileMode, [self = std::move(self)](Result<reactor::FileId> file) {
                            if (!*self->alive_) return;
                            if (!file) return self->Without(file.error());
                            self->owner_.files_.Close(*file);
                            self->Mount();
                            self->Create();
                          });
  }

  void Mount() {
    spec_.mounts.push_back({.container_path = MessagePath(spec_),
                            .host_path = file_,
                            .selinux_relabel = owner_.options_.selinux,
                            .uids = spec_.namespaces.uids,
                            .gids = spec_.namespaces.gids});
  }
  void Without(const Error& error) {
    owner_.log_.Error(error, "Could not make a file for a container's termination message",
                      KV("podUID", spec_.pod.value()), KV("containerName", spec_.name));
    Create();
  }
  void Create() {
    owner_.runtime_.CreateContainer(context_, sandbox_, spec_, sandbox_spec_, std::move(done_));
  }

  TerminationMessages& owner_;
  const std::shared_ptr<bool> alive_;
  const Context context_;
  const Context file_context_;
  const SandboxId sandbox_;
  sync::ContainerSpec spec_;
  const sync::SandboxSpec sandbox_spec_;
  reactor::Done<ContainerId> done_;
  std::string file_;
};

// Reads the messages of containers that have exited, one after the other.
class TerminationMessages::Reading {
 public:
  using Containers = std::vector<ObservedContainer>;
  Reading(TerminationMessages& owner, const Context& context, Containers containers,
          UniqueFunction<void(Containers)> done)
      : owner_(owner),
        alive_(owner.alive_),
        context_(context.WithTimeout(owner.loop_.Now(), kWaitMax)),
        containers_(std::move(containers)),
        done_(std::move(done)) {}
  using Ptr = std::unique_ptr<Reading>;

  static void Next(Ptr self) {
    Reading& it = *self;
    for (; it.at_ < it.containers_.size(); ++it.at_) {
      ObservedContainer& container = it.containers_[it.at_];
      if (container.state != sync::ContainerState::kExited) continue;
      if (const auto kept = it.owner_.kept_.find(container.id); kept != it.owner_.kept_.end()) {
        Join(container, kept->second);
        continue;
      }
      std::string file = MessageFile(container);
      if (!file.empty()) return ReadFile(std::move(self), std::move(file));
      if (TellsOfItsLog(container)) return ReadLog(std::move(self));
    }
    it.done_(std::move(it.containers_));
  }

 private:
  static void ReadFile(Ptr self, std::string file) {
    Reading& it = *self;
    ReadTail(it.owner_.files_, it.context_, file, kMessageBytesMax,
             [self = std::move(self), file](const Result<FileTail>& tail) mutable {
               if (!*self->alive_) return;
               const bool missing = !tail && tail.error().code() == ErrorCode::kNotFound;
               const bool empty = missing || (tail && tail->bytes.empty());
               if (empty && TellsOfItsLog(self->current())) return ReadLog(std::move(self));
               if (empty) return Told(std::move(self), "");
               if (tail) return Told(std::move(self), ToText(tail->bytes));
               Failed(std::move(self), "Error on reading termination log " + file + ": ",
                      tail.error());
             });
  }

  static void ReadLog(Ptr self) {
    Reading& it = *self;
    ReadTail(it.owner_.files_, it.context_, it.current().log_path, kLogTailBytesMax,
             [self = std::move(self)](const Result<FileTail>& tail) mutable {
               if (!*self->alive_) return;
               if (tail) return Told(std::move(self), ToText(LastOfLog(*tail)));
               Failed(std::move(self),
                      "Error on reading termination message from logs: ", tail.error());
             });
  }

  static void Told(Ptr self, const std::string& message) {
    self->owner_.Keep(self->current().id, message);
    Join(self->current(), message);
    ++self->at_;
    Next(std::move(self));
  }

  // Not kept: the next read may do better. That it took too long is no message.
  static void Failed(Ptr self, const std::string& what, const Error& error) {
    const bool ended =
        self->owner_.loop_.Now() >= self->context_.deadline || self->context_.cancel.cancelled();
    if (!ended) Join(self->current(), what + error.message());
    ++self->at_;
    Next(std::move(self));
  }

  ObservedContainer& current() { return containers_[at_]; }

  TerminationMessages& owner_;
  const std::shared_ptr<bool> alive_;
  const Context context_;
  Containers containers_;
  UniqueFunction<void(Containers)> done_;
  size_t at_ = 0;
};

TerminationMessages::TerminationMessages(reactor::Loop& loop, reactor::FileSystem& files,
                                         sync::Runtime& runtime, const Logger& log,
                                         TerminationMessagesOptions options)
    : loop_(loop),
      files_(files),
      runtime_(runtime),
      log_(log),
      options_(std::move(options)),
      alive_(std::make_shared<bool>(true)) {}

TerminationMessages::~TerminationMessages() { *alive_ = false; }

void TerminationMessages::Keep(const ContainerId& container, const std::string& message) {
  if (kept_.size() >= kKeptMax) kept_.clear();
  kept_[container] = message;
}

void TerminationMessages::CreateContainer(const Context& context, const SandboxId& sandbox,
                                          const sync::ContainerSpec& spec,
                                          const sync::SandboxSpec& sandbox_spec,
                                          reactor::Done<ContainerId> done) {
  if (MessagePath(spec).empty()) {
    return runtime_.CreateContainer(context, sandbox, spec, sandbox_spec, std::move(done));
  }
  Creation::Begin(
      std::make_unique<Creation>(*this, context, sandbox, spec, sandbox_spec, std::move(done)));
}

void TerminationMessages::ReadPod(const Context& context, const PodUid& pod,
                                  reactor::Done<sync::ObservedPod> done) {
  runtime_.ReadPod(
      context, pod,
      [this, alive = alive_, context,
       done = std::move(done)](Result<sync::ObservedPod> answer) mutable {
        if (!*alive) return;
        if (!answer) return done(std::move(answer));
        Reading::Containers containers = std::exchange(answer->containers, {});
        Reading::Next(std::make_unique<Reading>(
            *this, context, std::move(containers),
            [pod = *std::move(answer), done = std::move(done)](Reading::Containers read) mutable {
              pod.containers = std::move(read);
              done(std::move(pod));
            }));
      });
}

void TerminationMessages::ReadContainer(const Context& context, const ContainerId& container,
                                        const SandboxId& known_sandbox,
                                        reactor::Done<ObservedContainer> done) {
  runtime_.ReadContainer(context, container, known_sandbox,
                         [this, alive = alive_, context,
                          done = std::move(done)](Result<ObservedContainer> answer) mutable {
                           if (!*alive) return;
                           if (!answer) return done(std::move(answer));
                           Reading::Containers containers;
                           containers.push_back(*std::move(answer));
                           Reading::Next(std::make_unique<Reading>(
                               *this, context, std::move(containers),
                               [done = std::move(done)](Reading::Containers read) mutable {
                                 done(std::move(read.front()));
                               }));
                         });
}

void TerminationMessages::RemoveContainer(const Context& context, const ContainerId& container,
                                          reactor::Done<Unit> done) {
  runtime_.RemoveContainer(
      context, container,
      [this, alive = alive_, container, done = std::move(done)](denselet::Status answer) mutable {
        if (!*alive) return;
        if (answer) kept_.erase(container);
        done(std::move(answer));
      });
}

void TerminationMessages::Version(const Context& context,
                                  reactor::Done<sync::RuntimeVersion> done) {
  runtime_.Version(context, std::move(done));
}
void TerminationMessages::Status(const Context& context, reactor::Done<sync::RuntimeStatus> done) {
  runtime_.Status(context, std::move(done));
}
void TerminationMessages::CgroupDriverInUse(const Context& context,
                                            reactor::Done<std::optional<sync::CgroupDriver>> done) {
  runtime_.CgroupDriverInUse(context, std::move(done));
}
void TerminationMessages::SetPodCidr(const Context& context, std::string pod_cidr,
                                     reactor::Done<Unit> done) {
  runtime_.SetPodCidr(context, std::move(pod_cidr), std::move(done));
}
void TerminationMessages::ListAll(const Context& context, reactor::Done<sync::RuntimeList> done) {
  runtime_.ListAll(context, std::move(done));
}
void TerminationMessages::ReadSandbox(const Context& context, const SandboxId& sandbox,
                                      reactor::Done<sync::ObservedSandbox> done) {
  runtime_.ReadSandbox(context, sandbox, std::move(done));
}
void TerminationMessages::RunSandbox(const Context& context, const sync::SandboxSpec& spec,
                                     reactor::Done<SandboxId> done) {
  runtime_.RunSandbox(context, spec, std::move(done));
}
void TerminationMessages::StopSandbox(const Context& context, const SandboxId& sandbox,
                                      reactor::Done<Unit> done) {
  runtime_.StopSandbox(context, sandbox, std::move(done));
}
void TerminationMessages::RemoveSandbox(const Context& context, const SandboxId& sandbox,
                                        reactor::Done<Unit> done) {
  runtime_.RemoveSandbox(context, sandbox, std::move(done));
}
void TerminationMessages::StartContainer(const Context& context, const ContainerId& container,
                                         reactor::Done<Unit> done) {
  runtime_.StartContainer(context, container, std::move(done));
}
void TerminationMessages::StopContainer(const Context& context, const ContainerId& container,
                                        Duration grace, reactor::Done<Unit> done) {
  runtime_.StopContainer(context, container, grace, std::move(done));
}
void TerminationMessages::UpdateResources(const Context& context, const ContainerId& container,
                                          const sync::LinuxResources& resources,
                                          reactor::Done<Unit> done) {
  runtime_.UpdateResources(context, container, resources, std::move(done));
}
void TerminationMessages::UpdateSandboxResources(const Context& context, const SandboxId& sandbox,
                                                 const sync::LinuxResources& resources,
                                                 const sync::LinuxResources& overhead,
                                                 reactor::Done<Unit> done) {
  runtime_.UpdateSandboxResources(context, sandbox, resources, overhead, std::move(done));
}
void TerminationMessages::ReopenLog(const Context& context, const ContainerId& container,
                                    reactor::Done<Unit> done) {
  runtime_.ReopenLog(context, container, std::move(done));
}
void TerminationMessages::Exec(const Context& context, const ContainerId& container,
                               std::vector<std::string> command, Duration timeout,
                               reactor::Done<sync::ExecResult> done) {
  runtime_.Exec(context, container, std::move(command), timeout, std::move(done));
}

}  // namespace denselet::managers
