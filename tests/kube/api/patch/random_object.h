// Objects of any Kubernetes type with random contents, and random changes to them: as the API
// server would accept them as far as patches care, so no two elements of a list have the same merge
// key.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "kube/api/codec/schema.h"
#include "kube/api/fwd.h"

namespace denselet::kube {

class RandomObject {
 public:
  explicit RandomObject(Random& random) : random_(random) {}

  // Below the outermost, each field is set with a chance of one in `rarity`.
  void Fill(google::protobuf::Message& message, uint64_t rarity, int depth = 0);
  // Here and there something else: fields, elements, their order.
  void Change(google::protobuf::Message& message, uint64_t rarity, int depth = 0);

 private:
  struct Place;
  bool OneIn(uint64_t chance) { return random_.Below(chance) == 0; }

  void FillField(const Place& place, uint64_t rarity, int depth);
  void ChangeField(const Place& place, uint64_t rarity, int depth);
  void ChangeElement(const Place& place, int index, uint64_t rarity, int depth);
  void AddElement(const Place& place, uint64_t rarity, int depth);
  void RemoveTwins(const Place& place);
  void FillMap(const Place& place);
  void SetOrAdd(const Place& place, uint64_t rarity, int depth);
  bool FillSpecial(google::protobuf::Message& message, Shape shape);

  Random& random_;
};

}  // namespace denselet::kube
