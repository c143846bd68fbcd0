#include "codec/formats.hpp"
#include "host/instruction_set.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/execute/band_feed.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/execute/kept_picture.hpp"
#include "pipeline/run/memory_picture.hpp"
#include "pipeline/run/picture_input.hpp"
#include "pipeline/run/run.hpp"
#include "stages/point/lookup.hpp"
#include "stages/resize/resize.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/jpeg.hpp"
#include "support/naive_stages.hpp"

namespace gpufilter::test {
namespace {

// Expects the picture's rows, by row numbers modulo the height.
void expect_window(const std::shared_ptr<const Image>& found, const RowRange& window,
                   const Image& image) {
  ASSERT_TRUE(found);
  ASSERT_EQ(found->row_range(), window);
  const int height = image.size().height;
  for (int y = window.begin; y < window.end; ++y) {
    const int row = (y % height + height) % height;
    EXPECT_TRUE(same_pixels(found->rows().part({y, y + 1}), image.rows().part({row, row + 1})))
        << "row " << y;
  }
}

// Read, in memory, or pushed: every band's window is the same.
void expect_windows(int height, const StageChain& chain, int band_rows) {
  SCOPED_TRACE(::testing::Message()
               << height << " rows, " << chain.size() << " stages, bands of " << band_rows);
  const Image image = random_image({37, height}, {3, 8}, 1);
  const Plan plan = make_plan({image.size(), image.format()}, chain, {.band_rows = band_rows});
  // It only moves forward: a row requested twice would be the wrong one.
  ImageReader reader(image);
  ImagePool pool;
  BandFeed read(reader, plan, pool);
  BandFeed in_memory(image.rows(), plan, pool);
  for (const RowRange& band : plan.bands()) {
    const RowRange window = plan.windows(band).front();
    expect_window(read.next(band), window, image);
    expect_window(in_memory.next(band), window, image);
  }
  for (const int rows : {1, 3, 100}) {
    BandFeed pushed(plan, pool);
    const std::vector<RowRange> bands = plan.bands();
    std::size_t next = 0;
    for (int y = 0; y < height; y += rows) {
      const ConstRows more = image.rows().part({y, std::min(y + rows, height)});
      while (next < bands.size()) {
        const auto found = pushed.next(bands[next], &more);
        if (!found) break;
        expect_window(found, plan.windows(bands[next++]).front(), image);
      }
    }
    EXPECT_EQ(next, bands.size()) << rows;
  }
}

TEST(BandFeed, YieldsEveryWindowReadingEachRowOnceAndWrapsRoundAsOftenAsItTakes) {
  const auto blurs = [](std::size_t count, Border border) {
    return StageChain(count, make_blur({.border = border}));
  };
  for (const auto& [height, stages, band_rows] :
       each_of(std::array{1, 2, 9, 30}, std::vector<std::size_t>{0U, 1U, 3U},
               std::array{1, 2, 4, 7, 100}))
    expect_windows(height, blurs(stages, Border::replicate), band_rows);
  for (const auto& [height, stages, band_rows] : each_of(
           std::array{1, 2, 9, 30}, std::vector<std::size_t>{1U, 3U, 5U}, std::array{1, 4, 100}))
    expect_windows(height, blurs(stages, Border::wrap), band_rows);
}

// A row of the source becomes two: a band of three rows ends within one, which the next band needs.
TEST(BandFeed, CopiesASingleRowThatTwoBandsShare) {
  const StageChain twice{make_resize({.percent = 200, .kernel = ResizeKernel::nearest})};
  const Plan plan = make_plan({{37, 8}, {3, 8}}, twice, {.band_rows = 3});
  ASSERT_EQ(plan.windows({0, 3}).front(), (RowRange{0, 2}));
  ASSERT_EQ(plan.windows({3, 6}).front(), (RowRange{1, 3}));
  expect_windows(8, twice, 3);
}

constexpr std::uint64_t no_limit = UINT64_MAX;

// Yields the rows of a picture in memory, the first `sound` of them.
class RowsOf final : public RowReader {
 public:
  RowsOf(const Image& image, int sound) : image_(image), sound_(sound) {
    header_.size = image.size();
    header_.format = image.format();
  }
  void read(const MutableRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
      if (next_ == sound_) throw PictureError("file", "is damaged");
      std::memcpy(rows.row(y), image_.rows().row(next_++), rows.pitch);
    }
  }
  Metadata finish() override { return {}; }

