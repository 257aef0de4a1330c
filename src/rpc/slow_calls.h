// What the log says of calls that take longer than anybody would wait for without asking why: a
// line when patience with one has ended, and a line when it has ended itself.
//
// A runtime that hangs makes all calls slow. No more than kLinesMax are named in a minute; then one
// line says how many there are, and those that are still out later get their turn. Everything that
// is under way can be asked for at any time; this is for who reads what was.
//
// A part of Client, on its shard.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/error.h"
#include "base/log.h"
#include "base/time.h"
#include "rpc/method.h"

namespace denselet::rpc {

class SlowCalls {
 public:
  static constexpr uint32_t kLinesMax = 30;  // that name a call, in a minute
  // Between two looks at what is out.
  static constexpr Duration kLookPause = Seconds(1);
  // Before those that did not fit are looked at again.
  static constexpr Duration kRetryPause = Seconds(10);

  SlowCalls(std::optional<Logger> log, std::string_view endpoint)
      : log_(std::move(log)), endpoint_(endpoint) {}

  bool wanted() const { return log_.has_value(); }
  // A call is out for `out`. False: too many were named lately.
  bool Tell(const Method& method, const Context& context, Duration out, TimePoint now);
  // So many are out that were not named.
  void TellUnnamed(uint64_t calls);
  // One that was named.
  void TellEnd(const Method& method, const Context& context, Duration took,
               const std::optional<Error>& error);

 private:
  const std::optional<Logger> log_;
  const std::string endpoint_;
  TimePoint minute_ = TimePoint::min();
  uint32_t lines_ = 0;
  bool unnamed_told_ = false;  // in this minute
};

}  // namespace denselet::rpc
