//! Settings of a TCP endpoint: plain data, every field with its unit, default and source.

use netburn_units::ByteSize;
use std::fmt;
use std::str::FromStr;

/// Congestion control.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum CongestionControl {
    /// RFC 5681 and 6582.
    Reno,
    /// RFC 9438. The default of modelled TCP, as in Linux.
    #[default]
    Cubic,
    /// BBR version 1.
    Bbr,
    /// A congestion control of the operating system with this name; not supported by the model.
    System(String),
}

impl CongestionControl {
    /// Name as in Linux's `TCP_CONGESTION`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            CongestionControl::Reno => "reno",
            CongestionControl::Cubic => "cubic",
            CongestionControl::Bbr => "bbr",
            CongestionControl::System(name) => name,
        }
    }
}

impl fmt::Display for CongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that is not a valid name of a congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseCongestionControlError;

impl fmt::Display for ParseCongestionControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "invalid congestion control; expected `reno`, `cubic`, `bbr` or a name of the system with at most 15 characters of a-z, 0-9, `-` and `_`",
        )
    }
}

impl std::error::Error for ParseCongestionControlError {}

impl FromStr for CongestionControl {
    type Err = ParseCongestionControlError;

    /// Parses a name of up to 15 characters (Linux's `TCP_CA_NAME_MAX` is 16 including the
    /// terminator).
    fn from_str(text: &str) -> Result<Self, ParseCongestionControlError> {
        let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
        match text {
            "reno" => Ok(CongestionControl::Reno),
            "cubic" => Ok(CongestionControl::Cubic),
            "bbr" => Ok(CongestionControl::Bbr),
            _ if (1..=15).contains(&text.len()) && text.bytes().all(good) => {
                Ok(CongestionControl::System(text.to_owned()))
            }
            _ => Err(ParseCongestionControlError),
        }
    }
}

/// TCP Small Queues: limit of the data of one connection that are queued below TCP in the sending
/// host.
///
/// The limit, in bytes of `truesize`, is `max(2 × the packet's truesize, pacing rate ÷ 2^shift,
/// minimum)`, and at most the cap (`net/ipv4/tcp_output.c`, `tcp_small_queue_check`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tsq {
    /// Settings of a kernel of that time with Wi-Fi.
    Preset(TsqPreset),
    /// Explicit settings.
    Custom(TsqSettings),
    /// No limit.
    Off,
}

/// Settings of TCP Small Queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TsqSettings {
    /// Data for 2^−shift seconds at the pacing rate may be queued: 10 is 0.98 ms, 9 1.95, 8 3.9, 7
    /// 7.8, 6 15.6. `None`: the limit is independent of the rate and equals the cap.
    pub shift: Option<u8>,
    /// Minimum of the limit. Default: none beyond two packets.
    pub minimum: ByteSize,
    /// Maximum of the limit. Default: none.
    pub cap: Option<ByteSize>,
    /// True if the cap also applies to connections that the pacing timer or the `fq` qdisc paces.
    /// It did not between Linux 5.0 and 6.15.
    pub caps_paced: bool,
}

/// History of TCP Small Queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TsqPreset {
    /// Linux 3.6: 128 KiB, independent of the rate (46d3ceabd8d9).
    Y2012,
    /// Linux 3.12: two packets or 1 ms at the flow's rate (shift 10), without minimum and cap.
    Y2013,
    /// As `Y2013` with a minimum of 128 KiB, restored because of Wi-Fi (98e09386c0ef).
    Y2013Min,
    /// 128 KiB changed from minimum to cap (605ad7f184b6), shift 10.
    Y2014,
    /// The cap doubled to 256 KiB, shift 10.
    Y2015,
    /// Wi-Fi drivers request shift 8, about 4 ms (36148c2bbfbe, Linux 4.16); cap 256 KiB.
    Y2018,
    /// Wi-Fi's shift is 7, about 8 ms (5c14a4d05f68); cap 1 MiB, and only for unpaced connections
    /// (c73e5807e4f6).
    Y2019,
    /// Linux 6.16: shift 7, cap 4 MiB, for all (9ea3bfa61b09, c4221a8cc3a7).
    Y2025,
}

