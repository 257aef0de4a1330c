// What the machine has: the part of the node's status that comes from the kernel and from files of
// the operating system. Read once at start; CPUs and memory that come later need a restart of the
// agent, as they do upstream.
//
// Pure functions, on any thread; host_facts.h reads the files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace denselet::node {

struct HugePages {
  uint64_t page_kib = 0;
  uint64_t pages = 0;

  friend bool operator==(const HugePages&, const HugePages&) = default;
};

struct MachineFacts {
  int64_t cpus = 0;
  uint64_t memory_bytes = 0;
  uint64_t swap_bytes = 0;
  std::vector<HugePages> huge_pages = {};  // by size
  std::string machine_id = {};
  std::string system_uuid = {};
  std::string boot_id = {};
  std::string kernel_version = {};
  std::string os_image = {};
  uint64_t root_fs_bytes = 0;      // of the file system with the agent's folder; 0: not known
  uint64_t booted_at_seconds = 0;  // since 1970; 0: not known
  // Groups of processes can be kept from swapping.
  bool swap_controller = false;
  // Of each CPU that has one: what containers are not to see.
  std::vector<std::string> thermal_throttle_paths = {};
};

// Files by path, as far as they could be read.
using FileTexts = std::map<std::string, std::string, std::less<>>;

// All that is looked at, except for the huge pages.
const std::vector<std::string>& MachineFiles();
inline constexpr std::string_view kHugePagesFolder = "/sys/kernel/mm/hugepages";

// An error: without CPUs or memory there is no node. What else is missing is left empty, as
// upstream does.
Result<MachineFacts> ParseMachineFacts(const FileTexts& files);

// A line of /proc/meminfo, by its name with the colon. kCorrupt: there is none.
Result<uint64_t> MemoryBytes(std::string_view meminfo, std::string_view name);

// "hugepages-2048kB" -> 2048; 0 when it is none.
uint64_t HugePageKib(std::string_view folder);

// How many CPUs a list such as "0-3,8" names. kInvalid: it is none.
Result<int64_t> CountCpus(std::string_view list);

// What is there or is not, which tells of the machine, too.
struct MachinePaths {
  std::string swap_control = {};  // empty: in no group of ours
  std::vector<std::string> thermal_throttle = {};
};
MachinePaths PathsToLookFor(const FileTexts& files);

}  // namespace denselet::node
