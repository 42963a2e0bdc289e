//! Statistics of a rate, and attribution of its losses.

use crate::rate::Report;

/// Statistics of one rate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Statistics {
    /// In this interval: MPDUs of PPDUs that were decoded at least in part, and those of them that
    /// arrived.
    tried: u32,
    arrived: u32,
    /// In this interval: PPDUs that contended for the air, and those of them without a response.
    ppdus: u32,
    unanswered: u32,
    /// The same over recent intervals, with exponentially decreasing weight.
    recent_ppdus: f64,
    recent_unanswered: f64,
    /// Average share of MPDUs that arrive in PPDUs with a response, and the number of MPDUs it is
    /// based on.
    intact: Option<f64>,
    weight: f64,
    /// Share of PPDUs that the rate loses completely, beyond the common loss.
    own_loss: f64,
    /// Log-likelihood ratio of the losses since its last response: dead link against channel
    /// losses.
    suspicion: f64,
}

/// Share of PPDUs that the channel takes from every rate equally.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommonLoss {
    /// Upper bound, from the rate with the fewest losses.
    bound: f64,
    /// Estimate, from the last PPDUs at working rates.
    share: f64,
}

/// Maximum number of MPDUs that the average of an unused rate counts as: it must not outweigh a few
/// recent ones.
const MAX_UNUSED_WEIGHT: f64 = 64.0;
/// Number of MPDUs from which an interval has its full weight, independent of its size.
const FULL_WEIGHT_MPDUS: f64 = 16.0;
/// Number of PPDUs of the current rate that are kept regardless of age.
const HISTORY_PPDUS: f64 = 32.0;
/// Weight of one PPDU in the common share: about the last hundred determine it.
const COMMON_WEIGHT: f64 = 0.01;
/// Minimum number of MPDUs of which some would pass a link that is merely bad.
const MIN_EVIDENCE_MPDUS: u32 = 4;
/// Suspicion at which a rate is marked unusable: odds of 1800 to 1.
const DEAD_THRESHOLD: f64 = 7.5;
/// Suspicion at which a PPDU is tried at another rate.
const FALLBACK_THRESHOLD: f64 = 2.0;
/// Weight of a rate that has just been marked unusable, in MPDUs.
const UNUSABLE_WEIGHT: f64 = 4.0;
/// Half-width of confidence intervals, in standard deviations.
const Z: f64 = 1.5;

impl Default for CommonLoss {
    fn default() -> Self {
        CommonLoss { share: 0.5, bound: 1.0 }
    }
}

impl CommonLoss {
    /// Counts a report of a working rate.
    pub(super) fn count(&mut self, report: &Report) {
        if !report.reserved {
            let lost = f64::from(u8::from(report.arrived == 0));
            self.share += (lost - self.share) * COMMON_WEIGHT;
        }
    }

    /// Evidence of a complete loss for a dead link against a collision: a log-likelihood ratio.
    fn loss_evidence(&self) -> f64 {
        -libm::log(self.share.clamp(0.1, 0.9))
    }

    /// Number of consecutive complete losses after which another rate is tried: collisions alone
    /// explain them with odds of 1 to 7.
    pub(super) fn losses_for_fallback(&self) -> u32 {
        libm::ceil(FALLBACK_THRESHOLD / self.loss_evidence()) as u32
    }
}

impl Statistics {
    /// Average share of MPDUs that arrive, without collisions; `None` while unknown.
    pub(super) fn success(&self) -> Option<f64> {
        self.intact.map(|intact| intact * (1.0 - self.own_loss))
    }

    /// Number of recent MPDUs that the average is based on.
    pub(super) const fn weight(&self) -> f64 {
        self.weight
    }

    /// Counts a report of a sender without aggregation.
    pub(super) fn count_lone(&mut self, report: &Report) {
        self.tried += report.attempted;
        self.arrived += report.arrived;
    }

    /// Counts a report. Returns true if it marks the rate unusable.
    pub(super) fn count(&mut self, report: &Report, common: &CommonLoss) -> bool {
        if report.arrived > 0 || report.reserved {
            self.tried += report.attempted;
            self.arrived += report.arrived;
        }
        if !report.reserved {
            self.ppdus += 1;
            self.unanswered += u32::from(report.arrived == 0);
        }
        if report.arrived > 0 {
            self.suspicion = 0.0;
            return false;
        }
        if report.attempted < MIN_EVIDENCE_MPDUS {
            return false;
        }
        self.suspicion += if report.reserved {
            DEAD_THRESHOLD / 2.0
        } else {
            common.loss_evidence()
        };
        if self.suspicion < DEAD_THRESHOLD {
            return false;
        }
        self.mark_unusable();
        true
    }

