#include "stages/point/lookup.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <span>

#include "base/format.hpp"
#include "device/device_rows.hpp"
#include "host/arithmetic.hpp"
#include "host/vectors.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/point_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Applies `change` to the first `changed` of each `group` samples and keeps the others. Rows
// consist of whole groups.
template <size_t group, size_t changed, typename Sample, typename Change>
[[gnu::always_inline]] inline void change_groups(const Sample* in, size_t samples, Sample* out,
                                                 const Change& change) {
  for (size_t i = 0; i < samples; i += group) {
    for (size_t c = 0; c < changed; ++c)
      out[i + c] = change(in[i + c]);
    for (size_t c = changed; c < group; ++c)
      out[i + c] = in[i + c];
  }
}

// Applies `change` to colours; alpha stays.
template <typename Sample, typename Change>
[[gnu::always_inline]] inline void change_row(const Sample* in, size_t width, size_t channels,
                                              Sample* out, const Change& change) {
  const size_t samples = width * channels;
  if (channels == 4) return change_groups<4, 3>(in, samples, out, change);
  if (channels == 2) return change_groups<2, 1>(in, samples, out, change);
  const size_t whole = samples / 4 * 4;  // four at a time are faster than one
  change_groups<4, 4>(in, whole, out, change);
  change_groups<1, 1>(in + whole, samples - whole, out + whole, change);
}

template <typename Sample>
void look_up_row(const Sample* in, size_t width, size_t channels, const Sample* table,
                 Sample* out) {
  change_row(
      in, width, channels,
      out, [table](Sample sample) __attribute__((always_inline)) { return table[sample]; });
}

struct ByteLookUpLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         const std::uint8_t* table) {
    const auto width = static_cast<size_t>(source.width);
    const auto channels = static_cast<size_t>(source.format.channels);
    if constexpr (has_byte_tables<set>) {
      using Bytes = Vector<std::uint8_t, set>;
      alignas(Bytes) std::array<std::uint8_t, sizeof(Bytes)> alpha{};
      for (size_t i = channels - 1; channels % 2 == 0 && i < alpha.size(); i += channels)
        alpha[i] = 0xff;
      const ByteTable<set> entries(table);
      for_rows<std::uint8_t>(source, target, [&](const std::uint8_t* in, std::uint8_t* out) {
        look_up_vectors<set>(in, width * channels, entries, load<Bytes>(alpha.data()), out);
      });
    } else {
      for_rows<std::uint8_t>(source, target, [&](const std::uint8_t* in, std::uint8_t* out) {
        look_up_row(in, width, channels, table, out);
      });
    }
  }

  // Bytes whose bits are set in `kept` stay.
  template <InstructionSet set, typename Bytes>
  [[gnu::always_inline]] static void look_up_vectors(const std::uint8_t* in, size_t count,
                                                     const ByteTable<set>& entries,
                                                     const Bytes& kept, std::uint8_t* out) {
    const auto change = [&](const std::uint8_t* from, std::uint8_t* to)
        __attribute__((always_inline)) {
      std::array<Bytes, 4> bytes;
#pragma GCC unroll 4
      for (size_t n = 0; n < bytes.size(); ++n)
        bytes[n] = load<Bytes>(from + n * sizeof(Bytes));
      auto found = bytes;
      entries.look_up(found);
#pragma GCC unroll 4
      for (size_t n = 0; n < found.size(); ++n)
        store(to + n * sizeof(Bytes), static_cast<Bytes>((bytes[n] & kept) | (found[n] & ~kept)));
    };
    constexpr size_t step = 4 * sizeof(Bytes);
    size_t i = 0;
    for (; i + step <= count; i += step)
      change(in + i, out + i);
    std::array<std::uint8_t, step> end;
    std::copy(in + i, in + count, end.begin());
    change(end.data(), end.data());
    std::copy_n(end.begin(), count - i, out + i);
  }
};

// A table for each of red, green and blue.
template <typename Sample>
void look_up_colors(const Sample* in, size_t width, size_t channels, const Sample* tables,
                    Sample* out) {
  constexpr size_t entries = size_t{std::numeric_limits<Sample>::max()} + 1;
  for (size_t i = 0; i < width * channels; i += channels) {
    for (size_t c = 0; c < 3; ++c)
      out[i + c] = tables[c * entries + in[i + c]];
    if (channels == 4) out[i + 3] = in[i + 3];
  }
}

