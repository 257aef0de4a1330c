// Any text as the URL of manifests, and as where a redirect leads: what is taken can be sent.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "managers/source/manifest_url.h"
#include "reactor/net/http/message.h"

using namespace denselet;

namespace {

void CheckUrl(const managers::ManifestUrl& url) {
  CHECK(net::IsAuthority(url.Authority()));
  CHECK(url.target.starts_with('/'));
  CHECK(net::IsRequestTarget(url.target));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto url = managers::ParseManifestUrl(text)) CheckUrl(*url);
  const auto base = managers::ParseManifestUrl("https://me@a:444/p/q?x");
  if (const auto next = managers::FollowLocation(*base, text)) CheckUrl(*next);
  return 0;
}
