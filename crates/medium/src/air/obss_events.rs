//! Events of other networks on the air: arrival, begin and end of their frames.

use super::Air;
use super::Event;
use super::channel::{OnAir, Origin};
use netburn_units::{Duration, Instant};

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Schedules the next frame of other networks.
    pub(super) fn schedule_obss(&mut self, now: Instant, channel: usize) {
        if let Some(gap) = self.channels[channel].obss.next_gap() {
            self.schedule(now + gap, Event::Obss { channel });
        }
    }

    /// Processes the arrival of a frame of other networks.
    pub(super) fn handle_obss_arrival(&mut self, now: Instant, index: usize) {
        let channel = &mut self.channels[index];
        let others = &mut channel.obss;
        if others.arrive() {
            let contender = others.contender;
            if channel.contention.must_draw(now, contender) {
                let slots = others.backoff();
                channel.contention.back_off(now, contender, slots, false);
            }
            channel.contention.wait(contender);
        }
        self.schedule_obss(now, index);
    }

    pub(super) fn obss_begin(&mut self, now: Instant, channel: usize) {
        let length = self.channels[channel].obss.begin();
        self.transmit(OnAir::new(Origin::Obss, now, length, Duration::ZERO), channel);
    }

    pub(super) fn obss_end(&mut self, now: Instant, channel: usize) {
        let channel = &mut self.channels[channel];
        let others = &mut channel.obss;
        let (contender, more, slots) = (others.contender, others.end(), others.backoff());
        channel.contention.back_off(now, contender, slots, false);
        if more {
            channel.contention.wait(contender);
        }
    }
}
