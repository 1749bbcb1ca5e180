// Exceptions of a cluster's tasks: how they travel as text.
// Called by rank workers and by the endpoint. Protocol: protocol.md, "Results".
#include <filch/detail/caught.hpp>
#include <filch/detail/cluster_rank_worker.hpp>
#include <filch/rank.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace filch::inline FILCH_ABI {

task_error::task_error(std::string const& what, std::string const& type) : std::runtime_error(what), type_(type) {}
task_error::~task_error() = default;

task_error task_error::from(std::string_view text) {
  std::size_t const end = std::min(text.find('\0'), text.size());
  return task_error(std::string(text.substr(0, end)), std::string(text.substr(std::min(end + 1, text.size()))));
}

namespace detail {

std::string text_of_current_exception() {
  detail::drop_caught_exception();
  std::string text;
  try {
    throw;
  } catch (task_error const& e) {  // a future's: the type of the first one
    return std::string(e.what()) + '\0' + e.type();
  } catch (std::exception const& e) {
    text = e.what();
  } catch (...) {
    text = "an exception that is no std::exception";
  }
  std::type_info const* const type = abi::__cxa_current_exception_type();
  if (!type) return text;
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const name(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                    std::free);
  return text + '\0' + (name ? name.get() : type->name());
}

}  // namespace detail
}  // namespace filch::inline FILCH_ABI
