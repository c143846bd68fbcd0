// Makes libjpeg safe to use from C++: its longjmp stays within small steps, exceptions of the byte
// streams never pass through its stack frames, and it prints nothing.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>

#include <jpeglib.h>

#include "codec/byte_source.hpp"
#include "image/rows.hpp"

// jpeglib.h wants size_t and FILE declared before it.

namespace gpufilter {

// The reason for refusing a JPEG with `bits` bits per sample.
[[nodiscard]] std::string unsupported_precision(int bits);

// Whether it is RST0 to RST7.
[[nodiscard]] constexpr bool is_restart(int marker) {
  return marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7;
}

// The restart marker `by` numbers after `marker`. Other markers are returned unchanged.
[[nodiscard]] constexpr int shifted_restart(int marker, unsigned by) {
  return is_restart(marker) ? JPEG_RST0 + (marker - JPEG_RST0 + static_cast<int>(by)) % 8 : marker;
}

// The position of the next byte 255, which begins markers, from `at` on; the end if there is none.
[[nodiscard]] inline std::size_t next_ff(std::span<const std::uint8_t> bytes, std::size_t at) {
  const void* found =
      at < bytes.size() ? std::memchr(bytes.data() + at, 0xFF, bytes.size() - at) : nullptr;
  if (found == nullptr) return bytes.size();
  return static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes.data());
}

// The position of the next marker that ends the data of a scan, from `at` on: a byte 255 followed
// neither by 0 nor by the code of a restart marker; the end if there is none.
[[nodiscard]] std::size_t end_of_data(std::span<const std::uint8_t> bytes, std::size_t at);

// libjpeg's error manager for one picture. Warnings that mean lost or doubtful pixels are failures.
class JpegErrors {
 public:
  explicit JpegErrors(std::string name);
  JpegErrors(const JpegErrors&) = delete;
  JpegErrors& operator=(const JpegErrors&) = delete;

  // For the `err` of libjpeg's structs, whose client_data must point to this object.
  [[nodiscard]] jpeg_error_mgr* manager() { return &manager_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // For a decompressor of one scan of several: ignores libjpeg's warning of missing earlier scans,
  // and treats every other warning as a failure.
  void expect_one_scan() { one_scan_ = true; }

  // For a decompressor that counts restart markers from 0 where the file counts from `number`:
  // messages contain the number in the file.
  void set_first_restart(unsigned number) { first_restart_ = number; }

  // The file has ended; whatever fails from now on, that is why.
  void note_end() { ended_ = true; }
  [[nodiscard]] bool ended() const { return ended_; }

  // From now on libjpeg continues where pixels are lost. damage() is where that happened first.
  void tolerate() { tolerant_ = true; }
  struct Damage {
    int scan = 0;
    unsigned row = 0;  // of MCUs of all components
  };
  [[nodiscard]] const std::optional<Damage>& damage() const { return damage_; }
  // For what libjpeg does not see itself; the first damage stays.
  void note_damage(j_common_ptr jpeg);
  // Throws PictureError for the damage.
  [[noreturn]] void throw_failure();

  // Runs libjpeg calls. Throws the exception of a callback, or PictureError with libjpeg's message.
  // A longjmp may leave `step`, so it must not own objects that need their destructors.
  template <typename Step>
  void run(Step step) {
    if (!returns(step)) throw_failure();
    log_note();
  }

  // For callbacks, which must not throw: runs `action`. If that throws, leaves libjpeg, and run()
  // rethrows the exception.
  template <typename Action>
  void call_back(Action action) {
    if (!completes(action)) std::longjmp(jump_, 1);
  }

 private:
  template <typename Step>
  bool returns(Step& step) {
    if (setjmp(jump_) != 0) return false;
    step();
    return true;
  }

  template <typename Action>
  bool completes(Action& action) noexcept {
    try {
      action();
      return true;
    } catch (...) {
      thrown_ = std::current_exception();
      return false;
    }
  }

  void log_note();
  static JpegErrors& of(j_common_ptr jpeg);
  [[noreturn]] static void on_error(j_common_ptr jpeg);
  static void on_message(j_common_ptr jpeg, int level);

  std::string name_;
  jpeg_error_mgr manager_{};
  std::jmp_buf jump_{};
  std::exception_ptr thrown_;
  char failure_[JMSG_LENGTH_MAX] = "";  // libjpeg's words, and their code
  int failure_code_ = 0;
  bool one_scan_ = false;
  bool ended_ = false;
  bool tolerant_ = false;
  std::optional<Damage> damage_;
  unsigned first_restart_ = 0;
  char note_[JMSG_LENGTH_MAX] =
      "";  // a harmless warning; a fixed array as callbacks must not throw
};

// Owns libjpeg's memory.
struct Compressor : jpeg_compress_struct {
  explicit Compressor(JpegErrors& errors) : jpeg_compress_struct{} {
    err = errors.manager();
    client_data = &errors;
  }
  ~Compressor() { jpeg_destroy_compress(this); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
};

struct McuGrid {
  constexpr McuGrid(ImageSize picture, ImageSize mcu_size, int blocks_an_mcu)
      : mcu(mcu_size),
        blocks(blocks_an_mcu),
        count{(picture.width + mcu.width - 1) / mcu.width,
              (picture.height + mcu.height - 1) / mcu.height} {}

  // Pixels in a row of MCUs, including the padding of the last one.
  [[nodiscard]] constexpr std::int64_t pixels_a_row() const {
    return std::int64_t{count.width} * mcu.width * mcu.height;
  }

  ImageSize mcu;    // pixels
  int blocks;       // of 8x8 samples in an MCU
  ImageSize count;  // MCUs in a row, and rows of MCUs
};

}  // namespace gpufilter
