// A certificate directory on the simulated disk, a signer and a logger, on virtual time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "kube/client/certificates/certificate_store.h"
#include "kube/client/certificates/rotation.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/kube/client/certificates/fake_signer.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/world.h"

namespace denselet::kube {

inline const std::string kPki = "/var/lib/kubelet/pki";
inline const std::string kCurrent = kPki + "/kubelet-client-current.pem";

// One node's machine.
struct Machine {
  explicit Machine(uint64_t seed = 1) : world({.seed = seed, .shards = 1}) {
    EXPECT_TRUE(disk.MakeDirectories("/var/lib/kubelet", 0755));
  }

  reactor::Loop& loop() { return world.loop(0); }
  Logger logger() { return Logger(output); }
  WallTime WallNow() { return world.clock().WallNow(); }

  // True: it came true in time.
  template <class Predicate>
  [[nodiscard]] bool RunUntil(Predicate done, Duration limit = Hours(1)) {
    const TimePoint end = After(world.clock().Now(), limit);
    while (!done() && world.clock().Now() < end && world.Step()) {
    }
    return done();
  }
  void RunFor(Duration time) { world.RunUntil(After(world.clock().Now(), time)); }

  template <class T, class Start>
  Result<T> Await(Start start) {
    std::optional<Result<T>> answer;
    start(reactor::Done<T>([&](Result<T> result) { answer.emplace(std::move(result)); }));
    EXPECT_FALSE(answer) << "called back inside the call";
    if (!RunUntil([&] { return answer.has_value(); }, Hours(10))) {
      return Error(ErrorCode::kDeadlineExceeded, "no answer");
    }
    return *std::move(answer);
  }

  Result<StoredCertificate> Load() {
    return Await<StoredCertificate>([&](auto done) { store.Load({}, std::move(done)); });
  }
  Result<StoredCertificate> Store(const std::string& certificate, const std::string& key) {
    return Await<StoredCertificate>(
        [&](auto done) { store.Store({}, certificate, key, std::move(done)); });
  }
  // A new one, signed at this moment, as if by a former life.
  StoredCertificate StoreNew(const std::string& common_name = "system:node:n1") {
    const std::string key = *NewPrivateKey();
    Result<StoredCertificate> stored = Store(signer.Sign(key, common_name), key);
    EXPECT_TRUE(stored);
    return *stored;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& entry : *disk.List(kPki, 1000)) names.push_back(entry.name);
    return names;
  }

  sim::World world;
  sim::Disk disk;
  sim::SimFileSystem files{world.loop(0), world.random(), disk};
  LogVerbosity verbosity;
  CapturingLogSink log;
  LogOutput output{.format = {}, .clock = world.clock(), .verbosity = verbosity, .sink = log};
  CertificateStore store{CertificateFiles{loop(), files, logger(), kPki, "kubelet-client"}};
  FakeSigner signer{loop()};
};

// Remembers what a rotation tells.
struct Told final : RotationUser {
  void OnCertificate(const CertificateInfo& certificate) override {
    certificates.push_back(certificate);
  }
  void OnRenewError(const Error& error) override { errors.push_back(error); }
  void OnHopeless() override { ++hopeless; }

  std::vector<CertificateInfo> certificates;
  std::vector<Error> errors;
  int hopeless = 0;
};

}  // namespace denselet::kube