 private:
  const Image& image_;
  int sound_;
  int next_ = 0;
};

class ReadAheadTest : public ::testing::Test {
 protected:
  // 60 rows of 16 KiB: 256 KiB at a time are 16 rows.
  const Image image_ = random_image({16384 / 3, 60}, {3, 8}, 1);

  [[nodiscard]] ReadAhead reader(int sound = 60) const {
    return ReadAhead(std::make_unique<RowsOf>(image_, sound));
  }

  // Reads the next `count` rows and compares them.
  void expect_rows(ReadAhead& reader, int first, int count) const {
    Image rows = poisoned_image({image_.width(), count}, image_.format());
    reader.read(rows.rows());
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(std::memcmp(std::as_const(rows).rows().row(i), image_.rows().row(first + i),
                            static_cast<std::size_t>(image_.width()) * 3),
                0)
          << "row " << first + i;
    }
  }
};

TEST_F(ReadAheadTest, GivesTheSameRowsHoweverFarItRead) {
  for (int steps = 0; steps <= 5; ++steps) {
    for (const int piece : {1, 7, 16, 17, 60}) {
      ReadAhead ahead = reader();
      for (int i = 0; i < steps; ++i)
        EXPECT_EQ(ahead.read_on(no_limit), i < 4) << i;
      for (int y = 0; y < 60; y += piece)
        expect_rows(ahead, y, std::min(piece, 60 - y));
      EXPECT_FALSE(ahead.read_on(no_limit)) << "there is nothing more";
    }
  }
}

TEST_F(ReadAheadTest, GoesOnAfterRowsWereTaken) {
  ReadAhead ahead = reader();
  EXPECT_TRUE(ahead.read_on(no_limit));
  expect_rows(ahead, 0, 20);
  EXPECT_TRUE(ahead.read_on(no_limit));
  expect_rows(ahead, 20, 3);
  EXPECT_TRUE(ahead.read_on(no_limit));
  expect_rows(ahead, 23, 37);
}

TEST_F(ReadAheadTest, KeepsNoMoreThanItMay) {
  ReadAhead ahead = reader();
  const std::uint64_t two_steps = 2 * 16 * image_.pitch();
  EXPECT_TRUE(ahead.read_on(two_steps));
  EXPECT_TRUE(ahead.read_on(two_steps));
  EXPECT_FALSE(ahead.read_on(two_steps));
  expect_rows(ahead, 0, 16);
  EXPECT_TRUE(ahead.read_on(two_steps));
  EXPECT_FALSE(ahead.read_on(two_steps));
  expect_rows(ahead, 16, 44);
}

TEST_F(ReadAheadTest, DamageIsMetWhereItLies) {
  ReadAhead ahead = reader(40);
  EXPECT_TRUE(ahead.read_on(no_limit));
  EXPECT_TRUE(ahead.read_on(no_limit));
  EXPECT_FALSE(ahead.read_on(no_limit));
  EXPECT_FALSE(ahead.read_on(no_limit));
  expect_rows(ahead, 0, 32);
  Image row = poisoned_image({image_.width(), 1}, image_.format());
  EXPECT_THROW(ahead.read(row.rows()), PictureError);
}

TEST_F(ReadAheadTest, HasTheHeaderOfTheReader) {
  EXPECT_EQ(reader().header().size, image_.size());
  EXPECT_EQ(reader().header().format, image_.format());
}

