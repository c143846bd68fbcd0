#include "support/png_oracle.hpp"

#include <zlib.h>

namespace gpufilter::test {
namespace {

constexpr std::array<std::uint8_t, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

std::uint32_t number_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (const std::uint8_t byte : bytes.subspan(at, 4))
    number = number << 8U | byte;
  return number;
}

void append_number(Bytes& bytes, std::uint32_t number) {
  for (int i = 3; i >= 0; --i)
    bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}

// The contents of the chunks before the pixels.
struct Raw {
  int width = 0;
  int height = 0;
  int depth = 0;
  int color_type = 0;
  bool interlaced = false;
  Bytes palette;
  Bytes transparency;
  bool has_transparency = false;
  Bytes compressed;

  [[nodiscard]] int stored_channels() const {
    constexpr std::array channels{1, 0, 3, 1, 2, 0, 4};
    return channels.at(static_cast<std::size_t>(color_type));
  }
  [[nodiscard]] std::size_t row_bytes(int pixels) const {
    return (static_cast<std::size_t>(pixels) * static_cast<std::size_t>(depth * stored_channels()) +
            7) /
           8;
  }
};

Raw read_chunks(std::span<const std::uint8_t> file) {
  Raw raw;
  for (const PngPart& part : split_png(file)) {
    if (part.type == "IHDR") {
      raw.width = static_cast<int>(number_at(part.data, 0));
      raw.height = static_cast<int>(number_at(part.data, 4));
      raw.depth = part.data.at(8);
      raw.color_type = part.data.at(9);
      raw.interlaced = part.data.at(12) == 1;
    } else if (part.type == "PLTE") {
      raw.palette = part.data;
    } else if (part.type == "tRNS") {
      raw.transparency = part.data;
      raw.has_transparency = true;
    } else if (part.type == "IDAT") {
      raw.compressed.insert(raw.compressed.end(), part.data.begin(), part.data.end());
    }
  }
  return raw;
}

// Columns and rows of one pass: first, first + step, ...
struct Pass {
  int x, y, step_x, step_y;
  [[nodiscard]] int columns(int width) const { return (width - x + step_x - 1) / step_x; }
  [[nodiscard]] int rows(int height) const { return (height - y + step_y - 1) / step_y; }
};

std::vector<Pass> passes_of(const Raw& raw) {
  if (!raw.interlaced) return {{0, 0, 1, 1}};
  return {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
          {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
}

Bytes inflated(const Raw& raw) {
  std::size_t size = 0;
  for (const Pass& pass : passes_of(raw)) {
    const int columns = pass.columns(raw.width);
    const int rows = pass.rows(raw.height);
    if (columns > 0 && rows > 0)
      size += static_cast<std::size_t>(rows) * (1 + raw.row_bytes(columns));
  }
  Bytes data(size);
  uLongf length = size;
  if (uncompress(data.data(), &length, raw.compressed.data(), raw.compressed.size()) != Z_OK ||
      length != size) {
    throw std::runtime_error("the pixels do not inflate to their size");
  }
  return data;
}

int paeth(int left, int up, int corner) {
  const int estimate = left + up - corner;
  const int to_left = std::abs(estimate - left);
  const int to_up = std::abs(estimate - up);
  const int to_corner = std::abs(estimate - corner);
  if (to_left <= to_up && to_left <= to_corner) return left;
  return to_up <= to_corner ? up : corner;
}

// `row` and `above` without the filter byte; `distance` bytes to the pixel on the left.
void unfilter(int filter, std::span<std::uint8_t> row, std::span<const std::uint8_t> above,
              std::size_t distance) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int left = i < distance ? 0 : row[i - distance];
    const int up = above.empty() ? 0 : above[i];
    const int corner = above.empty() || i < distance ? 0 : above[i - distance];
    int prediction = 0;
    switch (filter) {
      case 0:
        break;
      case 1:
        prediction = left;
        break;
      case 2:
        prediction = up;
        break;
      case 3:
        prediction = (left + up) / 2;
        break;
      case 4:
        prediction = paeth(left, up, corner);
        break;
      default:
        throw std::runtime_error("no such filter");
    }
    row[i] = static_cast<std::uint8_t>(row[i] + prediction);
  }
}

// Sample `index` of an unfiltered row.
int stored_sample(const Raw& raw, std::span<const std::uint8_t> row, std::size_t index) {
  if (raw.depth == 16) return row[2 * index] * 256 + row[2 * index + 1];
  const std::size_t bit = index * static_cast<std::size_t>(raw.depth);
  const int shift = 8 - raw.depth - static_cast<int>(bit % 8);
  return (row[bit / 8] >> shift) & ((1 << raw.depth) - 1);
}

class Expander {
 public:
  Expander(const Raw& raw, DecodedPng& picture) : raw_(raw), picture_(picture) {
    picture.width = raw.width;
    picture.height = raw.height;
    picture.depth = raw.depth == 16 ? 16 : 8;
    const int colors = raw.color_type == 3 ? 3 : raw.stored_channels();
    picture.channels = colors + (raw.has_transparency ? 1 : 0);
    picture.samples.resize(static_cast<std::size_t>(raw.width) *
                           static_cast<std::size_t>(raw.height) *
                           static_cast<std::size_t>(picture.channels));
  }

