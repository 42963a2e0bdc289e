//! Rates and durations of PPDUs.

use super::{FixedMetrics, Metric};
use crate::validate::quantity::{Dimension, micros, optional, parse};
use netburn_medium::phy::{Guard, Modulation, TxVector, Width, dsss, ofdm};
use netburn_units::{BitRate, Duration};
use serde::Deserialize;

/// TX parameters of PPDUs: `{ standard, rate }` for 802.11a, b and g, `{ standard, mcs, width, streams, guard }` for the others.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct Phy(pub(super) TxVector);

/// Data rate of a PHY.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rate {
    phy: Phy,
}

/// Duration of a PPDU.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PpduDuration {
    phy: Phy,
    /// Length of the PSDU.
    bytes: u64,
    #[serde(default, rename = "model-overrides")]
    model_overrides: ModelOverrides,
}

/// Deviations of a source from the standard, which the comparison applies to the model as well.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ModelOverrides {
    /// Symbols with a short guard interval are not rounded up to multiples of 4 µs.
    #[serde(default)]
    rounding: bool,
    /// Duration of VHT-SIG-B or EHT-SIG.
    #[serde(default, deserialize_with = "optional")]
    second_signal: Option<Duration>,
    /// Total duration of the PHY's training fields.
    #[serde(default, deserialize_with = "optional")]
    training: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Fields {
    standard: String,
    rate: Option<String>,
    mcs: Option<u8>,
    #[serde(default = "single")]
    streams: u8,
    width: Option<String>,
    guard: Option<String>,
    band: Option<String>,
    preamble: Option<String>,
}

const fn single() -> u8 {
    1
}

impl TryFrom<Fields> for Phy {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let mcs = || {
            fields
                .mcs
                .ok_or_else(|| format!("missing `mcs` (per stream) for {}", fields.standard))
        };
        let rate = || {
            let text = fields.rate.as_deref();
            let text = text.ok_or_else(|| format!("missing `rate` for {}", fields.standard))?;
            parse::<BitRate>(text)
        };
        let modulation = match fields.standard.as_str() {
            "802.11b" => {
                let rate = rate()?;
                let found = dsss::Rate::ALL.into_iter().find(|known| known.rate() == rate);
                Modulation::Dsss(found.ok_or("802.11b has 1, 2, 5.5 and 11 Mbit/s")?)
            }
            "802.11a" | "802.11g" => {
                let rate = rate()?;
                let found = ofdm::Rate::ALL.into_iter().find(|known| known.rate() == rate);
                Modulation::Ofdm(found.ok_or("802.11a and g have 6, 9, 12, 18, 24, 36, 48 and 54 Mbit/s")?)
            }
            "802.11n" => Modulation::Ht { mcs: mcs()? },
            "802.11ac" => Modulation::Vht { mcs: mcs()? },
            "802.11ax" => Modulation::He { mcs: mcs()? },
            "802.11be" => Modulation::Eht { mcs: mcs()? },
            other => {
                return Err(format!(
                    "unknown standard `{other}`; expected 802.11a, b, g, n, ac, ax or be"
                ));
            }
        };
        let legacy = matches!(modulation, Modulation::Dsss(_) | Modulation::Ofdm(_));
        if legacy && fields.mcs.is_some() || !legacy && fields.rate.is_some() {
            return Err("802.11a, b and g have a `rate`, the others an `mcs`".to_owned());
        }
        let vector = TxVector {
            modulation,
            width: width(fields.width.as_deref().unwrap_or("20 MHz"))?,
            guard: guard(fields.guard.as_deref().unwrap_or("800 ns"))?,
            streams: fields.streams,
            signal_extension: match fields.band.as_deref() {
                None => fields.standard == "802.11g",
                Some("2.4 GHz") => !matches!(modulation, Modulation::Dsss(_)),
                Some("5 GHz" | "6 GHz") => false,
                Some(other) => {
                    return Err(format!(
                        "unknown band `{other}`; expected \"2.4 GHz\", \"5 GHz\" or \"6 GHz\""
                    ));
                }
            },
            short_preamble: match fields.preamble.as_deref() {
                None | Some("long") => false,
                Some("short") => true,
                Some(other) => return Err(format!("unknown preamble `{other}`; expected \"long\" or \"short\"")),
            },
        };
        vector.format().map_err(|why| why.to_string())?;
        Ok(Phy(vector))
    }
}

impl FixedMetrics for Rate {
    type Result = f64;
    const METRICS: &'static [Metric<f64>] = &[Metric("rate", Dimension::Rate, |rate| *rate)];

    fn result(&self) -> f64 {
        self.phy.0.rate().map_or(f64::NAN, |rate| rate.as_bps() as f64 / 1e6)
    }
}

impl FixedMetrics for PpduDuration {
    type Result = f64;
    const METRICS: &'static [Metric<f64>] = &[Metric("duration", Dimension::Time, |duration| *duration)];

    fn result(&self) -> f64 {
        let Ok(time) = self.phy.0.ppdu(self.bytes) else {
            return f64::NAN;
        };
        let mut total = time.total();
        if self.model_overrides.rounding {
            total = total - time.rounding;
        }
        if let Some(second_signal) = self.model_overrides.second_signal {
            total = total - time.second_signal + second_signal;
        }
        if let Some(training) = self.model_overrides.training {
            total = total - time.training + training;
        }
        micros(total)
    }
}

/// Parses a channel width: `"80 MHz"`.
pub(super) fn width(text: &str) -> Result<Width, String> {
    let found = Width::ALL
        .into_iter()
        .find(|width| text == format!("{} MHz", width.as_mhz()));
    found.ok_or_else(|| {
        format!("unknown width `{text}`; expected \"20 MHz\", \"40 MHz\", \"80 MHz\", \"160 MHz\" or \"320 MHz\"")
    })
}

fn guard(text: &str) -> Result<Guard, String> {
    let time: Duration = parse(text)?;
    let found = Guard::ALL
        .into_iter()
        .find(|guard| u64::from(guard.as_nanos()) == time.as_nanos());
    found.ok_or_else(|| {
        format!("unknown guard interval `{text}`; expected \"400 ns\", \"800 ns\", \"1600 ns\" or \"3200 ns\"")
    })
}
