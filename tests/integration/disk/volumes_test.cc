// Volumes on the real kernel: what the fake disk says of set-up and take-down is true.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "managers/volume/filling.h"
#include "managers/volume/volume_setup.h"
#include "reactor/kernel_disk_calls.h"
#include "tests/integration/test_files.h"

namespace denselet::managers {
namespace {

namespace fs = std::filesystem;

class VolumesOnTheKernel : public testing::Test {
 protected:
  VolumesOnTheKernel() {
    std::string name = testing::TempDir() + "volumes.XXXXXX";
    root_ = ::mkdtemp(name.data());
    pod_ = root_ + "/pods/u-1";
    fs::create_directories(pod_ + "/volumes");
    fs::create_directories(pod_ + "/plugins");
  }
  ~VolumesOnTheKernel() override { fs::remove_all(root_); }

  // On a thread with a mount namespace of its own, which goes with the thread.
  void InOwnNamespace(const std::function<void()>& body) {
    bool allowed = ::geteuid() == 0;
    std::thread([&] {
      allowed = allowed && ::unshare(CLONE_NEWNS) == 0 &&
                ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
      if (allowed) body();
    }).join();
    if (!allowed) GTEST_SKIP() << "only for root, where mount namespaces are allowed";
  }

  FilledVolume Volume(VolumeKind kind, VolumeMedium medium, const std::string& name) const {
    FilledVolume volume;
    volume.plan = {.name = name,
                   .kind = kind,
                   .path = pod_ + "/volumes/" + std::string(FolderOf(kind)) + "/" + name,
                   .ready_folder = pod_ + "/plugins/kubernetes.io~empty-dir/" + name,
                   .medium = medium,
                   .fs_group = 4711};
    if (medium == VolumeMedium::kMemory) volume.plan.mount_options = "size=1048576";
    if (HasContent(kind)) {
      volume.content = ContentWrite{.folder = volume.plan.path,
                                    .payload = {{"a", {"1", 0600, {}}}, {"d/e", {"2", 0644, 7}}},
                                    .stamp = "..2026_01_02_15_04_05.",
                                    .number = 5,
                                    .fs_group = 4711};
    }
    return volume;
  }
  std::vector<FilledVolume> Volumes() const {
    return {Volume(VolumeKind::kEmptyDir, VolumeMedium::kDisk, "disk"),
            Volume(VolumeKind::kEmptyDir, VolumeMedium::kMemory, "mem"),
            Volume(VolumeKind::kSecret, VolumeMedium::kMemory, "sec"),
            Volume(VolumeKind::kConfigMap, VolumeMedium::kDisk, "conf")};
  }
  std::string Fault(const Status& status) { return status ? "" : status.error().message(); }
  std::string Faults(const std::vector<sync::VolumeFault>& faults) {
    std::string text;
    for (const sync::VolumeFault& fault : faults) text += fault.volume + ": " + fault.why.message();
    return text;
  }
  // "2755 0:4711"
  std::string At(const std::string& path) const {
    struct stat info {};
    if (::lstat((pod_ + "/volumes/kubernetes.io~" + path).c_str(), &info) != 0) return "-";
    char text[64];
    std::snprintf(text, sizeof text, "%04o %u:%u", info.st_mode & 07777, info.st_uid, info.st_gid);
    return text;
  }
  int MountsBelowThePod() const {
    int count = 0;
    const std::string table = reactor::Content("/proc/thread-self/mountinfo");
    for (size_t at = table.find(" " + pod_); at != std::string::npos;
         at = table.find(" " + pod_, at + 1)) {
      ++count;
    }
    return count;
  }

  std::string root_;
  std::string pod_;
  reactor::KernelDiskCalls disk_;
};

TEST_F(VolumesOnTheKernel, AreSetUpOnceWithUpstreamsModesAndLeaveNothing) {
  InOwnNamespace([&] {
    ASSERT_EQ(Faults(SetUpVolumes(disk_, Volumes())), "");
    EXPECT_EQ(At("empty-dir/disk"), "2777 0:4711");
    EXPECT_EQ(At("empty-dir/mem"), "3777 0:4711");
    EXPECT_EQ(At("secret/sec"), "3777 0:4711");
    EXPECT_EQ(At("secret/sec/..2026_01_02_15_04_05.5"), "2755 0:4711");
    EXPECT_EQ(At("secret/sec/..2026_01_02_15_04_05.5/a"), "0640 0:4711");
    EXPECT_EQ(At("secret/sec/..2026_01_02_15_04_05.5/d/e"), "0644 7:4711");
    EXPECT_EQ(reactor::Content(pod_ + "/volumes/kubernetes.io~secret/sec/d/e"), "2");
    EXPECT_EQ(MountsBelowThePod(), 2);
    ASSERT_EQ(Faults(SetUpVolumes(disk_, Volumes())), "");
    EXPECT_EQ(MountsBelowThePod(), 2) << "mounted twice";

    std::vector<FilledVolume> newer = Volumes();
    newer[3].content->payload = {{"b", {"3", 0644, {}}}};
    ASSERT_EQ(Faults(SetUpVolumes(disk_, newer)), "");
    EXPECT_EQ(reactor::Content(pod_ + "/volumes/kubernetes.io~configmap/conf/b"), "3");
    EXPECT_EQ(At("configmap/conf/a"), "-");

    const std::string disk = pod_ + "/volumes/kubernetes.io~empty-dir/disk";
    reactor::Put(disk + "/file", "x");
    ASSERT_EQ(Fault(disk_.BindBelow({disk, "made"}, 0777, pod_ + "/volume-subpaths/disk/c/0")), "");
    ASSERT_EQ(Fault(disk_.BindBelow({disk, "file"}, 0777, pod_ + "/volume-subpaths/disk/c/1")), "");
    ASSERT_EQ(Fault(TearDownPod(disk_, root_, PodUid("u-1"))), "");
    EXPECT_EQ(MountsBelowThePod(), 0);
    EXPECT_TRUE(fs::is_empty(pod_ + "/volumes"));
    EXPECT_FALSE(fs::exists(pod_ + "/volume-subpaths"));
    EXPECT_TRUE(fs::is_empty(pod_ + "/plugins"));
  });
}

TEST_F(VolumesOnTheKernel, WhatSomebodyElseMountedInAVolumeIsNotEmptied) {
  InOwnNamespace([&] {
    ASSERT_EQ(Faults(SetUpVolumes(disk_, Volumes())), "");
    fs::create_directories(root_ + "/elsewhere");
    reactor::Put(root_ + "/elsewhere/data", "precious");
    for (const char* kind : {"disk", "mem"}) {
      const std::string inner =
          pod_ + "/volumes/kubernetes.io~empty-dir/" + kind + std::string("/inner");
      fs::create_directory(inner);
      ASSERT_EQ(::mount((root_ + "/elsewhere").c_str(), inner.c_str(), nullptr, MS_BIND, nullptr),
                0);
    }
    EXPECT_NE(Fault(TearDownPod(disk_, root_, PodUid("u-1"))), "");
    EXPECT_EQ(reactor::Content(root_ + "/elsewhere/data"), "precious");
    for (const char* kind : {"disk", "mem"}) {
      ASSERT_EQ(::umount((pod_ + "/volumes/kubernetes.io~empty-dir/" + kind + "/inner").c_str()),
                0);
    }
    EXPECT_EQ(Fault(TearDownPod(disk_, root_, PodUid("u-1"))), "");
    EXPECT_EQ(reactor::Content(root_ + "/elsewhere/data"), "precious");
  });
}

}  // namespace
}  // namespace denselet::managers
