//! The physical layer: data rates and PPDU durations, exactly as the standard computes them.
//!
//! A [`TxVector`] says how a PPDU is sent (the standard's TXVECTOR, the part that decides its length in time);
//! [`TxVector::ppdu`] gives its [`PpduTime`], field by field, so that a comparison with a source that leaves a field
//! out can say which.
//!
//! One file per PHY, named as IEEE 802.11 names it: [`dsss`] (clauses 15 and 16), [`ofdm`] (17 and 18), [`ht`] (19),
//! [`vht`] (21), [`he`] (27), [`eht`] (36). [`constellation`] holds what they share: bits per subcarrier and coding rates.

pub mod constellation;
pub mod dsss;
pub mod eht;
pub mod he;
pub mod ht;
pub mod ofdm;
pub mod response;
pub mod vht;

pub use crate::config::{Guard, Width};
use netburn_units::{BitRate, Duration};

/// The modulation class, with what within it decides the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Modulation {
    /// 802.11b: DSSS at 1 and 2 Mbit/s, HR/DSSS (CCK) at 5.5 and 11.
    Dsss(dsss::Rate),
    /// 802.11a and g: 6 to 54 Mbit/s in 20 MHz.
    Ofdm(ofdm::Rate),
    /// 802.11n, HT-mixed format, equal modulation on every stream; `mcs` 0 to 7 per stream.
    Ht {
        /// 0 to 7; the standard's index is this plus 8 × (streams − 1).
        mcs: u8,
    },
    /// 802.11ac, single user.
    Vht {
        /// 0 to 9.
        mcs: u8,
    },
    /// 802.11ax, HE SU format.
    He {
        /// 0 to 11.
        mcs: u8,
    },
    /// 802.11be, EHT MU format to one user.
    Eht {
        /// 0 to 13.
        mcs: u8,
    },
}

/// How a PPDU is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxVector {
    /// Modulation class and rate within it.
    pub modulation: Modulation,
    /// Channel width. DSSS and OFDM: 20 MHz.
    pub width: Width,
    /// Guard interval. DSSS and OFDM have one only; any value is ignored there.
    pub guard: Guard,
    /// Spatial streams: 1 to 4 (HT), 1 to 8 (VHT, HE, EHT), 1 (DSSS, OFDM).
    pub streams: u8,
    /// Whether the radio is in 2.4 GHz, where every OFDM PPDU ends with a signal extension of 6 µs.
    pub signal_extension: bool,
    /// DSSS only: the short preamble (96 µs in place of 192).
    pub short_preamble: bool,
}

/// Why no PPDU can be sent that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PhyError {
    /// The MCS doesn't exist in this PHY, or not for this width and number of streams.
    #[error("MCS {mcs} isn't valid for {streams} stream(s) in {mhz} MHz; valid MCS there: 0 to {highest}{except}", except = .except.map(|m| format!(" but not {m}")).unwrap_or_default())]
    Mcs {
        /// What was asked for.
        mcs: u8,
        /// Of how many streams.
        streams: u8,
        /// In which width.
        mhz: u16,
        /// The highest that is valid there.
        highest: u8,
        /// One below it that isn't.
        except: Option<u8>,
    },
    /// The PHY doesn't have so many streams.
    #[error("{streams} spatial streams aren't possible; this PHY has 1 to {most}")]
    Streams {
        /// What was asked for.
        streams: u8,
        /// The most there are.
        most: u8,
    },
    /// The PHY doesn't have that width.
    #[error("a width of {mhz} MHz isn't possible; this PHY has {valid}")]
    Width {
        /// What was asked for, in MHz.
        mhz: u16,
        /// The widths there are.
        valid: &'static str,
    },
    /// The PHY doesn't have that guard interval.
    #[error("a guard interval of {nanos} ns isn't possible; this PHY has {valid}")]
    Guard {
        /// What was asked for, in ns.
        nanos: u16,
        /// Those there are.
        valid: &'static str,
    },
}

/// How long a PPDU lasts, field by field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PpduTime {
    /// Everything before the data field, the SIG-B of VHT and EHT-SIG included.
    pub preamble: Duration,
    /// Of which: VHT-SIG-B, or EHT-SIG; nothing in other PHYs.
    pub second_signal: Duration,
    /// Of which: the long training fields of the PHY's own format.
    pub training: Duration,
    /// Data symbols; nothing for DSSS.
    pub symbols: u64,
    /// The data field as its symbols last.
    pub data: Duration,
    /// What the short guard interval's rounding up to whole 4 µs adds (HT: eq. 19-91, VHT: eq. 21-107).
    pub rounding: Duration,
    /// The packet extension (HE, EHT) and the signal extension (2.4 GHz).
    pub extension: Duration,
}

impl PpduTime {
    /// From the first to the last instant on the air (TXTIME).
    #[must_use]
    pub fn total(&self) -> Duration {
        self.preamble + self.data + self.rounding + self.extension
    }
}

impl PpduTime {
    fn of(format: &Format, length: u64) -> Self {
        let symbols = format.symbols(length);
        let data = format.symbol * symbols;
        PpduTime {
            preamble: format.preamble,
            second_signal: format.second_signal,
            training: format.training,
            symbols,
            data,
            rounding: format.rounding(data),
            extension: format.extension,
        }
    }
}