// Only for sets that look up a vector of bytes in few instructions.
struct ColorLookUpLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         const std::uint8_t* tables) {
    const std::array<ByteTable<set>, 3> colors{ByteTable<set>(tables), ByteTable<set>(tables + 256),
                                               ByteTable<set>(tables + 512)};
    const auto channels = static_cast<size_t>(source.format.channels);
    const auto samples = static_cast<size_t>(source.width) * channels;
    const Masks<set> masks(channels);
    for_rows<std::uint8_t>(source, target, [&](const std::uint8_t* in, std::uint8_t* out) {
      look_up_vectors<set>(in, samples, colors, masks, out);
    });
  }

 private:
  // The bytes of each colour in three vectors, which hold whole pixels.
  template <InstructionSet set>
  struct Masks {
    using Bytes = Vector<std::uint8_t, set>;
    explicit Masks(size_t channels) {
      for (size_t i = 0; i < 3 * sizeof(Bytes); ++i) {
        for (size_t c = 0; c < 3; ++c)
          colors[c][i / sizeof(Bytes)][i % sizeof(Bytes)] = i % channels == c ? 0xff : 0;
      }
    }
    std::array<std::array<Bytes, 3>, 3> colors{};
  };

  template <InstructionSet set>
  [[gnu::always_inline]] static void look_up_vectors(const std::uint8_t* in, size_t count,
                                                     const std::array<ByteTable<set>, 3>& tables,
                                                     const Masks<set>& masks, std::uint8_t* out) {
    using Bytes = Vector<std::uint8_t, set>;
    const auto change = [&](const std::uint8_t* from, std::uint8_t* to)
        __attribute__((always_inline)) {
      std::array<Bytes, 3> result;
#pragma GCC unroll 3
      for (size_t n = 0; n < 3; ++n)
        result[n] = load<Bytes>(from + n * sizeof(Bytes));
      const auto bytes = result;
#pragma GCC unroll 3
      for (size_t c = 0; c < 3; ++c) {
        auto found = bytes;
        tables[c].look_up(found);
#pragma GCC unroll 3
        for (size_t n = 0; n < 3; ++n)
          result[n] = (result[n] & ~masks.colors[c][n]) | (found[n] & masks.colors[c][n]);
      }
#pragma GCC unroll 3
      for (size_t n = 0; n < 3; ++n)
        store(to + n * sizeof(Bytes), result[n]);
    };
    constexpr size_t step = 3 * sizeof(Bytes);
    size_t i = 0;
    for (; i + step <= count; i += step)
      change(in + i, out + i);
    std::array<std::uint8_t, step> end{};
    std::copy(in + i, in + count, end.begin());
    change(end.data(), end.data());
    std::copy_n(end.begin(), count - i, out + i);
  }
};

// Pixels that are converted to RGBA, scaled and converted back while in the first-level cache.
constexpr size_t block_pixels = 256;

// In place.
template <typename Sample>
[[gnu::always_inline]] inline void scale_block(Sample* rgba, size_t count, const float* factors) {
  std::array<std::uint32_t, block_pixels> lumas;
  std::array<float, block_pixels> scales;
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(rgba + 4 * i);
    lumas[i] = luma_bt709(static_cast<std::uint32_t>(pixel.get(0)),
                          static_cast<std::uint32_t>(pixel.get(1)),
                          static_cast<std::uint32_t>(pixel.get(2)));
  }
  for (size_t i = 0; i < count; ++i)
    scales[i] = factors[lumas[i]];
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(rgba + 4 * i);
    Pixel<Sample, 4> scaled;
    scaled.put(0, to_sample<Sample>(static_cast<float>(pixel.get(0)) * scales[i]));
    scaled.put(1, to_sample<Sample>(static_cast<float>(pixel.get(1)) * scales[i]));
    scaled.put(2, to_sample<Sample>(static_cast<float>(pixel.get(2)) * scales[i]));
    scaled.put(3, static_cast<std::uint32_t>(pixel.get(3)));
    scaled.write(rgba + 4 * i);
  }
}

