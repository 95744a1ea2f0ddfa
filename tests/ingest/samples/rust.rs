//! Crate docs.
use std::fmt;

pub const MAX: usize = 10;
static mut COUNTER: u32 = 0;

/// A point.
///
/// With more words.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Point<T> {
    x: T,
}

pub enum Shape {
    Circle(f64),
    Square { side: f64 },
}

pub trait Area: Send {
    const UNIT: &'static str;
    type Output;
    fn area(&self) -> f64;
    fn double(&self) -> f64 {
        self.area() * 2.0
    }
}

impl<T> Area for Point<T> {
    const UNIT: &'static str = "m";
    type Output = f64;
    #[inline]
    fn area(&self) -> f64 {
        fn helper() -> f64 {
            0.0
        }
        helper()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = 1;
        Ok(())
    }
}

type Result<T> = std::result::Result<T, Error>;

union Bits {
    a: u32,
}

macro_rules! square {
    ($x:expr) => {
        $x * $x
    };
}

pub mod inner {
    pub async fn run<F>(f: F) -> u8
    where
        F: Fn(),
    {
        0
    }
}

extern "C" {
    fn abs(x: i32) -> i32;
}

#[cfg(test)]
mod tests {
    #[test]
    fn works() {}
}
