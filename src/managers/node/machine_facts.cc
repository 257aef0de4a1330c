#include "managers/node/machine_facts.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace denselet::node {

namespace {

constexpr std::string_view kOnlineCpus = "/sys/devices/system/cpu/online";
constexpr std::string_view kPossibleCpus = "/sys/devices/system/cpu/possible";
constexpr std::string_view kMemory = "/proc/meminfo";
constexpr std::string_view kOwnCgroup = "/proc/self/cgroup";
constexpr std::string_view kKernelVersion = "/proc/sys/kernel/osrelease";
constexpr std::string_view kBootId = "/proc/sys/kernel/random/boot_id";
constexpr std::string_view kStat = "/proc/stat";
// In each list the first that can be read counts.
constexpr std::string_view kMachineIds[] = {"/etc/machine-id", "/var/lib/dbus/machine-id"};
constexpr std::string_view kSystemUuids[] = {"/sys/class/dmi/id/product_uuid",
                                             "/proc/device-tree/system-id",
                                             "/proc/device-tree/vm,uuid", "/etc/machine-id"};
constexpr std::string_view kOsReleases[] = {"/etc/os-release", "/usr/lib/os-release"};
constexpr int64_t kCpusMax = 1 << 20;      // in a list; beyond is nonsense
constexpr size_t kCpusLookedAtMax = 8192;  // one by one: no kernel is built for more

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks{" \t\r\n\v\f\0", 7};
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

template <class Paths>
std::string FirstOf(const FileTexts& files, const Paths& paths) {
  for (const std::string_view path : paths) {
    if (const auto found = files.find(path); found != files.end()) {
      return std::string(Trimmed(found->second));
    }
  }
  return {};
}

std::string_view TextOf(const FileTexts& files, std::string_view path) {
  const auto found = files.find(path);
  return found == files.end() ? std::string_view{} : std::string_view(found->second);
}

// The number behind a name, at the beginning of a line.
std::optional<uint64_t> NumberAfter(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    if (text.starts_with(name)) {
      text.remove_prefix(name.size());
      text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
      uint64_t number = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) {
        return std::nullopt;
      }
      return number;
    }
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return std::nullopt;
}

std::string OsImage(const FileTexts& files) {
  const std::string text = FirstOf(files, kOsReleases);
  const bool readable =
      std::ranges::any_of(kOsReleases, [&](std::string_view path) { return files.contains(path); });
  if (!readable) return "Unknown";
  constexpr std::string_view kName = "PRETTY_NAME=";
  const size_t at = text.find(kName);
  if (at == std::string::npos) return "Linux";
  std::string_view name = std::string_view(text).substr(at + kName.size());
  name = name.substr(0, name.find('\n'));
  while (name.starts_with('"')) name.remove_prefix(1);
  while (name.ends_with('"')) name.remove_suffix(1);
  return std::string(name);
}

std::vector<HugePages> ParseHugePages(const FileTexts& files) {
  std::vector<HugePages> sizes;
  for (const auto& [path, text] : files) {
    std::string_view rest = path;
    if (!rest.starts_with(kHugePagesFolder)) continue;
    rest.remove_prefix(kHugePagesFolder.size() + 1);
    const uint64_t kib = HugePageKib(rest.substr(0, rest.find('/')));
    uint64_t pages = 0;
    const std::string_view number = Trimmed(text);
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), pages);
    if (kib != 0 && parsed.ec == std::errc{}) sizes.push_back({kib, pages});
  }
  std::ranges::sort(sizes, {}, &HugePages::page_kib);
  return sizes;
}

Result<std::set<int64_t>> CpusOf(std::string_view list) {
  list = Trimmed(list);
  std::set<int64_t> cpus;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view range = Trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    int64_t first = 0;
    const char* end = range.data() + range.size();
    auto parsed = std::from_chars(range.data(), end, first);
    int64_t last = first;
    if (parsed.ec == std::errc{} && parsed.ptr != end && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, end, last);
    }
    const bool fits = 0 <= first && first <= last && last < kCpusMax;
    if (parsed.ec != std::errc{} || parsed.ptr != end || !fits) {
      return Error(ErrorCode::kInvalid, "not a list of CPUs: \"" + std::string(range) + "\"");
    }
    for (int64_t cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

}  // namespace

