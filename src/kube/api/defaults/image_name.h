// "host.example:5000/team/app:v1@sha256:…" taken apart, as container tools agree to read it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace denselet::kube {

struct ImageName {
  std::string tag;  // "latest" if neither a tag nor a digest is given
  std::string digest;
};

// Nothing: it is no name of an image.
std::optional<ImageName> ParseImageName(std::string_view image);

}  // namespace denselet::kube
