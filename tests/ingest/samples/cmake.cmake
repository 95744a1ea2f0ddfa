cmake_minimum_required(VERSION 3.10)
project(sample)

set(LIMIT 10)
option(WITH_TESTS "Build tests" ON)

# Adds a test.
function(add_my_test name)
  set(local 1)
  add_test(${name})
endfunction()

macro(twice x)
  message(${x})
endmacro()

add_library(core STATIC a.c)
add_executable(app main.c)
add_custom_target(docs)
