//! Overhead and framing from the service times of packets of several sizes.
//!
//! A line of rate R needs `bytes(s) · 8 / R` for a packet of s bytes, and each [`Layer`] has other bytes. For each candidate,
//! least squares of the relative residuals give R. A candidate fits if no residual is larger than the tolerance.

use crate::layer::{Cells, KNOWN, Layer, MAX_OVERHEAD, SAFE};
use crate::service::Service;
use netburn_units::BitRate;
use std::ops::RangeInclusive;

/// Largest relative residual of a candidate that fits exact service times. Clocks and timers of computers are that exact.
const TOLERANCE: f64 = 0.004;
/// Standard errors of a service time within which a residual may be chance.
const ERRORS: f64 = 3.0;
/// Rate above which no line has ATM cells: ADSL2+ ends at 24 Mbit/s (ITU-T G.992.5).
pub const FASTEST_ATM: u64 = 30_000_000;

/// Layers that explain the service times.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The layer to set: the best one, and the safe one if it is not identified.
    pub layer: Layer,
    /// Gross rate of the line with this layer.
    pub rate: BitRate,
    /// Rates of all layers that fit, compared with the rate for 1500-byte packets: lowest and highest, in bit/s of IP packets.
    pub ip_rate: (u64, u64),
    /// Overheads in bytes with which the cells of `layer` fit.
    pub overheads: RangeInclusive<u32>,
    /// Cells of the other layers that fit as well; empty if the framing is identified.
    pub others: Vec<Cells>,
    /// Largest relative residual of `layer`.
    pub residual: f64,
    /// False if the layer is a safe one because the sizes don't tell which it is.
    pub is_identified: bool,
}

/// Reason for which service times have no layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoFit {
    /// No packets.
    NoService,
    /// No layer explains the times. The smallest of the largest residuals.
    Unexplained(f64),
}

struct Candidate {
    layer: Layer,
    /// Bits per picosecond of the line: 10⁻¹² of its rate.
    rate: f64,
    residual: f64,
    squares: f64,
}

/// Finds the layers that explain `services`.
///
/// # Errors
/// There is no packet, or no layer explains the times.
pub fn fit(services: &[Service]) -> Result<Fitted, NoFit> {
    let largest = services.iter().max_by_key(|own| own.size).ok_or(NoFit::NoService)?;
    let errors = services.iter().map(|own| own.error);
    let tolerance = TOLERANCE.max(ERRORS * errors.fold(0.0, f64::max));
    let mut fitting: Vec<Candidate> = candidates(largest.ip_rate())
        .map(|layer| candidate(layer, services))
        .collect();
    let least = fitting.iter().map(|own| own.residual).fold(f64::INFINITY, f64::min);
    fitting.retain(|own| own.residual <= tolerance);
    if fitting.is_empty() {
        return Err(NoFit::Unexplained(least));
    }
    let best = fitting
        .iter()
        .min_by(|a, b| a.squares.total_cmp(&b.squares))
        .expect("there is one");
    let of = |cells: Cells| fitting.iter().filter(move |own| own.layer.cells == cells);
    let others = [Cells::None, Cells::Atm, Cells::Ptm].into_iter();
    let others: Vec<Cells> = others
        .filter(|cells| *cells != best.layer.cells && of(*cells).next().is_some())
        .collect();
    let is_wide = {
        let (low, high) = range(of(best.layer.cells));
        high - low > 12
    };
    // Code words are 1/64 of the rate and of each packet: which of both is not important.
    let is_identified =
        !(is_wide || others.contains(&Cells::Atm) || best.layer.cells == Cells::Atm && !others.is_empty());
    let layer = if is_identified {
        chosen(best, &of(best.layer.cells).collect::<Vec<_>>())
    } else {
        safe(&fitting)
    };
    let own = candidate(layer, services);
    let (low, high) = range(of(layer.cells));
    let ip = fitting.iter().map(|own| ip_rate(own.layer, own.rate));
    let ip: Vec<u64> = ip.chain([ip_rate(layer, own.rate)]).collect();
    Ok(Fitted {
        layer,
        rate: BitRate::from_bps((own.rate * 1e12) as u64),
        ip_rate: (
            ip.iter().copied().min().unwrap_or(0),
            ip.iter().copied().max().unwrap_or(0),
        ),
        overheads: low..=high,
        others,
        residual: own.residual,
        is_identified,
    })
}

