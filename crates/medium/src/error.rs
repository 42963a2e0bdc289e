//! Frame success probability from SNR and length.
//!
//! The model is that of Pei and Henderson (NIST, 2010). It computes the bit errors of each
//! constellation over an AWGN channel. Then it applies the union bound of the K = 7 convolutional
//! code (133, 171) at each coding rate. The distance spectra are those of Frenger, Orten and
//! Ottosson (1999). LDPC PHYs use the same code: their published sensitivities are the same within
//! a dB.

use crate::phy::constellation::{self, CodingRate};
use crate::phy::{Modulation, ofdm};

/// Probability, 0 to 1, that `bits` arrive without error at an SINR of `snr_db` decibels in the
/// PPDU's own width.
#[must_use]
pub fn success(modulation: Modulation, snr_db: f64, bits: u64) -> f64 {
    let snr = libm::pow(10.0, snr_db / 10.0);
    let per_bit = match modulation {
        Modulation::Dsss(rate) => return dsss(rate.rate().as_bps(), snr, bits),
        Modulation::Ofdm(rate) => legacy(rate),
        Modulation::Ht { mcs } | Modulation::Vht { mcs } | Modulation::He { mcs } | Modulation::Eht { mcs } => {
            constellation::for_mcs(mcs).unwrap_or((12, (5, 6)))
        }
    };
    let code = Code::for_rate(per_bit.1);
    let base = distance_base(uncoded(per_bit.0, snr));
    if code.first_term(base) * bits as f64 > HOPELESS {
        return 0.0;
    }
    let error = code.error(base).min(1.0);
    libm::pow(1.0 - error, bits as f64)
}

/// Expected number of errors above which no frame arrives: e⁻⁸⁰⁰ is less than the smallest `f64`. It leaves room for the
/// rounding of [`Code::first_term`].
const HOPELESS: f64 = 800.0;

/// Constellation bits and coding rate of an OFDM rate (table 17-4).
fn legacy(rate: ofdm::Rate) -> (u64, CodingRate) {
    match rate {
        ofdm::Rate::M6 => (1, (1, 2)),
        ofdm::Rate::M9 => (1, (3, 4)),
        ofdm::Rate::M12 => (2, (1, 2)),
        ofdm::Rate::M18 => (2, (3, 4)),
        ofdm::Rate::M24 => (4, (1, 2)),
        ofdm::Rate::M36 => (4, (3, 4)),
        ofdm::Rate::M48 => (6, (2, 3)),
        ofdm::Rate::M54 => (6, (3, 4)),
    }
}

/// Bit error probability before decoding, for Gray-coded square QAM with `bits` per symbol.
fn uncoded(bits: u64, snr: f64) -> f64 {
    if bits == 1 {
        return 0.5 * libm::erfc(libm::sqrt(snr));
    }
    let points = (1_u64 << bits) as f64;
    let side = libm::sqrt(points);
    let argument = libm::sqrt(1.5 * snr / (points - 1.0));
    2.0 * (1.0 - 1.0 / side) / bits as f64 * libm::erfc(argument)
}

/// Base of the powers in the union bound, for a bit error probability before decoding.
fn distance_base(error: f64) -> f64 {
    libm::sqrt(4.0 * error * (1.0 - error))
}

/// Punctured convolutional code: its distance spectrum.
struct Code {
    inputs: f64,
    /// Free distance.
    first: i32,
    weights: &'static [f64],
}

impl Code {
    fn for_rate(rate: CodingRate) -> Self {
        let (inputs, first, weights): (f64, i32, &[f64]) = match rate {
            (1, 2) => (1.0, 10, &HALF),
            (2, 3) => (2.0, 6, &TWO_THIRDS),
            (3, 4) => (3.0, 5, &THREE_QUARTERS),
            _ => (5.0, 4, &FIVE_SIXTHS),
        };
        Code { inputs, first, weights }
    }

