# Debian's package has no CMake file, so it is looked for by hand. Gives sentencepiece::sentencepiece.
find_path(SENTENCEPIECE_INCLUDE sentencepiece_trainer.h)
find_library(SENTENCEPIECE_LIBRARY sentencepiece)
find_library(SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train)
add_library(sentencepiece::sentencepiece INTERFACE IMPORTED)
if(NOT FETCHCONTENT_SOURCE_DIR_SENTENCEPIECE AND SENTENCEPIECE_INCLUDE AND SENTENCEPIECE_LIBRARY
   AND SENTENCEPIECE_TRAIN_LIBRARY)
  target_include_directories(sentencepiece::sentencepiece SYSTEM INTERFACE ${SENTENCEPIECE_INCLUDE})
  target_link_libraries(sentencepiece::sentencepiece INTERFACE ${SENTENCEPIECE_TRAIN_LIBRARY}
                                                               ${SENTENCEPIECE_LIBRARY})
else()
  include(FetchContent)
  set(SPM_ENABLE_SHARED OFF)
  FetchContent_Declare(
    sentencepiece
    GIT_REPOSITORY https://github.com/google/sentencepiece.git
    GIT_TAG v0.2.0)
  FetchContent_MakeAvailable(sentencepiece)
  target_include_directories(sentencepiece::sentencepiece SYSTEM
                             INTERFACE ${sentencepiece_SOURCE_DIR}/src)
  target_link_libraries(sentencepiece::sentencepiece INTERFACE sentencepiece_train-static
                                                               sentencepiece-static)
endif()