/// The rate of one layer that is known from elsewhere, by the service of the largest packets.
#[must_use]
pub fn rate_with(layer: Layer, services: &[Service]) -> Option<BitRate> {
    let largest = services.iter().max_by_key(|own| own.size)?;
    let bits = u128::from(layer.bytes(largest.size)) * 8 * 1_000_000_000_000;
    let rate = bits / u128::from(largest.time_ps.max(1));
    Some(BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX)))
}

/// Rate of IP packets of 1500 bytes, in bit/s, on a line with this many bits per picosecond.
fn ip_rate(layer: Layer, rate: f64) -> u64 {
    (rate * 1e12 * 1500.0 / f64::from(layer.bytes(1500))) as u64
}

/// All layers of a line with this rate of IP packets.
fn candidates(ip_rate: u64) -> impl Iterator<Item = Layer> {
    let cells = [Cells::None, Cells::Ptm, Cells::Atm].into_iter();
    let cells = cells.filter(move |own| *own != Cells::Atm || ip_rate <= FASTEST_ATM);
    cells.flat_map(|cells| (0..=MAX_OVERHEAD).map(move |overhead| Layer::cells(cells, overhead)))
}

/// The rate of a layer by least squares of relative residuals: with x = bytes · 8 / time, the minimum of Σ (x / R − 1)² is at
/// R = Σ x² / Σ x.
fn candidate(layer: Layer, services: &[Service]) -> Candidate {
    let x = |own: &Service| f64::from(layer.bytes(own.size)) * 8.0 / own.time_ps.max(1) as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for own in services {
        sum += x(own);
        squares += x(own) * x(own);
    }
    let rate = squares / sum;
    let residuals = services.iter().map(|own| (x(own) / rate - 1.0).abs());
    Candidate {
        layer,
        rate,
        residual: residuals.clone().fold(0.0, f64::max),
        squares: residuals.map(|own| own * own).sum(),
    }
}

fn range<'a>(own: impl Iterator<Item = &'a Candidate>) -> (u32, u32) {
    let all: Vec<u32> = own.map(|own| own.layer.overhead).collect();
    (
        all.iter().copied().min().unwrap_or(0),
        all.iter().copied().max().unwrap_or(0),
    )
}

/// The layer to set when the cells are identified: a known one if one fits, and the one with more bytes of several; otherwise the
/// largest overhead that fits.
fn chosen(best: &Candidate, fitting: &[&Candidate]) -> Layer {
    let fits = |layer: Layer| fitting.iter().any(|own| own.layer.overhead == layer.overhead);
    let known = KNOWN
        .iter()
        .filter(|known| known.layer.cells == best.layer.cells && fits(known.layer));
    match known.max_by_key(|known| known.layer.overhead) {
        Some(known) => known.layer,
        None => {
            let overhead = fitting
                .iter()
                .map(|own| own.layer.overhead)
                .max()
                .unwrap_or(best.layer.overhead);
            let minimum = if best.layer.cells == Cells::None {
                SAFE.minimum
            } else {
                0
            };
            Layer {
                minimum,
                overhead,
                ..best.layer
            }
        }
    }
}

/// The layer with the most bytes of small packets among those that may be right.
fn safe(fitting: &[Candidate]) -> Layer {
    if fitting.iter().any(|own| own.layer.cells == Cells::Atm) {
        let widest = fitting.iter().filter(|own| own.layer.cells == Cells::Atm);
        let overhead = widest.map(|own| own.layer.overhead).max().unwrap_or(48).min(48);
        return Layer::cells(Cells::Atm, overhead.max(40));
    }
    SAFE
}
