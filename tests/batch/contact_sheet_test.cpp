// Contact sheets: the layout of pages, and where pictures are on them.
#include "batch/contact_sheet.hpp"

#include "codec/byte_sink.hpp"
#include "codec/byte_source.hpp"
#include "codec/formats.hpp"
#include "support/pictures.hpp"
#include "support/testing.hpp"

namespace gpufilter {
namespace {

std::string text_of(const SheetLayout& layout) {
  return formatted("{}x{}: {}x{} of {}x{}, {} at {},{}", layout.page.width, layout.page.height,
                   layout.columns, layout.rows, layout.cell.width, layout.cell.height, layout.gap,
                   layout.left, layout.top);
}

TEST(SheetLayouts, AreAsLargeAsTheGrid) {
  const auto laid = [](const SheetRequest& request, std::size_t pictures) {
    return text_of(lay_out(request, pictures));
  };
  EXPECT_EQ(laid({}, 1), "272x272: 1x1 of 256x256, 8 at 8,8");
  EXPECT_EQ(laid({}, 7), "1592x536: 6x2 of 256x256, 8 at 8,8");
  EXPECT_EQ(laid({}, 1'000'000'000), "1592x16376: 6x62 of 256x256, 8 at 8,8");
  EXPECT_EQ(laid({.cell = ImageSize{30, 20}, .columns = 4, .rows = 3, .gap = 0}, 5),
            "120x60: 4x3 of 30x20, 0 at 0,0");
  EXPECT_EQ(laid({.cell = ImageSize{30, 40000}}, 5), "198x40016: 5x1 of 30x40000, 8 at 8,8");
}

TEST(SheetLayouts, FitOnPaper) {
  const ImageSize a4{827, 1169};
  const auto laid = [](const SheetRequest& request) { return text_of(lay_out(request, 99)); };
  EXPECT_EQ(laid({.paper = a4}), "827x1169: 4x5 of 196x196, 8 at 9,78");
  EXPECT_EQ(laid({.paper = a4, .columns = 5, .gap = 0}), "827x1169: 5x7 of 165x165, 0 at 1,7");
  EXPECT_EQ(laid({.paper = a4, .columns = 2, .rows = 1}), "827x1169: 2x1 of 401x1153, 8 at 8,8");
  EXPECT_EQ(laid({.paper = a4, .cell = ImageSize{300, 200}}),
            "827x1169: 2x5 of 300x200, 8 at 109,68");
  EXPECT_EQ(laid({.paper = a4, .cell = ImageSize{811, 1153}}),
            "827x1169: 1x1 of 811x1153, 8 at 8,8");
  for (const SheetRequest& request :
       {SheetRequest{.paper = a4, .cell = ImageSize{812, 100}},
        SheetRequest{.paper = a4, .cell = ImageSize{100, 1154}},
        SheetRequest{.paper = a4, .columns = 500}, SheetRequest{.paper = a4, .rows = 500},
        SheetRequest{.paper = a4, .cell = ImageSize{300, 200}, .columns = 3},
        SheetRequest{.paper = a4, .gap = 10'000}})
    EXPECT_THROW(static_cast<void>(lay_out(request, 1)), UsageError);
}

// The page that write_sheet() makes of these pictures.
Image page_of(const SheetLayout& layout, std::size_t first, const std::vector<Image>& pictures) {
  std::vector<std::uint8_t> bytes;
  const auto sink = memory_sink(bytes, "page.png");
  PictureHeader header;
  header.set_shape({layout.page, {3, 8}});
  const auto writer = create_picture(png_codec(), *sink, header, {});
  write_sheet(
      layout, {1, 2, 3}, first, first + pictures.size(),
      [&](std::size_t i) -> std::optional<Image> {
        const Image& picture = pictures.at(i - first);
        if (picture.width() == 0) return std::nullopt;
        Image copy(picture.size(), picture.format());
        copy_pixels(picture.rows(), copy.rows());
        return copy;
      },
      *writer);
  writer->finish({});
  sink->commit();
  const auto reader = open_picture(memory_source(bytes, "page.png"));
  Image page(layout.page, {3, 8});
  reader->read(page.rows());
  return page;
}

TEST(Sheets, HoldEachPictureInTheMiddleOfItsCell) {
  const SheetLayout layout =
      lay_out({.cell = ImageSize{20, 10}, .columns = 3, .rows = 3, .gap = 5}, 9);
  std::vector<Image> pictures;
  for (const ImageSize size :
       {ImageSize{20, 10}, ImageSize{7, 3}, ImageSize{0, 0}, ImageSize{1, 10}, ImageSize{20, 1}}) {
    const int channels = pictures.size() == 1 ? 1 : 3;
    pictures.push_back(size.width == 0
                           ? Image()
                           : test::random_image(size, {channels, 8}, unsigned(pictures.size())));
  }
  const Image page = page_of(layout, 4, pictures);
  Image expected(layout.page, {3, 8});
  for (int y = 0; y < layout.page.height; ++y) {
    for (int x = 0; x < layout.page.width; ++x) {
      Color color{1, 2, 3};
      for (std::size_t i = 0; i < pictures.size(); ++i) {
        const ImageSize size = pictures[i].size();
        const int left = 5 + static_cast<int>(i % 3) * 25 + (20 - size.width) / 2;
        const int top = 5 + static_cast<int>(i / 3) * 15 + (10 - size.height) / 2;
        if (x < left || x >= left + size.width || y < top || y >= top + size.height) continue;
        const int channels = pictures[i].format().channels;
        const std::uint8_t* sample = pictures[i].rows().row(y - top) + (x - left) * channels;
        color = channels == 1 ? Color{*sample, *sample, *sample}
                              : Color{sample[0], sample[1], sample[2]};
      }
      std::copy(color.begin(), color.end(), expected.rows().row(y) + 3 * x);
    }
  }
  EXPECT_TRUE(test::same_pixels(page, expected));
}

}  // namespace
}  // namespace gpufilter
