#include "app/progress.hpp"

#include <unistd.h>

#include "base/format.hpp"
#include "base/log.hpp"

namespace gpufilter {
namespace {

constexpr Nanoseconds second = 1'000'000'000;
constexpr Nanoseconds between_updates = second / 10;

// A line that the terminal breaks in two could not be written over.
std::string shortened(std::string name) {
  constexpr std::size_t most = 60;
  if (name.size() <= most) return name;
  std::size_t begin = name.size() - most;
  // Not in the middle of a UTF-8 character.
  while (begin < name.size() && (static_cast<unsigned char>(name[begin]) & 0xC0U) == 0x80U)
    ++begin;
  return "..." + name.substr(begin);
}

}  // namespace

ProgressLine::ProgressLine(ProgressMode mode, std::string name)
    : name_(shortened(std::move(name))),
      enabled_(mode == ProgressMode::on ||
               (mode == ProgressMode::automatic && isatty(STDERR_FILENO) == 1)),
      quiet_until_(now() + (mode == ProgressMode::on ? 0 : second)) {}

void ProgressLine::show(std::int64_t done, std::int64_t all) {
  if (!enabled_ || now() < quiet_until_) return;
  quiet_until_ = now() + between_updates;
  visible_ = true;
  const auto percent = 100 * done / all;
  log::show_status(formatted("{}: {} %", name_, percent));
}

void ProgressLine::clear() {
  if (!visible_) return;
  visible_ = false;
  log::show_status("");
}

}  // namespace gpufilter
