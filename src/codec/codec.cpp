#include "codec/codec.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/lazy_library.hpp"
#include "codec/codec_table.hpp"
#include "codec/damaged_picture.hpp"
#include "codec/other_formats.hpp"

namespace gpufilter {

std::unique_ptr<RowReader> open_picture(std::unique_ptr<ByteSource> source,
                                        const ReadLimits& limits) {
  const auto head = source->peek(recognition_size());
  const Codec* codec = codec_of_content(head);
  if (codec == nullptr) throw PictureError(source->name(), no_picture(head));
  const std::string name = source->name();
  try {
    auto reader = codec->open(std::move(source), limits);
    if (limits.damaged == Damaged::fail) return reader;
    return kept_when_damaged(std::move(reader), limits);
  } catch (const LibraryNotLoaded& failure) {
    throw PictureError(name, formatted("{} {}", codec->name, failure.what()));
  }
}

std::unique_ptr<RowWriter> create_picture(const Codec& codec, ByteSink& sink,
                                          const PictureHeader& header,
                                          const WriteOptions& options) {
  try {
    return codec.create(sink, header, options);
  } catch (const LibraryNotLoaded& failure) {
    throw PictureError(sink.name(), formatted("{} {}", codec.name, failure.what()));
  }
}

void RowWriter::write_coded(const CodedRows& /*rows*/) {
  throw std::logic_error("this format has no other coding");
}

void RowWriter::note_private_metadata(const PictureHeader& header, const MetadataKinds& kinds,
                                      const std::vector<std::string>& written) {
  if (header.stored == nullptr || !kinds.has(MetadataKind::other)) return;
  for (std::string& name : header.stored->private_metadata()) {
    if (std::find(written.begin(), written.end(), name) == written.end())
      left_out_.add(std::move(name));
  }
}

std::string codec_versions() {
  std::string versions;
  for (const Codec* codec : codecs()) {
    if (codec->libraries == nullptr) continue;
    const std::string own = codec->loaded_later.empty() ? codec->libraries() : codec->loaded_later;
    if (versions.find(own) != std::string::npos) continue;  // of another format
    versions += versions.empty() ? "" : ", ";
    versions += own;
  }
  return versions;
}

}  // namespace gpufilter
