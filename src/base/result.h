// A value or the reason why there is none. There is no value_or and no chain of continuations until
// two call sites want one: an `if (!r) return r.error().With(...)` is where context is added.
#pragma once

#include <utility>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace denselet {

struct Unit {
  friend bool operator==(Unit, Unit) = default;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}  // implicit: `return value;`
  Result(Error error)
      : v_(std::in_place_index<1>, std::move(error)) {}  // implicit: `return error;`

  explicit operator bool() const { return v_.index() == 0; }

  T& operator*() & {
    CHECK(v_.index() == 0);
    return std::get<0>(v_);
  }
  const T& operator*() const& {
    CHECK(v_.index() == 0);
    return std::get<0>(v_);
  }
  // By value, so that `for (x : *Read())` and `auto& x = *Read()` do not dangle.
  T operator*() && {
    CHECK(v_.index() == 0);
    return std::get<0>(std::move(v_));
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

  const Error& error() const {
    CHECK(v_.index() == 1);
    return std::get<1>(v_);
  }

 private:
  std::variant<T, Error> v_;
};

using Status = Result<Unit>;

inline Status Ok() { return Unit{}; }

}  // namespace denselet
