// The functions of OpenCL that this folder calls. Every object of OpenCL begins with a pointer to
// the functions of its own vendor's library, so no loader (libOpenCL.so.1) is linked: a program
// starts on a machine without OpenCL. The functions are hidden, so that other libraries of the
// process keep theirs.
#include <cstddef>
#include <tuple>

#include "device/opencl.hpp"

namespace {

template <typename Function>
struct Signature;
template <typename Returned, typename... Parameters>
struct Signature<Returned(Parameters...)> {
  using Result = Returned;
  template <std::size_t place>
  using Parameter = std::tuple_element_t<place, std::tuple<Parameters...>>;
};

}  // namespace

// The parameters of a function, and the arguments that they are.
#define GPUFILTER_AT(name, place) Signature<decltype(name)>::Parameter<place>
#define GPUFILTER_PARAMETERS_1(name) GPUFILTER_AT(name, 0) a
#define GPUFILTER_ARGUMENTS_1 a
#define GPUFILTER_PARAMETERS_3(name) \
  GPUFILTER_PARAMETERS_1(name), GPUFILTER_AT(name, 1) b, GPUFILTER_AT(name, 2) c
#define GPUFILTER_ARGUMENTS_3 GPUFILTER_ARGUMENTS_1, b, c
#define GPUFILTER_PARAMETERS_4(name) GPUFILTER_PARAMETERS_3(name), GPUFILTER_AT(name, 3) d
#define GPUFILTER_ARGUMENTS_4 GPUFILTER_ARGUMENTS_3, d
#define GPUFILTER_PARAMETERS_5(name) GPUFILTER_PARAMETERS_4(name), GPUFILTER_AT(name, 4) e
#define GPUFILTER_ARGUMENTS_5 GPUFILTER_ARGUMENTS_4, e
#define GPUFILTER_PARAMETERS_6(name) GPUFILTER_PARAMETERS_5(name), GPUFILTER_AT(name, 5) f
#define GPUFILTER_ARGUMENTS_6 GPUFILTER_ARGUMENTS_5, f
#define GPUFILTER_PARAMETERS_7(name) GPUFILTER_PARAMETERS_6(name), GPUFILTER_AT(name, 6) g
#define GPUFILTER_ARGUMENTS_7 GPUFILTER_ARGUMENTS_6, g
#define GPUFILTER_PARAMETERS_9(name) \
  GPUFILTER_PARAMETERS_7(name), GPUFILTER_AT(name, 7) h, GPUFILTER_AT(name, 8) i
#define GPUFILTER_ARGUMENTS_9 GPUFILTER_ARGUMENTS_7, h, i
#define GPUFILTER_PARAMETERS_10(name) GPUFILTER_PARAMETERS_9(name), GPUFILTER_AT(name, 9) j
#define GPUFILTER_ARGUMENTS_10 GPUFILTER_ARGUMENTS_9, j
// Defines a function with `count` parameters, the first of which is the object.
#define GPUFILTER_CALL(count, name)                                             \
  [[gnu::visibility("hidden")]] Signature<decltype(name)>::Result name(         \
      GPUFILTER_PARAMETERS_##count(name)) {                                     \
    return gpufilter::opencl_functions_of(a).name(GPUFILTER_ARGUMENTS_##count); \
  }

GPUFILTER_CALL(1, clFinish)
GPUFILTER_CALL(1, clFlush)
GPUFILTER_CALL(1, clReleaseCommandQueue)
GPUFILTER_CALL(1, clReleaseContext)
GPUFILTER_CALL(1, clReleaseDevice)
GPUFILTER_CALL(1, clReleaseEvent)
GPUFILTER_CALL(1, clReleaseKernel)
GPUFILTER_CALL(1, clReleaseMemObject)
GPUFILTER_CALL(1, clReleaseProgram)
GPUFILTER_CALL(1, clRetainCommandQueue)
GPUFILTER_CALL(1, clRetainContext)
GPUFILTER_CALL(1, clRetainDevice)
GPUFILTER_CALL(1, clRetainEvent)
GPUFILTER_CALL(1, clRetainProgram)
GPUFILTER_CALL(3, clCreateKernel)
GPUFILTER_CALL(4, clCreateCommandQueueWithProperties)
GPUFILTER_CALL(4, clEnqueueMarkerWithWaitList)
GPUFILTER_CALL(4, clSetKernelArg)
GPUFILTER_CALL(5, clCreateBuffer)
GPUFILTER_CALL(5, clCreateProgramWithSource)
GPUFILTER_CALL(5, clGetDeviceInfo)
GPUFILTER_CALL(5, clGetEventInfo)
GPUFILTER_CALL(5, clGetEventProfilingInfo)
GPUFILTER_CALL(5, clGetMemObjectInfo)
GPUFILTER_CALL(5, clGetProgramInfo)
GPUFILTER_CALL(6, clBuildProgram)
GPUFILTER_CALL(6, clCreateImage)
GPUFILTER_CALL(6, clEnqueueUnmapMemObject)
GPUFILTER_CALL(6, clGetKernelWorkGroupInfo)
GPUFILTER_CALL(6, clGetProgramBuildInfo)
GPUFILTER_CALL(7, clCreateProgramWithBinary)
GPUFILTER_CALL(9, clEnqueueCopyBuffer)
GPUFILTER_CALL(9, clEnqueueNDRangeKernel)
GPUFILTER_CALL(9, clEnqueueReadBuffer)
GPUFILTER_CALL(9, clEnqueueWriteBuffer)
GPUFILTER_CALL(10, clEnqueueMapBuffer)

[[gnu::visibility("hidden")]] cl_int clWaitForEvents(cl_uint count, const cl_event* events) {
  return gpufilter::opencl_functions_of(events[0]).clWaitForEvents(count, events);
}
