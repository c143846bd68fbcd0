#include "codec/jpeg/read/decompressor.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"
#include "codec/jpeg/metadata.hpp"

namespace gpufilter {

JpegInput::JpegInput(JpegErrors& errors)
    : jpeg_source_mgr{}, errors_(errors), buffer_(buffer_size) {
  init_source = [](j_decompress_ptr) {};
  fill_input_buffer = [](j_decompress_ptr jpeg) -> boolean {
    of(jpeg).fill(*jpeg);
    return TRUE;
  };
  skip_input_data = [](j_decompress_ptr jpeg, long count) { of(jpeg).skip(*jpeg, count); };
  resync_to_restart = resync;
  term_source = [](j_decompress_ptr) {};
}

void JpegInput::open(Read read, std::span<const JOCTET> head, const JpegPlace& place) {
  read_ = std::move(read);
  shift_ = static_cast<unsigned>(place.restart % 8);
  errors_.set_first_restart(shift_);
  restarts_left_ = place.restarts_left;
  behind_ff_ = false;
  next_input_byte = head.data();
  bytes_in_buffer = head.size();
}

// libjpeg found a marker other than the expected one.
boolean JpegInput::resync(j_decompress_ptr jpeg, int due) {
  const unsigned shift = of(jpeg).shift_;
  jpeg->unread_marker = shifted_restart(jpeg->unread_marker, shift);
  return jpeg_resync_to_restart(jpeg, (due + static_cast<int>(shift)) % 8);
}

// libjpeg reads ahead, and may have the whole picture although the end marker is missing. If it has
// not, it warns of a marker within the data. Arithmetic decoders do not: they read zeros there.
bool JpegInput::may_end(const jpeg_decompress_struct& jpeg) {
  const bool in_header = jpeg.input_scan_number == 0;
  const bool in_segment = jpeg.unread_marker != 0;
  return !in_header && !in_segment && jpeg.arith_code == FALSE;
}

void JpegInput::fill(const jpeg_decompress_struct& jpeg) {
  static constexpr std::array<JOCTET, 2> end_marker{0xFF, JPEG_EOI};
  errors_.call_back([this, &jpeg] {
    const std::size_t count = read_(buffer_);
    next_input_byte = buffer_.data();
    bytes_in_buffer = count;
    if (count > 0) {
      if (shift_ != 0) renumber(std::span(buffer_).first(count));
      return;
    }
    errors_.note_end();
    if (!may_end(jpeg)) throw PictureError(errors_.name(), file_ends_early);
    next_input_byte = end_marker.data();
    bytes_in_buffer = end_marker.size();
  });
}

void JpegInput::skip(const jpeg_decompress_struct& jpeg, long count) {
  auto left = static_cast<std::size_t>(std::max(count, 0L));
  while (left > bytes_in_buffer) {
    left -= bytes_in_buffer;
    fill(jpeg);
  }
  next_input_byte += left;
  bytes_in_buffer -= left;
}

void JpegInput::renumber(std::span<JOCTET> bytes) {
  for (std::size_t at = 0; at < bytes.size() && restarts_left_ > 0; ++at) {
    if (!behind_ff_) {
      at = next_ff(bytes, at);
      behind_ff_ = at < bytes.size();
      continue;
    }
    JOCTET& byte = bytes[at];
    behind_ff_ = byte == 0xFF;
    if (!is_restart(byte)) continue;
    byte = static_cast<JOCTET>(shifted_restart(byte, 8 - shift_));
    --restarts_left_;
  }
}

namespace {

// Bytes that a decompressor reads at a time: JpegScanDecoder relies on it.
constexpr std::size_t step = JpegInput::buffer_size;

constexpr int max_profile_parts = 255;  // they are numbered by a byte
constexpr int max_segments = 1000;

void require_input(jpeg_decompress_struct& jpeg) {
  if (jpeg.src->bytes_in_buffer == 0) jpeg.src->fill_input_buffer(&jpeg);
}

unsigned read_byte(jpeg_decompress_struct& jpeg) {
  require_input(jpeg);
  --jpeg.src->bytes_in_buffer;
  return *jpeg.src->next_input_byte++;
}

void read_bytes(jpeg_decompress_struct& jpeg, JOCTET* to, std::size_t count) {
  while (count > 0) {
    require_input(jpeg);
    const std::size_t part = std::min(count, jpeg.src->bytes_in_buffer);
    std::memcpy(to, jpeg.src->next_input_byte, part);
    jpeg.src->next_input_byte += part;
    jpeg.src->bytes_in_buffer -= part;
    to += part;
    count -= part;
  }
}

// A marker processor of libjpeg, which has just read the marker. The source never suspends.
boolean read_segment(j_decompress_ptr jpeg) {
  JpegSegments& segments = static_cast<Decompressor*>(jpeg)->segments;
  const int marker = jpeg->unread_marker;
  const unsigned high = read_byte(*jpeg);
  const unsigned length = high << 8U | read_byte(*jpeg);
  // libjpeg's own reader takes lengths that do not even count themselves for empty segments.
  const std::size_t size = std::max(length, 2U) - 2;
  if (segments.closed()) {
    jpeg->src->skip_input_data(jpeg, static_cast<long>(size));
    return TRUE;
  }
  JOCTET* const data = segments.buffer().data();
  read_bytes(*jpeg, data, size);
  const std::string_view segment(reinterpret_cast<const char*>(data), size);
  if (segments.wants(marker, segment)) segments.append(*jpeg, marker, segment);
  return TRUE;
}

constexpr std::size_t huge_page = std::size_t{2} << 20U;

Decompressor& of(j_common_ptr jpeg) {
  return *static_cast<Decompressor*>(reinterpret_cast<j_decompress_ptr>(jpeg));
}

// Only a hint: a system without huge pages uses normal ones.
void prefer_huge_pages(void* begin, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t misaligned = reinterpret_cast<std::uintptr_t>(begin) % page;
  static_cast<void>(
      madvise(static_cast<char*>(begin) - misaligned, bytes + misaligned, MADV_HUGEPAGE));
}

}  // namespace

JpegReadAhead::JpegReadAhead(ByteSource& source, std::span<const std::uint8_t> read)
    : source_(source) {
  make_room(read.size());
  std::copy(read.begin(), read.end(), bytes_.get());
  size_ = read.size();
}

bool JpegReadAhead::read_more() {
  if (ended_) return false;
  make_room(step);
  std::size_t count = 0;
  try {
    count = source_.read({bytes_.get() + size_, step});
  } catch (...) {
    failure_ = std::current_exception();
  }
  size_ += count;
  ended_ = count < step;
  return count > 0;
}

void JpegReadAhead::drop(std::size_t count) {
  std::copy(bytes_.get() + count, bytes_.get() + size_, bytes_.get());
  size_ -= count;
}

std::size_t JpegReadAhead::read_on(std::span<std::uint8_t> buffer) {
  const auto kept = bytes().subspan(given_, std::min(buffer.size(), size_ - given_));
  if (kept.size() < buffer.size() && failure_) std::rethrow_exception(failure_);
  std::copy(kept.begin(), kept.end(), buffer.begin());
  given_ += kept.size();
  return ended_ ? kept.size() : kept.size() + source_.read(buffer.subspan(kept.size()));
}

// For `count` more bytes.
void JpegReadAhead::make_room(std::size_t count) {
  if (count <= capacity_ - size_) return;
  const std::size_t capacity = std::max(2 * capacity_, size_ + count);
  auto* const grown = static_cast<std::uint8_t*>(std::realloc(bytes_.get(), capacity));
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(bytes_.release());
  bytes_.reset(grown);
  capacity_ = capacity;
}

JpegCoefficients::Component::Component(std::size_t blocks_a_row, std::size_t rows_in_mcu,
                                       int window)
    : rows_in_mcu_(rows_in_mcu),
      blocks_a_row_(blocks_a_row),
      blocks_(blocks_a_row * rows_in_mcu * static_cast<std::size_t>(window)) {
  for (std::size_t at = 0; at < blocks_.size(); at += blocks_a_row)
    rows_.push_back(&blocks_[at].values);
}

void JpegCoefficients::Component::clear(int mcu_row) {
  const std::size_t row = static_cast<std::size_t>(mcu_row) * rows_in_mcu_ % rows_.size();
  const auto begin = blocks_.begin() + static_cast<std::ptrdiff_t>(row * blocks_a_row_);
  std::fill_n(begin, rows_in_mcu_ * blocks_a_row_, Block{});
}

JpegCoefficients::JpegCoefficients(const jpeg_decompress_struct& jpeg, int window) {
  const auto mcus = static_cast<std::size_t>(mcu_grid(jpeg).count.width);
  const bool alone = jpeg.num_components == 1;
  for (int i = 0; i < jpeg.num_components; ++i) {
    const jpeg_component_info& info = jpeg.comp_info[i];
    components_.emplace_back(mcus * static_cast<unsigned>(alone ? 1 : info.h_samp_factor),
                             static_cast<std::size_t>(alone ? 1 : info.v_samp_factor), window);
  }
}

void JpegCoefficients::clear(int mcu_row) {
  for (Component& component : components_)
    component.clear(mcu_row);
}

bool JpegSegments::Allowance::admits(std::size_t bytes) {
  ++count_;
  bytes_ += bytes;
  full_ = full_ || count_ > max_segments || bytes_ > max_bytes_;
  return !full_;
}

bool JpegSegments::wants(int marker, std::string_view segment) {
  if (segment.empty()) return false;
  switch (jpeg_segment_kind(marker, segment)) {
    case JpegSegmentKind::exif:
      if (!std::exchange(has_exif_, true)) return true;
      break;
    case JpegSegmentKind::xmp:
      if (!std::exchange(has_xmp_, true)) return true;
      break;
    case JpegSegmentKind::icc_profile:
      return ++profile_parts_ <= max_profile_parts;
    case JpegSegmentKind::image_resources:
    case JpegSegmentKind::other:
      break;
  }
  return (marker == JPEG_COM ? comments_ : others_).admits(segment.size());
}

void JpegSegments::append(jpeg_decompress_struct& jpeg, int marker, std::string_view segment) {
  void* const memory = jpeg.mem->alloc_large(reinterpret_cast<j_common_ptr>(&jpeg), JPOOL_IMAGE,
                                             sizeof(jpeg_marker_struct) + segment.size());
  auto* const saved = static_cast<jpeg_saved_marker_ptr>(memory);
  auto* const data = static_cast<JOCTET*>(memory) + sizeof(jpeg_marker_struct);
  std::memcpy(data, segment.data(), segment.size());
  saved->next = nullptr;
  saved->marker = static_cast<UINT8>(marker);
  saved->original_length = static_cast<unsigned>(segment.size());
  saved->data_length = saved->original_length;
  saved->data = data;
  (last_ == nullptr ? jpeg.marker_list : last_->next) = saved;
  last_ = saved;
}

void keep_jpeg_segments(jpeg_decompress_struct& jpeg) {
  jpeg_set_marker_processor(&jpeg, JPEG_COM, read_segment);
  for (int number = 1; number <= 15; ++number) {
    if (number != 14) jpeg_set_marker_processor(&jpeg, JPEG_APP0 + number, read_segment);
  }
}

void Decompressor::create() {
  jpeg_create_decompress(this);
  request_ = mem->request_virt_barray;
  allocate_ = mem->realize_virt_arrays;
  mem->request_virt_barray = request_coefficients;
  mem->realize_virt_arrays = allocate_coefficients;
}

void Decompressor::use(JpegCoefficients& coefficients) {
  shared_ = &coefficients;
  mem->request_virt_barray = request_shared;
  mem->realize_virt_arrays = allocate_;
  mem->access_virt_barray = access_shared;
}

void Decompressor::copy_tables(const Decompressor& whole) {
  auto* const common = reinterpret_cast<j_common_ptr>(this);
  for (int i = 0; i < NUM_QUANT_TBLS; ++i) {
    if (whole.quant_tbl_ptrs[i] == nullptr) continue;
    quant_tbl_ptrs[i] = jpeg_alloc_quant_table(common);
    *quant_tbl_ptrs[i] = *whole.quant_tbl_ptrs[i];
  }
  const auto copy = [common](JHUFF_TBL* const* from, JHUFF_TBL** to) {
    for (int i = 0; i < NUM_HUFF_TBLS; ++i) {
      if (from[i] == nullptr) continue;
      to[i] = jpeg_alloc_huff_table(common);
      *to[i] = *from[i];
    }
  };
  copy(whole.dc_huff_tbl_ptrs, dc_huff_tbl_ptrs);
  copy(whole.ac_huff_tbl_ptrs, ac_huff_tbl_ptrs);
}

jvirt_barray_ptr Decompressor::request_coefficients(j_common_ptr jpeg, int pool, boolean zeroed,
                                                    JDIMENSION blocks_a_row, JDIMENSION rows,
                                                    JDIMENSION rows_at_a_time) {
  Decompressor& self = of(jpeg);
  jvirt_barray_ptr array = self.request_(jpeg, pool, zeroed, blocks_a_row, rows, rows_at_a_time);
  if (self.requests_ < self.coefficients_.size()) {
    self.coefficients_.at(self.requests_++) = {array,
                                               std::size_t{rows} * blocks_a_row * sizeof(JBLOCK)};
  }
  return array;
}

// libjpeg requests the arrays of the components in order, and passes them to access_shared().
jvirt_barray_ptr Decompressor::request_shared(j_common_ptr jpeg, int, boolean, JDIMENSION,
                                              JDIMENSION, JDIMENSION) {
  Decompressor& self = of(jpeg);
  return reinterpret_cast<jvirt_barray_ptr>(&self.shared_->component(self.requests_++));
}

JBLOCKARRAY Decompressor::access_shared(j_common_ptr, jvirt_barray_ptr array, JDIMENSION row,
                                        JDIMENSION, boolean) {
  return reinterpret_cast<JpegCoefficients::Component*>(array)->rows_from(row);
}

void Decompressor::allocate_coefficients(j_common_ptr jpeg) {
  Decompressor& self = of(jpeg);
  self.allocate_(jpeg);
  for (std::size_t i = 0; i < self.requests_; ++i) {
    const Coefficients& component = self.coefficients_.at(i);
    if (component.bytes < 2 * huge_page) continue;
    JBLOCKARRAY first_row = self.mem->access_virt_barray(jpeg, component.array, 0, 1, TRUE);
    prefer_huge_pages(first_row[0], component.bytes);
  }
  self.requests_ = 0;
}

McuGrid mcu_grid(const jpeg_decompress_struct& jpeg) {
  const ImageSize picture{static_cast<int>(jpeg.image_width), static_cast<int>(jpeg.image_height)};
  if (jpeg.num_components == 1) return {picture, {DCTSIZE, DCTSIZE}, 1};
  int blocks = 0;
  for (int i = 0; i < jpeg.num_components; ++i)
    blocks += jpeg.comp_info[i].h_samp_factor * jpeg.comp_info[i].v_samp_factor;
  return {picture, {DCTSIZE * jpeg.max_h_samp_factor, DCTSIZE * jpeg.max_v_samp_factor}, blocks};
}

}  // namespace gpufilter
