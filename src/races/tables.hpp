// Tables that cost memory once touched. They come from the system, not from the heap that is checked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filch::races {

using address = std::uintptr_t;

/// Zeros. Ends the process if there is no address space.
void* map_table(std::size_t bytes) noexcept;
void unmap_table(void* at, std::size_t bytes) noexcept;

/// A vector of trivial values that never moves: a reservation of the most that it may hold.
template <class Value, std::size_t Most> class table {
 public:
  static constexpr std::size_t k_most = Most;
  void reserve() noexcept { values_ = static_cast<Value*>(map_table(Most * sizeof(Value))); }
  void release() noexcept { unmap_table(values_, Most * sizeof(Value)); }
  Value& operator[](std::size_t i) noexcept { return values_[i]; }
  std::size_t size() const noexcept { return size_; }
  void push_back(Value const& value) noexcept { values_[size_++] = value; }
  void resize(std::size_t size) noexcept { size_ = size; }

 private:
  Value* values_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace filch::races
