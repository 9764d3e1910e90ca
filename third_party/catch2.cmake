# Version 2 (Debian) and version 3 (upstream) both do; tests include "tests/catch.h", which knows which.
include(FetchContent)
FetchContent_Declare(
  Catch2
  GIT_REPOSITORY https://github.com/catchorg/Catch2.git
  GIT_TAG v3.7.1
  FIND_PACKAGE_ARGS)
FetchContent_MakeAvailable(Catch2)
if(NOT Catch2_VERSION)  # fetched, and not found
  set(Catch2_VERSION 3)
endif()