// Adds the bands in an odd order and reads rows in other portions.
Image turned(const Image& image, const Turn& turn, int band_rows, bool in_memory, int portion) {
  KeptPicture turned({image.size(), image.format()}, turn, band_rows, in_memory, "in.png");
  EXPECT_EQ(turned.is_in_memory(), in_memory);
  const int height = image.size().height;
  for (const int odd : {1, 0}) {
    for (int i = odd; i * band_rows < height; i += 2) {
      const int y = i * band_rows;
      turned.add(image.rows().part({y, std::min(y + band_rows, height)}));
    }
  }
  KeptReader reader(turned);
  EXPECT_EQ(reader.header().size, turn.size_of(image.size()));
  EXPECT_EQ(reader.header().format, image.format());
  Image result = poisoned_image(reader.header().size, reader.header().format);
  for (int y = 0; y < result.size().height; y += portion) {
    const RowRange rows{y, std::min(y + portion, result.size().height)};
    reader.read(result.rows().part(rows).renumbered(100));
  }
  return result;
}

TEST(KeptPicture, GivesTheRowsOfTheKeptPicture) {
  for (const auto& [size, format] :
       each_of(Sizes{{67, 37}, {1, 30}, {30, 1}}, Formats{{1, 8}, {3, 8}, {4, 16}})) {
    const Image image = random_image(size, format, 1);
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const Turn turn = turn_for_orientation(orientation);
      const Image expected = naive_turn(image, turn);
      for (const auto& [band_rows, in_memory, portion] :
           each_of(std::array{1, 7, 37, 100}, std::array{true, false}, std::array{1, 5, 1000})) {
        ASSERT_TRUE(same_pixels(turned(image, turn, band_rows, in_memory, portion), expected))
            << orientation << ", " << band_rows << ", " << in_memory << ", " << portion;
      }
    }
  }
}

class TemporaryFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* former = std::getenv("TMPDIR")) former_ = former;
    ::setenv("TMPDIR", folder_.path().c_str(), 1);
  }
  void TearDown() override {
    former_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", former_.c_str(), 1);
  }

  const TemporaryFolder folder_;
  std::string former_;
};

TEST_F(TemporaryFiles, HaveNoName) {
  const PictureShape shape{{40, 30}, {3, 8}};
  const KeptPicture turned(shape, quarter_clockwise, 8, false, "in.png");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(TemporaryFiles, WithoutRoomAreRefused) {
  // No file system has room for it.
  const PictureShape shape{{2'000'000'000, 1'000'000'000}, {4, 8}};
  const std::string message = objection_to<PictureError>([&] {
    const KeptPicture turned(shape, quarter_clockwise, 8, false, "in.png");
    return 0;
  });
  EXPECT_TRUE(
      message.starts_with("in.png: it has to be kept whole, 8000000000000 MB in a temporary file, "
                          "which fails in " +
                          folder_.path().string() + ": "))
      << message;
  EXPECT_TRUE(message.ends_with("; raise --max-memory or set TMPDIR to another folder")) << message;
}

// The walk of one thread through a chain: what it computes, and which rows it keeps.

// Each sample becomes the largest of those up to `radius` rows above and below; notes its calls.
class TallMaximum final : public OneStepStage {
 public:
  explicit TallMaximum(int radius) : radius_(radius) {}
  [[nodiscard]] std::string name() const override { return "tall"; }
  [[nodiscard]] std::string key() const override { return "tall"; }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"tall", 1e-9, 1e-9}, 1};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    return {std::max(target.begin - radius_, 0), std::min(target.end + radius_, source.height)};
  }
  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    maximum_source_rows = std::max(maximum_source_rows, source.rows.count());
    const std::size_t samples = static_cast<std::size_t>(source.width) * 3;
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      ++times_computed[y];
      std::fill_n(target.row(y), samples, std::uint8_t{0});
      const RowRange window = source_rows({y, y + 1}, sizes.source);
      for (int row = window.begin; row < window.end; ++row) {
        for (std::size_t i = 0; i < samples; ++i)
          target.row(y)[i] = std::max(target.row(y)[i], source.row(row)[i]);
      }
    }
  }

  mutable std::map<int, int> times_computed;
  mutable int maximum_source_rows = 0;

 private:
  int radius_;
};