  // Pixel `column` of an unfiltered row of a pass becomes the picture's pixel (x, y).
  void expand(std::span<const std::uint8_t> row, int column, int x, int y) {
    const auto channels = static_cast<std::size_t>(raw_.stored_channels());
    std::vector<int> pixel;
    for (std::size_t c = 0; c < channels; ++c)
      pixel.push_back(stored_sample(raw_, row, static_cast<std::size_t>(column) * channels + c));
    const std::vector<int> expanded =
        raw_.color_type == 3 ? of_palette(pixel[0]) : of_samples(pixel);
    std::size_t at = (static_cast<std::size_t>(y) * static_cast<std::size_t>(raw_.width) +
                      static_cast<std::size_t>(x)) *
                     expanded.size();
    for (const int sample : expanded)
      picture_.samples.at(at++) = static_cast<std::uint16_t>(sample);
  }

 private:
  [[nodiscard]] std::vector<int> of_palette(int index) const {
    const auto entry = static_cast<std::size_t>(index);
    std::vector<int> color;
    for (std::size_t c = 0; c < 3; ++c)
      color.push_back(raw_.palette.at(3 * entry + c));
    if (raw_.has_transparency) {
      color.push_back(entry < raw_.transparency.size() ? raw_.transparency[entry] : 255);
    }
    return color;
  }

  [[nodiscard]] std::vector<int> of_samples(std::vector<int> pixel) const {
    bool transparent = true;
    for (std::size_t c = 0; c < pixel.size() && raw_.has_transparency; ++c) {
      const int key = raw_.transparency.at(2 * c) * 256 + raw_.transparency.at(2 * c + 1);
      transparent = transparent && pixel[c] == (key & ((1 << raw_.depth) - 1));
    }
    if (raw_.depth < 8) pixel[0] = pixel[0] * 255 / ((1 << raw_.depth) - 1);
    if (raw_.has_transparency) pixel.push_back(transparent ? 0 : (1 << picture_.depth) - 1);
    return pixel;
  }

  const Raw& raw_;
  DecodedPng& picture_;
};

}  // namespace

DecodedPng decode_png(std::span<const std::uint8_t> file) {
  const Raw raw = read_chunks(file);
  Bytes data = inflated(raw);
  const std::size_t distance = static_cast<std::size_t>(raw.stored_channels() * raw.depth + 7) / 8;
  DecodedPng picture;
  Expander expander(raw, picture);
  std::size_t at = 0;
  for (const Pass& pass : passes_of(raw)) {
    const int columns = pass.columns(raw.width);
    if (columns <= 0) continue;
    std::span<const std::uint8_t> above;
    for (int i = 0; i < pass.rows(raw.height); ++i) {
      const int filter = data.at(at);
      const auto row = std::span(data).subspan(at + 1, raw.row_bytes(columns));
      unfilter(filter, row, above, distance);
      for (int j = 0; j < columns; ++j)
        expander.expand(row, j, pass.x + j * pass.step_x, pass.y + i * pass.step_y);
      above = row;
      at += 1 + row.size();
    }
  }
  return picture;
}

