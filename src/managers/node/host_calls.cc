#include "managers/node/host_calls.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "reactor/net/resolve.h"
#include "reactor/shard.h"

namespace denselet::node {

namespace {

Result<FileSystemSpace> SpaceOf(const std::string& path) {
  struct statvfs info {};
  if (statvfs(path.c_str(), &info) != 0) return Error::FromErrno(errno, "statfs " + path);
  return FileSystemSpace{.bytes = static_cast<uint64_t>(info.f_blocks) * info.f_frsize,
                         .bytes_available = static_cast<uint64_t>(info.f_bavail) * info.f_frsize,
                         .inodes = info.f_files,
                         .inodes_free = info.f_ffree};
}

NetworkInterface& FindOrAdd(std::vector<NetworkInterface>& all, const ifaddrs& entry) {
  const auto found = std::ranges::find(all, entry.ifa_name, &NetworkInterface::name);
  if (found != all.end()) return *found;
  const auto has = [&entry](unsigned flag) { return (entry.ifa_flags & flag) != 0; };
  return all.emplace_back(NetworkInterface{.name = entry.ifa_name,
                                           .up = has(IFF_UP),
                                           .loopback = has(IFF_LOOPBACK),
                                           .point_to_point = has(IFF_POINTOPOINT)});
}

Result<std::vector<NetworkInterface>> ReadInterfaces() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return Error::FromErrno(errno, "list network interfaces");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(first, freeifaddrs);
  std::vector<NetworkInterface> all;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    NetworkInterface& interface = FindOrAdd(all, *entry);
    if (const auto ip = IpAddress::From(entry->ifa_addr)) interface.addresses.push_back(*ip);
  }
  return all;
}

Result<std::vector<IpAddress>> AddressesOf(const std::string& name) {
  const Result<std::vector<net::Address>> found = net::ResolveBlocking(name, 0);
  if (!found) return found.error();
  std::vector<IpAddress> addresses;
  for (const net::Address& each : *found) {
    const auto ip = IpAddress::From(each.get());
    if (!ip) continue;
    if (std::ranges::find(addresses, *ip) == addresses.end()) addresses.push_back(*ip);
  }
  return addresses;
}

}  // namespace

BlockingHostCalls BlockingHostCalls::OfTheKernel() {
  return {.space = SpaceOf, .interfaces = ReadInterfaces, .resolve = AddressesOf};
}

void RealHostCalls::MeasureFileSystem(const Context& context, std::string path,
                                      reactor::Done<FileSystemSpace> done) {
  pool_.Run<FileSystemSpace>(
      home_, context, {"statfs", path, spaces_},
      [space = calls_.space, path] { return space(path); }, std::move(done));
}

void RealHostCalls::Interfaces(const Context& context,
                               reactor::Done<std::vector<NetworkInterface>> done) {
  pool_.Run<std::vector<NetworkInterface>>(home_, context,
                                           {"list network interfaces", "", interfaces_},
                                           calls_.interfaces, std::move(done));
}

void RealHostCalls::Resolve(const Context& context, std::string name,
                            reactor::Done<std::vector<IpAddress>> done) {
  pool_.Run<std::vector<IpAddress>>(
      home_, context, {"resolve", name, names_},
      [resolve = calls_.resolve, name] { return resolve(name); }, std::move(done));
}

}  // namespace denselet::node