// Pictures in colour.
template <typename Sample>
struct ScalingLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         const float* factors) {
    change_rgba_blocks<set, Sample, block_pixels>(
        source, target, [&](auto& block, size_t count) __attribute__((always_inline)) {
          scale_block(block.data(), count, factors);
        });
  }
};

template <typename Sample>
void scale(const ConstRows& source, const MutableRows& target, const float* factors) {
  if (source.format.color_channels() == 3) {
    return run_loop<ScalingLoop<Sample>>(source, target, factors);
  }
  const auto width = static_cast<size_t>(source.width);
  const auto change = [factors](Sample sample) __attribute__((always_inline)) {
    return static_cast<Sample>(to_sample<Sample>(static_cast<float>(sample) * factors[sample]));
  };
  const auto channels = static_cast<size_t>(source.format.channels);
  for_rows<Sample>(source, target, [&](const Sample* in, Sample* out) {
    change_row(in, width, channels, out, change);
  });
}

}  // namespace

namespace {

template <typename Sample>
void look_up(const ConstRows& source, const MutableRows& target, std::span<const Sample> tables) {
  const auto width = static_cast<size_t>(source.width);
  const auto channels = static_cast<size_t>(source.format.channels);
  const auto row =
      tables.size() > source.format.max_sample() + 1 ? look_up_colors<Sample> : look_up_row<Sample>;
  for_rows<Sample>(source, target, [&](const Sample* in, Sample* out) {
    row(in, width, channels, tables.data(), out);
  });
}

}  // namespace

void lookup_rows(const ConstRows& source, const MutableRows& target,
                 std::span<const std::uint16_t> tables) {
  if (source.format.depth == 16) return look_up(source, target, tables);
  std::array<std::uint8_t, 3 * 256> bytes{};
  std::ranges::transform(tables, bytes.begin(),
                         [](std::uint16_t entry) { return static_cast<std::uint8_t>(entry); });
  if (tables.size() == 256)
    return run_best_loop<ByteLookUpLoop, InstructionSet::avx2, InstructionSet::avx512,
                         InstructionSet::avx512_vbmi>(source, target, bytes.data());
  if (instruction_set() >= InstructionSet::avx512_vbmi)
    return run_loop_of_sets<ColorLookUpLoop, InstructionSet::avx512_vbmi>(source, target,
                                                                          bytes.data());
  look_up(source, target, std::span<const std::uint8_t>(bytes));
}

void lookup_rows(const ConstRows& source, const MutableRows& target, const float* factors) {
  if (source.format.depth == 8) {
    scale<std::uint8_t>(source, target, factors);
  } else {
    scale<std::uint16_t>(source, target, factors);
  }
}

namespace {

// A table for each depth, made when first requested. Thread-safe.
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
  return to_bytes(table);
}

std::vector<std::uint8_t> table_bytes(const std::vector<float>& table, const PixelFormat&) {
  return to_bytes(table);
}

// Alpha does not change, here and below.
std::string with_alpha(std::string loop, const PixelFormat& format) {
  if (format.has_alpha()) loop += "    " + copy_alpha(format, format.channels - 1);
  return for_each_pixel(loop);
}

std::string look_up_source(const PixelFormat& format, size_t entries) {
  const std::uint32_t own = entries > format.max_sample() + 1 ? format.max_sample() + 1 : 0;
  std::string loop;
  for (int c = 0; c < format.color_channels(); ++c)
    loop += formatted("    SET_SAMPLE(out[i], {0}, table[{1} + SAMPLE(in[i], {0})]);\n", c,
                      own * static_cast<std::uint32_t>(c));
  return with_alpha(std::move(loop), format);
}

// Grey is its own luma.
std::string scale_source(const PixelFormat& format, size_t /*entries*/) {
  std::string loop = format.color_channels() == 1
                         ? "    const float factor = table[SAMPLE(in[i], 0)];\n"
                         : "    const float factor = table[LUMA_BT709(SAMPLE(in[i], 0), "
                           "SAMPLE(in[i], 1), SAMPLE(in[i], 2))];\n";
  for (int c = 0; c < format.color_channels(); ++c)
    loop += formatted("    SET_NUMBER(out[i], {0}, NUMBER(in[i], {0}) * factor);\n", c);
  return with_alpha(std::move(loop), format);
}

