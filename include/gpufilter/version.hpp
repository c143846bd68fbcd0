// The version of these headers; version() is that of the library that is running.
#pragma once

// Changes with what programs have to be adapted to.
#define GPUFILTER_VERSION_MAJOR 1
// Changes with what is added.
#define GPUFILTER_VERSION_MINOR 0
// Changes with what is mended.
#define GPUFILTER_VERSION_PATCH 0
