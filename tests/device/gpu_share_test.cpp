#include <cstdlib>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "device/device_choice.hpp"
#include "device/pocl.hpp"

namespace gpufilter {
namespace {

using Names = std::vector<std::string>;

// "N0" to "N3" by NVIDIA, "A0", ... by AMD, "I0", ... by Intel, "P0", ... by NVIDIA and shown by
// PoCL; each vendor's on a platform of its own.
DeviceInfo gpu(const std::string& name) {
  DeviceInfo device;
  device.kind = DeviceKind::gpu;
  device.name = name;
  switch (name.front()) {
    case 'A':
      device.vendor = "Advanced Micro Devices, Inc.";
      device.platform = "AMD Accelerated Parallel Processing";
      break;
    case 'I':
      device.vendor = "Intel(R) Corporation";
      device.platform = "Intel(R) OpenCL Graphics";
      break;
    default:
      device.vendor = "NVIDIA Corporation";
      device.platform = name.front() == 'P' ? pocl_platform : "NVIDIA CUDA";
  }
  return device;
}

struct Case {
  Names gpus;  // as they are listed
  NodeVariables variables;
  Names order;
  std::string reason;
};

void expect_shares(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    std::vector<DeviceInfo> gpus;
    for (const std::string& name : one.gpus)
      gpus.push_back(gpu(name));
    const GpuShare share = share_gpus(gpus, one.variables);
    Names order;
    for (const DeviceInfo& device : share.gpus)
      order.push_back(device.name);
    std::string text = formatted("{}:", fmt::join(one.gpus, " "));
    for (const auto& [name, value] : one.variables)
      text += formatted(" {}={}", name, value);
    EXPECT_EQ(order, one.order) << text;
    EXPECT_EQ(share.reason, one.reason) << text;
  }
}

const Names four{"N0", "N1", "N2", "N3"};

TEST(GpuShare, WithoutASchedulerTheOrderStays) {
  expect_shares({
      {{}, {}, {}, ""},
      {{}, {{"SLURM_LOCALID", "1"}}, {}, ""},
      {four, {}, four, ""},
      {{"I0", "N0", "N1"}, {}, {"I0", "N0", "N1"}, ""},
  });
}

TEST(GpuShare, TheNumberOnTheNodeChoosesModuloTheGpus) {
  const Names third{"N2", "N3", "N0", "N1"};
  expect_shares({
      {four, {{"SLURM_LOCALID", "0"}}, four, "GPU 1 of 4, by SLURM_LOCALID=0"},
      {four, {{"SLURM_LOCALID", "2"}}, third, "GPU 3 of 4, by SLURM_LOCALID=2"},
      {four, {{"SLURM_LOCALID", "6"}}, third, "GPU 3 of 4, by SLURM_LOCALID=6"},
      {four, {{"MPI_LOCALRANKID", "2"}}, third, "GPU 3 of 4, by MPI_LOCALRANKID=2"},
      {four, {{"PMI_LOCAL_RANK", "2"}}, third, "GPU 3 of 4, by PMI_LOCAL_RANK=2"},
      {four, {{"PARALLEL_JOBSLOT", "3"}}, third, "GPU 3 of 4, by PARALLEL_JOBSLOT=3"},
      {four,
       {{"OMPI_COMM_WORLD_LOCAL_RANK", "2"}},
       third,
       "GPU 3 of 4, by OMPI_COMM_WORLD_LOCAL_RANK=2"},
      {{"N0"}, {{"SLURM_LOCALID", "3"}}, {"N0"}, ""},
  });
}

// mpirun's processes and GNU parallel's inherit the variables of the Slurm task around them.
TEST(GpuShare, TheInnermostSchedulerDecides) {
  expect_shares({
      {four,
       {{"SLURM_LOCALID", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}},
       {"N1", "N2", "N3", "N0"},
       "GPU 2 of 4, by OMPI_COMM_WORLD_LOCAL_RANK=1"},
      {four,
       {{"SLURM_LOCALID", "0"}, {"PARALLEL_JOBSLOT", "4"}},
       {"N3", "N0", "N1", "N2"},
       "GPU 4 of 4, by PARALLEL_JOBSLOT=4"},
  });
}

TEST(GpuShare, WhatIsNoNumberDecidesNothing) {
  for (const char* value : {"", "-1", "x", "1x", " 1", "99999999999999999999999"})
    expect_shares({{four, {{"SLURM_LOCALID", value}}, four, ""}});
  expect_shares({{four, {{"PARALLEL_JOBSLOT", "0"}}, four, ""},
                 {four,
                  {{"MPI_LOCALRANKID", "x"}, {"SLURM_LOCALID", "3"}},
                  {"N3", "N0", "N1", "N2"},
                  "GPU 4 of 4, by SLURM_LOCALID=3"}});
}

TEST(GpuShare, AListThatTheDriverHasAppliedIsNotAppliedAgain) {
  expect_shares({
      {{"N0"}, {{"CUDA_VISIBLE_DEVICES", "2"}}, {"N0"}, "given by CUDA_VISIBLE_DEVICES=2"},
      {{"N0"},
       {{"CUDA_VISIBLE_DEVICES", "2"}, {"SLURM_LOCALID", "2"}},
       {"N0"},
       "given by CUDA_VISIBLE_DEVICES=2"},
      {{"N0", "N1"},
       {{"CUDA_VISIBLE_DEVICES", "1,3"}},
       {"N0", "N1"},
       "given by CUDA_VISIBLE_DEVICES=1,3"},
      {{"N0"},
       {{"CUDA_VISIBLE_DEVICES", "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"}},
       {"N0"},
       "given by CUDA_VISIBLE_DEVICES=GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"},
      {{"A0"}, {{"ROCR_VISIBLE_DEVICES", "5"}}, {"A0"}, "given by ROCR_VISIBLE_DEVICES=5"},
  });
}

TEST(GpuShare, SeveralTasksWithOneListTakeOneEach) {
  expect_shares({{four,
                  {{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"SLURM_LOCALID", "1"}},
                  {"N1", "N2", "N3", "N0"},
                  "GPU 2 of the 4 of CUDA_VISIBLE_DEVICES=0,1,2,3, by SLURM_LOCALID=1"}});
}

TEST(GpuShare, AListThatTheDriverDoesNotReadIsApplied) {
  expect_shares({
      {four, {{"CUDA_VISIBLE_DEVICES", "2"}}, {"N2"}, "given by CUDA_VISIBLE_DEVICES=2"},
      {four,
       {{"CUDA_VISIBLE_DEVICES", "3,1"}, {"SLURM_LOCALID", "1"}},
       {"N1", "N3"},
       "GPU 2 of the 2 of CUDA_VISIBLE_DEVICES=3,1, by SLURM_LOCALID=1"},
      {four, {{"CUDA_VISIBLE_DEVICES", "1,-1,2"}}, {"N1"}, "given by CUDA_VISIBLE_DEVICES=1,-1,2"},
      // Nothing was given.
      {four, {{"CUDA_VISIBLE_DEVICES", ""}}, {}, ""},
      {four, {{"CUDA_VISIBLE_DEVICES", "NoDevFiles"}}, {}, ""},
      {four, {{"CUDA_VISIBLE_DEVICES", "7"}}, {}, ""},
  });
}

TEST(GpuShare, AListSpeaksForItsVendorAlone) {
  expect_shares({
      {{"I0", "N0"},
       {{"CUDA_VISIBLE_DEVICES", "3"}},
       {"N0", "I0"},
       "given by CUDA_VISIBLE_DEVICES=3"},
      {{"I0", "A0"}, {{"CUDA_VISIBLE_DEVICES", "3"}}, {"I0", "A0"}, ""},
      {{"I0", "A0", "A1"},
       {{"CUDA_VISIBLE_DEVICES", "0"}, {"ROCR_VISIBLE_DEVICES", "1"}},
       {"A1", "I0"},
       "given by ROCR_VISIBLE_DEVICES=1"},
      {{"P0", "P1"}, {{"CUDA_VISIBLE_DEVICES", "1"}}, {"P0", "P1"}, ""},
  });
}

// A slow GPU inside the processor must not take a task's turn.
TEST(GpuShare, WithoutAListOnlyOnePlatformIsSharedOut) {
  expect_shares({
      {{"N0", "N1", "I0"},
       {{"SLURM_LOCALID", "2"}},
       {"N0", "N1", "I0"},
       "GPU 1 of 2, by SLURM_LOCALID=2"},
      {{"N0", "N1", "I0"},
       {{"SLURM_LOCALID", "3"}},
       {"N1", "N0", "I0"},
       "GPU 2 of 2, by SLURM_LOCALID=3"},
  });
}

TEST(GpuShare, ReadsTheEnvironment) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  setenv("SLURM_LOCALID", "3", 1);
  const NodeVariables variables = node_variables();
  unsetenv("CUDA_VISIBLE_DEVICES");
  unsetenv("SLURM_LOCALID");
  ASSERT_TRUE(variables.contains("CUDA_VISIBLE_DEVICES"));
  EXPECT_EQ(variables.at("CUDA_VISIBLE_DEVICES"), "");
  ASSERT_TRUE(variables.contains("SLURM_LOCALID"));
  EXPECT_EQ(variables.at("SLURM_LOCALID"), "3");
  EXPECT_FALSE(variables.contains("PATH"));
}

}  // namespace
}  // namespace gpufilter
