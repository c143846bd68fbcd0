// gpufilter montage.
#include "cli/batch_fixture.hpp"
#include "support/oriented_files.hpp"

namespace gpufilter::test {
namespace {

struct Montage : BatchTest {
  [[nodiscard]] ProcessResult montage(const Words& more) const {
    return filter(Words{"montage", in_} + more);
  }

  // The cell with this number of the page, whose cells are 32x24 in two columns.
  [[nodiscard]] static Image cell(const Image& page, int number) {
    const int left = 4 + number % 2 * 36;
    const int top = 4 + number / 2 * 28;
    Image cell({32, 24}, page.format());
    for (int y = 0; y < 24; ++y)
      std::copy_n(page.rows().row(top + y) + left * 3, 32 * 3, cell.rows().row(y));
    return cell;
  }

  const Words grid_{"--columns", "2", "--cell", "32x24", "--gap", "4"};
  const std::string sheet_ = folder_ / "sheet.png";
};

TEST_F(Montage, ShowsPicturesUprightAndSmaller) {
  const Image flat = random_image({32, 24}, {3, 8}, 1);
  write_png(flat, in_ + "/a.png");
  write_oriented(stored_as(flat, 6), in_ + "/b.png", 6);
  const Image large = random_image({320, 240}, {3, 8}, 2);
  write_png(large, in_ + "/c.png");
  const ProcessResult said = ended(0, montage(Words{sheet_} + grid_));
  EXPECT_EQ(said.err, sheet_ + ": 76x60, 3 pictures in 2 columns\n");
  EXPECT_EQ(said.out, "");
  const Image page = read_picture(sheet_);
  EXPECT_EQ(page.size(), (ImageSize{76, 60}));
  EXPECT_TRUE(same_pixels(cell(page, 0), flat));
  EXPECT_TRUE(same_pixels(cell(page, 1), flat)) << "turned upright";
  filter_quietly({in_ + "/c.png", out_ + ".png", "--resize", "32x24"});
  EXPECT_TRUE(same_pixels(cell(page, 2), read_picture(out_ + ".png")));
  EXPECT_EQ(*page.rows().row(59), 255) << "white";
}

TEST_F(Montage, ShowsAlphaOnThePagesColour) {
  Image clear = random_image({32, 24}, {4, 8}, 1);
  for (int y = 0; y < 24; ++y) {
    for (int x = 0; x < 32; ++x)
      clear.rows().row(y)[4 * x + 3] = 0;
  }
  write_png(clear, in_ + "/a.png");
  ended(0, montage(Words{sheet_, "--background", "#102030", "-q"} + grid_));
  const Image page = read_picture(sheet_);
  for (int y = 0; y < page.size().height; ++y) {
    for (int x = 0; x < page.width(); ++x)
      ASSERT_EQ(page.rows().row(y)[3 * x + 2], 0x30);
  }
}

TEST_F(Montage, APictureThatFailsLeavesItsCellEmpty) {
  put("a.png", {32, 24});
  write_file(in_ + "/b.png", read_file(in_ + "/a.png").substr(0, 1000));
  write_file(in_ + "/c.jpg", "no picture");
  put("d.png", {32, 24});
  const ProcessResult said = ended(1, montage(Words{sheet_} + grid_));
  EXPECT_TRUE(contains(said.err, "gpufilter: " + in_ + "/b.png: "));
  EXPECT_TRUE(contains(said.err, "gpufilter: " + in_ + "/c.jpg: not a PNG"));
  EXPECT_TRUE(contains(said.err, "2 pictures in 2 columns\n"));
  const Image page = read_picture(sheet_);
  EXPECT_TRUE(same_pixels(cell(page, 3), read_picture(in_ + "/d.png")));
  Image empty({32, 24}, {3, 8});
  std::fill_n(empty.rows().row(0), empty.bytes(), std::uint8_t{255});
  EXPECT_TRUE(same_pixels(cell(page, 1), empty));
  EXPECT_TRUE(same_pixels(cell(page, 2), empty));
}

TEST_F(Montage, NumbersItsPages) {
  put_many(11, {32, 24});
  const Words words = Words{in_ + "/sheet.png", "--rows", "1", "-q"} + grid_;
  ended(0, montage(words));
  for (int i = 1; i <= 6; ++i)
    EXPECT_TRUE(fs::exists(in_ + formatted("/sheet-{}.png", i)));
  const Image last = read_picture(in_ + "/sheet-6.png");
  EXPECT_TRUE(same_pixels(cell(last, 0), read_picture(in_ + "/p110.png")));
  EXPECT_EQ(ended(2, montage(words)).err,
            "gpufilter: " + in_ +
                "/sheet-1.png: already exists; --on-exists overwrite replaces "
                "it\n");
  ended(0, montage(words + Words{"--on-exists", "overwrite"}));
  EXPECT_TRUE(same_pixels(read_picture(in_ + "/sheet-6.png"), last)) << "pages are no pictures";
  EXPECT_FALSE(fs::exists(in_ + "/sheet-7.png"));
  ended(0, montage({sheet_, "-q"}));
  EXPECT_TRUE(contains(ended(0, montage({sheet_})).err, "sheet.png (replaced): "));
  ended(2, montage({sheet_, "--on-exists", "fail"}));
}

TEST_F(Montage, FitsOnPaper) {
  put_many(3, {300, 200});
  const std::string sheet = folder_ / "a6.jpg";
  ended(0, montage({sheet, "--paper", "a6", "--dpi", "100", "--landscape", "--fit", "cover"}));
  EXPECT_EQ(read_picture(sheet).size(), (ImageSize{583, 413}));
  EXPECT_TRUE(contains(ended(0, filter({"info", sheet})).out, "100 dots per inch"));
}

TEST_F(Montage, RefusesWhatItCannotDo) {
  put_many(1);
  const auto refused = [this](const Words& words, const std::string& reason) {
    EXPECT_TRUE(contains(ended(2, filter(Words{"montage"} + words)).err, reason));
    EXPECT_FALSE(fs::exists(sheet_));
  };
  refused({in_}, "montage takes pictures and a sheet");
  refused({in_, sheet_, "--cell", "32"}, "--cell 32: write WIDTHxHEIGHT, such as 300x200");
  refused({in_, sheet_, "--landscape"}, "--landscape: has no effect without --paper");
  refused({in_, sheet_, "--quality", "50"}, "--quality: PNG output does not take it");
  refused({in_, sheet_ + ".txt"}, ".png");
  refused({in_ + "/p100.png", in_ + "/p100.png"}, "is an input; give the sheet another name");
  fs::create_directory(folder_ / "empty");
  refused({folder_ / "empty", sheet_}, "empty: contains no picture");
}

}  // namespace
}  // namespace gpufilter::test
