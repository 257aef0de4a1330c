#include "tests/tidy/header_topics.h"

#include <array>

namespace denselet::tidy {

std::span<const HeaderTopic> Libraries() {
  static const std::vector<HeaderTopic> kLibraries = {
      {"gRPC", {"grpc/", "grpcpp/", "grpc++/", "*.grpc.pb.h"}},
      {"liburing", {"liburing.h", "liburing/", "linux/io_uring.h"}},
      {"OpenSSL", {"openssl/"}},
      {"Protobuf", {"google/protobuf/"}},
      {"Abseil", {"absl/"}},
      {"nghttp2", {"nghttp2/"}},
      {"llhttp", {"llhttp.h"}},
      {"yyjson", {"yyjson.h"}},
      {"libyaml", {"yaml.h"}},
      {"jemalloc", {"jemalloc/"}},
      {"prometheus-cpp", {"prometheus/"}},
      {"libsystemd", {"systemd/"}},
  };
  return kLibraries;
}

std::span<const HeaderTopic> Concerns() {
  static const std::vector<HeaderTopic> kConcerns = {
      {"Kubernetes", {"k8s.io/", "kube/"}},
      {"loop", {"reactor/", "liburing.h", "liburing/", "linux/io_uring.h", "sys/epoll.h"}},
      {"sockets",
       {"sys/socket.h", "sys/un.h", "netinet/", "arpa/inet.h", "netdb.h", "linux/vm_sockets.h"}},
      {"no threads",
       {"thread", "mutex", "shared_mutex", "condition_variable", "future", "semaphore", "latch",
        "barrier", "stop_token", "pthread.h", "threads.h", "semaphore.h"}},
      // Not <cstdio>: a failed CHECK must be able to say so, and banned.txt watches what else it is
      // used for.
      {"no I/O",
       {"fstream",      "iostream",      "filesystem",    "unistd.h",        "fcntl.h",
        "dirent.h",     "poll.h",        "sys/poll.h",    "sys/epoll.h",     "sys/eventfd.h",
        "sys/file.h",   "sys/inotify.h", "sys/ioctl.h",   "sys/mman.h",      "sys/select.h",
        "sys/socket.h", "sys/stat.h",    "sys/timerfd.h", "sys/uio.h",       "sys/un.h",
        "netinet/",     "arpa/inet.h",   "netdb.h",       "linux/io_uring.h"}},
  };
  return kConcerns;
}

std::span<const GeneratedHeaders> Generated() {
  static constexpr std::array<GeneratedHeaders, 3> kGenerated = {{
      {"k8s.io/cri-api/", "cri"},  // CRI messages stop in cri/
      {"k8s.io/", "kube/api"},
      {"denselet/kubelet/", "kube/api"},
  }};
  return kGenerated;
}

bool MatchesHeader(std::string_view pattern, std::string_view header) {
  if (pattern.starts_with('*')) return header.ends_with(pattern.substr(1));
  if (pattern.ends_with('/')) return header.starts_with(pattern);
  return header == pattern;
}

}  // namespace denselet::tidy
