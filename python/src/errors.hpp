// Python's exceptions for those of the library.
#pragma once

namespace gpufilter::python {

// From now on the library's exceptions become those of gpufilter._errors.
void use_errors();

}  // namespace gpufilter::python