std::vector<std::uint16_t> as_rgba(const DecodedPng& decoded) {
  const auto channels = static_cast<std::size_t>(decoded.channels);
  const bool is_grey = channels <= 2;
  std::vector<std::uint16_t> rgba;
  for (std::size_t at = 0; at < decoded.samples.size(); at += channels) {
    for (const std::size_t channel : {0, 1, 2})
      rgba.push_back(decoded.samples[at + (is_grey ? 0 : channel)]);
    const std::uint16_t opaque = decoded.depth == 16 ? 65535 : 255;
    rgba.push_back(channels % 2 == 0 ? decoded.samples[at + channels - 1] : opaque);
  }
  return rgba;
}

std::vector<PngPart> split_png(std::span<const std::uint8_t> file) {
  std::vector<PngPart> parts;
  std::size_t at = signature.size();
  while (file.size() >= at + 12 && (parts.empty() || parts.back().type != "IEND")) {
    const std::size_t length = number_at(file, at);
    if (length > file.size() - at - 12) break;
    const auto type = file.subspan(at + 4, 4);
    const auto data = file.subspan(at + 8, length);
    parts.push_back({{type.begin(), type.end()}, {data.begin(), data.end()}, at + 8});
    at += 12 + length;
  }
  return parts;
}

Bytes join_png(std::span<const PngPart> parts) {
  Bytes file(signature.begin(), signature.end());
  for (const PngPart& part : parts) {
    append_number(file, static_cast<std::uint32_t>(part.data.size()));
    const std::size_t begin = file.size();
    file.insert(file.end(), part.type.begin(), part.type.end());
    file.insert(file.end(), part.data.begin(), part.data.end());
    const uLong checksum = crc32_z(0, file.data() + begin, file.size() - begin);
    append_number(file, static_cast<std::uint32_t>(checksum) ^ (part.damaged ? 1U : 0U));
  }
  return file;
}

Bytes png_header(std::uint32_t width, std::uint32_t height, int depth, int color_type,
                 int interlacing) {
  Bytes data;
  append_number(data, width);
  append_number(data, height);
  for (const int byte : {depth, color_type, 0, 0, interlacing})
    data.push_back(static_cast<std::uint8_t>(byte));
  return data;
}

Bytes deflated(std::span<const std::uint8_t> plain, int level) {
  uLongf size = compressBound(plain.size());
  Bytes compressed(size);
  if (compress2(compressed.data(), &size, plain.data(), plain.size(), level) != Z_OK) {
    throw std::runtime_error("zlib does not compress");
  }
  compressed.resize(size);
  return compressed;
}

Bytes file_of_rows(const Bytes& header, const std::vector<PngPart>& between, const Bytes& rows) {
  std::vector<PngPart> parts{{"IHDR", header}};
  parts.insert(parts.end(), between.begin(), between.end());
  parts.push_back({"IDAT", deflated(rows)});
  parts.push_back({"IEND", {}});
  return join_png(parts);
}

Inflated inflated(std::span<const std::uint8_t> deflated, std::size_t size) {
  constexpr std::uint8_t poison = 0xA5;
  Inflated result{Bytes(size + 100, poison)};
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -15), Z_OK);
  stream.next_in = const_cast<Bytef*>(deflated.data());
  stream.avail_in = static_cast<uInt>(deflated.size());
  stream.next_out = result.bytes.data();
  stream.avail_out = static_cast<uInt>(result.bytes.size());
  int status = Z_OK;
  while (status == Z_OK) {
    status = inflate(&stream, Z_BLOCK);
    if (status != Z_OK) break;
    // zlib's flags: no bits left of the last byte, not in the last block, behind a complete block.
    result.joinable = (stream.data_type & 0x1ff) == 0x80;
    result.blocks += (stream.data_type & 128) != 0 ? 1 : 0;
  }
  EXPECT_TRUE(status == Z_BUF_ERROR || status == Z_STREAM_END) << (stream.msg ? stream.msg : "");
  result.complete = status == Z_STREAM_END;
  result.joinable = result.joinable && !result.complete;
  result.rest = stream.avail_in;
  result.bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return result;
}

}  // namespace gpufilter::test
