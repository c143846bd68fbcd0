#include "codec/unread.hpp"

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"

namespace gpufilter {

std::string unread_warning(const std::vector<std::string>& unread) {
  return unread.empty() ? "" : formatted("not read: {}", fmt::join(unread, ", "));
}

void warn_of_unread(const std::string& name, const std::vector<std::string>& unread) {
  if (unread.empty()) return;
  log::warn_of_fallback(printable(formatted("{}: {}", name, unread_warning(unread))));
}

}  // namespace gpufilter
