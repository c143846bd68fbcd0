#include <cstring>
#include <random>

#include "base/format.hpp"
#include "compute/picture_reduction.hpp"
#include "lab/stage_samples.hpp"
#include "lab/tune/tuner.hpp"

namespace gpufilter::lab {
namespace {

// Larger than for stages: a picture that fits in the device's caches does not measure memory.
constexpr ImageSize counted_on_gpu{8192, 4096};
constexpr ImageSize counted_on_cpu{1280, 960};

// Gradients with noise, opaque, like photographs: neighbouring pixels use the same counters.
Image photograph(ImageSize size, const PixelFormat& format) {
  Image image(size, format);
  std::mt19937 noise(1);
  const auto channels = static_cast<std::uint32_t>(format.channels);
  const auto shift = static_cast<std::uint32_t>(format.depth) - 8U;
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* row = image.rows().row(y);
    std::uint32_t draw = static_cast<std::uint32_t>(noise()) | 1U;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(size.width) * channels; ++i) {
      const std::uint32_t x = i / channels;
      const std::uint32_t c = i % channels;
      draw = draw * 1664525U + 1013904223U;
      std::uint32_t sample =
          (((x * (c + 1) + static_cast<std::uint32_t>(y) * 2) / 16) << shift) + (draw >> 28U);
      if (format.has_alpha() && c + 1 == channels) sample = format.max_sample();
      if (format.depth == 8) {
        row[i] = static_cast<std::uint8_t>(sample);
      } else {
        const auto wide = static_cast<std::uint16_t>(sample);
        std::memcpy(row + 2 * static_cast<std::size_t>(i), &wide, sizeof wide);
      }
    }
  }
  return image;
}

class StatisticsSubject final : public TuneSubject {
 public:
  StatisticsSubject(Session& session, Quantity quantity, const PixelFormat& format)
      : session_(session),
        quantity_(quantity),
        format_(format),
        queue_(session.make_queue()),
        size_(session.device().kind == DeviceKind::gpu ? counted_on_gpu : counted_on_cpu) {}

  void build() const override {
    static_cast<void>(PictureReducer(session_, size_.width, format_, quantity_));
  }

  [[nodiscard]] std::optional<std::string> check() override {
    for (const ImageSize& size : {ImageSize{67, 37}, ImageSize{9001, 19}}) {
      const Image picture = verify_picture({size, format_});
      const Buffer buffer = session_.allocate(picture.bytes() + row_slack);
      queue_.upload(buffer, picture.rows().data, picture.bytes());
      PictureReducer reducer(session_, size.width, format_, quantity_);
      // In two bands.
      const int half = size.height / 2;
      static_cast<void>(reducer.add(queue_, {&buffer, {0, half}}));
      const Buffer rest = session_.allocate(picture.bytes() + row_slack);
      const ConstRows rows = picture.rows().part({half, size.height});
      queue_.upload(rest, rows.data, rows.pitch * static_cast<std::size_t>(rows.rows.count()));
      static_cast<void>(reducer.add(queue_, {&rest, rows.rows}));
      if (reducer.result(queue_) != counted(picture))
        return formatted("{}x{}: wrong {}", size.width, size.height, to_string(quantity_));
    }
    return std::nullopt;
  }

  void begin() override {
    if (!picture_) {
      const Image picture = photograph(size_, format_);
      expected_ = counted(picture);
      picture_ = session_.allocate(picture.bytes() + row_slack);
      queue_.upload(*picture_, picture.rows().data, picture.bytes());
      queue_.finish();
    }
    runs_ = 0;
    reducer_.emplace(session_, size_.width, format_, quantity_);
  }

  [[nodiscard]] double run() override {
    ++runs_;
    const auto events = reducer_->add(queue_, {&*picture_, {0, size_.height}});
    queue_.finish();
    Nanoseconds sum = 0;
    for (const Event& event : events)
      sum += event.times().duration;
    return static_cast<double>(sum) * 1e-6;
  }

  [[nodiscard]] std::optional<std::string> check_timed() override {
    PictureStatistics expected = no_statistics(format_, quantity_);
    for (int run = 0; run < runs_; ++run)
      add_statistics(expected, expected_);
    if (reducer_->result(queue_) == expected) return std::nullopt;
    return formatted("{}x{}: wrong {}", size_.width, size_.height, to_string(quantity_));
  }

 private:
  [[nodiscard]] PictureStatistics counted(const Image& picture) const {
    PictureStatistics statistics = no_statistics(format_, quantity_);
    add_pixels(statistics, picture.rows());
    return statistics;
  }

  Session& session_;
  Quantity quantity_;
  PixelFormat format_;
  Queue queue_;
  ImageSize size_;
  std::optional<Buffer> picture_;
  PictureStatistics expected_;  // of one run
  std::optional<PictureReducer> reducer_;
  int runs_ = 0;  // that the reducer has added up
};

}  // namespace

std::unique_ptr<TuneSubject> make_statistics_subject(Session& session, Quantity quantity,
                                                     const PixelFormat& format) {
  return std::make_unique<StatisticsSubject>(session, quantity, format);
}

}  // namespace gpufilter::lab
