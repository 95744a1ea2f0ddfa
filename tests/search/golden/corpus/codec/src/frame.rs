use crate::checksum::crc16;

/// One radio frame: buoy number, time and the measured values.
#[derive(Debug, PartialEq)]
pub struct Frame {
    pub buoy: u16,
    pub taken_at: u32,
    pub values: Vec<i16>,
}

#[derive(Debug, PartialEq)]
pub enum FrameError {
    Truncated { wanted: usize, got: usize },
    ChecksumMismatch { expected: u16, found: u16 },
    UnsupportedVersion(u8),
}

const HEADER: usize = 8;

impl Frame {
    /// Decodes one frame. The last two bytes are the checksum of all before them.
    pub fn decode(bytes: &[u8]) -> Result<Frame, FrameError> {
        if bytes.len() < HEADER + 2 {
            return Err(FrameError::Truncated { wanted: HEADER + 2, got: bytes.len() });
        }
        if bytes[0] != 1 {
            return Err(FrameError::UnsupportedVersion(bytes[0]));
        }
        let (body, tail) = bytes.split_at(bytes.len() - 2);
        let expected = u16::from_be_bytes([tail[0], tail[1]]);
        let found = crc16(body);
        if expected != found {
            return Err(FrameError::ChecksumMismatch { expected, found });
        }
        let values = body[HEADER..]
            .chunks_exact(2)
            .map(|pair| i16::from_be_bytes([pair[0], pair[1]]))
            .collect();
        Ok(Frame {
            buoy: u16::from_be_bytes([body[2], body[3]]),
            taken_at: u32::from_be_bytes([body[4], body[5], body[6], body[7]]),
            values,
        })
    }
}
