# Writes to OUT the CTest tests of a GoogleTest PROGRAM: one for each suite, named PREFIX/suite.
# Arguments: -D PROGRAM= -D PREFIX= -D CACHE= -D OUT=. See tests/CMakeLists.txt.
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND "${PROGRAM}" --gtest_list_tests OUTPUT_VARIABLE listing
                COMMAND_ERROR_IS_FATAL ANY)
# Lines of suites end with a dot; those of their tests begin with blanks.
string(REGEX MATCHALL "\n[A-Za-z0-9_/]+\\.[ \n]" suites "\n${listing}")
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} lists no suites:\n${listing}")
endif()

# Reductions of large arrays run for longer than they compile. With barriers in loops, what PoCL
# compiles for one size of work-group takes a third of the time (see prepare_pocl_environment()).
set(long_runs compute/Candidates compute/CounterRange compute/Totals/OnDevice)

# A suite counts as skipped if no test ran and none failed: then these lines are the last.
set(all_skipped "\\[  PASSED  \\] 0 tests\\.\n(\\[  SKIPPED \\][^\n]*\n)+$")
set(script "")
foreach(line IN LISTS suites)
  string(REGEX REPLACE "[ .\n]" "" suite "${line}")
  set(environment "XDG_CACHE_HOME=${CACHE}")
  if("${PREFIX}/${suite}" IN_LIST long_runs)
    string(APPEND environment ";POCL_WORK_GROUP_SPECIALIZATION=1")
  endif()
  string(APPEND script
         "add_test([==[${PREFIX}/${suite}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.*]==])\n"
         "set_tests_properties([==[${PREFIX}/${suite}]==] PROPERTIES LABELS ${PREFIX} TIMEOUT 900 "
         "COST 10 ENVIRONMENT [==[${environment}]==] "
         "SKIP_REGULAR_EXPRESSION [==[${all_skipped}]==])\n")
endforeach()
file(WRITE "${OUT}" "${script}")