impl Tsq {
    /// Settings; `None` if off.
    #[must_use]
    pub const fn settings(self) -> Option<TsqSettings> {
        match self {
            Tsq::Preset(preset) => Some(preset.settings()),
            Tsq::Custom(settings) => Some(settings),
            Tsq::Off => None,
        }
    }
}

impl Default for Tsq {
    /// The latest preset.
    fn default() -> Self {
        Tsq::Preset(TsqPreset::Y2025)
    }
}

impl Default for TsqSettings {
    /// Shift 10, the initial value of a socket (`sock_init_data`), no minimum, no cap.
    fn default() -> Self {
        TsqSettings {
            shift: Some(10),
            minimum: ByteSize::ZERO,
            cap: None,
            caps_paced: true,
        }
    }
}

netburn_units::variants! {
    pub TsqPreset:
        Y2012 = "2012",
        Y2013 = "2013",
        Y2013Min = "2013-min",
        Y2014 = "2014",
        Y2015 = "2015",
        Y2018 = "2018",
        Y2019 = "2019",
        Y2025 = "2025",
}

impl TsqPreset {
    /// Settings of the preset.
    #[must_use]
    pub const fn settings(self) -> TsqSettings {
        let kib = ByteSize::from_kib;
        let (shift, minimum, cap, caps_paced) = match self {
            TsqPreset::Y2012 => (None, ByteSize::ZERO, Some(kib(128)), true),
            TsqPreset::Y2013 => (Some(10), ByteSize::ZERO, None, true),
            TsqPreset::Y2013Min => (Some(10), kib(128), None, true),
            TsqPreset::Y2014 => (Some(10), ByteSize::ZERO, Some(kib(128)), true),
            TsqPreset::Y2015 => (Some(10), ByteSize::ZERO, Some(kib(256)), true),
            TsqPreset::Y2018 => (Some(8), ByteSize::ZERO, Some(kib(256)), true),
            TsqPreset::Y2019 => (Some(7), ByteSize::ZERO, Some(kib(1024)), false),
            TsqPreset::Y2025 => (Some(7), ByteSize::ZERO, Some(kib(4096)), true),
        };
        TsqSettings {
            shift,
            minimum,
            cap,
            caps_paced,
        }
    }
}

/// Settings of one endpoint of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointConfig {
    /// Maximum segment size in bytes of content. Default: 1448, the content of 1500 bytes with IPv4
    /// and timestamps. The endpoints use the smaller one of both.
    pub mss: u32,
    /// Congestion control. Default: CUBIC.
    pub congestion: CongestionControl,
    /// TCP Small Queues of this host. Default: the latest preset.
    pub tsq: Tsq,
    /// Segmentation offload: size of bursts, and memory of packets.
    pub gso: Gso,
    /// True if an `fq` qdisc, or the connection's own timer, spreads packets at the pacing rate.
    /// BBR is always paced. Default: false, as with `fq_codel` and `pfifo_fast`
    /// (`sk_pacing_status`).
    pub paced: bool,
    /// True if ECN is requested and accepted (RFC 3168). Default: false; Linux accepts it but
    /// doesn't request it.
    pub ecn: bool,
    /// Initial congestion window in segments. Default: 10 (RFC 6928).
    pub initial_window: u32,
    /// True if the window shrinks while idle (RFC 2861; `tcp_slow_start_after_idle`). Default:
    /// true.
    pub slow_start_after_idle: bool,
    /// Send buffer, which grows with the congestion window (`tcp_wmem`). Default: 16 KiB to 4 MiB.
    pub send_buffer: Buffer,
    /// Receive buffer, which grows with the data that the application reads per round trip and with
    /// data beyond a gap (`tcp_rmem`). Half of it is window (`TCP_DEFAULT_SCALING_RATIO`); the
    /// minimum is four segments. Default: 128 KiB to 32 MiB, as since Linux 6.16.
    pub receive_buffer: Buffer,
    /// Random number that selects the initial phase of BBR's gain cycle. Default: 0.
    pub random: u64,
    /// True if BBR adds the acknowledgement aggregation of the path to its window. Default: true,
    /// as since Linux 5.1.
    pub ack_aggregation: bool,
}

