// Raw memory for some values. C++17.
#pragma once

#include <filch/config.hpp>

#include <cstddef>
#include <new>

namespace filch {
inline namespace FILCH_ABI {
namespace std_par {

/// Memory for n values, which are not made. False if there is none.
template <class Value> class buffer {
 public:
  explicit buffer(std::size_t n) noexcept
      : memory_(n > ~std::size_t{0} / sizeof(Value)
                    ? nullptr
                    : ::operator new(n * sizeof(Value), std::align_val_t{alignof(Value)}, std::nothrow)) {}
  buffer(buffer const&) = delete;
  buffer& operator=(buffer const&) = delete;
  ~buffer() { ::operator delete(memory_, std::align_val_t{alignof(Value)}); }
  explicit operator bool() const noexcept { return memory_ != nullptr; }
  Value* get() const noexcept { return static_cast<Value*>(memory_); }

 private:
  void* memory_;
};

}  // namespace std_par
}  // namespace FILCH_ABI
}  // namespace filch
