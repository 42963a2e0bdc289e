//! The physical layer: data rates and PPDU durations, exactly as the standard computes them.
//!
//! A [`TxVector`] describes a PPDU (the part of the standard's TXVECTOR that determines its
//! duration). [`TxVector::ppdu`] returns its [`PpduTime`], field by field, so that a comparison can
//! name the fields that a source omits.
//!
//! There is one file per PHY, named as in IEEE 802.11:
//!
//! - [`dsss`] – clauses 15 and 16
//! - [`ofdm`] – 17 and 18
//! - [`ht`] – 19, Wi-Fi 4
//! - [`vht`] – 21, Wi-Fi 5
//! - [`he`] – 27, Wi-Fi 6
//! - [`eht`] – 36, Wi-Fi 7
//!
//! [`constellation`] has their common tables: bits per subcarrier and coding rates.

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

/// Modulation class, with the rate within it.
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

impl Modulation {
    /// The DSSS or OFDM modulation of a rate: 1, 2, 5.5, 11, or 6 to 54 Mbit/s. `None` for another rate.
    #[must_use]
    pub fn legacy(rate: BitRate) -> Option<Self> {
        let dsss = dsss::Rate::ALL.into_iter().find(|known| known.rate() == rate);
        let ofdm = || ofdm::Rate::ALL.into_iter().find(|known| known.rate() == rate);
        dsss.map(Modulation::Dsss).or_else(|| ofdm().map(Modulation::Ofdm))
    }
}

/// Transmit parameters of a PPDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxVector {
    /// Modulation class and rate within it.
    pub modulation: Modulation,
    /// Channel width. DSSS and OFDM: 20 MHz.
    pub width: Width,
    /// Guard interval. DSSS and OFDM have one only; the value is ignored there.
    pub guard: Guard,
    /// Spatial streams: 1 to 4 (HT), 1 to 8 (VHT, HE, EHT), 1 (DSSS, OFDM).
    pub streams: u8,
    /// True in 2.4 GHz, where every OFDM PPDU ends with a signal extension of 6 µs.
    pub signal_extension: bool,
    /// DSSS only: short preamble (96 µs instead of 192).
    pub short_preamble: bool,
}

/// Invalid transmit parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PhyError {
    /// The MCS doesn't exist in this PHY, or not for this width and number of streams.
    #[error("invalid MCS {mcs} for {streams} stream(s) in {mhz} MHz; expected 0 to {highest}{except}", except = .except.map(|m| format!(" but not {m}")).unwrap_or_default())]
    Mcs {
        /// Requested MCS.
        mcs: u8,
        /// Number of streams.
        streams: u8,
        /// Width in MHz.
        mhz: u16,
        /// Highest valid MCS.
        highest: u8,
        /// Invalid MCS below it.
        except: Option<u8>,
    },
    /// The PHY doesn't have this number of streams.
    #[error("unsupported number of spatial streams: found {streams}, expected 1 to {most}")]
    Streams {
        /// Requested number.
        streams: u8,
        /// Maximum number.
        most: u8,
    },
    /// The PHY doesn't have that width.
    #[error("unsupported width: found {mhz} MHz, expected {valid}")]
    Width {
        /// Requested width in MHz.
        mhz: u16,
        /// Valid widths.
        valid: &'static str,
    },
    /// The PHY doesn't have that guard interval.
    #[error("unsupported guard interval: found {nanos} ns, expected {valid}")]
    Guard {
        /// Requested guard interval in ns.
        nanos: u16,
        /// Valid guard intervals.
        valid: &'static str,
    },
}

/// Duration of a PPDU, field by field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PpduTime {
    /// Fields before the data field, including VHT-SIG-B and EHT-SIG.
    pub preamble: Duration,
    /// Part of `preamble`: VHT-SIG-B or EHT-SIG; zero in other PHYs.
    pub second_signal: Duration,
    /// Part of `preamble`: long training fields of the PHY's own format.
    pub training: Duration,
    /// Number of data symbols; 0 for DSSS.
    pub symbols: u64,
    /// Duration of the data symbols.
    pub data: Duration,
    /// Rounding to whole 4 µs with the short guard interval (HT: eq. 19-91, VHT: eq. 21-107).
    pub rounding: Duration,
    /// The packet extension (HE, EHT) and the signal extension (2.4 GHz).
    pub extension: Duration,
}