TEST(HostExecutor, KeepsOnlyTheRowsThatTheNextStageReads) {
  constexpr int radius = 30;
  constexpr int width = 1500;  // 22 rows of it are enough for a strip
  constexpr int strip = 64;    // but a window has 61
  const Image image = random_image({width, 700}, {3, 8}, 20);
  std::vector<std::shared_ptr<TallMaximum>> stages;
  for (int i = 0; i < 5; ++i)
    stages.push_back(std::make_shared<TallMaximum>(radius));
  const StageChain chain(stages.begin(), stages.end());
  const Plan plan = make_plan({image.size(), image.format()}, chain);
  const RowRange part{201, 478};
  const Image expected = baseline_rows(
      baseline_plan(plan.input, lower_chain(chain, {.shape = plan.input})), image.rows(), part);
  for (const auto& stage : stages) {
    stage->times_computed.clear();
    stage->maximum_source_rows = 0;
  }

  Image result(width, part, image.format());
  make_host_executor(plan, nullptr)->run(image.rows(), result.rows());

  EXPECT_FALSE(first_difference(expected.rows(), std::as_const(result).rows()));
  const std::vector<RowRange> windows = plan.windows(part);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    std::map<int, int> once;
    for (int y = windows[i + 1].begin; y < windows[i + 1].end; ++y)
      once[y] = 1;
    EXPECT_EQ(stages[i]->times_computed, once) << i;
    if (i == 0) continue;  // reads the whole picture
    EXPECT_LE(stages[i]->maximum_source_rows, 2 * radius + 2 * strip) << i;
  }
}

// The reference for every result, and the blocks of --verify.

TEST(HostCheck, TheBaselineIsTheThreadsAloneAndGivesTheChainsResult) {
  const InstructionSet before = instruction_set();
  {
    const BaselineOnThisThread baseline;
    EXPECT_EQ(instruction_set(), InstructionSet::baseline);
    const BaselineOnThisThread nested;
    EXPECT_EQ(instruction_set(), InstructionSet::baseline);
  }
  EXPECT_EQ(instruction_set(), before);
  for (const Border border : {Border::replicate, Border::wrap}) {
    const Image image = random_image({19, 23}, {4, 16}, 1);
    const auto blur = make_blur({.border = border});
    const Image expected =
        naive_blur(naive_blur(image, border, AlphaMode::weighted), border, AlphaMode::weighted);
    EXPECT_TRUE(same_pixels(lab::filter_by_baseline(image, {blur, blur}), expected));
  }
}

TEST(HostCheck, FindsTheFirstSampleThatDiffers) {
  for (const int depth : {8, 16}) {
    const Image a = random_image({13, 9}, {4, depth}, 2);
    Image b = copy_of(a);
    EXPECT_FALSE(first_difference(a.rows(), b.rows()));
    const std::uint32_t value = sample_at(a, 7, 5, 2);
    set_sample(b, 1, 6, 0, sample_at(a, 1, 6, 0) ^ 1U);
    set_sample(b, 7, 5, 2, value ^ 1U);
    set_sample(b, 8, 5, 1, sample_at(a, 8, 5, 1) ^ 1U);
    const DifferingSample expected{7, 5, 2, value, value ^ 1U};
    const auto found = first_difference(a.rows(), b.rows());
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, expected);
    EXPECT_EQ(to_string(*found, a.format()),
              "row 5, column 7, blue: " + std::to_string(value ^ 1U) + " instead of " +
                  std::to_string(value));
  }
}

class Blocks : public ::testing::Test {
 protected:
  Blocks()
      : image_(random_image({31, 45}, {3, 8}, 3)),
        result_(lab::filter_by_baseline(image_, {blur_})),
        chain_(lower_chain({blur_}, {.shape = {image_.size(), image_.format()}})),
        plan_(make_plan({image_.size(), image_.format()}, chain_, {.band_rows = 20})) {}

