#include "net/net_blocks.hpp"

#include <algorithm>
#include <cstddef>

#include "base/division.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Work-groups of a launch beside each other: devices support at least 65535.
constexpr int maximum_rows = 32768;
constexpr int minimum_side = 16;  // of a block, times the network's scale

// Where values begin and end in memory.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Lays values out, in the order in which operations make them, at the first place that is free.
std::vector<Extent> lay_out(const NetGraph& graph, const std::vector<std::uint64_t>& sizes) {
  std::vector<size_t> last_use(graph.values.size(), 0);
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    for (const int input : graph.operations[i].inputs)
      last_use[static_cast<size_t>(input)] = i;
  }
  last_use[static_cast<size_t>(graph.output)] = graph.operations.size();
  std::vector<Extent> extents(graph.values.size());
  std::vector<size_t> live;  // by their beginnings
  const auto place = [&](size_t value) {
    std::uint64_t begin = 0;
    auto at = live.begin();
    for (; at != live.end() && extents[*at].begin < begin + sizes[value]; ++at)
      begin = extents[*at].end;
    extents[value] = {begin, begin + sizes[value]};
    live.insert(at, value);
  };
  place(0);
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    place(static_cast<size_t>(graph.operations[i].output));
    std::erase_if(live, [&](size_t value) { return last_use[value] <= i; });
  }
  return extents;
}

// Where each value is while a block of at most this size is computed.
std::vector<Extent> extents_of(const NetGraph& graph, ImageSize block) {
  // Blocks may begin inside of an enlarged pixel, which adds a position; borders only take some
  // away.
  const int more = graph.scale() - 1;
  const auto spans = [&](NetAxis axis, int side) {
    return net_spans(graph, axis, {0, side + more}, 1, Border::wrap);
  };
  const auto columns = spans(NetAxis::columns, block.width);
  const auto rows = spans(NetAxis::rows, block.height);
  // Small blocks at an edge may need as many positions before them as behind, for a mirroring
  // border.
  const auto count = [&](const RowRange& span, int side, int scale) {
    const int own = divided_up((side + more) * scale, graph.scale());
    return static_cast<std::uint64_t>(
        std::max(span.count(), 2 * std::max(-span.begin, span.end - own) + 2 * scale));
  };
  std::vector<std::uint64_t> sizes;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const NetValue& value = graph.values[i];
    sizes.push_back(static_cast<std::uint64_t>(value.planes()) *
                    count(columns[i], block.width, value.scale) *
                    count(rows[i], block.height, value.scale));
  }
  return lay_out(graph, sizes);
}

}  // namespace

std::vector<std::int32_t> net_beginnings(const NetGraph& graph, ImageSize largest) {
  std::vector<std::int32_t> beginnings;
  for (const Extent& extent : extents_of(graph, largest))
    beginnings.push_back(static_cast<std::int32_t>(extent.begin));
  return beginnings;
}

std::vector<NetPlace> net_places(const NetGraph& graph, const std::vector<std::int32_t>& beginnings,
                                 const NetBlock& block, ImageSize size, Border border) {
  const auto columns = net_spans(graph, NetAxis::columns, block.columns, size.width, border);
  const auto rows = net_spans(graph, NetAxis::rows, block.rows, size.height, border);
  std::vector<NetPlace> places;
  for (size_t i = 0; i < beginnings.size(); ++i) {
    places.push_back(
        {beginnings[i], columns[i].begin, rows[i].begin, columns[i].count(), rows[i].count()});
  }
  return places;
}

std::vector<NetBlock> net_blocks(const RowRange& rows, int width, ImageSize largest) {
  std::vector<NetBlock> blocks;
  for (int y = rows.begin; y < rows.end; y += largest.height) {
    for (int x = 0; x < width; x += largest.width) {
      blocks.push_back(
          {{x, std::min(x + largest.width, width)}, {y, std::min(y + largest.height, rows.end)}});
    }
  }
  return blocks;
}

std::uint64_t net_block_numbers(const NetGraph& graph, ImageSize block) {
  std::uint64_t end = 0;
  for (const Extent& extent : extents_of(graph, block))
    end = std::max(end, extent.end);
  return end;
}

ImageSize net_block_size(const NetGraph& graph, ImageSize picture, std::uint64_t numbers) {
  const int scale = graph.scale();
  ImageSize block{picture.width * scale, std::min(picture.height * scale, maximum_rows)};
  const int minimum = minimum_side * scale;
  // Blocks become lower down to some multiple of what they share with others, then narrower.
  const int low = std::max(minimum, 8 * net_radius(graph) * scale);
  const auto shrink = [&](int& side) { side = std::max(minimum, side - std::max(side / 8, 1)); };
  while (net_block_numbers(graph, block) > numbers) {
    if (block.height > low || (block.width <= low && block.height > minimum)) {
      shrink(block.height);
    } else if (block.width > minimum) {
      shrink(block.width);
    } else {
      break;
    }
  }
  return block;
}

}  // namespace gpufilter
