//! The model's windows against those of Linux, over the same path with the same segments lost (`tests/data/README.md`).

use crate::path::{Flow, Outcome, Path, run};
use crate::whole;
use netburn_tcp::config::CongestionControl;
use netburn_units::{BitRate, Duration, Instant};

/// The paths of `scripts/record-cwnd`: Mbit/s, ms each way, packets of queue, seconds, lost segments.
const SHORT: Recorded = (20, 20, 300, 15, &[300, 3_000, 9_000, 16_000]);
const LONG: Recorded = (30, 50, 600, 25, &[1_500, 12_000, 30_000]);
const CLEAN: Recorded = (20, 20, 1_000, 25, &[]);

type Recorded = (u64, u64, usize, i64, &'static [u64]);

#[derive(Debug, Clone, Copy)]
struct Sample {
    secs: f64,
    cwnd: f64,
    ssthresh: f64,
    in_flight: f64,
    acked: f64,
    recovering: bool,
}

/// What is compared of a curve.
#[derive(Debug)]
struct Curve {
    samples: Vec<Sample>,
    seconds: f64,
}

impl Curve {
    fn of_kernel(name: &str, seconds: i64) -> Self {
        let file = format!("{}/tests/data/{name}.csv", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let samples = text
            .lines()
            .skip(1)
            .map(|line| {
                let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
                Sample {
                    secs: fields[0] / 1e3,
                    cwnd: fields[1],
                    ssthresh: fields[2],
                    recovering: fields[3] == 3.0,
                    in_flight: fields[6],
                    acked: fields[7],
                }
            })
            .collect();
        Self {
            samples,
            seconds: seconds as f64,
        }
    }

    fn of_model(outcome: &Outcome, seconds: i64) -> Self {
        let samples = outcome
            .curve
            .iter()
            .map(|point| Sample {
                secs: point.at.as_secs_f64(),
                cwnd: f64::from(point.cwnd),
                ssthresh: f64::from(point.ssthresh),
                in_flight: f64::from(point.in_flight),
                acked: point.delivered as f64,
                recovering: point.state == netburn_tcp::congestion::State::Recovery,
            })
            .collect();
        Self {
            samples,
            seconds: seconds as f64,
        }
    }

    /// The mean of a figure over time, from `from` on.
    fn mean(&self, from: f64, figure: impl Fn(&Sample) -> f64) -> f64 {
        let mut sum = 0.0;
        for (index, sample) in self.samples.iter().enumerate() {
            let until = self.samples.get(index + 1).map_or(self.seconds, |next| next.secs);
            sum += (until.min(self.seconds) - sample.secs.max(from)).max(0.0) * figure(sample);
        }
        sum / (self.seconds - from)
    }

    /// The spans during which the window is four segments: when each begins and how long it is.
    fn empty(&self) -> Vec<(f64, f64)> {
        let mut spans: Vec<(f64, f64)> = Vec::new();
        let mut inside = false;
        for sample in &self.samples {
            let empty = sample.cwnd <= 4.0;
            match spans.last_mut() {
                Some(span) if empty && inside => span.1 = sample.secs - span.0,
                _ if empty => spans.push((sample.secs, 0.0)),
                _ => {}
            }
            inside = empty;
        }
        spans
    }

    /// Each recovery: when it began, the window before, the threshold after, when the window was as large again.
    fn recoveries(&self) -> Vec<Recovery> {
        let mut recoveries: Vec<Recovery> = Vec::new();
        for pair in self.samples.windows(2) {
            let (before, now) = (pair[0], pair[1]);
            if now.recovering && !before.recovering {
                recoveries.push(Recovery {
                    at: now.secs,
                    before: before.cwnd.max(now.cwnd),
                    after: now.ssthresh,
                    regained: None,
                });
            } else if let Some(last) = recoveries.last_mut()
                && !now.recovering
                && last.regained.is_none()
                && now.cwnd >= last.before
            {
                last.regained = Some(now.secs - last.at);
            }
        }
        recoveries
    }
}

#[derive(Debug, Clone, Copy)]
struct Recovery {
    at: f64,
    before: f64,
    after: f64,
    regained: Option<f64>,
}

/// What of the model runs.
#[derive(Debug, Clone, Copy)]
enum Model {
    /// Congestion control with the least around it.
    Alone,
    /// Whole endpoints.
    Whole,
}

/// The kernel's curve and the model's.
fn curves(model: Model, control: CongestionControl, name: &str, recorded: Recorded) -> (Curve, Curve) {
    let (mbps, delay, queue, seconds, lost) = recorded;
    let path = Path {
        rate: BitRate::from_mbps(mbps),
        delay: Duration::from_millis(delay),
        queue,
    };
    let flow = Flow {
        lost: lost.to_vec(),
        ..Flow::new(control)
    };
    let outcome = match model {
        Model::Alone => run(path, &[flow], Instant::from_secs(seconds)).remove(0),
        Model::Whole => whole::run(path, &[flow], Duration::from_secs(seconds as u64)).remove(0),
    };
    (Curve::of_kernel(name, seconds), Curve::of_model(&outcome, seconds))
}

/// Holds the model's curve to the kernel's: the mean window and what was delivered, and at each recovery when it came, the
/// window before, the threshold after, and how long the window took to grow back.
fn hold(model: Model, control: CongestionControl, name: &str, recorded: Recorded, tolerance: f64) {
    let (kernel, curve) = curves(model, control.clone(), name, recorded);
    let near = |ours: f64, theirs: f64, what: &str| {
        // A sample is 10 ms wide, and a window a whole number of segments.
        let off = (ours - theirs).abs();
        assert!(
            off <= (tolerance * theirs).max(0.021) || (what.starts_with("segments") && off <= 1.0),
            "{name} {model:?}, {what}: {ours:.3}, the kernel {theirs:.3}"
        );
    };
    near(
        curve.mean(0.0, |s| s.cwnd),
        kernel.mean(0.0, |s| s.cwnd),
        "segments of mean window",
    );
    near(
        curve.mean(0.0, |s| s.in_flight),
        kernel.mean(0.0, |s| s.in_flight),
        "segments in flight",
    );
    near(
        curve.samples.last().unwrap().acked,
        kernel.samples.last().unwrap().acked,
        "segments delivered",
    );
    let (theirs, ours) = (kernel.recoveries(), curve.recoveries());
    assert_eq!(
        ours.len(),
        theirs.len(),
        "{name} {model:?}: {ours:?}, the kernel {theirs:?}"
    );
    for (ours, theirs) in ours.iter().zip(&theirs) {
        near(ours.at, theirs.at, "seconds to a loss");
        near(ours.before, theirs.before, "segments before a loss");
        near(ours.after, theirs.after, "segments of threshold after it");
        if control != CongestionControl::Bbr {
            assert_eq!(ours.regained.is_some(), theirs.regained.is_some(), "{name} {model:?}");
            if let (Some(ours), Some(theirs)) = (ours.regained, theirs.regained) {
                near(ours, theirs, "seconds to regain the window");
            }
        }
    }
}

#[test]
fn reno() {
    for model in [Model::Alone, Model::Whole] {
        hold(model, CongestionControl::Reno, "reno-short", SHORT, 0.02);
        hold(model, CongestionControl::Reno, "reno-long", LONG, 0.02);
    }
}

#[test]
fn cubic_where_reno_would_be_faster() {
    for model in [Model::Alone, Model::Whole] {
        hold(model, CongestionControl::Cubic, "cubic-short", SHORT, 0.02);
    }
}

#[test]
fn cubic_where_its_function_is() {
    for model in [Model::Alone, Model::Whole] {
        hold(model, CongestionControl::Cubic, "cubic-long", LONG, 0.02);
    }
}

/// Its window is smaller by 3 to 5 %: the recorded path, which is late now and then, looks like an aggregating one, and
/// the window makes room for that. Alone it sends no bursts, and has 7 % less in flight.
#[test]
fn bbr() {
    for model in [Model::Alone, Model::Whole] {
        hold(model, CongestionControl::Bbr, "bbr-short", SHORT, 0.07);
        hold(model, CongestionControl::Bbr, "bbr-clean", CLEAN, 0.07);
    }
}

/// BBR empties the path when no shorter round trip was seen for ten seconds: when, and for how long.
#[test]
fn bbr_measures_the_round_trip_when_the_kernel_does() {
    for model in [Model::Alone, Model::Whole] {
        let (kernel, curve) = curves(model, CongestionControl::Bbr, "bbr-clean", CLEAN);
        let (theirs, ours) = (kernel.empty(), curve.empty());
        assert_eq!(ours.len(), theirs.len(), "{ours:?}, the kernel {theirs:?}");
        for ((our_start, our_length), (their_start, their_length)) in ours.iter().zip(&theirs) {
            // Ten seconds from the last shorter round trip, which a noisy path may show earlier or later.
            assert!((our_start - their_start).abs() < 1.0, "{ours:?}, the kernel {theirs:?}");
            // 200 ms and a round of 40, sampled each 10 ms.
            assert!(
                (our_length - their_length).abs() < 0.06,
                "{ours:?}, the kernel {theirs:?}"
            );
        }
    }
}
