const POLYNOMIAL: u16 = 0x1021;

/// CRC-16 as the radio modules compute it (CCITT, start value 0xFFFF).
pub fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |mut sum, byte| {
        sum ^= u16::from(*byte) << 8;
        for _ in 0..8 {
            sum = if sum & 0x8000 != 0 { (sum << 1) ^ POLYNOMIAL } else { sum << 1 };
        }
        sum
    })
}