  int check(BlockCheck& check) {
    for (const RowRange& band : plan_.bands()) {
      check.check(std::as_const(image_).rows().part(plan_.windows(band).front()),
                  std::as_const(result_).rows().part(band), "a.png", "a device");
    }
    return check.checked();
  }

  std::shared_ptr<const Stage> blur_ = make_blur({});
  Image image_;
  Image result_;
  LoweredChain chain_;
  Plan plan_;
};

// Its steps are those of the instruction set that they are planned with.
class StageOfSet final : public Stage {
 public:
  [[nodiscard]] std::string name() const override { return "own"; }
  [[nodiscard]] std::string key() const override { return "own"; }
  [[nodiscard]] Lowered lower(const PictureContext& /*context*/) const override {
    const auto step = [this] { return std::make_shared<StepOfSet>(sets_run, instruction_set()); };
    return {.steps = {step()}, .steps_on = [step](const DeviceInfo*) { return Steps{step()}; }};
  }

  std::shared_ptr<std::vector<InstructionSet>> sets_run =
      std::make_shared<std::vector<InstructionSet>>();

 private:
  class StepOfSet final : public Step {
   public:
    StepOfSet(std::shared_ptr<std::vector<InstructionSet>> run, InstructionSet set)
        : sets_run_(std::move(run)), set_(set) {}
    [[nodiscard]] StepTitle title() const override { return {"own"}; }
    [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
      return {{"own", 1e-9, 1e-9}, 1};
    }
    void run(const ConstRows& source, const MutableRows& target,
             const StageSizes& /*sizes*/) const override {
      EXPECT_EQ(set_, instruction_set());
      sets_run_->push_back(set_);
      for (int y = target.rows.begin; y < target.rows.end; ++y)
        std::memcpy(target.row(y), source.row(y), source.row_bytes());
    }

   private:
    std::shared_ptr<std::vector<InstructionSet>> sets_run_;
    InstructionSet set_;
  };
};

TEST(Plans, RunWithTheSetThatTheyAreMadeWith) {
  const Image image = random_image({9, 7}, {3, 8}, 6);
  const PictureShape shape{image.size(), image.format()};
  const LoweredChain chain = lower_chain({std::make_shared<StageOfSet>()}, {.shape = shape});
  for (const InstructionSet planned : available_instruction_sets()) {
    std::optional<InstructionSetInUse> in_use(planned);
    const Plan plan = make_plan(shape, chain);
    for (const InstructionSet set : available_instruction_sets()) {
      in_use.reset();
      in_use.emplace(set);
      Image result(image.size(), image.format());
      const auto run = [&] { make_host_executor(plan, nullptr)->run(image.rows(), result.rows()); };
      if (set == planned) {
        EXPECT_NO_THROW(run());
      } else {
        EXPECT_THROW(run(), std::logic_error);
      }
    }
  }
}

TEST(HostCheck, ChecksByStepsOfTheBaseline) {
  const Image image = random_image({9, 40}, {3, 8}, 7);
  const PictureShape shape{image.size(), image.format()};
  const auto stage = std::make_shared<StageOfSet>();
  const LoweredChain chain = lower_chain({stage}, {.shape = shape});
  BlockCheck blocks(make_plan(shape, chain), chain, 1000, 8);
  blocks.check(image.rows(), image.rows(), "a.png", "the processor");
  EXPECT_EQ(blocks.checked(), 5);
  EXPECT_EQ(*stage->sets_run, std::vector(5, InstructionSet::baseline));
}

TEST_F(Blocks, AsManyAsAskedForAreChecked) {
  for (const auto& [asked, expected] : {std::pair{1, 1}, {5, 5}, {7, 7}, {8, 7}, {1000, 7}}) {
    BlockCheck blocks(plan_, chain_, asked, 4);  // bands of 20, 20 and 5 rows: 3 + 3 + 1 blocks
    EXPECT_EQ(check(blocks), expected);
  }
}

