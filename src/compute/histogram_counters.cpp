#include "compute/histogram_counters.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/format.hpp"

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

namespace {

constexpr std::size_t sets_8bit = 16;
constexpr std::size_t sets_16bit = 4;

std::size_t set_bytes(const PixelFormat& format, Quantity quantity) {
  const auto channels = static_cast<std::size_t>(format.channels);
  const std::size_t histograms = quantity == Quantity::luma_histogram ? 1 : channels;
  return histograms * (std::size_t{format.max_sample()} + 1) * sizeof(std::uint32_t);
}

std::int32_t sets_for(const PixelFormat& format, std::size_t groups) {
  return static_cast<std::int32_t>(std::min(groups, format.depth == 8 ? sets_8bit : sets_16bit));
}

// Adds up the copies of the counters, which lie one after the other.
PictureStatistics histograms_from(const std::vector<std::uint32_t>& counters,
                                  PictureStatistics none) {
  std::vector<Histogram*> histograms;
  if (auto* channels = std::get_if<Histograms>(&none)) {
    for (Histogram& histogram : channels->channels)
      histograms.push_back(&histogram);
  } else {
    histograms.push_back(&std::get<Histogram>(none));
  }
  const std::size_t levels = histograms.front()->size();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    (*histograms[i / levels % histograms.size()])[i % levels] += counters[i];
  }
  return none;
}

}  // namespace

bool is_counted(Quantity quantity) {
  return quantity != Quantity::totals;
}

std::uint64_t local_counter_bytes(const PixelFormat& format, Quantity quantity) {
  return format.depth == 8 ? set_bytes(format, quantity) : 0;
}

std::string counter_macros(Quantity quantity) {
  return formatted("-D LUMA={}", quantity == Quantity::luma_histogram ? 1 : 0);
}

HistogramCounters::HistogramCounters(Session& session, const PixelFormat& format, Quantity quantity,
                                     std::size_t groups, std::uint64_t counter_range)
    : sets_(sets_for(format, groups)),
      zeros_(static_cast<std::size_t>(sets_) * set_bytes(format, quantity)),
      partials_(
          session, zeros_.size(), no_statistics(format, quantity),
          [format, quantity](const std::vector<std::uint32_t>& counters, std::uint64_t /*pixels*/) {
            return histograms_from(counters, no_statistics(format, quantity));
          },
          counter_range) {}

std::vector<Event> HistogramCounters::begin(Queue& queue, std::uint64_t pixels) {
  if (!partials_.begin(queue, pixels)) return {};
  return {queue.upload(partials_.buffer(), zeros_.data(), zeros_.size())};
}

}  // namespace gpufilter
