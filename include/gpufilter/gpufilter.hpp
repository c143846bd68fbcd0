// gpufilter as a library: the engine of the program on pixels in memory, on files and on folders,
// with the same bits on every device. The library never prints, installs no signal handlers, and
// leaves the environment alone once other threads exist.
#pragma once

#include <gpufilter/control.hpp>
#include <gpufilter/devices.hpp>
#include <gpufilter/error.hpp>
#include <gpufilter/files.hpp>
#include <gpufilter/filter.hpp>
#include <gpufilter/log.hpp>
#include <gpufilter/measure.hpp>
#include <gpufilter/picture.hpp>
#include <gpufilter/stage_file.hpp>
#include <gpufilter/stages.hpp>
#include <gpufilter/version.hpp>
