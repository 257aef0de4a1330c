// Where pods come from, and who waits for whom: a housekeeping job names the sources that it needs,
// so that a silent one holds up nothing that does not depend on it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace denselet::sync {

enum class SourceKind : uint8_t { kApi, kFile, kHttp };

inline constexpr SourceKind kSourceKinds[] = {SourceKind::kApi, SourceKind::kFile,
                                              SourceKind::kHttp};

// As the annotation kubernetes.io/config.source has it.
constexpr std::string_view SourceName(SourceKind kind) {
  switch (kind) {
    case SourceKind::kApi:
      return "api";
    case SourceKind::kFile:
      return "file";
    case SourceKind::kHttp:
      return "http";
  }
  return "";
}

class SourceSet {
 public:
  constexpr SourceSet() = default;
  constexpr SourceSet(std::initializer_list<SourceKind> kinds) {  // implicit: {SourceKind::kApi}
    for (const SourceKind kind : kinds) Add(kind);
  }
  static constexpr SourceSet All() {
    return {SourceKind::kApi, SourceKind::kFile, SourceKind::kHttp};
  }

  constexpr void Add(SourceKind kind) { bits_ = static_cast<uint8_t>(bits_ | Bit(kind)); }
  constexpr bool Has(SourceKind kind) const { return (bits_ & Bit(kind)) != 0; }
  constexpr bool HasAll(SourceSet other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr bool empty() const { return bits_ == 0; }

  constexpr SourceSet And(SourceSet other) const { return FromBits(bits_ & other.bits_); }
  constexpr SourceSet Without(SourceSet other) const { return FromBits(bits_ & ~other.bits_); }

  friend constexpr bool operator==(SourceSet, SourceSet) = default;

 private:
  static constexpr unsigned Bit(SourceKind kind) { return 1u << static_cast<unsigned>(kind); }
  static constexpr SourceSet FromBits(unsigned bits) {
    SourceSet set;
    set.bits_ = static_cast<uint8_t>(bits);
    return set;
  }

  uint8_t bits_ = 0;
};

// What housekeeping asks before it takes for an orphan what merely was not told yet.
class SourceReadiness {
 public:
  virtual ~SourceReadiness() = default;
  // Each of them has told at least once all that it has. One that is not configured has nothing to
  // tell and counts as ready; one that is silent or late does not.
  virtual bool Ready(SourceSet needed) const = 0;
};

}  // namespace denselet::sync
