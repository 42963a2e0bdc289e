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

use netburn_units::{BitRate, Duration};

/// A channel's width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz (or 80+80).
    Mhz160,
    /// 320 MHz.
    Mhz320,
}

impl Width {
    /// In MHz.
    #[must_use]
    pub const fn mhz(self) -> u32 {
        match self {
            Width::Mhz20 => 20,
            Width::Mhz40 => 40,
            Width::Mhz80 => 80,
            Width::Mhz160 => 160,
            Width::Mhz320 => 320,
        }
    }
}

/// The guard interval of the data symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// 0.4 µs: the short one of HT and VHT.
    Ns400,
    /// 0.8 µs: the long one of HT and VHT, the shortest of HE and EHT.
    Ns800,
    /// 1.6 µs (HE, EHT).
    Ns1600,
    /// 3.2 µs (HE, EHT).
    Ns3200,
}

impl Guard {
    /// In nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        match self {
            Guard::Ns400 => 400,
            Guard::Ns800 => 800,
            Guard::Ns1600 => 1_600,
            Guard::Ns3200 => 3_200,
        }
    }
}

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
        mhz: u32,
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
        mhz: u32,
        /// The widths there are.
        valid: &'static str,
    },
    /// The PHY doesn't have that guard interval.
    #[error("a guard interval of {nanos} ns isn't possible; this PHY has {valid}")]
    Guard {
        /// What was asked for, in ns.
        nanos: u64,
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

impl TxVector {
    /// The data rate (bit/s, rounded down).
    ///
    /// # Errors
    /// When the standard has no such combination.
    pub fn rate(&self) -> Result<BitRate, PhyError> {
        match self.modulation {
            Modulation::Dsss(rate) => Ok(rate.rate()),
            Modulation::Ofdm(rate) => Ok(rate.rate()),
            _ => {
                let (coded, (numerator, denominator), symbol) = self.coded()?;
                let bits = u128::from(coded) * u128::from(numerator) * 1_000_000_000;
                Ok(BitRate::from_bps(
                    (bits / (u128::from(denominator) * u128::from(symbol))) as u64,
                ))
            }
        }
    }

    /// The time on the air of a PPDU that carries a PSDU of `length` bytes.
    ///
    /// # Errors
    /// When the standard has no such combination.
    pub fn ppdu(&self, length: u64) -> Result<PpduTime, PhyError> {
        match self.modulation {
            Modulation::Dsss(rate) => Ok(dsss::ppdu(rate, self.short_preamble, length)),
            Modulation::Ofdm(rate) => Ok(ofdm::ppdu(rate, self.signal_extension, length)),
            Modulation::Ht { mcs } => ht::ppdu(self, mcs, length),
            Modulation::Vht { mcs } => vht::ppdu(self, mcs, length),
            Modulation::He { mcs } => he::ppdu(self, mcs, length),
            Modulation::Eht { mcs } => eht::ppdu(self, mcs, length),
        }
    }

    /// Coded bits per symbol (N_CBPS), coding rate, and symbol time in ns, of the four MIMO PHYs.
    fn coded(&self) -> Result<(u64, constellation::CodingRate, u64), PhyError> {
        match self.modulation {
            Modulation::Ht { mcs } => ht::coded(self, mcs),
            Modulation::Vht { mcs } => vht::coded(self, mcs),
            Modulation::He { mcs } => he::coded(self, mcs),
            Modulation::Eht { mcs } => eht::coded(self, mcs),
            Modulation::Dsss(_) | Modulation::Ofdm(_) => unreachable!("one rate per name, no MCS"),
        }
    }
}

/// A guard interval that a PHY doesn't have.
fn no_guard(guard: Guard, valid: &'static str) -> PhyError {
    PhyError::Guard {
        nanos: guard.nanos(),
        valid,
    }
}

/// A width that a PHY doesn't have.
fn no_width(width: Width, valid: &'static str) -> PhyError {
    PhyError::Width {
        mhz: width.mhz(),
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
