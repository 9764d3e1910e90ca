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
      COMMAND ${python} -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
      OUTPUT_VARIABLE torch_package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(Torch_DIR ${torch_package}/share/cmake/Torch)
      break()
    endif()
  endforeach()
endif()

if(EXISTS "${Torch_DIR}/../../../lib/libtorch_cuda.so")
  find_program(NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
  if(NOT NVCC)
    message(
      FATAL_ERROR
        "The LibTorch in ${Torch_DIR} is built for CUDA, and CMake needs the CUDA toolkit of its version "
        "to link it; nvcc was not found. Install the toolkit and set CUDA_HOME, or use LibTorch's CPU "
        "build: name its folder with LIBTORCH=<folder>.")
  endif()
endif()

find_package(Torch 2.13 QUIET HINTS ${Torch_DIR})
if(NOT Torch_FOUND)
  message(
    FATAL_ERROR
      "LibTorch 2.13 or newer was not found. Run tools/setup.sh, which installs it into .venv, or name "
      "one: cmake --preset release -DTorch_DIR=<libtorch>/share/cmake/Torch")
endif()
message(STATUS "LibTorch ${Torch_VERSION} in ${Torch_DIR}")

add_library(torch::torch INTERFACE IMPORTED)
target_link_libraries(torch::torch INTERFACE ${TORCH_LIBRARIES})
separate_arguments(torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(torch::torch INTERFACE ${torch_flags})
set_target_properties(torch::torch PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES
                                              "${TORCH_INCLUDE_DIRS}")
