// A callable that can be moved but not copied, so that it may own what it needs
// (std::move_only_function is C++23). Callables up to kInlineBytes live inside; larger ones cost
// one allocation.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace denselet {

namespace internal {

// Not std::is_invocable_r: that lets `void` drop a result, which may be an error.
template <class F, class R, class... Args>
concept CallableAs = requires(F& f, Args&&... args) {
  { f(std::forward<Args>(args)...) } -> std::convertible_to<R>;
};

}  // namespace internal

template <class Signature>
class UniqueFunction;

template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  static constexpr size_t kInlineBytes = 48;

  UniqueFunction() = default;
  UniqueFunction(std::nullptr_t) {}  // implicit: `callback = nullptr`

  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, UniqueFunction> &&
           internal::CallableAs<std::decay_t<F>, R, Args...>)
      UniqueFunction(F&& f) {  // implicit: a lambda is what callers write
    using Callable = std::decay_t<F>;
    if constexpr (FitsInline<Callable>()) {
      ::new (storage()) Callable(std::forward<F>(f));
      ops_ = &kInlineOps<Callable>;
    } else {
      ::new (storage()) Callable*(new Callable(std::forward<F>(f)));
      ops_ = &kHeapOps<Callable>;
    }
  }

  UniqueFunction(UniqueFunction&& other) noexcept { TakeFrom(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      const UniqueFunction old = std::move(*this);  // dies last: it may own `other`
      TakeFrom(other);
    }
    return *this;
  }
  ~UniqueFunction() { Reset(); }

  explicit operator bool() const { return ops_ != nullptr; }

  R operator()(Args... args) {
    CHECK(ops_ != nullptr);
    return ops_->call(storage(), std::forward<Args>(args)...);
  }

 private:
  struct Ops {
    R (*call)(void*, Args&&...);
    void (*move)(void* from, void* to);  // leaves `from` destroyed
    void (*destroy)(void*);
  };

  template <class Callable>
  static constexpr bool FitsInline() {
    return sizeof(Callable) <= kInlineBytes && alignof(Callable) <= alignof(std::max_align_t) &&
           std::is_nothrow_move_constructible_v<Callable>;
  }

  template <class Callable>
  static constexpr Ops kInlineOps = {
      [](void* p, Args&&... args) -> R {
        return (*std::launder(static_cast<Callable*>(p)))(std::forward<Args>(args)...);
      },
      [](void* from, void* to) {
        Callable* callable = std::launder(static_cast<Callable*>(from));
        ::new (to) Callable(std::move(*callable));
        callable->~Callable();
      },
      [](void* p) { std::launder(static_cast<Callable*>(p))->~Callable(); },
  };

  template <class Callable>
  static constexpr Ops kHeapOps = {
      [](void* p, Args&&... args) -> R {
        return (**std::launder(static_cast<Callable**>(p)))(std::forward<Args>(args)...);
      },
      [](void* from, void* to) {
        ::new (to) Callable*(*std::launder(static_cast<Callable**>(from)));
      },
      [](void* p) { delete *std::launder(static_cast<Callable**>(p)); },
  };

  void* storage() { return storage_; }

  void TakeFrom(UniqueFunction& other) noexcept {
    if (other.ops_ == nullptr) return;
    other.ops_->move(other.storage(), storage());
    ops_ = std::exchange(other.ops_, nullptr);
  }

  void Reset() noexcept {
    if (const Ops* ops = std::exchange(ops_, nullptr)) ops->destroy(storage());
  }

  const Ops* ops_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[kInlineBytes];
};

}  // namespace denselet