TEST_F(Blocks, EveryRowLiesInSomeBlock) {
  for (int y = 0; y < 45; ++y) {
    const std::uint32_t right = sample_at(result_, 30, y, 2);
    set_sample(result_, 30, y, 2, right ^ 1U);
    BlockCheck blocks(plan_, chain_, 1000, 5);
    EXPECT_EQ(objection_to<PictureError>([&] { return check(blocks), 0; }),
              "a.png: not verified: a device differs from the processor's baseline: row " +
                  std::to_string(y) + ", column 30, blue: " + std::to_string(right ^ 1U) +
                  " instead of " + std::to_string(right));
    set_sample(result_, 30, y, 2, right);
  }
}

TEST_F(Blocks, WhichAreChosenDependsOnTheSeed) {
  set_sample(result_, 0, 44, 0, sample_at(result_, 0, 44, 0) ^ 1U);  // the last block
  int found = 0;
  for (unsigned seed = 0; seed < 70; ++seed) {
    BlockCheck blocks(plan_, chain_, 1, seed);
    if (objection_to<PictureError>([&] { return check(blocks), 0; }) != "none") ++found;
  }
  EXPECT_GT(found, 1);
  EXPECT_LT(found, 30);
}

// A device that decodes what it filters: the same pixels and the same refusals as with the
// processor.

// Inverts the picture, and has no kernel.
class Inverted final : public OneStepStage {
 public:
  [[nodiscard]] std::string name() const override { return "inverted"; }
  [[nodiscard]] std::string key() const override { return "inverted"; }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"copy", 1e-9, 1e-9}, 1};
  }
  [[nodiscard]] StepProperties properties(const StepPlace& /*at*/) const override {
    return {.processor_only = "for a test"};
  }
  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      std::transform(source.row(y), source.row(y) + source.pitch, target.row(y),
                     [](std::uint8_t sample) { return static_cast<std::uint8_t>(~sample); });
    }
  }
};

class DeviceDecoding : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& session : all_sessions()) {
      if (session->device().kind != DeviceKind::gpu) take_device(session->device(), 40);
    }
    if (engine_ == nullptr) GTEST_SKIP() << "skipped: no OpenCL device here that is not a GPU";
    recipe_.before_start = [](jpeg_compress_struct& jpeg) { jpeg.restart_interval = 7; };
    write(encode_with_libjpeg(textured_raster(230, 190, 3), recipe_));
  }

  void take_device(const DeviceInfo& device, int band_rows) {
    engine_ = std::make_unique<Engine>(std::vector<DeviceCandidate>{{device, "for a test"}},
                                       EngineOptions{.band_rows = band_rows});
    engine_->await_choice();  // rows that are decoded meanwhile count
    device_ = device;
  }

  void write(const Bytes& jpeg) const { write_file(in_, {jpeg.begin(), jpeg.end()}); }

  [[nodiscard]] RunReport filter(DecodeOn decode_on, RunOptions options = {}) {
    options.decode_on = decode_on;
    return filter_picture(in_, {out_, &png_codec()}, chain_, *engine_, options);
  }

  // "entropy decoding, ..., blur", of all passes.
  static std::string passes_of(const RunReport& report) {
    std::string text;
    for (const PassReport& pass : report.passes)
      text += (text.empty() ? "" : ", ") + pass.stage;
    return text;
  }

  // Bytes of samples that the processor decoded.
  static std::uint64_t decoded_bytes(const RunReport& report) {
    std::uint64_t bytes = 0;
    for (const Span& span : report.spans)
      bytes += span.activity == Activity::decode ? span.bytes : 0;
    return bytes;
  }

  const TemporaryFolder folder_;
  const std::string in_ = folder_ / "in.jpg";
  const std::string out_ = folder_ / "out.png";
  StageChain chain_{make_auto_levels(1), make_blur({})};
  JpegRecipe recipe_;
  std::unique_ptr<Engine> engine_;
  DeviceInfo device_;
};