// Each entry of `first`, looked up in `second`. Either has `count` entries, or three times as many.
template <typename Entry>
std::vector<Entry> joined(const std::vector<Entry>& first, const std::vector<Entry>& second,
                          size_t count) {
  std::vector<Entry> table(std::max(first.size(), second.size()));
  for (size_t i = 0; i < table.size(); ++i) {
    const size_t color = second.size() > count ? i / count * count : 0;
    table[i] = second[color + first[i % first.size()]];
  }
  return table;
}

template <typename Entry>
class LookupStage : public OneStepStage {
 public:
  // `source` writes the pixel function, whose table has this many entries: one for each sample or
  // luma, or for each sample of red, then of green and blue.
  using Source = std::string (*)(const PixelFormat&, size_t entries);
  using Warning = std::function<std::string(const PixelFormat&)>;
  using Cost = StageCost (*)(const PixelFormat&);
  LookupStage(std::string name, std::string variant, Cost cost_of, Source source,
              typename Tables<Entry>::Make make, Warning warning)
      : name_(std::move(name)),
        variant_(std::move(variant)),
        cost_(cost_of),
        source_(source),
        make_(std::move(make)),
        tables_(make_),
        warning_(std::move(warning)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string label() const override { return variant_; }
  [[nodiscard]] std::string key() const override { return name_ + " " + variant_; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    Lowered lowered = OneStepStage::lower(context);
    if (warning_) lowered.warning = warning_(context.shape.format);
    return lowered;
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override { return cost_(input); }
  [[nodiscard]] StepProperties properties(const StepPlace& /*at*/) const override {
    return {.runs_in_place = true};
  }

  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& input, const DeviceInfo& /*device*/) const override {
    const std::vector<Entry>& table = tables_.of(input);
    return PixelFunction{.body = source_(input, table.size()),
                         .table_entry = std::is_same_v<Entry, float> ? "float" : "sample_t",
                         .table = table_bytes(table, input)};
  }

  [[nodiscard]] std::shared_ptr<const Step> merged_with(const Step& next) const override {
    if constexpr (std::is_same_v<Entry, std::uint16_t>) {
      const auto* other = dynamic_cast<const LookupStage*>(&next);
      if (other == nullptr) return nullptr;
      return make_lookup({name_ == other->name_ ? name_ : name_ + " + " + other->name_,
                          variant_ + "; " + other->variant_,
                          [make_first = make_, make_second = other->make_](const PixelFormat& of) {
                            return joined(make_first(of), make_second(of), of.max_sample() + 1);
                          }});
    }
    return nullptr;
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    const std::vector<Entry>& table = tables_.of(source.format);
    if constexpr (std::is_same_v<Entry, float>) {
      lookup_rows(source, target, table.data());
    } else {
      lookup_rows(source, target, table);
    }
  }

 private:
  std::string name_;
  std::string variant_;
  Cost cost_;
  Source source_;
  typename Tables<Entry>::Make make_;
  Tables<Entry> tables_;
  Warning warning_;
};

}  // namespace

StageCost lookup_cost(const PixelFormat& input) {
  const Rate rate = input.depth == 16 ? Rate("look_up_samples 16", 0.8e-9, 12e-12)
                                      : Rate("look_up_samples 8", 0.5e-9, 8e-12);
  return {rate, static_cast<double>(input.channels)};
}

StageCost luma_scaling_cost(const PixelFormat& input) {
  const Rate rate = input.depth == 16 ? Rate("scale_by_luma 16", 2e-9, 15e-12)
                                      : Rate("scale_by_luma 8", 1.5e-9, 10e-12);
  return {rate, static_cast<double>(input.channels)};
}

std::shared_ptr<const OneStepStage> make_lookup(SampleLookup lookup) {
  return std::make_shared<LookupStage<std::uint16_t>>(
      std::move(lookup.stage), std::move(lookup.variant), lookup_cost, look_up_source,
      std::move(lookup.make_table), std::move(lookup.warning));
}

std::shared_ptr<const OneStepStage> make_luma_scaling(LumaScaling scaling) {
  return std::make_shared<LookupStage<float>>(std::move(scaling.stage), std::move(scaling.variant),
                                              luma_scaling_cost, scale_source,
                                              std::move(scaling.make_factors), nullptr);
}

}  // namespace gpufilter
