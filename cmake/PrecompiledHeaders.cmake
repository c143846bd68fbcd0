# Parses the headers that most files of a target include once instead of in each file. Only those: GCC
# maps the whole result into memory for each file, so a large header that few files include costs more than it
# saves (nlohmann/json.hpp does). Every file still includes what it uses; builds with
# CMAKE_DISABLE_PRECOMPILE_HEADERS (the presets of sanitizers and clang-tidy) prove it.
function(gpufilter_precompile_headers target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <cstddef> <cstdint> <filesystem> <functional> <map> <memory> <mutex> <optional>
    <span> <string> <string_view> <utility> <variant> <vector> "${PROJECT_SOURCE_DIR}/src/base/format.hpp"
    ${ARGN})
endfunction()
