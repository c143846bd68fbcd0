#include "compute/device_partials.hpp"

#include <stdexcept>
#include <utility>

namespace gpufilter {

DevicePartials::DevicePartials(Session& session, std::size_t bytes, PictureStatistics none,
                               Read read, std::uint64_t range)
    : buffer_(session.allocate(bytes)),
      read_(std::move(read)),
      range_(range),
      folded_(std::move(none)) {}

bool DevicePartials::begin(Queue& queue, std::uint64_t pixels) {
  if (pixels > range_) throw std::overflow_error("a band has more pixels than can be counted");
  if (pixels > range_ - pending_) fold(queue);
  const bool anew = pending_ == 0;
  pending_ += pixels;
  return anew;
}

const PictureStatistics& DevicePartials::result(Queue& queue) {
  fold(queue);
  return folded_;
}

void DevicePartials::fold(Queue& queue) {
  if (pending_ == 0) return;
  std::vector<std::uint32_t> words(buffer_.size() / sizeof(std::uint32_t));
  queue.download(buffer_, words.data(), buffer_.size());
  queue.finish();
  add_statistics(folded_, read_(words, pending_));
  pending_ = 0;
}

}  // namespace gpufilter
