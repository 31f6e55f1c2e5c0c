#pragma once

/// The GPUs of the emulated machine, by their numbers there.
namespace hios::cuda_emulation {

/// Returns the GPU that this process has chosen; the first that it sees unless it chose.
int current_gpu();
/// Returns true if the process sees it (CUDA_VISIBLE_DEVICES).
bool sees_gpu(int gpu);

}  // namespace hios::cuda_emulation
