//! `3x3:2`: antennas in, antennas out, streams.

use std::fmt;
use std::str::FromStr;

/// What tells more than a rating: how many antennas receive and send, and how many streams they carry. Throughput goes with the streams that
/// both sides have; further antennas help at a distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Antennas {
    /// Antennas that receive, 1 to 16.
    pub inputs: u8,
    /// Antennas that send, 1 to 16.
    pub outputs: u8,
    /// Spatial streams, 1 to 8, and no more than there are antennas either way.
    pub streams: u8,
}

/// A text that isn't such a designation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoAntennas {
    /// It has another shape.
    #[error(
        "antennas are written `3x3:2` (antennas in x antennas out : streams), or `2x2` for as many streams as antennas"
    )]
    Shape,
    /// More streams than antennas, none, or more than there are.
    #[error("{streams} streams over {inputs}x{outputs} antennas aren't possible: 1 to {most}")]
    Streams {
        /// What was said.
        streams: u8,
        /// Antennas in.
        inputs: u8,
        /// Antennas out.
        outputs: u8,
        /// The most that would be possible.
        most: u8,
    },
}

impl FromStr for Antennas {
    type Err = NoAntennas;

    /// Reads `3x3:2`, `2×2`, `4X4:4`.
    fn from_str(text: &str) -> Result<Self, NoAntennas> {
        let (antennas, streams) = match text.split_once(':') {
            Some((antennas, streams)) => (antennas, Some(number(streams)?)),
            None => (text, None),
        };
        let (inputs, outputs) = antennas.split_once(['x', 'X', '×']).ok_or(NoAntennas::Shape)?;
        let (inputs, outputs) = (number(inputs)?, number(outputs)?);
        if !(1..=16).contains(&inputs) || !(1..=16).contains(&outputs) {
            return Err(NoAntennas::Shape);
        }
        let most = inputs.min(outputs).min(8);
        let streams = streams.unwrap_or(most);
        if streams == 0 || streams > most {
            return Err(NoAntennas::Streams {
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
fn number(text: &str) -> Result<u8, NoAntennas> {
    let text = text.trim();
    if !(1..=2).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NoAntennas::Shape);
    }
    text.parse().map_err(|_| NoAntennas::Shape)
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
            assert_eq!(text.parse::<Antennas>(), Err(NoAntennas::Shape), "{text}");
        }
        assert!(matches!(
            "2x2:3".parse::<Antennas>(),
            Err(NoAntennas::Streams { most: 2, .. })
        ));
        assert!(matches!("2x2:0".parse::<Antennas>(), Err(NoAntennas::Streams { .. })));
    }
}
