# LibTorch 2.13: from Torch_DIR or LIBTORCH, else a `torch` of the Python that is active or in .venv.
# Gives torch::torch.
if(NOT Torch_DIR AND DEFINED ENV{Torch_DIR})
  set(Torch_DIR $ENV{Torch_DIR})
endif()
if(NOT Torch_DIR AND DEFINED ENV{LIBTORCH})
  set(Torch_DIR $ENV{LIBTORCH}/share/cmake/Torch)
endif()
if(NOT Torch_DIR)
  foreach(python python3 ${PROJECT_SOURCE_DIR}/.venv/bin/python)
    execute_process(
      COMMAND ${python} -c "import torch; print(torch.utils.cmake_prefix_path)"
      OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(Torch_DIR ${prefix}/Torch)
      break()
    endif()
  endforeach()
endif()

find_package(Torch 2.13 QUIET HINTS ${Torch_DIR})
if(NOT Torch_FOUND)
  message(
    FATAL_ERROR
      "LibTorch 2.13 or newer was not found. Run tools/setup.sh, which installs it into .venv, or name one:\n"
      "  cmake --preset release -DTorch_DIR=<libtorch>/share/cmake/Torch\n"
      "A LibTorch built for CUDA also needs the CUDA toolkit (nvcc) of its version on the PATH; "
      "without one, use the CPU build: pip install torch==2.13.0 "
      "with the CPU index of PyTorch.")
endif()
message(STATUS "LibTorch ${Torch_VERSION} in ${Torch_DIR}")

add_library(torch::torch INTERFACE IMPORTED)
target_link_libraries(torch::torch INTERFACE ${TORCH_LIBRARIES})
separate_arguments(torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(torch::torch INTERFACE ${torch_flags})
set_target_properties(torch::torch PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES
                                              "${TORCH_INCLUDE_DIRS}")
