//! What is known of a rate, and what of its losses is its own.

use crate::rate::Report;

/// One rate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Statistics {
    /// Of this interval: MPDUs of PPDUs that were understood at least in part, and those of them that arrived.
    tried: u32,
    arrived: u32,
    /// Of this interval: PPDUs that contended for the air, and those of them that nobody answered.
    ppdus: u32,
    unanswered: u32,
    /// The same over the last intervals, older ones counting less.
    recent_ppdus: f64,
    recent_unanswered: f64,
    /// The average share of MPDUs that arrive where any do, and how many MPDUs that is based on.
    intact: Option<f64>,
    weight: f64,
    /// The share of PPDUs that the rate loses whole beyond what the air takes from all.
    own_loss: f64,
    /// How much more likely the losses since its last answer are if the link has died than if the air took them, as a logarithm.
    suspicion: f64,
}

/// The share of PPDUs that the air takes from every rate alike.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommonLoss {
    /// At most: the bound of the rate that loses least.
    bound: f64,
    /// Most likely, from the last PPDUs at rates that work.
    share: f64,
}

/// The most MPDUs that the average of a rate counts as that isn't in use: it must not outweigh a few fresh ones.
const MOST_WEIGHT_UNUSED: f64 = 64.0;
/// From so many MPDUs on an interval counts with its usual weight, however many more there were.
const ENOUGH: f64 = 16.0;
/// PPDUs of the rate in use that are remembered however long ago they were sent.
const REMEMBERED: f64 = 32.0;
/// How much one PPDU counts in the common share: the last hundred or so make it up.
const COMMON_WEIGHT: f64 = 0.01;
/// From so many MPDUs on some would get through a link that is merely bad.
const TELLING: u32 = 4;
/// The suspicion at which a rate is given up: odds of 1800 to 1.
const CONVICTED: f64 = 7.5;
/// The suspicion at which a PPDU is tried at another rate.
const DOUBTFUL: f64 = 2.0;
/// What little is known of a rate that has just been given up, in MPDUs.
const WEIGHT_OF_DEATH: f64 = 4.0;
/// Half the width of intervals of confidence, in standard deviations.
const Z: f64 = 1.5;

impl Default for CommonLoss {
    fn default() -> Self {
        CommonLoss { share: 0.5, bound: 1.0 }
    }
}

impl CommonLoss {
    /// Takes a report of a rate that works.
    pub(super) fn count(&mut self, report: &Report) {
        if !report.reserved {
            let lost = f64::from(u8::from(report.arrived == 0));
            self.share += (lost - self.share) * COMMON_WEIGHT;
        }
    }

    /// How much a whole loss speaks for the link's death rather than for a collision, as a logarithm.
    fn weight_of_loss(&self) -> f64 {
        -libm::log(self.share.clamp(0.1, 0.9))
    }

    /// So many whole losses in a row are doubtful: collisions alone explain them with odds of 1 to 7.
    pub(super) fn doubtful(&self) -> u32 {
        libm::ceil(DOUBTFUL / self.weight_of_loss()) as u32
    }
}

impl Statistics {
    /// The average share of MPDUs that arrive, collisions left out; `None` while nothing is known.
    pub(super) fn success(&self) -> Option<f64> {
        self.intact.map(|intact| intact * (1.0 - self.own_loss))
    }

    /// How many recent MPDUs the average is based on.
    pub(super) const fn weight(&self) -> f64 {
        self.weight
    }

    /// Takes a report of a sender that does not aggregate.
    pub(super) fn count_lone(&mut self, report: &Report) {
        self.tried += report.attempted;
        self.arrived += report.arrived;
    }

    /// Takes a report. Whether it gives the rate up for dead.
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
        if report.attempted < TELLING {
            return false;
        }
        self.suspicion += match report.reserved {
            true => CONVICTED / 2.0,
            false => common.weight_of_loss(),
        };
        if self.suspicion < CONVICTED {
            return false;
        }
        self.bury();
        true
    }

    /// Nothing gets through at this rate any more.
    pub(super) fn bury(&mut self) {
        (self.tried, self.arrived, self.suspicion) = (0, 0, 0.0);
        if self.intact.is_some() {
            self.intact = Some(0.0);
            self.weight = WEIGHT_OF_DEATH;
        }
    }

    fn age(&mut self, in_use: bool) {
        let kept = match in_use {
            true if self.recent_ppdus > 0.0 => (REMEMBERED / self.recent_ppdus).clamp(0.75, 0.98),
            _ => 0.75,
        };
        self.recent_ppdus = self.recent_ppdus * kept + f64::from(self.ppdus);
        self.recent_unanswered = self.recent_unanswered * kept + f64::from(self.unanswered);
        (self.ppdus, self.unanswered) = (0, 0);
    }

    /// Between which shares of whole losses the rate's own record leaves the true one likely: a Wilson interval, so that little
    /// evidence says little.
    fn whole_loss(&self) -> (f64, f64) {
        let count = self.recent_ppdus + Z * Z;
        let share = (self.recent_unanswered + Z * Z / 2.0) / count;
        let half = Z * libm::sqrt(share * (1.0 - share) / count);
        (share - half, share + half)
    }

    /// Takes the interval, as far as it has gone, into the averages.
    pub(super) fn average(&mut self, common: &CommonLoss, usual_weight: f64) {
        let (least, _) = self.whole_loss();
        self.own_loss = ((least - common.bound) / (1.0 - common.bound).max(0.05)).clamp(0.0, 1.0);
        self.weight *= 1.0 - usual_weight;
        let tried = f64::from(self.tried);
        if self.tried == 0 {
            self.weight = self.weight.min(MOST_WEIGHT_UNUSED);
        } else {
            let share = f64::from(self.arrived) / tried;
            let before = self.weight.min(tried.max(ENOUGH) * (1.0 - usual_weight) / usual_weight);
            let average = self.intact.unwrap_or(share);
            self.intact = Some((average * before + share * tried) / (before + tried));
            self.weight = before + tried;
        }
        (self.tried, self.arrived) = (0, 0);
    }
}

