#include "support/jpeg_on_device.hpp"

#include "codec/formats.hpp"
#include "compute/jpeg_decoder.hpp"

namespace gpufilter::test {
namespace {

int below(std::mt19937& random, int end) {
  return static_cast<int>(random() % static_cast<unsigned>(end));
}

Raster random_raster(std::mt19937& random, int width, int height, int channels) {
  Raster raster = textured_raster(width, height, channels);
  const int noise = 1 << below(random, 9);
  const int flat_rows = below(random, 4) * height / 8;
  for (std::size_t i = 0; i < raster.samples.size(); ++i) {
    std::uint8_t& sample = raster.samples[i];
    const bool is_flat = static_cast<int>(i) / (width * channels) < flat_rows;
    sample = is_flat ? 250 : static_cast<std::uint8_t>(sample + below(random, noise));
  }
  return raster;
}

int random_side(std::mt19937& random, int max_side) {
  return 1 + below(random, below(random, 8) == 0 ? 5 : max_side);
}

}  // namespace

std::optional<Bytes> decode_on_device(Session& session, const Bytes& jpeg, int band_rows) {
  const auto reader = open_jpeg(memory_source(jpeg, "some.jpg"), {.warn = false});
  const auto scan = reader->jpeg_scan();
  if (!scan || !JpegData::can_index(*scan)) return std::nullopt;
  Bytes bytes(scan->max_bytes);
  bytes.resize(scan->read(bytes));
  const auto note = [](JpegStep, const Event&) {};
  Queue queue = session.make_queue();
  JpegData data(session, *scan);
  if (!data.load(queue, bytes, note)) return std::nullopt;
  Image image(reader->header().size, reader->header().format);
  const JpegRows rows(session, data, band_rows);
  for (int y = 0; y < image.size().height; y += band_rows) {
    const MutableRows band = image.rows().part({y, std::min(y + band_rows, image.size().height)});
    const std::size_t size = band.pitch * static_cast<std::size_t>(band.rows.count());
    const Buffer buffer = session.allocate(size);
    const Bytes poison(size, 0xA5);
    queue.upload(buffer, poison.data(), size);
    rows.enqueue(queue, {&buffer, band.rows}, note);
    queue.download(buffer, band.data, size);
    queue.finish();
  }
  return raster_of(image).samples;
}

Bytes random_jpeg(std::mt19937& random, int max_side) {
  constexpr std::array<std::array<int, 2>, 4> samplings{{{1, 1}, {2, 1}, {1, 2}, {2, 2}}};
  const bool is_grey = below(random, 5) == 0;
  const int width = random_side(random, max_side);
  const int height = random_side(random, max_side);
  const auto sampling = samplings.at(static_cast<std::size_t>(below(random, 4)));
  const auto interval = static_cast<unsigned>(below(random, 3) == 0 ? 1 + below(random, 40) : 0);
  const bool has_own_codes = below(random, 2) == 0;
  const JpegRecipe recipe{.raster_colors = is_grey ? JCS_GRAYSCALE : JCS_RGB,
                          .stored_colors = is_grey ? JCS_GRAYSCALE : JCS_YCbCr,
                          .quality = 1 + below(random, 100),
                          .horizontal_subsampling = sampling[0],
                          .vertical_subsampling = sampling[1],
                          .before_start = [&](jpeg_compress_struct& jpeg) {
                            jpeg.restart_interval = interval;
                            jpeg.optimize_coding = has_own_codes ? TRUE : FALSE;
                          }};
  return encode_with_libjpeg(random_raster(random, width, height, is_grey ? 1 : 3), recipe);
}

}  // namespace gpufilter::test
