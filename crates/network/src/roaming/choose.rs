//! Choice of an access point after a scan.

use super::policy::Rule;
use netburn_medium::config::{Band, Width};

/// A radio that the client knows: the current one, or one that a scan found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Heard {
    /// Index of the candidate.
    pub(super) candidate: usize,
    /// Signal in dBm.
    pub(super) signal: f64,
    pub(super) band: Band,
    pub(super) width: Width,
    /// True if client and network support 802.11r.
    pub(super) fast_transition: bool,
}

/// Candidate to which the client moves from `current`; `None`: it stays. `busy`: it has traffic.
pub(super) fn choose(rule: Rule, current: &Heard, found: &[Heard], busy: bool) -> Option<usize> {
    let others = || found.iter().filter(|heard| heard.candidate != current.candidate);
    match rule {
        Rule::WpaSupplicant => {
            let best = best(others())?;
            needs_to_roam(current, best).then_some(best.candidate)
        }
        Rule::Iwd => {
            let best = others().max_by(|a, b| rank(a).total_cmp(&rank(b)))?;
            (rank(best) > rank(current)).then_some(best.candidate)
        }
        Rule::Stronger { active, idle } => {
            let best = others().max_by(|a, b| a.signal.total_cmp(&b.signal))?;
            let margin = if busy { active } else { idle };
            (best.signal >= current.signal + margin).then_some(best.candidate)
        }
    }
}

/// Candidate to which the client moves because its access point asks (802.11v), among `named`, those of
/// the request that it hears; `None`: it rejects. `imminent`: the access point announces a
/// disassociation.
pub(super) fn choose_named(rule: Rule, current: &Heard, named: &[Heard], imminent: bool) -> Option<usize> {
    let others = || named.iter().filter(|heard| heard.candidate != current.candidate);
    match rule {
        Rule::WpaSupplicant => {
            // wnm_sta.c: a candidate that is weaker than the current one and below −80 dBm is dropped.
            let weak = |heard: &&Heard| heard.signal < current.signal && heard.signal < -80.0;
            let best = best(others().filter(|heard| !weak(heard)))?;
            let listed = named.iter().any(|heard| heard.candidate == current.candidate);
            // If the list contains the current one, the other must be faster by a sixteenth.
            let faster = estimated_mbps(best) > estimated_mbps(current) * 17.0 / 16.0;
            (imminent || !listed || faster).then_some(best.candidate)
        }
        Rule::Iwd => others()
            .max_by(|a, b| rank(a).total_cmp(&rank(b)))
            .map(|best| best.candidate),
        Rule::Stronger { .. } => others()
            .max_by(|a, b| a.signal.total_cmp(&b.signal))
            .map(|best| best.candidate),
    }
}

/// Candidate that a client without a connection joins.
pub(super) fn choose_first(rule: Rule, found: &[Heard]) -> Option<usize> {
    let best = match rule {
        Rule::WpaSupplicant => best(found.iter()),
        Rule::Iwd => found.iter().max_by(|a, b| rank(a).total_cmp(&rank(b))),
        Rule::Stronger { .. } => found.iter().max_by(|a, b| a.signal.total_cmp(&b.signal)),
    };
    best.map(|heard| heard.candidate)
}

/// wpa_supplicant's order of scan results: by estimated throughput; results within 5 dB of each
/// other by band.
fn best<'h>(found: impl Iterator<Item = &'h Heard>) -> Option<&'h Heard> {
    found.max_by(|a, b| {
        let by_band = a.band.cmp(&b.band);
        let by_throughput = estimated_mbps(a).total_cmp(&estimated_mbps(b));
        if (snr(a) - snr(b)).abs() < 5.0 && by_band.is_ne() {
            by_band
        } else {
            by_throughput.then(a.signal.total_cmp(&b.signal))
        }
    })
}