    /// Marks the rate unusable.
    pub(super) fn mark_unusable(&mut self) {
        (self.tried, self.arrived, self.suspicion) = (0, 0, 0.0);
        if self.intact.is_some() {
            self.intact = Some(0.0);
            self.weight = UNUSABLE_WEIGHT;
        }
    }

    /// Returns true if it was never used: then no interval changes it.
    fn is_unused(&self) -> bool {
        self.intact.is_none() && self.tried == 0 && self.ppdus == 0 && self.recent_ppdus <= 0.0
    }

    fn age(&mut self, in_use: bool) {
        let kept = if in_use && self.recent_ppdus > 0.0 {
            (HISTORY_PPDUS / self.recent_ppdus).clamp(0.75, 0.98)
        } else {
            0.75
        };
        self.recent_ppdus = self.recent_ppdus * kept + f64::from(self.ppdus);
        self.recent_unanswered = self.recent_unanswered * kept + f64::from(self.unanswered);
        (self.ppdus, self.unanswered) = (0, 0);
    }

    /// Confidence interval of the share of complete losses: a Wilson interval, which is wide with
    /// few samples.
    fn full_loss_interval(&self) -> (f64, f64) {
        let count = self.recent_ppdus + Z * Z;
        let share = (self.recent_unanswered + Z * Z / 2.0) / count;
        let half = Z * libm::sqrt(share * (1.0 - share) / count);
        (share - half, share + half)
    }

    /// Adds the interval so far to the averages.
    pub(super) fn average(&mut self, common: &CommonLoss, usual_weight: f64) {
        let (least, _) = self.full_loss_interval();
        self.own_loss = ((least - common.bound) / (1.0 - common.bound).max(0.05)).clamp(0.0, 1.0);
        self.weight *= 1.0 - usual_weight;
        let tried = f64::from(self.tried);
        if self.tried == 0 {
            self.weight = self.weight.min(MAX_UNUSED_WEIGHT);
        } else {
            let share = f64::from(self.arrived) / tried;
            let before = self
                .weight
                .min(tried.max(FULL_WEIGHT_MPDUS) * (1.0 - usual_weight) / usual_weight);
            let average = self.intact.unwrap_or(share);
            self.intact = Some((average * before + share * tried) / (before + tried));
            self.weight = before + tried;
        }
        (self.tried, self.arrived) = (0, 0);
    }
}