const std::vector<std::string>& MachineFiles() {
  static const std::vector<std::string> files = [] {
    std::set<std::string> paths;
    for (const std::string_view path :
         {kOnlineCpus, kPossibleCpus, kMemory, kOwnCgroup, kKernelVersion, kBootId, kStat}) {
      paths.emplace(path);
    }
    for (const std::string_view path : kMachineIds) paths.emplace(path);
    for (const std::string_view path : kSystemUuids) paths.emplace(path);
    for (const std::string_view path : kOsReleases) paths.emplace(path);
    return std::vector<std::string>(paths.begin(), paths.end());
  }();
  return files;
}

Result<uint64_t> MemoryBytes(std::string_view meminfo, std::string_view name) {
  constexpr uint64_t kKibMax = UINT64_MAX / 1024;
  const std::optional<uint64_t> kib = NumberAfter(meminfo, name);
  if (!kib || *kib > kKibMax) {
    return Error(ErrorCode::kCorrupt, "not in /proc/meminfo").With("find", name);
  }
  return *kib * 1024;
}

uint64_t HugePageKib(std::string_view folder) {
  constexpr std::string_view kPrefix = "hugepages-";
  constexpr std::string_view kSuffix = "kB";
  if (!folder.starts_with(kPrefix) || !folder.ends_with(kSuffix)) return 0;
  folder.remove_prefix(kPrefix.size());
  folder.remove_suffix(kSuffix.size());
  uint64_t kib = 0;
  const char* end = folder.data() + folder.size();
  const auto parsed = std::from_chars(folder.data(), end, kib);
  // Beyond, the size in bytes would not fit.
  return parsed.ec == std::errc{} && parsed.ptr == end && kib <= INT64_MAX / 1024 ? kib : 0;
}

Result<int64_t> CountCpus(std::string_view list) {
  const Result<std::set<int64_t>> cpus = CpusOf(list);
  if (!cpus) return cpus.error();
  return static_cast<int64_t>(cpus->size());
}

MachinePaths PathsToLookFor(const FileTexts& files) {
  MachinePaths paths;
  // The root of the one hierarchy has no such file, so it is looked for where we are.
  std::string_view groups = TextOf(files, kOwnCgroup);
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    if (line.find(":memory:") != line.npos) {
      paths.swap_control = "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes";
      break;
    }
    if (line.starts_with("0::/")) {
      const std::string_view own = line.substr(3);
      paths.swap_control =
          "/sys/fs/cgroup" + std::string(own == "/" ? "" : own) + "/memory.swap.max";
    }
  }
  const Result<std::set<int64_t>> cpus = CpusOf(TextOf(files, kPossibleCpus));
  if (!cpus || cpus->size() > kCpusLookedAtMax) return paths;
  for (const int64_t cpu : *cpus) {
    paths.thermal_throttle.push_back("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                     "/thermal_throttle");
  }
  return paths;
}

Result<MachineFacts> ParseMachineFacts(const FileTexts& files) {
  MachineFacts facts;
  const Result<int64_t> cpus = CountCpus(TextOf(files, kOnlineCpus));
  if (!cpus) return cpus.error().With("read", kOnlineCpus);
  if (*cpus == 0) return Error(ErrorCode::kNotFound, "no CPU is online");
  facts.cpus = *cpus;

  const std::string_view meminfo = TextOf(files, kMemory);
  const Result<uint64_t> memory = MemoryBytes(meminfo, "MemTotal:");
  if (!memory) return memory.error();
  facts.memory_bytes = *memory;
  if (const Result<uint64_t> swap = MemoryBytes(meminfo, "SwapTotal:")) facts.swap_bytes = *swap;

  facts.huge_pages = ParseHugePages(files);
  facts.machine_id = FirstOf(files, kMachineIds);
  facts.system_uuid = FirstOf(files, kSystemUuids);
  facts.boot_id = Trimmed(TextOf(files, kBootId));
  facts.kernel_version = Trimmed(TextOf(files, kKernelVersion));
  if (facts.kernel_version.empty()) facts.kernel_version = "Unknown";
  facts.os_image = OsImage(files);
  facts.booted_at_seconds = NumberAfter(TextOf(files, kStat), "btime ").value_or(0);
  return facts;
}

}  // namespace denselet::node