impl PpduTime {
    /// Duration on the air (TXTIME).
    #[must_use]
    pub fn total(&self) -> Duration {
        self.preamble + self.data + self.rounding + self.extension
    }
}

impl PpduTime {
    fn new(format: &Format, length: u64) -> Self {
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

/// Format of a [`TxVector`]: all parameters of a PPDU's duration except its length. Computed once
/// per vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Fields before the data field.
    pub preamble: Duration,
    /// Part of `preamble`: VHT-SIG-B or EHT-SIG.
    pub second_signal: Duration,
    /// Part of `preamble`: training fields of the PHY's own format.
    pub training: Duration,
    /// Symbol time including the guard interval; 1 µs for DSSS.
    pub symbol: Duration,
    /// Twice the data bits per symbol (N_DBPS): the 5.5 Mbit/s of HR/DSSS are 5½ bits per
    /// microsecond.
    pub twice_data_bits: u64,
    /// SERVICE and tail bits.
    pub overhead_bits: u64,
    /// The total is rounded up to multiples of this.
    pub round_to: Duration,
    /// Packet extension and signal extension.
    pub extension: Duration,
    /// Data rate.
    pub rate: BitRate,
}

impl Format {
    /// Duration on the air (TXTIME) of a PSDU of `length` bytes.
    #[must_use]
    pub fn duration(&self, length: u64) -> Duration {
        let data = self.symbol * self.symbols(length);
        self.preamble + data + self.rounding(data) + self.extension
    }

    /// The same with a clock divider of `times` (half-clocked, quarter-clocked OFDM: clause
    /// 17.2.3.3).
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

    /// Maximum PSDU whose PPDU lasts at most `limit`; `None` if not even an empty one fits.
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
    /// Format of PPDUs with these parameters.
    ///
    /// # Errors
    /// If the standard has no such combination.
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

    /// Data rate (bit/s, rounded down).
    ///
    /// # Errors
    /// If the standard has no such combination.
    pub fn rate(&self) -> Result<BitRate, PhyError> {
        self.format().map(|format| format.rate)
    }

    /// Duration of a PPDU with a PSDU of `length` bytes.
    ///
    /// # Errors
    /// If the standard has no such combination.
    pub fn ppdu(&self, length: u64) -> Result<PpduTime, PhyError> {
        self.format().map(|format| PpduTime::new(&format, length))
    }
}

/// Coded bits per symbol (N_CBPS), coding rate, and symbol time.
type Coded = (u64, constellation::CodingRate, Duration);

/// Whole data bits per symbol (N_DBPS).
fn data_bits((coded, (numerator, denominator), _): Coded) -> u64 {
    coded * numerator / denominator
}

/// Data rate, from the exact bits per symbol.
fn rate((coded, (numerator, denominator), symbol): Coded) -> BitRate {
    let bits = u128::from(coded) * u128::from(numerator) * 1_000_000_000;
    BitRate::from_bps((bits / (u128::from(denominator) * u128::from(symbol.as_nanos()))) as u64)
}

/// Error: unsupported guard interval.
fn no_guard(guard: Guard, valid: &'static str) -> PhyError {
    PhyError::Guard {
        nanos: guard.as_nanos(),
        valid,
    }
}

/// Error: unsupported width.
fn no_width(width: Width, valid: &'static str) -> PhyError {
    PhyError::Width {
        mhz: width.as_mhz(),
        valid,
    }
}

/// Checks the number of streams against the maximum of the PHY.
fn check_streams(streams: u8, most: u8) -> Result<u64, PhyError> {
    if (1..=most).contains(&streams) {
        Ok(u64::from(streams))
    } else {
        Err(PhyError::Streams { streams, most })
    }
}
