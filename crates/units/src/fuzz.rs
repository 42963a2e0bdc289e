//! Entry point for the fuzzer.

use crate::{BitRate, ByteSize, Dbm, Distance, Duration, Probability, QuantityError};
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Parses bytes as each quantity. An accepted value is formatted so that it parses to the same
/// value; an error message is a single line.
///
/// # Panics
/// If one of these rules is violated.
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
