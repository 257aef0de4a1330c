// What upstream's serializers make of a pod without containers, an expired watch, and a stream of
// both: taken from the Go packages, not from our own encoder.
#pragma once

#include <string>
#include <string_view>

namespace denselet::kube {

inline std::string FromHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  return bytes;
}

// The pod shop/web, as the raw bytes of the message.
inline constexpr std::string_view kPodRawHex =
    "0a170a0377656212001a0473686f7022002a00320038004200121c1a00320042004a0052005800600068008201008a"
    "0"
    "1009a0100c201001a130a001a0022002a0032004a005a007200880100";

inline std::string PodRaw() { return FromHex(kPodRawHex); }

inline std::string PodEnvelope() {
  return FromHex("6b3873000a090a0276311203506f64124c") + PodRaw() + FromHex("1a002200");
}

// A metav1.Status of code 410.
inline std::string ExpiredEnvelope() {
  return FromHex(
      "6b3873000a0c0a027631120653746174757312370a060a0012001a0012074661696c7572651a18746f6f206f6c64"
      "20"
      "7265736f757263652076657273696f6e220745787069726564309a031a002200");
}

// ADDED with the pod, then ERROR with the status.
inline std::string ProtobufWatch() {
  return FromHex("0000006c0a05414444454412630a61") + PodEnvelope() +
         FromHex("0000005a0a054552524f5212510a4f") + ExpiredEnvelope();
}

inline constexpr std::string_view kJsonPod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop"},)"
    R"("spec":{"containers":null},"status":{}})";

inline std::string JsonWatchEvent(std::string_view type = "ADDED",
                                  std::string_view object = kJsonPod) {
  return R"({"type":")" + std::string(type) + R"(","object":)" + std::string(object) + "}\n";
}

}  // namespace denselet::kube
