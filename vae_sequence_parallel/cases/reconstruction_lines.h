#pragma once

// The lines of a reconstruction, in their order. The fields match any picture and any cost.
namespace lab::vae {

constexpr const char* kPictureLine =
    "A picture of {number} x {number}, encoded to a latent [1, {number}, {number}, {number}], decoded in one process.";
constexpr const char* kPsnrLine = "What was decoded has {number:.2f} dB PSNR to the picture.";
constexpr const char* kReconstruction = "Reconstruction";  // a match line's prefix, as kJpegs
constexpr const char* kPeakLine = "held at most {number:.2f} MB of activations; one process held {number:.2f} MB";
constexpr const char* kSamplesLine =
    "Of {number} samples of the two JPEGs, {number} differ by one step of 8 bits and {number} by more.";
constexpr const char* kJpegs = "Jpegs";

}  // namespace lab::vae
