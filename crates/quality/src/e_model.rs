//! The E-model, ITU-T G.107 (06/2015), with all parameters but delay and loss at their defaults.
//!
//! R = Ro − Is − Id − Ie,eff (clause 7.1; the advantage factor A is 0). R is 93.2 without delay and
//! loss. Above 90 nearly all users are very satisfied, above 80 satisfied; below 70 many are
//! dissatisfied (annex B). The model applies to narrow-band speech.

use crate::codec::Codec;
use netburn_units::Duration;

/// Noise power No at the 0 dBr point that follows from the default noises, in dBm0p.
const NO: f64 = -61.1792;
/// Send loudness rating, in dB.
const SLR: f64 = 8.0;
/// Receive loudness rating, in dB.
const RLR: f64 = 2.0;
/// Basic signal-to-noise ratio (equation 7-2).
const RO: f64 = 15.0 - 1.5 * (SLR + NO);
/// Simultaneous impairment of the default parameters: loudness, side tone, quantisation (equation
/// 7-8).
const IS: f64 = 1.41357;
/// Talker echo loudness rating, in dB.
const TELR: f64 = 65.0;
/// Largest rise of R with the delay: Idte is 0 below 1 ms, and −0.109 at 1 ms (equation 7-20).
pub(crate) const STEP: f64 = 0.11;
/// Weighted echo path loss, in dB.
const WEPL: f64 = 110.0;

/// Delay and loss of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impairment {
    /// One-way delay from mouth to ear: codec, network and playout buffer.
    pub delay: Duration,
    /// Share of the packets that are not played, 0 to 1: lost, or late for the buffer.
    pub loss: f64,
    /// Burst ratio: mean length of the runs of loss, divided by their mean length under random loss
    /// of the same share. 1 is random loss; smaller values count as 1.
    pub burst_ratio: f64,
}

/// Rating R of G.107, at most 93.3. It is negative for very long delays.
///
/// R does not increase with loss, with the burst ratio, or with the delay, with one exception. At 1
/// ms the formula of Idte begins, and R is 0.107 higher than just before (`STEP`).
///
/// The recommendation covers delays to 500 ms, losses to 20 % and burst ratios to 8; beyond 2 %
/// loss it covers burst ratios to 2. Beyond these limits the formula of Ie,eff exceeds the 95 points
/// that a stream can lose, and R would rise when packets are removed from a long gap. So Ie,eff is
/// at most that of random loss at the share √P of all packets. P is the share of the packets that
/// are lost and follow a lost packet. P never falls when a packet is removed. For the codecs of
/// [`Codec::ALL`] with concealment, the limit has no effect within the domain of G.107.
#[must_use]
pub fn rating(of: &Impairment, codec: &Codec) -> f64 {
    RO - IS - delay_impairment(of.delay) - equipment_impairment(of.loss, of.burst_ratio, codec)
}

/// Mean opinion score of a rating (annex B), 1 to 4.5. The polynomial is slightly below 1 near R =
/// 3, where the result is 1.
#[must_use]
pub fn mos(rating: f64) -> f64 {
    if rating <= 0.0 {
        1.0
    } else if rating > 100.0 {
        4.5
    } else {
        (1.0 + 0.035 * rating + 7e-6 * rating * (rating - 60.0) * (100.0 - rating)).max(1.0)
    }
}

/// Delay impairment Id = Idte + Idle + Idd (equations 7-18 to 7-28). G.107 sets the one-way delay T
/// of the echo path to the mouth-to-ear delay, and the round trip Tr to twice of it.
fn delay_impairment(delay: Duration) -> f64 {
    let t = delay.as_millis_f64();
    talker_echo(t) + listener_echo(2.0 * t) + pure_delay(t)
}

/// Idte, in which `t` is the delay in ms (equations 7-20 to 7-23).
fn talker_echo(t: f64) -> f64 {
    if t < 1.0 {
        return 0.0;
    }
    let terv = TELR - 40.0 * libm::log10((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * libm::exp(-0.3 * t * t);
    let re = 80.0 + 2.5 * (terv - 14.0);
    let roe = -1.5 * (NO - RLR);
    let half = (roe - re) / 2.0;
    (half + libm::sqrt(half * half + 100.0) - 1.0) * (1.0 - libm::exp(-t))
}

/// Idle, in which `tr` is the round trip in ms (equations 7-26 and 7-27).
fn listener_echo(tr: f64) -> f64 {
    let rle = 10.5 * (WEPL + 7.0) * libm::pow(tr + 1.0, -0.25);
    let half = (RO - rle) / 2.0;
    half + libm::sqrt(half * half + 169.0)
}

/// Idd, in which `ta` is the delay in ms (equations 7-28 and 7-29; mT is 100 ms).
fn pure_delay(ta: f64) -> f64 {
    if ta <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(ta / 100.0);
    let root = |x: f64| libm::pow(1.0 + x * x * x * x * x * x, 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// Ie,eff (equation 7-30), limited outside of its domain: see [`rating`].
fn equipment_impairment(loss: f64, burst_ratio: f64, codec: &Codec) -> f64 {
    let loss = loss.clamp(0.0, 1.0);
    let burst_ratio = burst_ratio.max(1.0);
    let percent = 100.0 * loss;
    let of_bursts = percent / (percent / burst_ratio + codec.bpl);
    // With the mean length L of a run, BurstR is L · (1 − loss). The lost packets that follow a lost one are
    // loss · (1 − 1 / L) of all packets.
    let following = loss * loss + loss * (1.0 - loss) * (1.0 - 1.0 / burst_ratio);
    let equivalent = 100.0 * libm::sqrt(following);
    let limit = equivalent / (equivalent + codec.bpl);
    codec.ie + (95.0 - codec.ie) * of_bursts.min(limit)
}
