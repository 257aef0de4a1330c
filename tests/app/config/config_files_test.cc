#include "app/config/config_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/app/config/fake_config_files.h"

namespace denselet::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DropIns, AreFoundInLexicalOrderFolderByFolder) {
  FakeConfigFiles files({{"/d/20.conf", ""},
                         {"/d/10.conf", ""},
                         {"/d/15/b.conf", ""},
                         {"/d/15/a.conf", ""},
                         {"/d/15/deep/er.conf", ""},
                         {"/d/notes.txt", ""},
                         {"/d/x.conf.bak", ""}});
  files.PutLink("/d/17.conf");
  files.PutLink("/d/linked");
  const auto found = FindDropIns(files, "/d");
  ASSERT_TRUE(found);
  EXPECT_THAT(found->files, ElementsAre("/d/10.conf", "/d/15/a.conf", "/d/15/b.conf",
                                        "/d/15/deep/er.conf", "/d/17.conf", "/d/20.conf"));
  EXPECT_THAT(found->skipped, ElementsAre("/d/linked", "/d/notes.txt", "/d/x.conf.bak"));
}

TEST(DropIns, OfALinkToAFolderAreNone) {
  FakeConfigFiles files;
  files.Put("/real/10.conf", "");
  files.PutLink("/d");
  const auto found = FindDropIns(files, "/d");
  ASSERT_TRUE(found);
  EXPECT_THAT(found->files, IsEmpty());
}

TEST(DropIns, OfAFolderThatIsNotThereAreAnError) {
  FakeConfigFiles files;
  EXPECT_FALSE(FindDropIns(files, "/d"));
}

TEST(DiskConfigFiles, ReadsWhatIsThere) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "disk_config_files";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "real");
  std::ofstream(folder / "real/1.conf") << "text";
  std::filesystem::create_symlink("real", folder / "link");
  DiskConfigFiles files;
  const auto direct = FindDropIns(files, folder / "real");
  ASSERT_TRUE(direct);
  ASSERT_THAT(direct->files, ElementsAre((folder / "real/1.conf").string()));
  EXPECT_EQ(*files.Read(direct->files[0]), "text");
  const auto link = FindDropIns(files, folder / "link");
  ASSERT_TRUE(link);
  EXPECT_THAT(link->files, IsEmpty());
  const auto followed = FindDropIns(files, (folder / "link").string() + "/");
  ASSERT_TRUE(followed);
  EXPECT_THAT(followed->files, ElementsAre((folder / "link/1.conf").string()));
  EXPECT_FALSE(files.Read(folder / "none"));
  EXPECT_TRUE(files.WorkingFolder()->starts_with('/'));
  std::filesystem::remove_all(folder);
}

TEST(DiskConfigFiles, APipeOrADeviceIsRefused) {
  const std::string pipe = std::string(::testing::TempDir()) + "config_pipe";
  const std::string link = pipe + "_link";
  std::filesystem::remove(pipe);
  std::filesystem::remove(link);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(pipe, link);
  DiskConfigFiles files;
  for (const std::string& path : {pipe, link, std::string("/dev/zero")}) {
    const auto text = files.Read(path);
    ASSERT_FALSE(text) << path;
    EXPECT_EQ(text.error().message(),
              "read \"" + path + "\": a pipe, a socket or a device, wanted a file");
  }
}

TEST(DiskConfigFiles, WhatTheCommandLineNamesMayBeAPipe) {
  DiskConfigFiles files;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  const auto text = files.ReadNamed(path);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, "text");
  EXPECT_FALSE(files.Read(path)) << "a drop-in";
  ::close(ends[0]);
  const auto device = files.ReadNamed("/dev/zero");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().message(),
            "read \"/dev/zero\": a socket or a device, wanted a file or a pipe");
}

}  // namespace
}  // namespace denselet::app
