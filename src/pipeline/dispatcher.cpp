#include "pipeline/dispatcher.hpp"

#include "pipeline/learning.hpp"

namespace gpufilter {

Assignment SoleDispatcher::assign(const PictureTask& /*task*/) {
  return {engine_.get(), {}, nullptr};
}

void SoleDispatcher::expect_folder(std::uint64_t /*file_bytes*/) {
  in_folder_ = true;
}

void SoleDispatcher::completed(const PictureTask& task, const RunReport& report) {
  if (store_) learn_from(*store_, vendors_, task, report, in_folder_);
}

void SoleDispatcher::conclude() {
  engine_->keep_programs();
  if (store_) store_->save();
}

}  // namespace gpufilter
