// The metadata of an object, or of a list, read from its bytes without parsing the rest: enough to
// know which object it is. All kinds keep it in the same place.
#pragma once

#include <optional>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"

namespace denselet::kube {

// Views into the bytes.
struct MetaView {
  std::string_view name;
  std::string_view ns;
  std::string_view uid;
  std::string_view resource_version;
  // The bookmark that ends the initial events of a watch.
  bool initial_events_end = false;

  ObjectRef Ref() const { return {std::string(ns), std::string(name)}; }
};

// kCorrupt: not the bytes of an object.
Result<MetaView> ReadMeta(std::string_view object);

struct ListMetaView {
  std::string_view resource_version;
  std::string_view continue_token;  // empty: nothing follows
};

// Of the list's `metadata` alone.
Result<ListMetaView> ReadListMeta(std::string_view metadata);

}  // namespace denselet::kube
