// Whatever operators hand in as certificates and keys is either refused with words that name the
// text at fault, or makes a client; nothing leaks, nobody is asked for a password, and a client
// that has good ones keeps them when it is offered bad ones.
//
// The input: authorities, certificate and key, with a line "====" between them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "reactor/net/tls/tls_client.h"

namespace denselet::net {
namespace {

constexpr std::string_view kBetween = "====\n";

std::string TakePart(std::string_view& input) {
  const size_t end = input.find(kBetween);
  std::string part(input.substr(0, end));
  input.remove_prefix(end == input.npos ? input.size() : end + kBetween.size());
  return part;
}

bool NamesItsText(std::string_view message) {
  return message.starts_with("authorities") || message.starts_with("client certificate") ||
         message.starts_with("client key");
}

bool Printable(std::string_view message) {
  for (const char c : message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

void CheckError(const Error& error) {
  CHECK(error.code() == ErrorCode::kInvalid);
  CHECK(NamesItsText(error.message()) && Printable(error.message()));
}

}  // namespace
}  // namespace denselet::net

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet;
  using namespace denselet::net;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  TlsClientOptions options;
  options.authorities = TakePart(input);
  options.certificate = TakePart(input);
  options.key = TakePart(input);
  // Without authorities the system's would be read, which are not the input's.
  TlsClientOptions plain;
  plain.verification = TlsVerification::kNone;
  if (options.authorities.empty()) options.verification = TlsVerification::kNone;

  auto client = TlsClient::Make(options);
  const bool certified = !options.certificate.empty();
  if (client) {
    CHECK(certified == !options.key.empty());
    CHECK(certified || !client->client_certificate_not_after());
    CHECK(client->Replace(options));
    CHECK(client->Replace(plain));
    CHECK(!client->client_certificate_not_after());
    return 0;
  }
  CheckError(client.error());
  auto other = TlsClient::Make(plain);
  CHECK(other);
  const auto before = other->settings();
  const Status replaced = other->Replace(options);
  CHECK(!replaced && replaced.error().message() == client.error().message());
  CHECK(other->settings() == before);
  return 0;
}
