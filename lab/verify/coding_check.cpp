#include "lab/verify/coding_check.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/format.hpp"
#include "compute/jpeg_decoder.hpp"
#include "compute/jpeg_encoder.hpp"

namespace gpufilter::lab {
namespace {

using Bytes = std::vector<std::uint8_t>;

PictureHeader header_of(const Image& picture) {
  PictureHeader header;
  header.size = picture.size();
  header.format = picture.format();
  return header;
}

template <typename Write>
Bytes file_of(const Image& picture, const CheckedCoding& coding, const Write& write) {
  Bytes file;
  const auto sink = memory_sink(file, "a picture");
  const auto writer = create_picture(*coding.codec, *sink, header_of(picture), coding.options);
  write(*writer);
  writer->finish({});
  return file;
}

Bytes file_coded_by(Session& session, const Image& picture, const CheckedCoding& coding) {
  const JpegCoding wanted = coding.codec->coding(header_of(picture), coding.options).value();
  const int height = picture.size().height;
  // More than noise takes.
  const std::uint64_t enough =
      8 * JpegEncoder::suitable_bytes(wanted, height) + (std::uint64_t{64} << 10U);
  JpegEncoder encoder(session, wanted, height, enough);
  Queue queue = session.make_queue();
  const Buffer rows = session.allocate(picture.bytes() + row_slack);
  queue.upload(rows, picture.rows().data, picture.bytes());
  JpegEncoder::Commands commands;
  const auto coded = encoder.encode(queue, {&rows, {0, height}}, commands);
  if (!coded) return {};
  return file_of(picture, coding, [&](RowWriter& writer) { writer.write_coded(*coded); });
}

// Nothing if the device leaves the file to the processor.
std::optional<Image> picture_decoded_by(Session& session, RowReader& reader) {
  const auto scan = reader.jpeg_scan();
  if (!scan) return std::nullopt;
  Bytes bytes(scan->max_bytes);
  bytes.resize(scan->read(bytes));
  const auto note = [](JpegStep, const Event&) {};
  Queue queue = session.make_queue();
  JpegData data(session, *scan);
  if (!data.load(queue, bytes, note)) return std::nullopt;
  Image picture(reader.header().size, reader.header().format);
  const int height = picture.size().height;
  const JpegRows rows(session, data, height);
  const Buffer buffer = session.allocate(picture.bytes() + row_slack);
  rows.enqueue(queue, {&buffer, {0, height}}, note);
  queue.download(buffer, picture.rows().data, picture.bytes());
  queue.finish();
  return picture;
}

// How the picture that `session` decodes from a file differs from the processor's.
std::optional<std::string> decoding_difference(Session& session, const Bytes& file) {
  const auto reader = open_picture(memory_source(file, "a picture"));
  const auto found = picture_decoded_by(session, *reader);
  if (!found) return "not decoded";
  Image expected(reader->header().size, reader->header().format);
  reader->read(expected.rows());
  const std::size_t bytes = expected.rows().row_bytes();
  for (int y = 0; y < expected.size().height; ++y) {
    if (std::memcmp(expected.rows().row(y), std::as_const(*found).rows().row(y), bytes) != 0)
      return formatted("row {}, when decoded", y);
  }
  return std::nullopt;
}

}  // namespace

std::vector<CheckedCoding> checked_codings(const PixelFormat& format, bool quick) {
  std::vector<CheckedCoding> codings;
  if (format.has_alpha()) return codings;
  for (const Codec* codec : codecs()) {
    if (codec->coding == nullptr) continue;
    const auto option = std::find_if(codec->options.begin(), codec->options.end(),
                                     [](const auto* each) { return each->name == "subsampling"; });
    for (const char* subsampling : {"420", "444", "422"}) {
      CheckedCoding coding{
          formatted("--to {} --subsampling {}", codec->extensions.front().substr(1), subsampling),
          codec,
          {}};
      coding.options.set(**option, subsampling);
      codings.push_back(std::move(coding));
      if (quick || format.channels == 1) break;
    }
  }
  return codings;
}

std::optional<std::string> coding_difference(Session& session, const Image& picture,
                                             const CheckedCoding& coding) {
  const Bytes expected =
      file_of(picture, coding, [&](RowWriter& writer) { writer.write(picture.rows()); });
  const Bytes found = file_coded_by(session, picture, coding);
  if (found == expected) return decoding_difference(session, expected);
  const auto [at, other] =
      std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  return formatted("byte {} of the file", at - expected.begin());
}

}  // namespace gpufilter::lab
