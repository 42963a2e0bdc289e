//! `3x3:2`: receive antennas, transmit antennas, streams.

use std::fmt;
use std::str::FromStr;

/// Antennas and streams, more precise than a rating. The throughput depends on the streams that
/// both ends have; further antennas increase the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Antennas {
    /// Receive antennas, 1 to 16.
    pub inputs: u8,
    /// Transmit antennas, 1 to 16.
    pub outputs: u8,
    /// Spatial streams, 1 to 8, at most the number of antennas in either direction.
    pub streams: u8,
}

/// A text that is not an antenna designation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseAntennasError {
    /// Other form.
    #[error(
        "invalid antennas; expected the form `3x3:2` (receive antennas x transmit antennas : streams), or `2x2` for as many streams as antennas"
    )]
    Shape,
    /// More streams than antennas, zero, or above the maximum.
    #[error("invalid number of streams with {inputs}x{outputs} antennas: found {streams}, expected 1 to {most}")]
    Streams {
        /// Requested streams.
        streams: u8,
        /// Receive antennas.
        inputs: u8,
        /// Transmit antennas.
        outputs: u8,
        /// Maximum number of streams.
        most: u8,
    },
}

impl FromStr for Antennas {
    type Err = ParseAntennasError;

    /// Parses `3x3:2`, `2×2`, `4X4:4`.
    fn from_str(text: &str) -> Result<Self, ParseAntennasError> {
        let (antennas, streams) = match text.split_once(':') {
            Some((antennas, streams)) => (antennas, Some(number(streams)?)),
            None => (text, None),
        };
        let (inputs, outputs) = antennas.split_once(['x', 'X', '×']).ok_or(ParseAntennasError::Shape)?;
        let (inputs, outputs) = (number(inputs)?, number(outputs)?);
        if !(1..=16).contains(&inputs) || !(1..=16).contains(&outputs) {
            return Err(ParseAntennasError::Shape);
        }
        let most = inputs.min(outputs).min(8);
        let streams = streams.unwrap_or(most);
        if streams == 0 || streams > most {
            return Err(ParseAntennasError::Streams {
                streams,
                inputs,
                outputs,
                most,
            });
        }
        Ok(Antennas {
            inputs,
            outputs,
            streams,
        })
    }
}

impl fmt::Display for Antennas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}x{}:{}", self.inputs, self.outputs, self.streams))
    }
}

/// One or two digits.
fn number(text: &str) -> Result<u8, ParseAntennasError> {
    let text = text.trim();
    if !(1..=2).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseAntennasError::Shape);
    }
    text.parse().map_err(|_| ParseAntennasError::Shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for (text, expected) in [
            ("3x3:2", (3, 3, 2)),
            ("2×2", (2, 2, 2)),
            ("4X3", (4, 3, 3)),
            (" 1 x 1 : 1", (1, 1, 1)),
        ] {
            let got: Antennas = text.parse().unwrap();
            assert_eq!((got.inputs, got.outputs, got.streams), expected, "{text}");
            assert_eq!(got.to_string().parse::<Antennas>(), Ok(got));
        }
        for text in [
            "", "2", "x", "2x", "2x2:", "2x2:a", "0x0", "99x99", "2x2:2:2", "-1x2", "²x2",
        ] {
            assert_eq!(text.parse::<Antennas>(), Err(ParseAntennasError::Shape), "{text}");
        }
        assert!(matches!(
            "2x2:3".parse::<Antennas>(),
            Err(ParseAntennasError::Streams { most: 2, .. })
        ));
        assert!(matches!(
            "2x2:0".parse::<Antennas>(),
            Err(ParseAntennasError::Streams { .. })
        ));
    }
}