/// Size of a socket buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// Initial size.
    pub initial: ByteSize,
    /// Maximum size.
    pub max: ByteSize,
}

/// Generic segmentation offload: a burst is one packet in the stack and many on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gso {
    /// True if the device accepts bursts. Default: true.
    pub enabled: bool,
    /// Maximum burst in bytes. Default: 65536 (`GSO_LEGACY_MAX_SIZE`).
    pub max_size: u32,
    /// Memory of a single-segment packet without bursts, in bytes (`truesize`). Default: 4352. A
    /// linear buffer contains the content, `MAX_TCP_HEADER` and 320 for `skb_shared_info`.
    /// `MAX_TCP_HEADER` is 304 with 802.11 meshes and IP tunnels compiled in, as in distributions.
    /// With 1448 of content the sum is 2112, so the allocator returns 4096, and the `sk_buff` is
    /// 256. Without meshes the three just fit into 2048, and the truesize is 2304.
    pub packet_truesize: u32,
    /// Memory of a burst in addition to its content, in bytes. Default: 1280, an empty `sk_buff`
    /// with room for headers.
    pub burst_overhead: u32,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self {
            mss: 1448,
            congestion: CongestionControl::default(),
            tsq: Tsq::default(),
            gso: Gso::default(),
            paced: false,
            ecn: false,
            initial_window: 10,
            slow_start_after_idle: true,
            send_buffer: Buffer {
                initial: ByteSize::from_kib(16),
                max: ByteSize::from_mib(4),
            },
            receive_buffer: Buffer {
                initial: ByteSize::from_kib(128),
                max: ByteSize::from_mib(32),
            },
            random: 0,
            ack_aggregation: true,
        }
    }
}

impl Default for Gso {
    fn default() -> Self {
        Self {
            enabled: true,
            max_size: 65_536,
            packet_truesize: 4_352,
            burst_overhead: 1_280,
        }
    }
}

impl Gso {
    /// Settings of a device without bursts.
    #[must_use]
    pub fn off() -> Self {
        Self {
            enabled: false,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_congestion_controls() {
        for name in ["reno", "cubic", "bbr", "bbr3", "dctcp", "abcdefghijklmno"] {
            assert_eq!(name.parse::<CongestionControl>().unwrap().name(), name);
        }
        for name in ["", "CUBIC", "abcdefghijklmnop", "a b", "é"] {
            assert_eq!(
                name.parse::<CongestionControl>(),
                Err(ParseCongestionControlError),
                "{name}"
            );
        }
    }

    #[test]
    fn each_preset_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = TsqPreset::ALL.iter().map(|preset| preset.name()).collect();
        assert_eq!(names.len(), TsqPreset::ALL.len());
        for preset in TsqPreset::ALL {
            assert_eq!(preset.name()[..4], format!("{preset:?}")[1..5]);
        }
    }

    #[test]
    fn presets_follow_their_history() {
        let caps: Vec<Option<u64>> = TsqPreset::ALL
            .iter()
            .map(|p| p.settings().cap.map(ByteSize::as_bytes))
            .collect();
        let kib = |n: u64| Some(n << 10);
        assert_eq!(
            caps,
            [kib(128), None, None, kib(128), kib(256), kib(256), kib(1024), kib(4096)]
        );
        let shifts: Vec<Option<u8>> = TsqPreset::ALL.iter().map(|p| p.settings().shift).collect();
        let ten = Some(10);
        assert_eq!(shifts, [None, ten, ten, ten, ten, Some(8), Some(7), Some(7)]);
    }
}
