// The version of these headers; version() is that of the library that is running.
#pragma once

// Changes with what programs have to be adapted to.
#define GPUFILTER_VERSION_MAJOR 1
// Grows with additions.
#define GPUFILTER_VERSION_MINOR 0
// Grows with corrections.
#define GPUFILTER_VERSION_PATCH 0
