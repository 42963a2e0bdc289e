//! Lists of a document whose length is checked while they are read, so that a hostile file does not take all memory.

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A list of at most `MAX` elements.
#[derive(Debug)]
pub(super) struct Bounded<T, const MAX: usize>(pub(super) Vec<T>);

impl<T, const MAX: usize> Default for Bounded<T, MAX> {
    fn default() -> Self {
        Bounded(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Bounded<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Elements<T, const MAX: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Elements<T, MAX> {
            type Value = Vec<T>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(to, "a list of at most {MAX} values")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = list.next_element()? {
                    if elements.len() == MAX {
                        return Err(A::Error::custom(format_args!("a list has more than {MAX} values")));
                    }
                    elements.push(element);
                }
                Ok(elements)
            }
        }
        from.deserialize_seq(Elements::<T, MAX>(PhantomData)).map(Bounded)
    }
}

#[cfg(test)]
mod tests {
    use super::Bounded;

    /// The text after the limit is invalid, and the error is that of the limit: nothing after it is read.
    #[test]
    fn reading_stops_at_the_limit() {
        let read = serde_json::from_str::<Bounded<u8, 3>>;
        assert_eq!(read("[1, 2, 3]").unwrap().0, [1, 2, 3]);
        let error = read("[1, 2, 3, 4, invalid").unwrap_err().to_string();
        assert!(error.starts_with("a list has more than 3 values"), "{error}");
    }
}
