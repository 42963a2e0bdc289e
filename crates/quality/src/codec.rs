//! Codecs: sensitivity to loss, and delay of their own.

use netburn_units::Duration;

/// A codec, as the E-model describes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Codec {
    /// Name, such as `G.711`.
    pub name: &'static str,
    /// Equipment impairment factor Ie without loss, in points of R (ITU-T G.113, appendix I).
    pub ie: f64,
    /// Packet-loss robustness factor Bpl under random loss (ITU-T G.113, appendix I). The codec
    /// loses half of `95 - ie` points at this loss in percent.
    pub bpl: f64,
    /// Speech beyond the current frame that the encoder or the concealment needs.
    pub look_ahead: Duration,
}

impl Codec {
    /// G.711 without concealment: a lost packet is silence.
    pub const G711: Codec = Codec {
        name: "G.711",
        ie: 0.0,
        bpl: 4.3,
        look_ahead: Duration::ZERO,
    };
    /// G.711 with the concealment of its appendix I, which delays the output by 3.75 ms.
    pub const G711_CONCEALED: Codec = Codec {
        name: "G.711 with concealment",
        ie: 0.0,
        bpl: 25.1,
        look_ahead: Duration::from_micros(3_750),
    };
    /// G.729A with voice activity detection.
    pub const G729A: Codec = Codec {
        name: "G.729A",
        ie: 11.0,
        bpl: 19.0,
        look_ahead: Duration::from_millis(5),
    };
    /// G.723.1 at 6.3 kbit/s with voice activity detection.
    pub const G723_1: Codec = Codec {
        name: "G.723.1",
        ie: 15.0,
        bpl: 16.1,
        look_ahead: Duration::from_micros(7_500),
    };
    /// GSM enhanced full rate.
    pub const GSM_EFR: Codec = Codec {
        name: "GSM-EFR",
        ie: 5.0,
        bpl: 10.0,
        look_ahead: Duration::ZERO,
    };
    /// All codecs.
    pub const ALL: [Codec; 5] = [
        Codec::G711,
        Codec::G711_CONCEALED,
        Codec::G729A,
        Codec::G723_1,
        Codec::GSM_EFR,
    ];

    /// The codec with this name, which is written exactly as in [`name`](Self::name).
    #[must_use]
    pub fn by_name(name: &str) -> Option<Codec> {
        Codec::ALL.into_iter().find(|codec| codec.name == name)
    }

    /// Delay that the codec adds to that of the network and of the playout buffer. A packet is
    /// complete `packetisation` after its first sample.
    #[must_use]
    pub fn added_delay(&self, packetisation: Duration) -> Duration {
        packetisation.checked_add(self.look_ahead).unwrap_or(packetisation)
    }
}
