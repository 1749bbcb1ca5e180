# Runs an example on one worker and on four: each must end with exit status 0 and print EXPECTED.
#   cmake -DPROGRAM=... "-DARGUMENTS=..." -DEXPECTED=... [-DEMULATOR=...] -P check.cmake
foreach(workers IN ITEMS 1 4)
  set(ENV{FILCH_NUM_THREADS} ${workers})
  execute_process(COMMAND ${EMULATOR} ${PROGRAM} ${ARGUMENTS} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status)
  message("${output}${errors}")
  string(FIND "${output}" "${EXPECTED}" place)
  if(NOT status STREQUAL "0" OR place EQUAL -1)
    message(FATAL_ERROR "on ${workers} workers: exit status ${status}; expected 0 and: ${EXPECTED}")
  endif()
endforeach()
