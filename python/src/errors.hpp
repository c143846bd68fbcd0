// Translates the library's exceptions to Python's.
#pragma once

namespace gpufilter::python {

// Makes the library's exceptions become gpufilter._errors'.
void use_errors();

}  // namespace gpufilter::python
