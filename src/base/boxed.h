// A value that is not always there, or not for long: while it is not, its owner pays for a pointer,
// where std::optional has room for the whole of it. Copied with its owner.
#pragma once

#include <memory>
#include <utility>

namespace denselet {

template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}  // implicit: as std::optional
  Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed other) noexcept {
    value_.swap(other.value_);
    return *this;
  }
  ~Boxed() = default;

  explicit operator bool() const { return value_ != nullptr; }
  bool has_value() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  void reset() { value_.reset(); }

  friend bool operator==(const Boxed& a, const Boxed& b) {
    return a && b ? *a == *b : bool(a) == bool(b);
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace denselet
