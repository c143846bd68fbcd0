// libjpeg's decompressor, its memory, and its source manager for bytes from any source.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "codec/byte_source.hpp"
#include "codec/jpeg/library.hpp"

namespace gpufilter {

// The position in a scan where a decompressor starts instead of at the file's header.
struct JpegPlace {
  std::uint64_t restart = 0;        // restart markers before this position
  std::uint64_t restarts_left = 0;  // and after it
};

class JpegInput : public jpeg_source_mgr {
 public:
  // Fills the buffer as far as there are bytes left, and returns how many it wrote.
  using Read = std::function<std::size_t(std::span<JOCTET>)>;

  // Bytes that are requested at a time.
  static constexpr std::size_t buffer_size = std::size_t{64} << 10U;

  explicit JpegInput(JpegErrors& errors);

  // The bytes of a file from its beginning; or `head`, which outlives the decompressor, followed by
  // the bytes of a scan from `place` on. libjpeg counts restart markers from 0 there, so they are
  // renumbered; if one is missing, the message contains the number in the file.
  void open(Read read, std::span<const JOCTET> head = {}, const JpegPlace& place = {});

  // The bytes of the buffer that libjpeg has not consumed.
  [[nodiscard]] std::span<const JOCTET> unread() const {
    return {next_input_byte, bytes_in_buffer};
  }

 private:
  static JpegInput& of(j_decompress_ptr jpeg) { return *static_cast<JpegInput*>(jpeg->src); }
  static boolean resync(j_decompress_ptr jpeg, int due);
  static bool may_end(const jpeg_decompress_struct& jpeg);
  void fill(const jpeg_decompress_struct& jpeg);
  void skip(const jpeg_decompress_struct& jpeg, long count);
  void renumber(std::span<JOCTET> bytes);

  JpegErrors& errors_;
  Read read_;
  std::vector<JOCTET> buffer_;
  unsigned shift_ = 0;  // offset of restart markers' numbers
  std::uint64_t restarts_left_ = 0;
  bool behind_ff_ = false;
};

class JpegReadAhead {
 public:
  // `read` has the bytes already read from `source`, which outlives this object and has the rest.
  JpegReadAhead(ByteSource& source, std::span<const std::uint8_t> read);

  // Reads more bytes. False at the end of the source, and where it throws: then read_on() will.
  // Throws std::bad_alloc.
  bool read_more();

  // The bytes that were read and not dropped.
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {bytes_.get(), size_}; }

  // Forgets the first `count` bytes.
  void drop(std::size_t count);

  // For a decoder that takes over: yields bytes() and then what the source has left. Throws what
  // the source throws.
  std::size_t read_on(std::span<std::uint8_t> buffer);

 private:
  struct Free {
    void operator()(std::uint8_t* bytes) const { std::free(bytes); }
  };

  void make_room(std::size_t count);

  ByteSource& source_;
  // A std::vector would hold all bytes twice whenever it grows. realloc() moves large blocks
  // without copying them.
  std::unique_ptr<std::uint8_t, Free> bytes_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::size_t given_ = 0;  // by read_on()
  bool ended_ = false;
  std::exception_ptr failure_;  // of the source
};

// The coefficients of some rows of a picture, shared by several decompressors: a window of
// consecutive rows of MCUs that moves down the picture with the output. Row r + window
// reuses the memory of row r.
class JpegCoefficients {
 public:
  // Aligned for libjpeg's vector instructions.
  struct alignas(64) Block {
    JBLOCK values = {};
  };
  static_assert(sizeof(Block) == sizeof(JBLOCK));

  // The blocks of one component.
  class Component {
   public:
    Component(std::size_t blocks_a_row, std::size_t rows_in_mcu, int window);
    // Pointers to `row`, counted in blocks from the top of the picture, and to the rows below it in
    // the same row of MCUs.
    [[nodiscard]] JBLOCKARRAY rows_from(std::size_t row) {
      return rows_.data() + row % rows_.size();
    }
    void clear(int mcu_row);

   private:
    std::size_t rows_in_mcu_;
    std::size_t blocks_a_row_;
    std::vector<Block> blocks_;
    std::vector<JBLOCKROW> rows_;
  };

  // `window` rows of MCUs, all 0, of the picture whose header `jpeg` has read.
  JpegCoefficients(const jpeg_decompress_struct& jpeg, int window);
  JpegCoefficients(const JpegCoefficients&) = delete;
  JpegCoefficients& operator=(const JpegCoefficients&) = delete;

  [[nodiscard]] Component& component(std::size_t index) { return components_.at(index); }

