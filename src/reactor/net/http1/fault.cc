#include "reactor/net/http1/fault.h"

#include <array>
#include <string>

namespace denselet::net {
namespace {

struct Row {
  Http1Fault fault;
  std::string_view name;
  int status;
  ErrorCode code;
};

constexpr std::array<Row, 21> kRows = {{
    {Http1Fault::kNone, "no fault", 0, ErrorCode::kBug},
    {Http1Fault::kMalformed, "malformed message", 400, ErrorCode::kCorrupt},
    {Http1Fault::kVersion, "unsupported HTTP version", 505, ErrorCode::kCorrupt},
    {Http1Fault::kUnknownMethod, "unknown method", 501, ErrorCode::kCorrupt},
    {Http1Fault::kUnknownEncoding, "unknown transfer encoding", 501, ErrorCode::kCorrupt},
    {Http1Fault::kExpectation, "unknown expectation", 417, ErrorCode::kCorrupt},
    {Http1Fault::kTargetTooLong, "request target too long", 414, ErrorCode::kOverloaded},
    {Http1Fault::kHeadTooLarge, "head too large", 431, ErrorCode::kOverloaded},
    {Http1Fault::kTooManyHeaders, "too many headers", 431, ErrorCode::kOverloaded},
    {Http1Fault::kBodyTooLarge, "body too large", 413, ErrorCode::kOverloaded},
    {Http1Fault::kChunkOverhead, "too much chunk framing", 400, ErrorCode::kOverloaded},
    {Http1Fault::kTooManyInterim, "too many interim answers", 0, ErrorCode::kOverloaded},
    {Http1Fault::kUnaskedBytes, "bytes that nobody asked for", 0, ErrorCode::kCorrupt},
    {Http1Fault::kIdleTimeout, "idle for too long", 0, ErrorCode::kDeadlineExceeded},
    {Http1Fault::kHeadTimeout, "head took too long", 408, ErrorCode::kDeadlineExceeded},
    {Http1Fault::kBodyTimeout, "body stood still for too long", 408, ErrorCode::kDeadlineExceeded},
    {Http1Fault::kTransferTimeout, "peer does not read", 0, ErrorCode::kDeadlineExceeded},
    {Http1Fault::kEarlyEnd, "closed in the middle of a message", 0, ErrorCode::kUnavailable},
    {Http1Fault::kBroken, "connection broke", 0, ErrorCode::kUnavailable},
    {Http1Fault::kAbandoned, "answer was not finished", 0, ErrorCode::kBug},
    {Http1Fault::kStopped, "server stopped", 0, ErrorCode::kUnavailable},
}};

constexpr bool InOrder() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].fault) != i) return false;
  }
  return true;
}
static_assert(InOrder());

const Row& RowOf(Http1Fault fault) { return kRows[static_cast<size_t>(fault)]; }

}  // namespace

std::string_view Http1FaultName(Http1Fault fault) { return RowOf(fault).name; }

int StatusOf(Http1Fault fault) { return RowOf(fault).status; }

Error ErrorOf(Http1Fault fault, std::string_view detail) {
  std::string message(RowOf(fault).name);
  if (!detail.empty()) message.append(": ").append(detail);
  return Error(RowOf(fault).code, std::move(message));
}

}  // namespace denselet::net
