#include "stages/lookup.hpp"

#include <array>
#include <mutex>

#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "stages/lookup_rows.hpp"
#include "stages/row_pass.hpp"

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
  return to_bytes(std::span(table));
}

std::vector<std::uint8_t> table_bytes(const std::vector<float>& table, const PixelFormat&) {
  return to_bytes(std::span(table));
}

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
    return {formatted("{} {}", function_, input.depth), static_cast<double>(input.channels)};
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session, ImageSize size,
                                                    const PixelFormat& input) const override {
    RowKernel kernel{.file = "lookup.cl",
                     .function = function_,
                     .constants = table_bytes(tables_.of(input), input),
                     .pixels = wide_pixels(input),
                     .variant = variant_};
    // A small table is brought to local memory once for all lines of a work-group.
    if (input.depth == 8 && session.device().kind == DeviceKind::gpu &&
        session.device().fits(64, 4, kernel.constants.size())) {
      kernel.macros = "-D LOCAL_TABLE=1";
      kernel.lines = 2;
      kernel.group_height = 4;
    }
    return make_row_pass(session, std::move(kernel), size, input, input);
  }

  void run(const ConstRows& source, const MutableRows& target, ImageSize /*size*/) const override {
    lookup_rows(source, target, tables_.of(source.format).data());
  }

 private:
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
