#include "codec/jpeg/library.hpp"

#include <string_view>
#include <utility>

#include <jerror.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"

namespace gpufilter {
namespace {

// Warnings after which every pixel is still what the encoder meant. All others (premature end of
// data, bad Huffman or arithmetic codes, a missing restart marker, contradictory scans) mean that
// libjpeg continues with made-up pixels.
bool is_harmless(int warning) {
  switch (warning) {
    // Padding between segments, as some cameras write it. It is skipped, and no entropy-coded bit
    // is lost. Bytes lost within a scan cause one of the other warnings.
    case JWRN_EXTRANEOUS_DATA:
    // libjpeg then uses the colour transform that is usual for this number of components.
    case JWRN_ADOBE_XFORM:
    // Affects only metadata.
    case JWRN_BOGUS_ICC:
    case JWRN_JFIF_MAJOR:
    // Wrong spectral parameters, which have no meaning in a sequential file, are common, and all
    // decoders ignore them.
    case JWRN_NOT_SEQUENTIAL:
      return true;
    default:
      return false;
  }
}

const char* kind_of_failure(int code) {
  switch (code) {
    case JERR_OUT_OF_MEMORY:
      return "not enough memory for this JPEG";
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_IMAGE_TOO_BIG:
    case JERR_NOT_COMPILED:
    case JERR_NOTIMPL:
    case JERR_SOF_UNSUPPORTED:
      return "unsupported JPEG";
    default:
      return "damaged JPEG";
  }
}

}  // namespace

std::string unsupported_precision(int bits) {
  return formatted("this JPEG has {}-bit samples: only 8-bit JPEG can be read", bits);
}

std::size_t end_of_data(std::span<const std::uint8_t> bytes, std::size_t at) {
  const auto is_data = [&](std::size_t code) {
    return bytes[code] == 0 || is_restart(bytes[code]);
  };
  at = next_ff(bytes, at);
  while (at + 1 < bytes.size() && is_data(at + 1))
    at = next_ff(bytes, at + 2);
  return at;
}

JpegErrors::JpegErrors(std::string name) : name_(std::move(name)) {
  jpeg_std_error(&manager_);
  manager_.error_exit = on_error;
  manager_.emit_message = on_message;
}

JpegErrors& JpegErrors::of(j_common_ptr jpeg) {
  return *static_cast<JpegErrors*>(jpeg->client_data);
}

void JpegErrors::on_error(j_common_ptr jpeg) {
  JpegErrors& errors = of(jpeg);
  errors.note_damage(jpeg);
  std::longjmp(errors.jump_, 1);
}

void JpegErrors::note_damage(j_common_ptr jpeg) {
  if (damage_) return;
  damage_.emplace();
  if (jpeg->is_decompressor != FALSE) {
    const auto& decompressor = *reinterpret_cast<j_decompress_ptr>(jpeg);
    damage_ = {decompressor.input_scan_number, decompressor.input_iMCU_row};
  }
  failure_code_ = manager_.msg_code;
  manager_.format_message(jpeg, failure_);
}

void JpegErrors::on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;  // traces
  JpegErrors& errors = of(jpeg);
  const int warning = errors.manager_.msg_code;
  if (errors.one_scan_ && warning == JWRN_BOGUS_PROGRESSION) return;
  if (errors.one_scan_ || !is_harmless(warning)) {
    if (!errors.tolerant_) on_error(jpeg);
    return errors.note_damage(jpeg);
  }
  if (warning == JWRN_EXTRANEOUS_DATA) {
    int& marker = errors.manager_.msg_parm.i[1];  // that follows the data
    marker = shifted_restart(marker, errors.first_restart_);
  }
  errors.manager_.format_message(jpeg, errors.note_);
}

void JpegErrors::throw_failure() {
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (ended_) throw PictureError(name_, file_ends_early);
  if (failure_code_ == JERR_BAD_PRECISION) {
    throw PictureError(name_, unsupported_precision(manager_.msg_parm.i[0]));
  }
  constexpr std::string_view preamble = "Corrupt JPEG data: ";
  std::string_view words = failure_;
  if (words.substr(0, preamble.size()) == preamble) words.remove_prefix(preamble.size());
  throw PictureError(name_, formatted("{}: {}", kind_of_failure(failure_code_), words));
}

void JpegErrors::log_note() {
  if (note_[0] == '\0') return;
  log::debug(formatted("{}: {}", name_, note_));
  note_[0] = '\0';
}

}  // namespace gpufilter
