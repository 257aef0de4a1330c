#include "tests/tidy/include_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/tidy/source_tree.h"

namespace denselet::tidy {
namespace {

constexpr std::string_view kTable = R"(# Architecture

| other | table |
|---|---|
| base | all |

## Who may include whom

| folder | may include | must never see |
|---|---|---|
| base | itself | anything else; no I/O, no threads |
| reactor/api (interfaces: Loop, Timers, FileSystem, PathWatcher, Process) | base | liburing, OpenSSL, Kubernetes |
| reactor | base, reactor/api | Kubernetes, gRPC |
| rpc | base, reactor | Kubernetes, sync |
| kube/api | base | loop, sockets |
| sync/ports (pure interfaces and their structs) | base, kube/api, reactor/api | all else |
| sync | base, kube/api, reactor/api, sync/ports | cri, rpc, kube/client, managers, gRPC, liburing, `<thread>` |
| cri | base, reactor, rpc, kube/api, sync/ports | kube/client, managers |
| kube/client, kube/server | base, reactor, kube/api, sync/ports | cri, managers |
| managers/x | base, reactor, rpc, kube/api, sync/ports | cri, kube/client, managers/y (they talk through a port) |
| app; tests, bench | all (nothing in src includes them) | - |

The table stands in ARCHITECTURE.md.
)";

using Strings = std::vector<std::string>;

std::vector<IncludeRule> Rules() {
  Strings problems;
  std::vector<IncludeRule> rules = ParseIncludeTable(kTable, &problems);
  EXPECT_EQ(problems, Strings());
  return rules;
}

// The report about one file whose third line is the include.
std::string ReportOn(std::string_view path, const std::string& header) {
  return Report(CheckIncludes(Rules(), path, "#pragma once\n\n#include " + header + "\n"));
}

void ExpectForbidden(std::string_view path, const std::string& header, const std::string& why) {
  const std::string report = ReportOn(path, header);
  EXPECT_TRUE(report.starts_with(std::string(path) + ":3: includes " + header + ", ")) << report;
  EXPECT_NE(report.find(why), std::string::npos) << report << "lacks: " << why;
}

void ExpectAllowed(std::string_view path, const std::string& header) {
  EXPECT_EQ(ReportOn(path, header), "");
}

Strings ProblemsOf(const std::string& rows) {
  Strings problems;
  ParseIncludeTable("| folder | may include | must never see |\n|---|---|---|\n" + rows, &problems);
  return problems;
}

TEST(IncludeTable, EveryFolderOfARowGetsARule) {
  Strings folders;
  for (const IncludeRule& rule : Rules()) folders.push_back(rule.folder);
  EXPECT_EQ(folders,
            (Strings{"base", "reactor/api", "reactor", "rpc", "kube/api", "sync/ports", "sync",
                     "cri", "kube/client", "kube/server", "managers/*", "app", "tests", "bench"}));
}

TEST(IncludeTable, MayIncludeIsReadWithoutProse) {
  for (const IncludeRule& rule : Rules()) {
    if (rule.folder == "base") {
      EXPECT_EQ(rule.may_include, Strings());
    }
    if (rule.folder == "kube/server") {
      EXPECT_EQ(rule.may_include, (Strings{"base", "reactor", "kube/api", "sync/ports"}));
    }
    EXPECT_EQ(rule.may_include_all,
              rule.folder == "app" || rule.folder == "tests" || rule.folder == "bench");
  }
}

TEST(IncludeTable, PageWithoutTheTableIsAProblem) {
  Strings problems;
  EXPECT_TRUE(ParseIncludeTable("| folder | may include |\n", &problems).empty());
  EXPECT_EQ(problems.size(), 1u);
}

TEST(IncludeTable, WordsNobodyEnforcesAreProblems) {
  EXPECT_EQ(ProblemsOf("| base | itself | magic |\n"),
            Strings{"line 3: must never see 'magic': neither a folder of this table nor a word of "
                    "header_topics.cc"});
  EXPECT_EQ(ProblemsOf("| base | vendor | - |\n"),
            Strings{"line 3: may include 'vendor': no row is about that folder"});
}

TEST(IncludeTable, ContradictionsAreProblems) {
  EXPECT_EQ(ProblemsOf("| kube/api | itself | - |\n| rpc | kube/api | Kubernetes |\n"),
            Strings{"line 4: may include 'kube/api' and must never see 'Kubernetes'"});
}

TEST(IncludeTable, SecondRowForAFolderIsAProblem) {
  EXPECT_EQ(ProblemsOf("| base | itself | - |\n| base | all | - |\n"),
            Strings{"line 4: a second row for the folder base"});
}

TEST(IncludeTable, TornRowsAreProblems) {
  EXPECT_EQ(ProblemsOf("| base | itself |\n"),
            Strings{"line 3: a row has three cells: | base | itself |"});
}

TEST(IncludeRules, MessageNamesTheIncludeTheRowAndWhatIsAllowed) {
  EXPECT_EQ(
      ReportOn("src/rpc/call.h", "\"cri/client.h\""),
      "src/rpc/call.h:3: includes \"cri/client.h\", of cri, which rpc may not include; rpc may "
      "include itself, base, reactor (row: | rpc | base, reactor | Kubernetes, sync |)\n");
}

TEST(IncludeRules, EveryFolderMayIncludeItself) {
  ExpectAllowed("src/base/result.cc", "\"base/result.h\"");
  ExpectAllowed("src/sync/pleg.cc", "\"sync/pleg.h\"");
  ExpectAllowed("src/managers/cpu/policy/static.cc", "\"managers/cpu/state.h\"");
}

TEST(IncludeRules, BaseMayIncludeNothingElse) {
  ExpectForbidden("src/base/log.cc", "\"reactor/api/loop.h\"", "base may not include");
  ExpectForbidden("src/base/log.cc", "<grpcpp/grpcpp.h>", "must never see (gRPC)");
  ExpectForbidden("src/base/log.cc", "<absl/status/statusor.h>", "must never see (Abseil)");
  ExpectForbidden("src/base/log.cc", "\"k8s.io/api/core/v1/generated.pb.h\"", "of kube/api");
}

TEST(IncludeRules, BaseHasNoInputAndOutput) {
  for (const char* header : {"<fstream>", "<iostream>", "<unistd.h>", "<fcntl.h>", "<sys/socket.h>",
                             "<sys/epoll.h>", "<filesystem>", "<netinet/in.h>"}) {
    ExpectForbidden("src/base/log.cc", header, "must never see (no I/O)");
  }
  ExpectAllowed("src/base/check.cc", "<cstdio>");
}

TEST(IncludeRules, BaseHasNoThreads) {
  for (const char* header :
       {"<thread>", "<mutex>", "<condition_variable>", "<future>", "<pthread.h>"}) {
    ExpectForbidden("src/base/queue.h", header, "must never see (no threads)");
  }
  ExpectAllowed("src/base/queue.h", "<atomic>");
}

TEST(IncludeRules, ReactorApiIsMoreSpecificThanReactor) {
  ExpectForbidden("src/reactor/api/loop.h", "\"reactor/uring_loop.h\"",
                  "reactor/api may not include");
  ExpectForbidden("src/reactor/api/loop.h", "<liburing.h>", "must never see (liburing)");
  ExpectForbidden("src/reactor/api/loop.h", "<openssl/ssl.h>", "must never see (OpenSSL)");
  ExpectAllowed("src/reactor/uring_loop.cc", "<liburing.h>");
  ExpectAllowed("src/reactor/uring/ring.cc", "\"reactor/api/loop.h\"");
}

TEST(IncludeRules, ReactorKnowsNothingOfKubernetesAndGrpc) {
  ExpectForbidden("src/reactor/tls.cc", "\"kube/api/pod.h\"", "must never see (Kubernetes)");
  ExpectForbidden("src/reactor/tls.cc", "\"kube/client/watch.h\"", "must never see (Kubernetes)");
  ExpectForbidden("src/reactor/tls.cc", "\"k8s.io/api/core/v1/generated.pb.h\"", "(Kubernetes)");
  ExpectForbidden("src/reactor/tls.cc", "<grpc/grpc.h>", "must never see (gRPC)");
}

TEST(IncludeRules, RpcMayNotIncludeKubernetesOrSync) {
  ExpectForbidden("src/rpc/call.cc", "\"kube/api/pod.h\"", "must never see (Kubernetes)");
  ExpectForbidden("src/rpc/call.cc", "\"sync/ports/runtime.h\"", "must never see (sync)");
  ExpectAllowed("src/rpc/call.cc", "\"reactor/mailbox.h\"");
  ExpectAllowed("src/rpc/call.cc", "\"reactor/api/loop.h\"");
  ExpectAllowed("src/rpc/call.cc", "<grpcpp/grpcpp.h>");
}

TEST(IncludeRules, KubeApiHasNoLoopAndNoSockets) {
  ExpectForbidden("src/kube/api/codec.cc", "\"reactor/api/loop.h\"", "must never see (loop)");
  ExpectForbidden("src/kube/api/codec.cc", "<sys/epoll.h>", "must never see (loop)");
  ExpectForbidden("src/kube/api/codec.cc", "<sys/socket.h>", "must never see (sockets)");
  ExpectAllowed("src/kube/api/codec.cc", "\"k8s.io/api/core/v1/generated.pb.h\"");
  ExpectAllowed("src/kube/api/codec.cc", "<yyjson.h>");
}

TEST(IncludeRules, PortsSeeNoLibraryAndNothingOfSync) {
  ExpectForbidden("src/sync/ports/runtime.h", "\"sync/pleg.h\"", "sync/ports may not include");
  ExpectForbidden("src/sync/ports/runtime.h", "<openssl/ssl.h>", "must never see (OpenSSL)");
  ExpectForbidden("src/sync/ports/runtime.h", "<google/protobuf/message.h>", "(Protobuf)");
  ExpectAllowed("src/sync/ports/runtime.h", "\"kube/api/pod.h\"");
  ExpectAllowed("src/sync/ports/runtime.h", "<vector>");
}

TEST(IncludeRules, SyncMayNotIncludeCri) {
  ExpectForbidden("src/sync/pleg.cc", "\"cri/client.h\"", "sync must never see (cri)");
}

TEST(IncludeRules, CriMessagesStopInCri) {
  const std::string message = "\"k8s.io/cri-api/pkg/apis/runtime/v1/api.pb.h\"";
  ExpectForbidden("src/sync/pleg.cc", message, "sync must never see (cri)");
  ExpectForbidden("src/kube/api/codec.cc", message, "of cri, which kube/api may not include");
  ExpectForbidden("src/managers/image/pull.cc", message, "must never see (cri)");
  ExpectAllowed("src/cri/client.cc", message);
}

TEST(IncludeRules, SyncSeesNoTransportAndNoThread) {
  ExpectForbidden("src/sync/shard.cc", "\"rpc/call.h\"", "must never see (rpc)");
  ExpectForbidden("src/sync/shard.cc", "\"kube/client/watch.h\"", "must never see (kube/client)");
  ExpectForbidden("src/sync/shard.cc", "\"managers/cpu/state.h\"", "must never see (managers)");
  ExpectForbidden("src/sync/shard.cc", "\"k8s.io/kubelet/v1/api.grpc.pb.h\"", "never see (gRPC)");
  ExpectForbidden("src/sync/shard.cc", "<liburing.h>", "must never see (liburing)");
  ExpectForbidden("src/sync/shard.cc", "<thread>", "must never see (<thread>)");
  ExpectForbidden("src/sync/shard.cc", "\"reactor/mailbox.h\"", "sync may not include");
}

TEST(IncludeRules, CriMayNotIncludeManagers) {
  ExpectForbidden("src/cri/client.cc", "\"managers/image/pull.h\"", "must never see (managers)");
  ExpectForbidden("src/cri/client.cc", "\"kube/client/watch.h\"", "must never see (kube/client)");
  ExpectForbidden("src/cri/client.cc", "\"sync/pleg.h\"", "cri may not include");
  ExpectAllowed("src/cri/client.cc", "\"sync/ports/runtime.h\"");
}

TEST(IncludeRules, KubeServerMayNotIncludeKubeClient) {
  ExpectForbidden("src/kube/server/pods.cc", "\"kube/client/watch.h\"", "of kube/client");
  ExpectForbidden("src/kube/client/watch.cc", "\"cri/client.h\"", "must never see (cri)");
}

TEST(IncludeRules, ManagersDoNotIncludeEachOther) {
  ExpectForbidden("src/managers/cpu/state.cc", "\"managers/memory/state.h\"",
                  "of managers/memory, which managers/cpu may not include");
  ExpectForbidden("src/managers/cpu/state.cc", "\"kube/client/watch.h\"", "(kube/client)");
}

TEST(IncludeRules, NothingInSrcIncludesAppTestsOrBench) {
  ExpectForbidden("src/sync/shard.cc", "\"app/flags.h\"", "sync may not include");
  ExpectForbidden("src/sync/shard.cc", "\"tests/fakes/clock.h\"", "nothing in src includes tests");
  ExpectForbidden("src/app/main.cc", "\"bench/cri_sim/sim.h\"", "nothing in src includes tests");
  ExpectAllowed("src/app/main.cc", "\"app/flags.h\"");
  ExpectAllowed("src/app/main.cc", "\"managers/cpu/state.h\"");
}

TEST(IncludeRules, TestsAndBenchMayIncludeAll) {
  ExpectAllowed("tests/sync/pleg_test.cc", "\"cri/client.h\"");
  ExpectAllowed("bench/loop_bench.cc", "\"tests/fakes/clock.h\"");
}

TEST(IncludeRules, UnknownFoldersAreErrors) {
  ExpectForbidden("src/app/main.cc", "\"vendor/thing.h\"", "lies in no folder of the table");
  ExpectForbidden("src/app/main.cc", "\"flags.h\"", "write it relative to src/");
  ExpectForbidden("src/app/main.cc", "\"../base/result.h\"", "lies in no folder of the table");
  ExpectForbidden("src/app/main.cc", "\"kube/pod.h\"", "lies in no folder of the table");
  ExpectForbidden("src/app/main.cc", "\"managers/manager.h\"", "lies in no folder of the table");
  ExpectForbidden("src/app/main.cc", "SOME_MACRO", "names no header");
}

TEST(IncludeRules, BracketsDoNotHideAProjectHeader) {
  ExpectForbidden("src/base/log.cc", "<sync/pleg.h>", "base may not include");
}

TEST(IncludeRules, FolderWithoutARowIsAnError) {
  for (const char* path :
       {"src/extra/a.cc", "src/kube/a.cc", "src/managers/a.cc", "src/main.cc", "src/tests/a.cc"}) {
    const std::string report = Report(CheckIncludes(Rules(), path, ""));
    EXPECT_TRUE(report.starts_with(std::string(path) + ":1: no row")) << path << ": " << report;
  }
}

TEST(IncludeRules, OnlyDirectivesCount) {
  const std::string text =
      "// #include \"cri/a.h\"\n"
      "/*\n#include \"cri/b.h\"\n*/\n"
      "auto s = R\"(\n#include \"cri/c.h\"\n)\";\n"
      "#  include \"cri/d.h\"  // #include \"cri/e.h\"\n";
  const std::vector<Violation> violations = CheckIncludes(Rules(), "src/sync/a.cc", text);
  ASSERT_EQ(violations.size(), 1u) << Report(violations);
  EXPECT_EQ(violations[0].line, 8);
}

TEST(IncludeRules, HoldInThisRepository) {
  const auto page = ReadFile(SourceRoot(), "ARCHITECTURE.md");
  ASSERT_TRUE(page) << SourceRoot() << "/ARCHITECTURE.md cannot be read";
  Strings problems;
  const std::vector<IncludeRule> rules = ParseIncludeTable(*page, &problems);
  for (const std::string& problem : problems) ADD_FAILURE() << "ARCHITECTURE.md: " << problem;

  const std::vector<SourceFile> files = ReadCppFiles(SourceRoot(), "src");
  EXPECT_FALSE(files.empty()) << "no sources below " << SourceRoot() << "/src";
  std::vector<Violation> violations;
  for (const SourceFile& file : files) {
    std::ranges::move(CheckIncludes(rules, file.path, file.text), std::back_inserter(violations));
  }
  EXPECT_TRUE(violations.empty()) << Report(violations);
}

}  // namespace
}  // namespace denselet::tidy
