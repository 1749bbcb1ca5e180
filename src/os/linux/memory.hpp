// Address space: reservations with a guard below, whose pages cost memory once touched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace filch::os {

/// A range of reserved address space; pages cost memory once touched. Below it lies a guard that faults, and so does
/// a page above it, if it has no lower part.
class reservation {
 public:
  reservation() noexcept = default;
  /// `bytes` is rounded up to pages. On failure valid() is false and errno says why.
  explicit reservation(std::size_t bytes) noexcept;
  /// The same, and `lower_bytes` more below the guard. The whole is a power of two in size, and aligned to it.
  reservation(std::size_t bytes, std::size_t lower_bytes) noexcept;
  reservation(reservation&& other) noexcept;
  reservation& operator=(reservation&& other) noexcept;
  ~reservation();

  bool valid() const noexcept { return low_ != nullptr; }
  /// The value of whole_bytes() for a reservation of these sizes.
  static std::size_t whole_bytes_for(std::size_t bytes, std::size_t lower_bytes) noexcept;
  /// Start of the part below the guard.
  std::byte* lower() const noexcept { return start_; }
  /// Bytes of the whole reservation, guard and lower part included.
  std::size_t whole_bytes() const noexcept { return whole_; }
  std::byte* low() const noexcept { return low_; }
  std::byte* high() const noexcept { return low_ + bytes_; }
  std::size_t bytes() const noexcept { return bytes_; }
  /// Returns the unused pages [from, end) of [low(), high()) to the system: they cost no memory until they are
  /// touched again, and are zero then. Both are multiples of the page size. False: they stay as they are.
  static bool drop_pages(std::byte* from, std::byte* end) noexcept;
  /// The same by a fresh map in their place. For a moment a touch of them is a fault.
  static bool replace_pages(std::byte* from, std::byte* end) noexcept;
  /// Bytes of [low(), high()), in pages, that were written to and are in memory. Asks the kernel for each page.
  std::size_t written_bytes() const noexcept;
  /// Asks the kernel for small pages: memory comes page by page, not 512 pages at once.
  void use_small_pages() const noexcept;
  /// Is this the address of a byte of the guard?
  bool guards(void const* address) const noexcept;
  /// Is it the address of a byte of the page above?
  bool guards_above(void const* address) const noexcept;

 private:
  static constexpr std::size_t k_guard = 256 * 1024;
  std::byte* start_ = nullptr;
  std::size_t whole_ = 0;
  std::byte* guard_ = nullptr;  // up to low_
  std::byte* low_ = nullptr;
  std::size_t bytes_ = 0;
};

std::size_t page_size() noexcept;
/// Is there that much address space left?
bool can_reserve(std::size_t bytes) noexcept;
/// Fills in for each page whether it is in memory. False if the kernel does not say.
bool pages_in_memory(std::byte* from, std::size_t pages, unsigned char* are) noexcept;
/// Does the page look like one that came from the system and was not written to? Reads some words of it: frames that
/// cover a page leave addresses in it.
bool looks_blank(std::byte const* page) noexcept;
/// Minor page faults of this process so far.
std::uint64_t page_faults() noexcept;
/// Page faults of the calling thread since it began. If the system does not count them: another number at each call,
/// never 0. The first call in a process should come before it forks.
std::uint64_t own_page_faults() noexcept;

/// errno as words, safe from any thread.
char const* describe_errno(int error) noexcept;

}  // namespace filch::os