    /// Bit error probability after decoding: the union bound over the code's distance spectrum.
    fn error(&self, base: f64) -> f64 {
        // Only even distances occur at rate 1/2.
        let step = if self.first == 10 { 2 } else { 1 };
        if self.is_negligible(base) {
            return 0.0;
        }
        let terms = self.weights.iter().enumerate();
        let sum: f64 = terms
            .map(|(index, weight)| weight * libm::pow(base, f64::from(self.first + step * index as i32)))
            .sum();
        sum / (2.0 * self.inputs)
    }

    /// First term of the bound, with rounding errors of a few 2⁻⁵³.
    fn first_term(&self, base: f64) -> f64 {
        (0..self.first).fold(self.weights[0], |term, _| term * base) / (2.0 * self.inputs)
    }

    /// Returns true if the union bound is below 2⁻⁵⁴, so that one minus it is exactly 1. Each term is
    /// then at most a fifth of the one before, because a weight is at most 17 times the one before it. Most frames in
    /// a network have such a signal, and the sum is expensive.
    fn is_negligible(&self, base: f64) -> bool {
        base < 0.01 && self.first_term(base) * 2.0 * self.inputs < 1e-17
    }
}

/// DSSS: the processing gain of the 11-chip Barker code (DBPSK and DQPSK), and of CCK.
fn dsss(rate: u64, snr: f64, bits: u64) -> f64 {
    // Energy per bit over noise density: 22 MHz of noise divided by the bit rate.
    let per_bit = snr * 22e6 / rate as f64;
    let error = match rate {
        1_000_000 => 0.5 * libm::exp(-per_bit),
        // DQPSK and, within a dB, CCK: non-coherent bound.
        _ => 0.5 * libm::erfc(libm::sqrt(per_bit * (1.0 - core::f64::consts::FRAC_1_SQRT_2))),
    };
    libm::pow(1.0 - error.min(1.0), bits as f64)
}

const HALF: [f64; 9] = [
    36.0,
    211.0,
    1_404.0,
    11_633.0,
    77_433.0,
    502_690.0,
    3_322_763.0,
    21_292_910.0,
    134_365_911.0,
];
const TWO_THIRDS: [f64; 10] = [
    3.0,
    70.0,
    285.0,
    1_276.0,
    6_160.0,
    27_128.0,
    117_019.0,
    498_860.0,
    2_103_891.0,
    8_784_123.0,
];
const THREE_QUARTERS: [f64; 10] = [
    42.0,
    201.0,
    1_492.0,
    10_469.0,
    62_935.0,
    379_644.0,
    2_253_373.0,
    13_073_811.0,
    75_152_755.0,
    428_005_675.0,
];
const FIVE_SIXTHS: [f64; 10] = [
    92.0,
    528.0,
    8_694.0,
    79_453.0,
    792_114.0,
    7_375_573.0,
    67_884_974.0,
    610_875_423.0,
    5_427_275_376.0,
    47_664_215_639.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The short ways give exactly the results of the sum.
    #[test]
    fn hopeless_and_perfect_signals_need_no_sum() {
        for tenths in -300..500 {
            let snr = libm::pow(10.0, f64::from(tenths) / 10.0 / 10.0);
            for mcs in 0..14 {
                let (bits, rate) = constellation::for_mcs(mcs).unwrap();
                let (base, code) = (distance_base(uncoded(bits, snr)), Code::for_rate(rate));
                let terms = code.weights.iter().zip(0..);
                let step = if rate == (1, 2) { 2 } else { 1 };
                let sum: f64 = terms
                    .map(|(weight, index)| weight * libm::pow(base, f64::from(code.first + step * index)))
                    .sum();
                for length in [100, 12_000, 50_000] {
                    let whole = libm::pow(1.0 - (sum / (2.0 * code.inputs)).min(1.0), length as f64);
                    let short = success(Modulation::Eht { mcs }, f64::from(tenths) / 10.0, length);
                    assert!(
                        whole.to_bits() == short.to_bits(),
                        "{mcs} {tenths} {length}: {whole} {short}"
                    );
                }
            }
        }
    }
}