constexpr const char* on_processor = "statistics, levels + blur";
constexpr const char* on_device =
    "entropy decoding, inverse DCT, upsampling, statistics, "
    "entropy decoding, inverse DCT, upsampling, levels + blur";

TEST_F(DeviceDecoding, ChangesNoPixel) {
  const RunReport by_processor = filter(DecodeOn::cpu);
  EXPECT_EQ(passes_of(by_processor), on_processor);
  EXPECT_GT(decoded_bytes(by_processor), 0U);
  const Image expected = read_picture(out_);
  for (const auto& session : all_sessions()) {
    take_device(session->device(), 40);
    const RunReport by_device = filter(DecodeOn::gpu);
    EXPECT_EQ(passes_of(by_device), on_device) << device_.name;
    EXPECT_EQ(decoded_bytes(by_device), 0U) << device_.name;
    EXPECT_TRUE(same_pixels(read_picture(out_), expected)) << device_.name;
  }
}

TEST_F(DeviceDecoding, IsDoneOnlyIfTheFirstStageRunsThere) {
  chain_ = {std::make_shared<Inverted>(), make_blur({})};
  EXPECT_EQ(passes_of(filter(DecodeOn::gpu)), "inverted, blur");
  const Image first = read_picture(out_);
  static_cast<void>(filter(DecodeOn::cpu));
  EXPECT_TRUE(same_pixels(first, read_picture(out_)));
}

TEST_F(DeviceDecoding, IsVerified) {
  RunOptions options;
  options.verify_blocks = 5;
  for (const auto& session : all_sessions()) {
    take_device(session->device(), 40);
    const RunReport report = filter(DecodeOn::gpu, options);
    EXPECT_EQ(passes_of(report), on_device) << device_.name;
    EXPECT_EQ(report.verified_blocks, 5) << device_.name;
  }
}

TEST_F(DeviceDecoding, LeavesOtherFilesToTheProcessor) {
  recipe_.progressive = true;
  write(encode_with_libjpeg(textured_raster(230, 190, 3), recipe_));
  EXPECT_EQ(passes_of(filter(DecodeOn::gpu)), on_processor);
}

TEST_F(DeviceDecoding, KeepsWithinTheMemory) {
  RunOptions options;
  options.max_memory = std::uint64_t{60} << 10U;
  options.decoder_memory = 0;
  EXPECT_EQ(passes_of(filter(DecodeOn::gpu, options)), on_processor);
}

TEST_F(DeviceDecoding, IsDoneByGpusIfItIsSooner) {
  EXPECT_EQ(passes_of(filter(DecodeOn::automatic)), on_processor) << "a small picture";
  write(encode_with_libjpeg(textured_raster(1300, 1100, 3), recipe_));
  EXPECT_EQ(passes_of(filter(DecodeOn::automatic)), on_processor) << "not a GPU";
  const Image expected = read_picture(out_);
  device_.kind = DeviceKind::gpu;
  take_device(device_, 300);
  EXPECT_EQ(passes_of(filter(DecodeOn::automatic)), on_device);
  EXPECT_TRUE(same_pixels(read_picture(out_), expected));
}

TEST_F(DeviceDecoding, RefusesWhatTheProcessorRefuses) {
  Bytes damaged = encode_with_libjpeg(textured_raster(230, 190, 3), recipe_);
  damaged.erase(damaged.end() - 400, damaged.end() - 2);
  write(damaged);
  const auto refusal = [&](DecodeOn decode_on) -> std::string {
    return objection_to<PictureError>([&] { return filter(decode_on); }, "");
  };
  EXPECT_NE(refusal(DecodeOn::cpu), "");
  EXPECT_EQ(refusal(DecodeOn::gpu), refusal(DecodeOn::cpu));
}

}  // namespace
}  // namespace gpufilter::test
