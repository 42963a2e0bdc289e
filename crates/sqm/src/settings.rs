//! Settings of both directions, for OpenWrt's SQM and for tc.

use crate::layer::{Cells, Layer, SAFE};
use crate::verdict::Verdict;
use netburn_units::BitRate;

/// Settings of a shaper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Rate down; `None`: not shaped.
    pub down: Option<BitRate>,
    /// Rate up; `None`: not shaped.
    pub up: Option<BitRate>,
    /// Bytes that the line adds to each packet.
    pub layer: Layer,
}

impl Settings {
    /// The settings of both directions. SQM has one layer: if the directions have different ones, that with more bytes of small
    /// packets, with the rates for it.
    #[must_use]
    pub fn from_verdicts(verdicts: &[Verdict; 2]) -> Option<Settings> {
        let shaped = verdicts.iter().filter(|own| own.shaper.is_some());
        let layer = shaped.map(|own| own.layer).max_by_key(|layer| layer.bytes(100))?;
        let [down, up] = verdicts.each_ref().map(|own| own.shaper_with(layer));
        Some(Settings { down, up, layer })
    }

    /// `/etc/config/sqm` of OpenWrt for an interface. The values are those of sqm-scripts: rates in kbit/s, 0 for none; `linklayer`
    /// is `ethernet` or `atm`. It has no word for PTM, so its code words are taken from the rates: 64 of 65.
    #[must_use]
    pub fn openwrt(&self, interface: &str) -> String {
        let kbit = |rate: Option<BitRate>| rate.map_or(0, |rate| self.for_openwrt(rate) / 1000);
        let linklayer = match self.layer.cells {
            Cells::Atm => "atm",
            Cells::None | Cells::Ptm => "ethernet",
        };
        let options = [
            ("enabled", "1".to_owned()),
            ("interface", interface.to_owned()),
            ("download", kbit(self.down).to_string()),
            ("upload", kbit(self.up).to_string()),
            ("qdisc", "cake".to_owned()),
            ("script", "piece_of_cake.qos".to_owned()),
            ("linklayer", linklayer.to_owned()),
            ("overhead", self.layer.overhead.to_string()),
            ("linklayer_advanced", "1".to_owned()),
            ("tcMPU", self.layer.minimum.to_string()),
        ];
        let lines = options.map(|(key, value)| format!("\toption {key} '{value}'\n"));
        format!("config queue 'wan'\n{}", lines.concat())
    }

    /// Rate without the code words of PTM, in bit/s.
    fn for_openwrt(&self, rate: BitRate) -> u64 {
        match self.layer.cells {
            Cells::Ptm => (u128::from(rate.as_bps()) * 64 / 65) as u64,
            Cells::None | Cells::Atm => rate.as_bps(),
        }
    }

    /// Commands of iproute2 for an interface.
    #[must_use]
    pub fn tc(&self, interface: &str) -> String {
        let ifb = ifb_of(interface);
        let mut text = String::new();
        if let Some(up) = self.up {
            text += &format!(
                "tc qdisc replace dev {interface} root cake bandwidth {}kbit {} dual-srchost nat\n",
                up.as_bps() / 1000,
                self.keywords()
            );
        }
        if let Some(down) = self.down {
            text += &format!(
                "ip link add name {ifb} type ifb\nip link set {ifb} up\ntc qdisc replace dev {interface} handle ffff: ingress\n\
                 tc filter replace dev {interface} parent ffff: protocol all prio 10 matchall action mirred egress redirect dev \
                 {ifb}\ntc qdisc replace dev {ifb} root cake bandwidth {}kbit {} dual-dsthost nat ingress\n",
                down.as_bps() / 1000,
                self.keywords()
            );
        }
        text
    }

    /// Keywords of tc-cake(8).
    #[must_use]
    pub fn keywords(&self) -> String {
        let Layer {
            cells,
            overhead,
            minimum,
        } = self.layer;
        format!("overhead {overhead} {} mpu {minimum}", cells.keyword())
    }

    /// True if the layer is the one for unknown lines.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        self.layer == SAFE
    }
}

/// Name of the intermediate device of an interface: up to 15 characters (`IFNAMSIZ`).
fn ifb_of(interface: &str) -> String {
    let short: String = interface.chars().filter(char::is_ascii_alphanumeric).take(11).collect();
    format!("ifb4{short}")
}