/// `wpa_supplicant_need_to_roam_within_ess` (wpa_supplicant/events.c).
fn needs_to_roam(current: &Heard, other: &Heard) -> bool {
    let (own, new) = (estimated_mbps(current), estimated_mbps(other));
    if new > own + 5.0 {
        return true;
    }
    let to_higher = |from: Band, to: Band| match (from, to) {
        (Band::Ghz2_4, Band::Ghz5) => 2.0,
        (Band::Ghz2_4 | Band::Ghz5, Band::Ghz6) => 4.0,
        _ => 0.0,
    };
    if current.signal > other.signal + to_higher(current.band, other.band) && new < own * 1.2 {
        return false;
    }
    if own > new + 5.0 || snr(current) > 25.0 {
        return false;
    }
    let mut needed: f64 = match current.signal {
        signal if signal < -85.0 => 1.0,
        signal if signal < -80.0 => 2.0,
        signal if signal < -75.0 => 3.0,
        signal if signal < -70.0 => 4.0,
        _ => 5.0,
    };
    let weight = |faster: f64, slower: f64| match faster / slower.max(0.001) {
        ratio if ratio > 1.5 => 10.0,
        ratio if ratio > 1.2 => 5.0,
        ratio if ratio > 1.1 => 2.0,
        ratio if ratio > 1.0 => 1.0,
        _ => 0.0,
    };
    needed += weight(own, new) - weight(new, own);
    if current.band == Band::Ghz2_4 && other.band == Band::Ghz5 {
        needed -= 2.0;
    }
    if current.band != Band::Ghz6 && other.band == Band::Ghz6 {
        needed -= 2.0;
    }
    other.signal - current.signal >= needed
}

/// iwd's rank (station.c): the estimated rate, 20 % more from 30 dB, 20 % less up to 15 dB, 30 % more
/// with 802.11r.
fn rank(heard: &Heard) -> f64 {
    let mut rank = estimated_mbps(heard);
    if snr(heard) >= 30.0 {
        rank *= 1.2;
    } else if snr(heard) <= 15.0 {
        rank *= 0.8;
    }
    if heard.fast_transition {
        rank *= 1.3;
    }
    rank
}

/// wpa_supplicant's noise floors.
fn snr(heard: &Heard) -> f64 {
    let noise = match heard.band {
        Band::Ghz2_4 => -89.0,
        Band::Ghz5 | Band::Ghz6 => -92.0,
    };
    heard.signal - noise
}

