// Contact sheets: many pictures, each in a cell of a grid, on one page or several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "codec/codec.hpp"
#include "image/color.hpp"
#include "image/image.hpp"

namespace gpufilter {

struct SheetRequest {
  std::optional<ImageSize> paper = std::nullopt;  // in pixels; nothing: as large as the grid
  std::optional<ImageSize> cell = std::nullopt;   // nothing: what fits on the paper, or 256x256
  int columns = 0;                                // 0: what fits; without a paper, up to 6
  int rows = 0;                                   // of a page; 0: what fits
  int gap = 8;                                    // between cells, and at least that around them
};

struct SheetLayout {
  ImageSize page;
  ImageSize cell;
  int columns = 0;
  int rows = 0;  // of a page
  int gap = 0;
  int left = 0;  // of the first cell
  int top = 0;

  [[nodiscard]] std::size_t cells() const {
    return static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  }
};

// Throws UsageError if the grid does not fit on the paper.
[[nodiscard]] SheetLayout lay_out(const SheetRequest& request, std::size_t pictures);

// Reads the picture with this number, RGB or grey of 8 bits and at most as large as a cell. Several
// threads call it at the same time. Nothing: its cell stays empty.
using ReadCell = std::function<std::optional<Image>(std::size_t picture)>;

// Writes a page of `layout` with the pictures from `first` to before `end` in the middle of their
// cells. A row of cells at a time is in memory.
void write_sheet(const SheetLayout& layout, const Color& background, std::size_t first,
                 std::size_t end, const ReadCell& read, RowWriter& writer);

}  // namespace gpufilter
