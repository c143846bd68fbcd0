#include "codec/codec.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/error.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/png/codec.hpp"

namespace gpufilter {
namespace {

constexpr std::array<std::uint8_t, 8> png_signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<std::uint8_t, 3> jpeg_signature{0xff, 0xd8, 0xff};

bool begins_with(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> signature) {
  return bytes.size() >= signature.size() &&
         std::equal(signature.begin(), signature.end(), bytes.begin());
}

}  // namespace

const char* to_string(FileFormat format) {
  switch (format) {
    case FileFormat::png:
      return "PNG";
    case FileFormat::jpeg:
      return "JPEG";
  }
  return "?";
}

std::optional<FileFormat> sniff_format(std::span<const std::uint8_t> head) {
  if (begins_with(head, png_signature)) return FileFormat::png;
  if (begins_with(head, jpeg_signature)) return FileFormat::jpeg;
  return std::nullopt;
}

FileFormat format_for_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::size_t dot = name.find_last_of('.');
  std::string extension = dot == std::string::npos ? "" : name.substr(dot);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".png") return FileFormat::png;
  if (extension == ".jpg" || extension == ".jpeg") return FileFormat::jpeg;
  throw UsageError(path + ": the name of an output ends in .png, .jpg or .jpeg");
}

std::unique_ptr<RowReader> open_picture(std::unique_ptr<ByteSource> source,
                                        const ReadLimits& limits) {
  const auto head = source->peek(png_signature.size());
  if (head.empty()) throw PictureError(source->name(), "the file is empty");
  const auto format = sniff_format(head);
  if (!format) throw PictureError(source->name(), "neither a PNG nor a JPEG picture");
  return *format == FileFormat::png ? open_png(std::move(source), limits)
                                    : open_jpeg(std::move(source), limits);
}

std::unique_ptr<RowWriter> create_picture(FileFormat file_format, ByteSink& sink,
                                          const PictureHeader& header,
                                          const WriteOptions& options) {
  return file_format == FileFormat::png ? create_png(sink, header, options)
                                        : create_jpeg(sink, header, options);
}

}  // namespace gpufilter
