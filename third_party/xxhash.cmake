# Checksums and fingerprints. Gives xxHash::xxhash.
find_path(XXHASH_INCLUDE xxhash.h)
find_library(XXHASH_LIBRARY xxhash)
if(NOT FETCHCONTENT_SOURCE_DIR_XXHASH AND XXHASH_INCLUDE AND XXHASH_LIBRARY)
  add_library(xxHash::xxhash INTERFACE IMPORTED)
  target_include_directories(xxHash::xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE})
  target_link_libraries(xxHash::xxhash INTERFACE ${XXHASH_LIBRARY})
else()
  include(FetchContent)
  set(XXHASH_BUILD_XXHSUM OFF)
  FetchContent_Declare(
    xxhash
    GIT_REPOSITORY https://github.com/Cyan4973/xxHash.git
    GIT_TAG v0.8.2
    SOURCE_SUBDIR cmake_unofficial)
  FetchContent_MakeAvailable(xxhash)
endif()