/// Estimated throughput in Mbit/s of one stream (wpa_supplicant's `wpas_get_est_tpt`), interpolated.
fn estimated_mbps(heard: &Heard) -> f64 {
    const MHZ_20: [(f64, f64); 9] = [
        (2.0, 6.5),
        (5.0, 13.0),
        (9.0, 19.5),
        (11.0, 26.0),
        (15.0, 39.0),
        (18.0, 52.0),
        (20.0, 58.5),
        (25.0, 65.0),
        (29.0, 78.0),
    ];
    const MHZ_80: [(f64, f64); 10] = [
        (8.0, 29.3),
        (11.0, 58.5),
        (15.0, 87.8),
        (17.0, 117.0),
        (21.0, 175.5),
        (24.0, 234.0),
        (26.0, 263.3),
        (31.0, 292.5),
        (35.0, 351.0),
        (37.0, 390.0),
    ];
    let table: &[(f64, f64)] = if heard.width >= Width::Mhz80 { &MHZ_80 } else { &MHZ_20 };
    let snr = snr(heard);
    let mut before = (0.0, 0.0);
    for &(at, mbps) in table {
        if snr < at {
            let share = ((snr - before.0) / (at - before.0)).max(0.0);
            return before.1 + share * (mbps - before.1);
        }
        before = (at, mbps);
    }
    before.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(candidate: usize, signal: f64) -> Heard {
        Heard {
            candidate,
            signal,
            band: Band::Ghz5,
            width: Width::Mhz80,
            fast_transition: false,
        }
    }

    /// The table's own points: −66 dBm is 26 dB above −92: 263.3 Mbit/s; halfway from 24 to 26 dB.
    #[test]
    fn estimates() {
        assert!((estimated_mbps(&heard(0, -66.0)) - 263.3).abs() < 1e-9);
        assert!((estimated_mbps(&heard(0, -67.0)) - 248.65).abs() < 1e-9);
        assert!((estimated_mbps(&heard(0, -20.0)) - 390.0).abs() < 1e-9);
        assert!(estimated_mbps(&heard(0, -99.0)).abs() < 1e-9);
    }

    /// At 80 MHz and between 8 and 35 dB, the estimate rises by 5.8 to 29 Mbit/s for each dB. The rule needs 5 Mbit/s,
    /// so 1 dB is sufficient.
    #[test]
    fn one_decibel_suffices_at_80_mhz() {
        for signal in [-82.0, -75.0, -70.0, -66.0] {
            let found = [heard(0, signal), heard(1, signal + 1.0)];
            assert_eq!(
                choose(Rule::WpaSupplicant, &found[0], &found, true),
                Some(1),
                "{signal}"
            );
            assert_eq!(choose(Rule::WpaSupplicant, &found[1], &found, true), None, "{signal}");
        }
        // Above 37 dB the estimate is the same.
        let found = [heard(0, -50.0), heard(1, -45.0)];
        assert_eq!(choose(Rule::WpaSupplicant, &found[0], &found, true), None);
    }

    #[test]
    fn margins() {
        let rule = Rule::Stronger {
            active: 8.0,
            idle: 12.0,
        };
        let found = [heard(0, -72.0), heard(1, -62.0)];
        assert_eq!(choose(rule, &found[0], &found, true), Some(1));
        assert_eq!(choose(rule, &found[0], &found, false), None);
        assert_eq!(choose(rule, &found[0], &found[..1], true), None);
    }

    /// wpa_supplicant (wnm_sta.c): drops a candidate below −80 dBm that is weaker than the current one;
    /// keeps one that is stronger. With the current one in the list it needs 1/16 more throughput.
    #[test]
    fn requests() {
        let current = heard(0, -70.0);
        let named = |signals: &[f64]| -> Vec<Heard> {
            let others = signals.iter().enumerate();
            others.map(|(index, signal)| heard(index + 1, *signal)).collect()
        };
        let choose =
            |current: &Heard, named: &[Heard], imminent| choose_named(Rule::WpaSupplicant, current, named, imminent);
        assert_eq!(choose(&current, &named(&[-75.0]), false), Some(1));
        assert_eq!(choose(&current, &named(&[-81.0]), false), None);
        assert_eq!(choose(&heard(0, -82.0), &named(&[-81.0]), false), Some(1));
        assert_eq!(choose(&current, &[], true), None);
        let listed = [current, heard(1, -71.0)];
        assert_eq!(choose(&current, &listed, false), None);
        assert_eq!(choose(&current, &listed, true), Some(1));
        // −70 dBm: 205 Mbit/s, −68 dBm: 234 Mbit/s.
        assert_eq!(choose(&current, &[current, heard(1, -68.0)], false), Some(1));
        let margin = Rule::Stronger {
            active: 20.0,
            idle: 20.0,
        };
        assert_eq!(choose_named(margin, &current, &named(&[-75.0, -72.0]), false), Some(2));
    }

    /// iwd: 26 dB has 263.3; 31 dB has 292.5 × 1.2. With 802.11r 263.3 × 1.3 is more than 292.5.
    #[test]
    fn ranks() {
        let fast = Heard {
            fast_transition: true,
            ..heard(1, -66.0)
        };
        assert!((rank(&heard(0, -61.0)) - 351.0).abs() < 1e-9);
        assert!((rank(&fast) - 342.29).abs() < 1e-9);
        let found = [heard(0, -66.0), heard(1, -61.0)];
        assert_eq!(choose(Rule::Iwd, &found[0], &found, true), Some(1));
        assert_eq!(choose_first(Rule::Iwd, &found), Some(1));
        assert_eq!(choose_first(Rule::WpaSupplicant, &[]), None);
    }
}