  // Sets the coefficients of a row of MCUs to 0 for the row that will reuse its memory.
  void clear(int mcu_row);

 private:
  std::vector<Component> components_;
};

// Appends segments to the marker_list of a decompressor, as jpeg_save_markers() does, but in linear
// time (libjpeg walks through the list for each segment). It keeps the first EXIF segment, the
// first XMP segment, one ICC profile, and as many comments and other segments as
// docs/engineering/limits.md says.
class JpegSegments {
 public:
  // Whether to keep `segment`, which does not include its length; if so, counts it.
  [[nodiscard]] bool wants(int marker, std::string_view segment);

  // Keeps no segments from now on.
  void close() { closed_ = true; }
  [[nodiscard]] bool closed() const { return closed_; }

  // Calls libjpeg, so only within JpegErrors::run().
  void append(jpeg_decompress_struct& jpeg, int marker, std::string_view segment);

  // Holds the segment that is being read.
  [[nodiscard]] std::array<JOCTET, 65533>& buffer() { return buffer_; }

  [[nodiscard]] bool left_out_comments() const { return comments_.full(); }
  [[nodiscard]] bool left_out_others() const { return others_.full(); }
  [[nodiscard]] bool has_profile() const { return profile_parts_ > 0; }

 private:
  // Counts segments up to a limit.
  class Allowance {
   public:
    explicit Allowance(std::size_t max_bytes) : max_bytes_(max_bytes) {}
    [[nodiscard]] bool admits(std::size_t bytes);
    [[nodiscard]] bool full() const { return full_; }

   private:
    std::size_t max_bytes_;
    std::size_t bytes_ = 0;
    int count_ = 0;
    bool full_ = false;
  };

  std::array<JOCTET, 65533> buffer_{};
  jpeg_saved_marker_ptr last_ = nullptr;
  bool closed_ = false;
  bool has_exif_ = false;
  bool has_xmp_ = false;
  int profile_parts_ = 0;
  Allowance comments_{std::size_t{8} << 20U};
  Allowance others_{std::size_t{16} << 20U};
};

// Makes libjpeg pass COM and all APP segments but its own, APP0 and APP14, to
// Decompressor::segments. Call before the header is read, within JpegErrors::run().
void keep_jpeg_segments(jpeg_decompress_struct& jpeg);

// Owns libjpeg's memory. The coefficients of a progressive picture take 2 bytes per sample, and
// every scan goes through them again. They are allocated in huge pages: with small pages, a tenth
// of the time goes to page faults and address translation.
class Decompressor : public jpeg_decompress_struct {
 public:
  explicit Decompressor(JpegErrors& errors) : jpeg_decompress_struct{} {
    err = errors.manager();
    client_data = &errors;
  }
  ~Decompressor() { jpeg_destroy_decompress(this); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Call this and copy_tables(), which call libjpeg, only within JpegErrors::run().
  void create();

  // Takes over the tables that `whole` has read.
  void copy_tables(const Decompressor& whole);

  // Decodes into coefficients shared with other decompressors; they outlive this object. Call it
  // after create().
  void use(JpegCoefficients& coefficients);

  JpegSegments segments;

 private:
  // The coefficients of a component.
  struct Coefficients {
    jvirt_barray_ptr array = nullptr;
    std::size_t bytes = 0;
  };

  // The functions below replace libjpeg's memory manager's.
  static jvirt_barray_ptr request_coefficients(j_common_ptr jpeg, int pool, boolean zeroed,
                                               JDIMENSION blocks_a_row, JDIMENSION rows,
                                               JDIMENSION rows_at_a_time);
  static void allocate_coefficients(j_common_ptr jpeg);
  static jvirt_barray_ptr request_shared(j_common_ptr jpeg, int pool, boolean zeroed,
                                         JDIMENSION blocks_a_row, JDIMENSION rows,
                                         JDIMENSION rows_at_a_time);
  static JBLOCKARRAY access_shared(j_common_ptr jpeg, jvirt_barray_ptr array, JDIMENSION row,
                                   JDIMENSION rows, boolean writable);

  decltype(jpeg_memory_mgr::request_virt_barray) request_ = nullptr;
  decltype(jpeg_memory_mgr::realize_virt_arrays) allocate_ = nullptr;
  std::array<Coefficients, MAX_COMPONENTS> coefficients_{};
  std::size_t requests_ = 0;
  JpegCoefficients* shared_ = nullptr;
};

// The MCUs of a scan of all components. In a scan of one component an MCU is a block, whatever the
// sampling factors are.
[[nodiscard]] McuGrid mcu_grid(const jpeg_decompress_struct& jpeg);

}  // namespace gpufilter
