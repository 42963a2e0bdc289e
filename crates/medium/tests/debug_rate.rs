mod util;
use netburn_medium::aggregation::Limits;
use netburn_medium::config::{Guard, Width};
use netburn_medium::packet::NodeId;
use netburn_medium::phy::{Modulation, TxVector};
use netburn_medium::rate::{MinstrelParameters, RateChoice};
use netburn_units::{Duration, Instant};
use std::collections::BTreeMap;
use util::{Uplink, saturate};
#[test]
fn debug() {
    for rate in [RateChoice::Ideal, RateChoice::Minstrel(MinstrelParameters::default())] {
        let mut air = Uplink {
            stations: 10,
            vector: TxVector { modulation: Modulation::Vht { mcs: 9 }, width: Width::Mhz80, guard: Guard::Ns400, streams: 2, signal_extension: false, short_preamble: false },
            limits: Limits { ampdu: true, frames: 64, time: Duration::from_millis(4), bytes: 1_048_575, amsdu: 0, tries: 10 },
            rate, snr_db: Some(18.0), seed: 4,
        }.open();
        air.trace();
        for t in 0..8 {
            let bytes = saturate(&mut air, 10, Instant::from_secs(t), Instant::from_secs(t + 1));
            println!("{t}: {:.1}", bytes.iter().sum::<u64>() as f64 * 8.0 / 1e6);
            let mut by: BTreeMap<_, [u64; 5]> = BTreeMap::new();
            while let Some(x) = air.poll_transmission() {
                let e = by.entry((x.vector.width, x.vector.streams, x.vector.modulation)).or_default();
                e[0] += 1; e[1] += u64::from(x.collided); e[2] += u64::from(x.mpdus); e[3] += u64::from(x.arrived); e[4] += x.duration.as_nanos() / 1000;
                if t == 7 && x.from == NodeId(3) { println!("   {:?} {:?}x{} {:?} {}/{} {}", x.at, x.vector.width, x.vector.streams, x.vector.modulation, x.arrived, x.mpdus, x.collided); }
            }
            for (k, e) in by { println!("  {k:?} ppdus {} collided {} mpdus {} arrived {} us {}", e[0], e[1], e[2], e[3], e[4]); }
        }
    }
}
