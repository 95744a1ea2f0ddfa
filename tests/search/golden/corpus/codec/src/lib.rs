//! The compact frames that buoys send over radio.

pub mod checksum;
pub mod frame;

pub use frame::{Frame, FrameError};
