#include "batch/contact_sheet.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <stdexcept>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/threads.hpp"

namespace gpufilter {
namespace {

constexpr PixelFormat sheet_format{3, 8};
// Of a page without paper: viewers and formats take more, but people do not.
constexpr int largest_height = 16384;

// The grid along one direction.
struct Track {
  int count = 0;
  int cell = 0;
  int extent = 0;  // of the page

  [[nodiscard]] int used(int gap) const { return count * cell + (count - 1) * gap; }
};

// On paper: what is 0 of `count` and `cell` follows from the other.
Track fit(const char* side, Track track, int gap) {
  if (track.count == 0) track.count = std::max(0, (track.extent - gap) / (track.cell + gap));
  if (track.cell == 0) track.cell = (track.extent - gap) / track.count - gap;
  if (track.count > 0 && track.cell > 0 && track.used(gap) + 2 * gap <= track.extent) return track;
  throw UsageError(formatted(
      "montage: the cells do not fit in the paper's {} of {} pixels; choose smaller or fewer cells",
      side, track.extent));
}

Track spread(Track track, int gap) {
  track.extent = track.used(gap) + 2 * gap;
  return track;
}

SheetLayout layout_of(const Track& across, const Track& down, int gap) {
  return {.page = {across.extent, down.extent},
          .cell = {across.cell, down.cell},
          .columns = across.count,
          .rows = down.count,
          .gap = gap,
          .left = (across.extent - across.used(gap)) / 2,
          .top = (down.extent - down.used(gap)) / 2};
}

SheetLayout on_paper(const SheetRequest& request) {
  constexpr int usual_columns = 4;
  const ImageSize cell = request.cell.value_or(ImageSize{0, 0});
  const int columns = request.columns > 0 || cell.width > 0 ? request.columns : usual_columns;
  const Track across = fit("width", {columns, cell.width, request.paper->width}, request.gap);
  const bool is_square = cell.height == 0 && request.rows == 0;
  const int height = is_square ? across.cell : cell.height;
  const Track down = fit("height", {request.rows, height, request.paper->height}, request.gap);
  return layout_of(across, down, request.gap);
}

// Fills `rows` with one colour.
void fill(const MutableRows& rows, const Color& color) {
  for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
    std::uint8_t* sample = rows.row(y);
    for (int x = 0; x < rows.width; ++x, sample += color.size())
      std::memcpy(sample, color.data(), color.size());
  }
}

// Copies `image`, RGB or grey, with its first pixel at column `left` of row `top`.
void place(const Image& image, const MutableRows& rows, int left, int top) {
  const ConstRows from = image.rows();
  const int channels = image.format().channels;
  if (image.format().depth != 8 || (channels != 1 && channels != 3))
    throw std::logic_error("a cell of a contact sheet is neither RGB nor grey of 8 bits");
  for (int y = 0; y < image.size().height; ++y) {
    const std::uint8_t* sample = from.row(y);
    std::uint8_t* target = rows.row(top + y) + static_cast<std::ptrdiff_t>(left) * 3;
    for (int x = 0; x < image.width(); ++x, target += 3, sample += channels) {
      for (int c = 0; c < 3; ++c)
        target[c] = sample[channels == 1 ? 0 : c];
    }
  }
}

// Calls work(0) to work(count - 1) on several threads. These are not oneTBB's: a picture uses those
// itself, and one of them that waits could begin another picture.
void on_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      work(i);
  };
  std::vector<std::future<void>> others;
  const std::size_t threads = startable_threads(std::min(count, allowed_threads()));
  for (std::size_t i = 1; i < threads; ++i)
    others.push_back(std::async(std::launch::async, take));
  take();
  for (auto& other : others)
    other.get();
}

}  // namespace

SheetLayout lay_out(const SheetRequest& request, std::size_t pictures) {
  if (request.paper) return on_paper(request);
  constexpr int usual_columns = 6;
  constexpr ImageSize usual_cell{256, 256};
  const ImageSize cell = request.cell.value_or(usual_cell);
  const int count = static_cast<int>(std::min<std::size_t>(pictures, 1'000'000));
  Track across{request.columns, cell.width};
  if (across.count == 0) across.count = std::clamp(count, 1, usual_columns);
  Track down{request.rows, cell.height};
  if (down.count == 0) {
    const int most = std::max(1, (largest_height - request.gap) / (cell.height + request.gap));
    down.count = std::clamp((count + across.count - 1) / across.count, 1, most);
  }
  return layout_of(spread(across, request.gap), spread(down, request.gap), request.gap);
}

void write_sheet(const SheetLayout& layout, const Color& background, std::size_t first,
                 std::size_t end, const ReadCell& read, RowWriter& writer) {
  const auto columns = static_cast<std::size_t>(layout.columns);
  RowRange strip{0, 0};
  for (int row = 0; row < layout.rows; ++row) {
    const int top = layout.top + row * (layout.cell.height + layout.gap);
    strip = {strip.end, top + layout.cell.height};
    Image rows(layout.page.width, strip, sheet_format);
    fill(rows.rows(), background);
    const std::size_t begin = first + static_cast<std::size_t>(row) * columns;
    on_threads(begin < end ? std::min(columns, end - begin) : 0, [&](std::size_t column) {
      const std::optional<Image> image = read(begin + column);
      if (!image) return;
      const int left = layout.left + static_cast<int>(column) * (layout.cell.width + layout.gap);
      place(*image, rows.rows(), left + (layout.cell.width - image->width()) / 2,
            top + (layout.cell.height - image->size().height) / 2);
    });
    writer.write(rows.rows());
  }
  if (strip.end == layout.page.height) return;
  Image rows(layout.page.width, {strip.end, layout.page.height}, sheet_format);
  fill(rows.rows(), background);
  writer.write(rows.rows());
}

}  // namespace gpufilter
