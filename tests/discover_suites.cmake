# Writes to OUT the CTest tests of a GoogleTest PROGRAM: one for each suite, named PREFIX/suite.
# Arguments: -D PROGRAM= -D PREFIX= -D OUT=. See tests/CMakeLists.txt.
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND "${PROGRAM}" --gtest_list_tests OUTPUT_VARIABLE listing
                COMMAND_ERROR_IS_FATAL ANY)
# Lines of suites end with a dot; those of their tests begin with blanks.
string(REGEX MATCHALL "\n[A-Za-z0-9_/]+\\.[ \n]" suites "\n${listing}")
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} lists no suites:\n${listing}")
endif()

# Suites whose kernels PoCL optimises (see support/main.cpp): they run for longer than that takes.
# They also prove that optimising changes no bit.
set(optimised compute/All/MatrixProductKernel pipeline/Fusion pipeline/ScratchMemory
    net/MlpKernel net/NetIntegersOnDevice)

# Without its optimiser, PoCL 5.0 (libpocl.so.2.12) compiles the blocked matrix product to code that stores nothing on
# processors with AVX-512. With it, as users have it, all results are right.
if(EXISTS /etc/OpenCL/vendors/pocl.icd)
  file(STRINGS /etc/OpenCL/vendors/pocl.icd pocl_5 REGEX "libpocl\\.so\\.2\\.12")
  if(pocl_5)
    list(APPEND optimised compute/MatrixBlocks compute/Candidates compute/Small/MatrixReads compute/Large/MatrixReads)
  endif()
endif()

# A suite counts as skipped if no test ran and none failed: then these lines are the last.
set(all_skipped "\\[  PASSED  \\] 0 tests\\.\n(\\[  SKIPPED \\][^\n]*\n)+$")
set(script "")
foreach(line IN LISTS suites)
  string(REGEX REPLACE "[ .\n]" "" suite "${line}")
  set(environment "")
  if("${PREFIX}/${suite}" IN_LIST optimised)
    set(environment "ENVIRONMENT POCL_EXTRA_BUILD_FLAGS=")
  endif()
  string(APPEND script
         "add_test([==[${PREFIX}/${suite}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.*]==])\n"
         "set_tests_properties([==[${PREFIX}/${suite}]==] PROPERTIES LABELS ${PREFIX} TIMEOUT 900 "
         "COST 10 ${environment} "
         "SKIP_REGULAR_EXPRESSION [==[${all_skipped}]==])\n")
endforeach()
file(WRITE "${OUT}" "${script}")
