// Why a connection that spoke HTTP/1 was ended before its time: for logs, metrics, and the status
// that the peer is told.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace denselet::net {

enum class Http1Fault : uint8_t {
  kNone,
  // What the peer sent.
  kMalformed,
  kVersion,          // neither HTTP/1.0 nor HTTP/1.1
  kUnknownMethod,    // also one that only other protocols have
  kUnknownEncoding,  // a Transfer-Encoding that is not chunked
  kExpectation,      // an Expect that is not 100-continue
  kTargetTooLong,    // the head's bound was reached in its first line
  kHeadTooLarge,     // or behind it
  kTooManyHeaders,   //
  kBodyTooLarge,     //
  kChunkOverhead,    // more framing than content: extensions, trailers
  kTooManyInterim,   // endless 1xx
  kUnaskedBytes,     // an answer to no question
  // What it did not do in time.
  kIdleTimeout,      // send a further request
  kHeadTimeout,      // finish a head
  kBodyTimeout,      // go on with a body
  kTransferTimeout,  // take what is sent to it
  // How it went.
  kEarlyEnd,  // closed in the middle of a message
  kBroken,    // reset, or what the stream below said
  // What we did.
  kAbandoned,  // nobody finished the answer
  kStopped,    // the server stops
};

std::string_view Http1FaultName(Http1Fault fault);

// What a server answers; 0: nothing, the connection is just closed.
int StatusOf(Http1Fault fault);

// kCorrupt, kOverloaded, kDeadlineExceeded or kUnavailable, and the name with what is known
// besides.
Error ErrorOf(Http1Fault fault, std::string_view detail);

}  // namespace denselet::net