/// What a [`TxVector`] comes to: all that the time of a PPDU depends on but its length. Reckoned once per vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Everything before the data field.
    pub preamble: Duration,
    /// Of which: VHT-SIG-B or EHT-SIG.
    pub second_signal: Duration,
    /// Of which: the training fields of the PHY's own format.
    pub training: Duration,
    /// One symbol, guard interval included; 1 µs for DSSS.
    pub symbol: Duration,
    /// Twice the data bits per symbol (N_DBPS): the 5.5 Mbit/s of HR/DSSS are 5½ bits a microsecond.
    pub twice_data_bits: u64,
    /// SERVICE and tail bits.
    pub overhead_bits: u64,
    /// The total is rounded up to multiples of this.
    pub round_to: Duration,
    /// Packet extension and signal extension.
    pub extension: Duration,
    /// The data rate.
    pub rate: BitRate,
}

impl Format {
    /// The time on the air (TXTIME) of a PSDU of `length` bytes.
    #[must_use]
    pub fn duration(&self, length: u64) -> Duration {
        let data = self.symbol * self.symbols(length);
        self.preamble + data + self.rounding(data) + self.extension
    }

    /// The same by a clock that is `times` slower (half-clocked, quarter-clocked OFDM: clause 17.2.3.3).
    #[must_use]
    pub fn slower(&self, times: u64) -> Self {
        Format {
            preamble: self.preamble * times,
            second_signal: self.second_signal * times,
            training: self.training * times,
            symbol: self.symbol * times,
            round_to: self.round_to * times,
            extension: self.extension * times,
            rate: BitRate::from_bps(self.rate.as_bps() / times.max(1)),
            ..*self
        }
    }

    /// The longest PSDU whose PPDU lasts no longer than `limit`; `None` when not even an empty one fits.
    #[must_use]
    pub fn longest(&self, limit: Duration) -> Option<u64> {
        let data = limit.checked_sub(self.preamble + self.extension)?;
        let data = data.as_nanos() / self.round_to.as_nanos() * self.round_to.as_nanos();
        let symbols = data / self.symbol.as_nanos();
        Some((symbols * self.twice_data_bits / 2).checked_sub(self.overhead_bits)? / 8)
    }

    fn symbols(&self, length: u64) -> u64 {
        (2 * (8 * length + self.overhead_bits)).div_ceil(self.twice_data_bits)
    }

    fn rounding(&self, data: Duration) -> Duration {
        let step = self.round_to.as_nanos();
        Duration::from_nanos(data.as_nanos().next_multiple_of(step) - data.as_nanos())
    }
}

impl TxVector {
    /// All that the time of a PPDU sent this way depends on but its length.
    ///
    /// # Errors
    /// When the standard has no such combination.
    pub fn format(&self) -> Result<Format, PhyError> {
        match self.modulation {
            Modulation::Dsss(rate) => Ok(dsss::format(rate, self.short_preamble)),
            Modulation::Ofdm(rate) => Ok(ofdm::format(rate, self.signal_extension)),
            Modulation::Ht { mcs } => ht::format(self, mcs),
            Modulation::Vht { mcs } => vht::format(self, mcs),
            Modulation::He { mcs } => he::format(self, mcs),
            Modulation::Eht { mcs } => eht::format(self, mcs),
        }
    }

    /// The data rate (bit/s, rounded down).
    ///
    /// # Errors
    /// When the standard has no such combination.
    pub fn rate(&self) -> Result<BitRate, PhyError> {
        self.format().map(|format| format.rate)
    }

    /// The time on the air of a PPDU that carries a PSDU of `length` bytes.
    ///
    /// # Errors
    /// When the standard has no such combination.
    pub fn ppdu(&self, length: u64) -> Result<PpduTime, PhyError> {
        self.format().map(|format| PpduTime::of(&format, length))
    }
}

/// Coded bits per symbol (N_CBPS), the coding rate, and the symbol time.
type Coded = (u64, constellation::CodingRate, Duration);

/// Whole data bits per symbol (N_DBPS).
fn data_bits((coded, (numerator, denominator), _): Coded) -> u64 {
    coded * numerator / denominator
}

/// The data rate, from the exact bits per symbol.
fn rate((coded, (numerator, denominator), symbol): Coded) -> BitRate {
    let bits = u128::from(coded) * u128::from(numerator) * 1_000_000_000;
    BitRate::from_bps((bits / (u128::from(denominator) * u128::from(symbol.as_nanos()))) as u64)
}

/// A guard interval that a PHY doesn't have.
fn no_guard(guard: Guard, valid: &'static str) -> PhyError {
    PhyError::Guard {
        nanos: guard.as_nanos(),
        valid,
    }
}

/// A width that a PHY doesn't have.
fn no_width(width: Width, valid: &'static str) -> PhyError {
    PhyError::Width {
        mhz: width.as_mhz(),
        valid,
    }
}

/// Checks the number of streams against the most a PHY has.
fn check_streams(streams: u8, most: u8) -> Result<u64, PhyError> {
    if (1..=most).contains(&streams) {
        Ok(u64::from(streams))
    } else {
        Err(PhyError::Streams { streams, most })
    }
}