/// Ends an interval in which `first` was the rate in use.
pub(super) fn update(rates: &mut [Statistics], common: &mut CommonLoss, first: usize, usual_weight: f64) {
    for (at, rate) in rates.iter_mut().enumerate() {
        rate.age(at == first);
    }
    common.bound = rates.iter().map(|rate| rate.whole_loss().1).fold(1.0, f64::min);
    for rate in rates {
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

    /// A link with `rates` rates; each interval, every rate sends its share of PPDUs of 20 MPDUs, and `lost` says which are lost whole.
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

    /// Two rates lose 40 % of their PPDUs whole and nothing else: neither is to blame.
    #[test]
    fn collisions_are_nobodys_fault() {
        let (mut rates, mut common) = ([Statistics::default(); 2], CommonLoss::default());
        run(&mut rates, &mut common, 20, |_, number| number % 5 < 2);
        assert!((common.share - 0.4).abs() < 0.02, "{common:?}");
        for rate in rates {
            assert!(rate.success().unwrap() > 0.99, "{rate:?}");
        }
    }

    /// One loses everything all of a sudden, the other goes on losing 40 %: at 0.4 a loss, 9 in a row are enough evidence (0.4⁻⁹ is 3815).
    #[test]
    fn a_link_that_dies_is_given_up_at_once() {
        let (mut rates, mut common) = ([Statistics::default(); 2], CommonLoss::default());
        run(&mut rates, &mut common, 20, |_, number| number % 5 < 2);
        common.share = 0.4;
        let lost = (1..).find(|_| rates[1].count(&report(20, 0), &common));
        assert_eq!(lost, Some(9));
        assert_eq!(rates[1].success(), Some(0.0));
    }

    /// Single MPDUs are lost whole or not at all: what a rate loses beyond the others counts against it.
    #[test]
    fn what_only_one_rate_loses_is_its_own() {
        let (mut rates, mut common) = ([Statistics::default(); 2], CommonLoss::default());
        for _ in 0..40 {
            for number in 0..100 {
                rates[0].count(&report(1, u32::from(number % 5 > 1)), &common);
                rates[1].count(&report(1, u32::from(number % 10 > 6)), &common);
            }
            update(&mut rates, &mut common, 0, 0.25);
        }
        // 0.3 of 0.6 come through; the bounds leave a little in doubt.
        assert!(rates[0].success().unwrap() > 0.99, "{rates:?}");
        assert!((rates[1].success().unwrap() - 0.5).abs() < 0.1, "{rates:?}");
    }

    /// Partial loss counts in full: 0.75 × 1 + 0.25 × 0.5 after one interval.
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

    /// What is known fades: a quarter each interval that a rate isn't used in, from 64 MPDUs at most. What is new counts with its number
    /// beside what is left, of which no more counts than three times as much, or 48.
    #[test]
    fn what_is_known_fades() {
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
        // 600 would be three times as much; 170.25 are left. Of 8 MPDUs no more than 48 are beside them.
        rates[0].count_lone(&report(8, 8));
        update(&mut rates, &mut common, 0, 0.25);
        assert_eq!(
            (rates[0].success(), rates[0].weight()),
            (Some((0.75 * 48.0 + 8.0) / 56.0), 56.0)
        );
    }

    /// A loss where the fraction `share` is lost anyway is evidence of −ln `share` that the link is dead: 0.693 at one half, at least 0.105, at most 2.3.
    #[test]
    fn how_many_losses_are_doubtful() {
        for (share, losses) in [(0.5, 3), (0.1, 1), (0.01, 1), (0.9, 19), (1.0, 19), (0.3, 2)] {
            assert_eq!(CommonLoss { share, bound: 1.0 }.doubtful(), losses, "{share}");
        }
    }

    /// An answer to RTS and none to the data can't be a collision: two such PPDUs are enough evidence. Fewer than four MPDUs never are.
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
        // An answer takes the suspicion away.
        rate.count(&report(4, 1), &common);
        assert!(!rate.count(&reserved(4), &common));
    }
}
