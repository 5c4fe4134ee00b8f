//! Wicks of cotton.

/// Trims a wick to a length.
///
/// # Panics
///
/// If `millimetres` is zero.
pub fn trim(millimetres: u32) -> u32 {
    assert!(millimetres > 0);
    millimetres
}