/// Ends an interval in which `first` was the current rate.
pub(super) fn update(rates: &mut [Statistics], common: &mut CommonLoss, first: usize, usual_weight: f64) {
    let mut bound = 1.0_f64;
    for (at, rate) in rates.iter_mut().enumerate() {
        if !rate.is_unused() {
            rate.age(at == first);
            bound = bound.min(rate.full_loss_interval().1);
        }
    }
    common.bound = bound;
    for rate in rates.iter_mut().filter(|rate| !rate.is_unused()) {
        rate.average(common, usual_weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Guard, Width};
    use crate::phy::{Modulation, TxVector};

    fn report(attempted: u32, arrived: u32) -> Report {
        Report {
            vector: TxVector {
                modulation: Modulation::Ht { mcs: 0 },
                width: Width::Mhz20,
                guard: Guard::Ns800,
                streams: 1,
                signal_extension: false,
                short_preamble: false,
            },
            attempted,
            arrived,
            reserved: false,
        }
    }

    /// A link with `rates` rates. In each interval, every rate sends its share of PPDUs of 20
    /// MPDUs; `lost` selects the completely lost ones.
    fn run(rates: &mut [Statistics], common: &mut CommonLoss, intervals: u32, lost: impl Fn(usize, u32) -> bool) {
        for _ in 0..intervals {
            for (at, rate) in rates.iter_mut().enumerate() {
                for number in 0..20 {
                    let report = report(20, if lost(at, number) { 0 } else { 20 });
                    common.count(&report);
                    rate.count(&report, common);
                }
            }
            update(rates, common, 0, 0.25);
        }
    }

    /// Two rates lose 40 % of their PPDUs completely and no other MPDUs: the losses are not
    /// attributed to either.
    #[test]
    fn collisions_are_not_attributed_to_a_rate() {
        let (mut rates, mut common) = ([Statistics::default(); 2], CommonLoss::default());
        run(&mut rates, &mut common, 20, |_, number| number % 5 < 2);
        assert!((common.share - 0.4).abs() < 0.02, "{common:?}");
        for rate in rates {
            assert!(rate.success().unwrap() > 0.99, "{rate:?}");
        }
    }

    /// One suddenly loses everything, the other continues to lose 40 %: at 0.4 per loss, 9 in a row
    /// are enough evidence (0.4⁻⁹ is 3815).
    #[test]
    fn a_dead_link_is_marked_unusable_immediately() {
        let (mut rates, mut common) = ([Statistics::default(); 2], CommonLoss::default());
        run(&mut rates, &mut common, 20, |_, number| number % 5 < 2);
        common.share = 0.4;
        let lost = (1..).find(|_| rates[1].count(&report(20, 0), &common));
        assert_eq!(lost, Some(9));
        assert_eq!(rates[1].success(), Some(0.0));
    }

    /// Single MPDUs are lost completely or not at all: the additional losses of a rate count
    /// against it.
    #[test]
    fn losses_of_one_rate_are_attributed_to_it() {
        let (mut rates, mut common) = ([Statistics::default(); 2], CommonLoss::default());
        for _ in 0..40 {
            for number in 0..100 {
                rates[0].count(&report(1, u32::from(number % 5 > 1)), &common);
                rates[1].count(&report(1, u32::from(number % 10 > 6)), &common);
            }
            update(&mut rates, &mut common, 0, 0.25);
        }
        // 0.3 of 0.6 pass; the bounds leave some uncertainty.
        assert!(rates[0].success().unwrap() > 0.99, "{rates:?}");
        assert!((rates[1].success().unwrap() - 0.5).abs() < 0.1, "{rates:?}");
    }

    /// Partial loss counts fully: 0.75 × 1 + 0.25 × 0.5 after one interval.
    #[test]
    fn partial_loss_is_averaged() {
        let (mut rates, mut common) = ([Statistics::default()], CommonLoss::default());
        run(&mut rates, &mut common, 40, |_, _| false);
        assert_eq!(rates[0].success(), Some(1.0));
        for _ in 0..20 {
            rates[0].count(&report(20, 10), &common);
        }
        update(&mut rates, &mut common, 0, 0.25);
        assert!((rates[0].success().unwrap() - 0.875).abs() < 1e-3, "{rates:?}");
    }

    /// Old statistics decay by a quarter in each interval without use, from 64 MPDUs at most. New
    /// ones count with their number beside the rest, which is limited to three times as much, or
    /// 48.
    #[test]
    fn statistics_decay() {
        let (mut rates, mut common) = ([Statistics::default()], CommonLoss::default());
        rates[0].count_lone(&report(60, 60));
        rates[0].count_lone(&report(40, 40));
        update(&mut rates, &mut common, 0, 0.25);
        assert_eq!((rates[0].success(), rates[0].weight()), (Some(1.0), 100.0));
        for left in [64.0, 48.0, 36.0] {
            update(&mut rates, &mut common, 0, 0.25);
            assert_eq!((rates[0].success(), rates[0].weight()), (Some(1.0), left));
        }
        rates[0].count_lone(&report(9, 0));
        update(&mut rates, &mut common, 0, 0.25);
        assert_eq!((rates[0].success(), rates[0].weight()), (Some(27.0 / 36.0), 36.0));
        for _ in 0..10 {
            rates[0].count_lone(&report(20, 15));
        }
        update(&mut rates, &mut common, 0, 0.25);
        assert_eq!((rates[0].success(), rates[0].weight()), (Some(0.75), 227.0));
        // 600 would be three times as much; 170.25 are left. Beside 8 MPDUs at most 48 count.
        rates[0].count_lone(&report(8, 8));
        update(&mut rates, &mut common, 0, 0.25);
        assert_eq!(
            (rates[0].success(), rates[0].weight()),
            (Some((0.75 * 48.0 + 8.0) / 56.0), 56.0)
        );
    }

    /// A loss is evidence of −ln `share` for a dead link, where the share `share` is lost anyway.
    /// The evidence is 0.693 at one half, at least 0.105, at most 2.3.
    #[test]
    fn losses_for_a_fallback_rate() {
        for (share, losses) in [(0.5, 3), (0.1, 1), (0.01, 1), (0.9, 19), (1.0, 19), (0.3, 2)] {
            assert_eq!(
                CommonLoss { share, bound: 1.0 }.losses_for_fallback(),
                losses,
                "{share}"
            );
        }
    }

    /// A response to RTS and none to the data can't be a collision: two such PPDUs are enough
    /// evidence. Fewer than four MPDUs never are.
    #[test]
    fn losses_after_cts_are_stronger_evidence() {
        let common = CommonLoss::default();
        let reserved = |attempted| Report {
            reserved: true,
            ..report(attempted, 0)
        };
        let mut rate = Statistics::default();
        assert!(!rate.count(&reserved(4), &common));
        assert!(!rate.count(&reserved(3), &common));
        assert!(rate.count(&reserved(4), &common));
        let mut rate = Statistics::default();
        assert!(!rate.count(&reserved(4), &common));
        // A response resets the suspicion.
        rate.count(&report(4, 1), &common);
        assert!(!rate.count(&reserved(4), &common));
    }
}
