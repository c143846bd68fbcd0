#include "base/error.hpp"

#include <cerrno>

#include "base/files.hpp"

namespace gpufilter {

SystemFailure::SystemFailure(std::string_view name, int error)
    : SystemFailure(name, describe_system_error(error), error) {}

SystemFailure::SystemFailure(std::string_view name, std::string_view reason, int error)
    : PictureError(name, reason), error_(error) {}

bool is_out_of_space(int error) {
  return error == ENOSPC || error == EDQUOT;
}

bool is_out_of_files(int error) {
  return error == EMFILE || error == ENFILE;
}

}  // namespace gpufilter
