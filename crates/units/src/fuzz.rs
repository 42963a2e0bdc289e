//! The one entry point for a fuzzer.

use crate::{BitRate, ByteSize, Dbm, Distance, Duration, Probability, QuantityError};
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Reads bytes as each quantity: whatever is taken is written so that it reads back as the same value, and whatever is
/// refused is refused in a line.
///
/// # Panics
/// When it isn't.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    holds::<BitRate>(&text);
    holds::<ByteSize>(&text);
    holds::<Dbm>(&text);
    holds::<Distance>(&text);
    holds::<Duration>(&text);
    holds::<Probability>(&text);
}

fn holds<Q: FromStr<Err = QuantityError> + Display + PartialEq + Debug>(text: &str) {
    match Q::from_str(text) {
        Ok(value) => {
            let written = value.to_string();
            assert_eq!(
                Q::from_str(&written).as_ref(),
                Ok(&value),
                "{text:?} was written as {written:?}"
            );
        }
        Err(error) => assert!(error.to_string().chars().count() < 250, "{error}"),
    }
}
