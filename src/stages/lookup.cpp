#include "stages/lookup.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "base/format.hpp"
#include "image/luma.hpp"

namespace gpufilter {
namespace {

// A table for each depth, made when it is first asked for. Safe to use from several threads.
template <typename Entry>
class Tables {
 public:
  using Make = std::function<std::vector<Entry>(const PixelFormat&)>;
  explicit Tables(Make make) : make_(std::move(make)) {}

  [[nodiscard]] const std::vector<Entry>& of(const PixelFormat& format) const {
    Slot& slot = slots_.at(format.depth == 8 ? 0 : 1);
    std::call_once(slot.made, [&] { slot.table = make_(format); });
    return slot.table;
  }

 private:
  struct Slot {
    std::once_flag made;
    std::vector<Entry> table;
  };
  Make make_;
  mutable std::array<Slot, 2> slots_;
};

// The bytes of a table as the kernel reads it: samples have the picture's depth.
std::vector<std::uint8_t> table_bytes(const std::vector<std::uint16_t>& table,
                                      const PixelFormat& format) {
  if (format.depth == 8) return {table.begin(), table.end()};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(table.data());
  return {bytes, bytes + table.size() * sizeof(std::uint16_t)};
}

std::vector<std::uint8_t> table_bytes(const std::vector<float>& table, const PixelFormat&) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(table.data());
  return {bytes, bytes + table.size() * sizeof(float)};
}

class LookupPass final : public DevicePass {
 public:
  LookupPass(Session& session, const std::string& function, const std::string& variant,
             ImageSize size, const PixelFormat& pixel, std::vector<std::uint8_t> table)
      : shape_(session.device().kind == DeviceKind::cpu ? Shape{1024, 1} : Shape{4, 64}),
        kernel_(session.make_kernel(
            {"lookup.cl", function,
             format("-D CHANNELS={} -D DEPTH={} -D STRETCH={} -D GROUP_WIDTH={}", pixel.channels,
                    pixel.depth, shape_.stretch, shape_.group)})),
        size_(size),
        pitch_(static_cast<int>(row_pitch(size.width, pixel) / pixel.bytes_per_sample())),
        table_(std::move(table)),
        device_table_(session.allocate(table_.size())),
        description_{variant, "the only kernel", kernel_.origin()} {}

  [[nodiscard]] const Description& description() const override { return description_; }

  std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                             const DeviceRows& target) override {
    if (!uploaded_) queue.upload(device_table_, table_.data(), table_.size());
    uploaded_ = true;
    const int target_rows = target.rows.count();
    const std::size_t stretches =
        (static_cast<std::size_t>(size_.width) + shape_.stretch - 1) / shape_.stretch;
    return {queue.launch(kernel_,
                         {stretches, static_cast<std::size_t>(target_rows), shape_.group, 1},
                         {*source.buffer, pitch_, source.rows.begin, *target.buffer, pitch_,
                          target.rows.begin, target_rows, size_.width, device_table_})};
  }

 private:
  struct Shape {
    std::size_t stretch;  // pixels a work-item
    std::size_t group;    // work-items a work-group
  };
  Shape shape_;
  Kernel kernel_;
  ImageSize size_;
  int pitch_;  // samples
  std::vector<std::uint8_t> table_;
  Buffer device_table_;
  bool uploaded_ = false;
  Description description_;
};

template <typename Entry>
class LookupStage : public Stage {
 public:
  LookupStage(std::string name, std::string variant, std::string function,
              typename Tables<Entry>::Make make)
      : name_(std::move(name)),
        variant_(std::move(variant)),
        function_(std::move(function)),
        tables_(std::move(make)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string label() const override { return variant_; }
  [[nodiscard]] std::string key() const override { return name_ + " " + variant_; }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    return {format("{} {}", function_, input.depth), static_cast<double>(input.channels)};
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session, ImageSize size,
                                                    const PixelFormat& input) const override {
    return std::make_unique<LookupPass>(session, function_, variant_, size, input,
                                        table_bytes(tables_.of(input), input));
  }

  void run(const ConstRows& source, const MutableRows& target, ImageSize /*size*/) const override {
    const std::vector<Entry>& table = tables_.of(source.format);
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      if (source.format.depth == 8) {
        run_row<std::uint8_t>(source, target, y, table.data());
      } else {
        run_row<std::uint16_t>(source, target, y, table.data());
      }
    }
  }

 private:
  template <typename Sample>
  static void run_row(const ConstRows& source, const MutableRows& target, int y,
                      const Entry* table) {
    const auto* in = reinterpret_cast<const Sample*>(source.row(y));
    auto* out = reinterpret_cast<Sample*>(target.row(y));
    const int channels = source.format.channels;
    const int colors = source.format.color_channels();
    for (int x = 0; x < source.width; ++x, in += channels, out += channels) {
      run_pixel(in, out, colors, source.format.max_sample(), table);
      if (colors < channels) out[colors] = in[colors];
    }
  }

  template <typename Sample>
  static void run_pixel(const Sample* in, Sample* out, int colors, std::uint32_t /*max*/,
                        const std::uint16_t* table) {
    for (int c = 0; c < colors; ++c)
      out[c] = static_cast<Sample>(table[in[c]]);
  }

  template <typename Sample>
  static void run_pixel(const Sample* in, Sample* out, int colors, std::uint32_t max,
                        const float* factors) {
    const float factor = factors[colors == 3 ? luma(in[0], in[1], in[2]) : in[0]];
    for (int c = 0; c < colors; ++c) {
      const float scaled = std::rint(static_cast<float>(in[c]) * factor);
      out[c] = static_cast<Sample>(std::min(scaled, static_cast<float>(max)));
    }
  }

  std::string name_;
  std::string variant_;
  std::string function_;
  Tables<Entry> tables_;
};

}  // namespace

std::shared_ptr<const Stage> make_lookup(SampleLookup lookup) {
  return std::make_shared<LookupStage<std::uint16_t>>(std::move(lookup.stage),
                                                      std::move(lookup.variant), "look_up_samples",
                                                      std::move(lookup.make_table));
}

std::shared_ptr<const Stage> make_luma_scaling(LumaScaling scaling) {
  return std::make_shared<LookupStage<float>>(std::move(scaling.stage), std::move(scaling.variant),
                                              "scale_by_luma", std::move(scaling.make_factors));
}

}  // namespace gpufilter
