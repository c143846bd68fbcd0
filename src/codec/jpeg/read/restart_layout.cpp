#include "codec/jpeg/read/restart_layout.hpp"

#include <algorithm>
#include <numeric>

#include "codec/jpeg/read/decompressor.hpp"

namespace gpufilter {
namespace {

// Starting a smaller group costs more than it saves. Larger ones do not fit the caches, but that
// costs less than decoding many rows of MCUs twice.
constexpr std::int64_t min_pixels = std::int64_t{64} << 10U;
constexpr std::int64_t max_pixels = std::int64_t{384} << 10U;
constexpr std::int64_t max_pixels_with_overlap = std::int64_t{768} << 10U;

bool is_cut_into_intervals(const jpeg_decompress_struct& jpeg) {
  return jpeg.restart_interval > 0 && jpeg.progressive_mode == FALSE && jpeg.arith_code == FALSE &&
         jpeg.comps_in_scan == jpeg.num_components && jpeg.Ss == 0 && jpeg.Se == DCTSIZE2 - 1 &&
         jpeg.Ah == 0 && jpeg.Al == 0;
}

bool interpolates_rows(const jpeg_decompress_struct& jpeg) {
  return std::any_of(jpeg.comp_info, jpeg.comp_info + jpeg.num_components,
                     [&](const jpeg_component_info& component) {
                       return component.v_samp_factor != jpeg.max_v_samp_factor;
                     });
}

}  // namespace

int RestartLayout::groups() const {
  return (grid.count.height + mcu_rows_a_group - 1) / mcu_rows_a_group;
}

std::uint64_t RestartLayout::intervals() const {
  return (grid.count.pixels() + mcus_an_interval - 1) / mcus_an_interval;
}

RestartLayout::Group RestartLayout::group(int index) const {
  const auto interval_of = [&](int mcu_row) {
    const std::uint64_t mcus =
        static_cast<std::uint64_t>(mcu_row) * static_cast<unsigned>(grid.count.width);
    return (mcus + mcus_an_interval - 1) / mcus_an_interval;
  };
  const int begin = index * mcu_rows_a_group;
  const int next = std::min(begin + mcu_rows_a_group, grid.count.height);
  const int end = overlaps ? std::min(next + 1, grid.count.height) : next;
  Group group;
  group.first_interval = interval_of(begin);
  group.next_interval = interval_of(next);
  group.end_interval = interval_of(end);
  group.first_row = begin * grid.mcu.height;
  group.rows = std::min(end * grid.mcu.height, picture_height) - group.first_row;
  group.skipped = overlaps && begin > 0 ? 1 : 0;
  const int yielded_end =
      next < grid.count.height ? next * grid.mcu.height + (overlaps ? 1 : 0) : picture_height;
  group.yielded = yielded_end - group.first_row - group.skipped;
  return group;
}

std::optional<RestartLayout> restart_layout(const jpeg_decompress_struct& jpeg, std::size_t threads,
                                            std::size_t group_memory) {
  if (threads < 2 || !is_cut_into_intervals(jpeg)) return std::nullopt;
  RestartLayout layout{mcu_grid(jpeg), static_cast<int>(jpeg.image_height), jpeg.restart_interval,
                       0, interpolates_rows(jpeg)};
  const McuGrid& grid = layout.grid;
  // After this many rows of MCUs, an interval and a row begin together.
  const std::uint64_t period =
      layout.mcus_an_interval /
      std::gcd(layout.mcus_an_interval, static_cast<std::uint64_t>(grid.count.width));
  if (2 * period > static_cast<std::uint64_t>(grid.count.height)) return std::nullopt;
  const std::int64_t period_pixels = static_cast<std::int64_t>(period) * grid.pixels_a_row();
  // Every thread gets several groups, but fewer if each of them means an additional row of MCUs.
  const std::int64_t shares = static_cast<std::int64_t>(threads) * (layout.overlaps ? 2 : 4);
  const auto fitting = static_cast<std::int64_t>(group_memory / 3);
  const std::int64_t largest = layout.overlaps ? max_pixels_with_overlap : max_pixels;
  const std::int64_t pixels = std::clamp(grid.count.height * grid.pixels_a_row() / shares,
                                         min_pixels, std::clamp(fitting, min_pixels, largest));
  const std::int64_t periods =
      std::max<std::int64_t>((pixels + period_pixels / 2) / period_pixels, 1);
  if (periods * period_pixels > std::max(fitting, 2 * max_pixels_with_overlap)) return std::nullopt;
  layout.mcu_rows_a_group = static_cast<int>(periods * static_cast<std::int64_t>(period));
  return layout.groups() < 2 ? std::nullopt : std::optional(layout);
}

}  // namespace gpufilter
