// Names of CRI's messages, for headers that only hand them on.
#pragma once

namespace runtime::v1 {
class AuthConfig;
class Container;
class ContainerConfig;
class ContainerEventResponse;
class ContainerStats;
class ContainerStatus;
class FilesystemUsage;
class Image;
class ImageFsInfoResponse;
class ImageSpec;
class LinuxContainerResources;
class MetricDescriptor;
class PodSandbox;
class PodSandboxConfig;
class PodSandboxMetrics;
class PodSandboxStats;
class PodSandboxStatus;
class StatusResponse;
class VersionResponse;
}  // namespace runtime::v1

namespace denselet::cri {
namespace pb = ::runtime::v1;
}
