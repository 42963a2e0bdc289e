//! Series of a call, as flent's runner of irtt writes them.

use super::{Page, Point, rounded};
use serde_json::json;

/// Sums of the packets of a step.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    arrived: u32,
    delay_ms: f64,
    pairs: u32,
    variation_ms: f64,
    lost: u32,
    bytes: u64,
}

impl Page<'_> {
    /// Adds the packets up of the first call, and for each step their mean one-way delay, mean delay variation (the
    /// difference of the delays of two consecutive packets), number of lost packets and bit rate. flent computes its MOS
    /// from the packets. Nothing without a call.
    pub(super) fn call(&mut self, parameters: &mut serde_json::Value) {
        let Some(call) = &self.of.call else { return };
        parameters["voip_host"] = json!("server");
        let mut steps = vec![Step::default(); self.x_values.len()];
        let mut raw = Vec::with_capacity(call.packets.len());
        let (delay, length) = (self.of.delay.as_nanos() as i64, self.of.step.as_nanos() as i64);
        // Delay of the packet before this one.
        let mut before: Option<(u64, f64)> = None;
        for packet in &call.packets {
            let ms = packet.delay.map(|nanos| nanos as f64 / 1e6);
            let place = usize::try_from(packet.at.saturating_add(delay) / length).ok();
            if let Some(step) = place.and_then(|place| steps.get_mut(place)) {
                match ms {
                    Some(ms) => {
                        step.arrived += 1;
                        step.delay_ms += ms;
                        step.bytes = step.bytes.saturating_add(packet.bytes);
                        if let Some((_, other)) = before.filter(|(number, _)| number + 1 == packet.number) {
                            step.pairs += 1;
                            step.variation_ms += (ms - other).abs();
                        }
                    }
                    None => step.lost += 1,
                }
            }
            before = ms.map(|ms| (packet.number, ms));
            raw.push(Point {
                t: self.unix(packet.at),
                val: ms,
                seq: Some(packet.number),
                owd_up: ms,
                lost: ms.is_none().then_some(true),
                ..Point::default()
            });
        }
        let seconds = super::seconds(self.of.step);
        let is_used = |step: &Step| step.arrived > 0 || step.lost > 0;
        let mut series = |name: &str, units: &str, value: &dyn Fn(&Step) -> Option<f64>| {
            let results = steps.iter().map(|step| value(step).map(rounded)).collect();
            self.put(format!("VoIP::{name}"), units, results, Vec::new());
        };
        let delay_of = |step: &Step| (step.arrived > 0).then(|| step.delay_ms / f64::from(step.arrived));
        let delays = steps.iter().filter_map(delay_of);
        let least = delays.min_by(f64::total_cmp).unwrap_or(0.0);
        series("delay", "ms", &delay_of);
        series("induced_delay", "ms", &|step| delay_of(step).map(|delay| delay - least));
        series("jitter", "ms", &|step| {
            (step.pairs > 0).then(|| step.variation_ms / f64::from(step.pairs))
        });
        series("loss", "count", &|step| is_used(step).then_some(f64::from(step.lost)));
        series("bitrate", "Kbits/s", &|step| {
            is_used(step).then(|| step.bytes as f64 * 8.0 / seconds / 1e3)
        });
        self.units.insert("VoIP".to_owned(), json!({ "UNITS": "Kbps" }));
        self.raw_values.insert("VoIP".to_owned(), raw);
    }
}
