#include "base/files.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <gpufilter/files.hpp>

#include "api/call_options.hpp"
#include "api/library_words.hpp"
#include "api/picture_state.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/stop.hpp"
#include "codec/unread.hpp"
#include "image/exif.hpp"
#include "image/image.hpp"
#include "pipeline/run/picture_output.hpp"

namespace gpufilter {
namespace {

// Bytes of rows that are read or written between two checks for a stop.
constexpr std::size_t step_bytes = std::size_t{1} << 20U;

// Calls work(rows) for all rows of a picture, top to bottom.
template <typename Rows, typename Work>
void in_steps(const Rows& picture, const RunControl& control, const Work& work) {
  const int height = picture.rows.count();
  const int step = static_cast<int>(step_bytes / picture.pitch) + 1;
  const OnProgress report = on_progress(control);
  for (int y = 0; y < height; y += step) {
    const RowRange rows{y, std::min(y + step, height)};
    work(picture.part(rows));
    check_stop();
    if (report) report(rows.end, height);
  }
}

Picture read_from(std::unique_ptr<ByteSource> source, const Limits& limits,
                  const RunControl& control) {
  const std::string name = source->name();
  const auto reader = open_picture(std::move(source), read_limits(limits));
  const PictureHeader& header = reader->header();
  auto state = std::make_unique<PictureState>(PictureShape{header.size, header.format});
  state->header = header;
  in_steps(state->rows(), control, [&](const MutableRows& rows) { reader->read(rows); });
  state->trailing = reader->finish();
  warn_of_unread(name, header.unread);
  return PictureAccess::make(std::move(state));
}

// `open` returns the file from its beginning, as often as it is called. From a source that can be
// read only once, no metadata behind the pixels are read.
FileHeader header_of(const std::function<std::unique_ptr<ByteSource>()>& open,
                     const std::string& name, const Limits& limits) {
  FileHeader found;
  run_limited(limits, {}, name, [&] {
    const PictureHeader header = open_picture(open(), read_limits(limits))->header();
    Metadata metadata = header.metadata;
    if (const auto read_late = header.file_format->read_late_metadata;
        read_late && !is_stream(name))
      add_late_metadata(metadata, read_late(*open()));
    found = {public_shape(header.shape()), header.file_format->name,
             stored_orientation(metadata).value_or(1)};
  });
  return found;
}

// A picture and what is known of its file.
struct Outgoing {
  ConstRows rows;
  PictureHeader header;
  Metadata trailing = {};
};

Outgoing outgoing(const Picture& picture) {
  const PictureState& state = existing(picture);
  return {rows_of(picture.view()), state.header, state.trailing};
}

Outgoing outgoing(const ConstView& pixels) {
  Outgoing picture{rows_of(pixels), {}};
  picture.header.size = shape_of(picture.rows).size;
  picture.header.format = picture.rows.format;
  picture.header.file_pixels = file_pixels(picture.rows.format);
  return picture;
}

std::uint64_t write_to(ByteSink& sink, const Codec& codec, Outgoing picture,
                       const FormatOptions& options, const RunControl& control) {
  const WriteOptions write = write_options(options, {});
  if (!codec.holds_late_metadata)
    add_late_metadata(picture.header.metadata, std::exchange(picture.trailing, {}));
  adapt_metadata(picture.header.metadata, {picture.header.size, picture.header.format}, codec);
  set_exif_size(picture.trailing, picture.header.size);
  const auto writer = create_picture(codec, sink, picture.header, write);
  in_steps(picture.rows, control, [&](const ConstRows& rows) { writer->write(rows); });
  writer->finish(picture.trailing);
  sink.commit();
  return sink.bytes_written();
}

std::uint64_t write_file(const std::string& path, Outgoing picture, const FormatOptions& options,
                         const RunControl& control) {
  enter_library();
  refuse_nul({path});
  const Codec& codec = codec_for_output(path == "-" ? ".png" : path);
  std::uint64_t bytes = 0;
  run_limited({}, control, path, [&] {
    const auto sink = open_sink(path);
    bytes = write_to(*sink, codec, std::move(picture), options, control);
  });
  return bytes;
}

std::vector<std::uint8_t> encode_bytes(std::string_view format, Outgoing picture,
                                       const FormatOptions& options, const RunControl& control) {
  enter_library();
  refuse_nul({format});
  const Codec& codec = codec_for_output(formatted("picture.{}", format));
  std::vector<std::uint8_t> bytes;
  run_limited({}, control, picture_in_memory, [&] {
    const auto sink = memory_sink(bytes, picture_in_memory);
    static_cast<void>(write_to(*sink, codec, std::move(picture), options, control));
  });
  return bytes;
}

}  // namespace

Picture read(const PathName& path, const Limits& limits, const RunControl& control) {
  enter_library();
  refuse_nul({path.text()});
  Picture picture;
  run_limited(limits, control, path,
              [&] { picture = read_from(open_source(path), limits, control); });
  return picture;
}

FileHeader open_header(const PathName& path, const Limits& limits) {
  enter_library();
  refuse_nul({path.text()});
  return header_of([&] { return open_source(path); }, path, limits);
}

FileHeader open_header(std::span<const std::uint8_t> bytes, const Limits& limits) {
  enter_library();
  const auto open = [&] { return memory_source({bytes.begin(), bytes.end()}, picture_in_memory); };
  return header_of(open, picture_in_memory, limits);
}

std::optional<SystemError> system_error(const PictureError& error) {
  const auto* failure = dynamic_cast<const SystemFailure*>(&error);
  if (failure == nullptr) return std::nullopt;
  // "NAME: REASON", where the reason is usually the error's.
  std::string_view text = error.what();
  const std::string usual = ": " + describe_system_error(failure->error());
  const std::size_t end = text.ends_with(usual) ? text.size() - usual.size() : text.find(": ");
  return SystemError{failure->error(), std::string(text.substr(0, end))};
}

Picture decode(const void* bytes, std::size_t size, const Limits& limits,
               const RunControl& control) {
  enter_library();
  const auto* first = static_cast<const std::uint8_t*>(bytes);
  Picture picture;
  run_limited(limits, control, picture_in_memory, [&] {
    picture = read_from(memory_source({first, first + size}, picture_in_memory), limits, control);
  });
  return picture;
}

std::uint64_t write(const PathName& path, const Picture& picture, const FormatOptions& options,
                    const RunControl& control) {
  return write_file(path, outgoing(picture), options, control);
}

std::uint64_t write(const PathName& path, const ConstView& pixels, const FormatOptions& options,
                    const RunControl& control) {
  return write_file(path, outgoing(pixels), options, control);
}

std::vector<std::uint8_t> encode(std::string_view format, const Picture& picture,
                                 const FormatOptions& options, const RunControl& control) {
  return encode_bytes(format, outgoing(picture), options, control);
}

std::vector<std::uint8_t> encode(std::string_view format, const ConstView& pixels,
                                 const FormatOptions& options, const RunControl& control) {
  return encode_bytes(format, outgoing(pixels), options, control);
}

std::vector<FormatDescription> formats() {
  std::vector<FormatDescription> all;
  for (const Codec* codec : codecs()) {
    FormatDescription& format =
        all.emplace_back(FormatDescription{codec->name, codec->extensions, {}});
    for (const WriteOption* option : all_write_options()) {
      const CodecList takers = codecs_with(*option);
      if (std::find(takers.begin(), takers.end(), codec) != takers.end())
        format.options.push_back(option->name);
    }
  }
  return all;
}

}  // namespace gpufilter
