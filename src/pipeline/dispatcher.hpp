// Decides which engine filters a picture, once its header is read.
#pragma once

#include <memory>
#include <string>

#include "pipeline/engine.hpp"
#include "pipeline/estimate.hpp"

namespace gpufilter {

struct RunReport;

struct Assignment {
  Engine* engine = nullptr;
  std::string reason;           // why this one; empty: the engine's own reason
  std::shared_ptr<void> lease;  // held until the picture is done
};

// Safe to use from several threads.
class Dispatcher {
 public:
  virtual ~Dispatcher() = default;

  [[nodiscard]] virtual Assignment assign(const PictureTask& task) = 0;

  // Bytes of all input files of a folder, before the first of them is assigned.
  virtual void expect_folder(std::uint64_t /*file_bytes*/) {}

  // Reports a finished picture, whose times improve later estimates.
  virtual void completed(const PictureTask& /*task*/, const RunReport& /*report*/) {}

  // Waits until it is known whether the requested device exists. Throws DeviceError if it does not.
  virtual void await_choice() {}

  // After the last picture: keeps compiled programs and measured times for the next run.
  virtual void conclude() {}

  // Waits for devices that are being started: a process must not end meanwhile.
  virtual void await_starts() noexcept {}
};

// Assigns every picture to one engine, and learns nothing.
class SoleEngine final : public Dispatcher {
 public:
  explicit SoleEngine(Engine& engine) : engine_(engine) {}
  [[nodiscard]] Assignment assign(const PictureTask& /*task*/) override {
    return {&engine_, {}, nullptr};
  }

 private:
  Engine& engine_;
};

}  // namespace gpufilter
