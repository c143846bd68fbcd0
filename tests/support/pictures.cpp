#include "codec/formats.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {
namespace {

// Only the generator's raw output is used: the results of the standard's distributions differ
// between libraries.
using Generator = std::mt19937_64;

template <typename Change>
void for_each_sample(const MutableRows& rows, const Change& change) {
  for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
    for (int x = 0; x < rows.width; ++x) {
      for (int channel = 0; channel < rows.format.channels; ++channel)
        change(x, y, channel);
    }
  }
}

template <typename AlphaSample>
void set_alpha(const MutableRows& rows, const AlphaSample& alpha_sample) {
  if (!rows.format.has_alpha()) throw std::invalid_argument("a picture without alpha");
  for_each_sample(rows, [&](int x, int y, int channel) {
    if (channel == rows.format.channels - 1) set_sample(rows, x, y, channel, alpha_sample());
  });
}

std::size_t row_bytes(const ConstRows& rows) {
  return static_cast<std::size_t>(rows.width) * rows.format.bytes_per_pixel();
}

void encode(const ConstRows& rows, const std::string& path, const Codec& codec) {
  const std::unique_ptr<ByteSink> sink = open_sink(path);
  PictureHeader header;
  header.size = {rows.width, rows.rows.count()};
  header.format = rows.format;
  const std::unique_ptr<RowWriter> writer = create_picture(codec, *sink, header);
  writer->write(rows);
  writer->finish({});
  sink->commit();
}

std::string describe(const ConstRows& rows) {
  return std::to_string(rows.width) + "x" + std::to_string(rows.rows.count()) + ", " +
         to_string(rows.format);
}

}  // namespace

Image random_image(ImageSize size, PixelFormat format, std::uint64_t seed) {
  Image image(size, format);
  Generator generator(seed);
  std::uint8_t* bytes = image.rows().data;
  for (std::size_t i = 0; i < image.bytes(); i += sizeof(std::uint64_t)) {
    const std::uint64_t word = generator();
    std::memcpy(bytes + i, &word, sizeof word);
  }
  return image;
}

Image extreme_image(ImageSize size, PixelFormat format, std::uint64_t seed) {
  Image image = random_image(size, format, seed);
  const MutableRows rows = image.rows();
  for_each_sample(rows, [&](int x, int y, int channel) {
    const bool low = sample_at(rows, x, y, channel) % 2 == 0;
    set_sample(rows, x, y, channel, low ? 0 : format.max_sample());
  });
  return image;
}

Image mixed_alpha_image(ImageSize size, PixelFormat format, std::uint64_t seed) {
  Image image = random_image(size, format, seed);
  Generator generator(~seed);
  set_alpha(image.rows(), [&]() -> std::uint32_t {
    const std::uint64_t word = generator();
    if (word % 3 == 0) return 0;
    if (word % 3 == 1) return format.max_sample();
    return static_cast<std::uint32_t>(word >> 32U) & format.max_sample();
  });
  return image;
}

Image opaque_image(ImageSize size, PixelFormat format, std::uint64_t seed) {
  Image image = random_image(size, format, seed);
  set_alpha(image.rows(), [&] { return format.max_sample(); });
  return image;
}

Image poisoned_image(int width, RowRange rows, PixelFormat format, std::uint8_t pattern) {
  Image image(width, rows, format);
  std::memset(image.rows().data, pattern, image.bytes());
  return image;
}

Image poisoned_image(ImageSize size, PixelFormat format, std::uint8_t pattern) {
  return poisoned_image(size.width, {0, size.height}, format, pattern);
}

Image copy_of(const Image& image) {
  Image copy(image.width(), image.row_range(), image.format());
  std::memcpy(copy.rows().data, image.rows().data, image.bytes());
  return copy;
}

PictureHeader header_of(const Image& image) {
  PictureHeader header;
  header.size = image.size();
  header.format = image.format();
  return header;
}

std::uint32_t sample_beyond(const Image& image, int x, int y, int channel, Border border) {
  const int column = border_position(border, x, image.width());
  const int row = border_position(border, y, image.size().height);
  if (column >= 0 && row >= 0) return sample_at(image, column, row, channel);
  const PixelFormat format = image.format();
  return format.has_alpha() && channel + 1 == format.channels ? format.max_sample() : 0;
}

std::vector<PixelAt> each_pixel(ImageSize size) {
  std::vector<PixelAt> all;
  all.reserve(static_cast<std::size_t>(size.pixels()));
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x)
      all.push_back({x, y});
  }
  return all;
}

std::vector<SampleAt> each_sample(ImageSize size, int channels) {
  std::vector<SampleAt> all;
  for (const auto [x, y] : each_pixel(size)) {
    for (int c = 0; c < channels; ++c)
      all.push_back({x, y, c});
  }
  return all;
}

void write_picture(const ConstRows& rows, const std::string& path) {
  encode(rows, path, codec_for_output(path));
}

void write_png(const Image& image, const std::string& path) {
  encode(image.rows(), path, png_codec());
}

Image read_picture(const std::string& path) {
  const std::unique_ptr<RowReader> reader = open_picture(open_source(path));
  Image image = poisoned_image(reader->header().size, reader->header().format);
  reader->read(image.rows());
  (void)reader->finish();
  return image;
}

::testing::AssertionResult same_pixels(const ConstRows& a, const ConstRows& b) {
  if (a.width != b.width || a.rows.count() != b.rows.count() || a.format != b.format) {
    return ::testing::AssertionFailure()
           << "one is " << describe(a) << ", the other " << describe(b);
  }
  ::testing::AssertionResult failure = ::testing::AssertionFailure();
  std::uint64_t differing = 0;
  for (int i = 0; i < a.rows.count(); ++i) {
    const int y_a = a.rows.begin + i;
    const int y_b = b.rows.begin + i;
    if (std::memcmp(a.row(y_a), b.row(y_b), row_bytes(a)) == 0) continue;
    for (int x = 0; x < a.width; ++x) {
      for (int channel = 0; channel < a.format.channels; ++channel) {
        const std::uint32_t sample_a = sample_at(a, x, y_a, channel);
        const std::uint32_t sample_b = sample_at(b, x, y_b, channel);
        if (sample_a == sample_b) continue;
        if (differing == 0) {
          failure << describe(a) << ", first difference at x " << x << ", y " << y_a << ", channel "
                  << channel << ": " << sample_a << " and " << sample_b << "; ";
        }
        ++differing;
      }
    }
  }
  if (differing == 0) return ::testing::AssertionSuccess();
  return failure << differing << " samples differ";
}

::testing::AssertionResult same_pixels(const Image& a, const Image& b) {
  return same_pixels(a.rows(), b.rows());
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace gpufilter::test
