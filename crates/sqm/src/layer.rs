//! Bytes of an IP packet on a line, as CAKE counts them.

/// Cells or code words that carry the frames of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cells {
    /// Frames of any length (`noatm`).
    None,
    /// 48 bytes in cells of 53 (`atm`, ITU-T I.361).
    Atm,
    /// One byte per 64 bytes or part of them (`ptm`, IEEE 802.3 clause 61.3.3).
    Ptm,
}

/// Bytes that a line adds to each IP packet: overhead, then minimum, then cells (`sch_cake.c`, `cake_calc_overhead`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// Cells or code words.
    pub cells: Cells,
    /// Bytes added to each packet, 0 to 256.
    pub overhead: u32,
    /// Minimum length with the overhead, in bytes (`mpu`).
    pub minimum: u32,
}

/// A layer that lines have, with its keyword of tc-cake(8) and what it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Keyword of tc-cake(8); `None`: the numbers describe it.
    pub keyword: Option<&'static str>,
    /// Name for a reader.
    pub name: &'static str,
    /// Its bytes.
    pub layer: Layer,
}

/// The layer for a line of which nothing is known but that it has no cells. 44 bytes are more than cable (18) or VDSL2 (up to 34,
/// and code words) add, and more than Ethernet with preamble and gap (38) and a VLAN tag (42). Ethernet with PPPoE adds 46, and 50
/// with a VLAN tag. Too many bytes cost little throughput of small packets; too few let the queue of the modem fill.
pub const SAFE: Layer = Layer::plain(44, 84);

/// Bytes of cells that one packet of a measured size can have at most, as overhead.
pub const MAX_OVERHEAD: u32 = 64;

/// Known layers, by the keywords and numbers of tc-cake(8).
pub const KNOWN: &[Known] = &[
    Known::new(Some("docsis"), "cable (DOCSIS)", Layer::plain(18, 64)),
    Known::new(None, "Ethernet frames without preamble", Layer::plain(14, 60)),
    Known::new(Some("ethernet"), "Ethernet", Layer::plain(38, 84)),
    Known::new(
        Some("ethernet ether-vlan"),
        "Ethernet with a VLAN tag",
        Layer::plain(42, 84),
    ),
    Known::new(Some("bridged-ptm"), "VDSL2 (PTM)", Layer::cells(Cells::Ptm, 22)),
    Known::new(
        Some("bridged-ptm ether-vlan"),
        "VDSL2 (PTM) with a VLAN tag",
        Layer::cells(Cells::Ptm, 26),
    ),
    Known::new(
        Some("pppoe-ptm"),
        "VDSL2 (PTM) with PPPoE",
        Layer::cells(Cells::Ptm, 30),
    ),
    Known::new(
        Some("pppoe-ptm ether-vlan"),
        "VDSL2 (PTM) with PPPoE and a VLAN tag",
        Layer::cells(Cells::Ptm, 34),
    ),
    Known::new(
        Some("ipoa-vcmux"),
        "ADSL (ATM), IP over ATM",
        Layer::cells(Cells::Atm, 8),
    ),
    Known::new(
        Some("pppoa-vcmux"),
        "ADSL (ATM) with PPPoA",
        Layer::cells(Cells::Atm, 10),
    ),
    Known::new(
        Some("pppoa-llc"),
        "ADSL (ATM) with PPPoA and LLC",
        Layer::cells(Cells::Atm, 14),
    ),
    Known::new(
        Some("ipoa-llcsnap"),
        "ADSL (ATM), IP over ATM with LLC",
        Layer::cells(Cells::Atm, 16),
    ),
    Known::new(
        Some("bridged-vcmux"),
        "ADSL (ATM), bridged",
        Layer::cells(Cells::Atm, 24),
    ),
    Known::new(
        Some("bridged-llcsnap"),
        "ADSL (ATM), bridged with LLC, or PPPoE",
        Layer::cells(Cells::Atm, 32),
    ),
    Known::new(
        Some("pppoe-llcsnap"),
        "ADSL (ATM) with PPPoE and LLC",
        Layer::cells(Cells::Atm, 40),
    ),
];

impl Layer {
    /// Frames of any length.
    #[must_use]
    pub const fn plain(overhead: u32, minimum: u32) -> Self {
        Layer {
            cells: Cells::None,
            overhead,
            minimum,
        }
    }

    /// Frames in cells or code words, without a minimum.
    #[must_use]
    pub const fn cells(cells: Cells, overhead: u32) -> Self {
        Layer {
            cells,
            overhead,
            minimum: 0,
        }
    }

    /// Bytes on the line of an IP packet of `length` bytes.
    #[must_use]
    pub const fn bytes(self, length: u32) -> u32 {
        let length = length.saturating_add(self.overhead);
        let length = if length < self.minimum { self.minimum } else { length };
        match self.cells {
            Cells::None => length,
            Cells::Atm => length.div_ceil(48).saturating_mul(53),
            Cells::Ptm => length.saturating_add(length.div_ceil(64)),
        }
    }

    /// The layer of [`KNOWN`] with the same numbers, if there is one.
    #[must_use]
    pub fn known(self) -> Option<&'static Known> {
        KNOWN.iter().find(|known| known.layer == self)
    }
}

impl Cells {
    /// Keyword of tc-cake(8).
    #[must_use]
    pub const fn keyword(self) -> &'static str {
        match self {
            Cells::None => "noatm",
            Cells::Atm => "atm",
            Cells::Ptm => "ptm",
        }
    }
}

impl Known {
    const fn new(keyword: Option<&'static str>, name: &'static str, layer: Layer) -> Self {
        Known { keyword, name, layer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::plan::Framing;

    /// The same bytes as the keywords of a scenario, whose values are derived by hand in their own test.
    #[test]
    fn known_layers_count_as_the_framing_of_a_scenario() {
        let mut compared = 0;
        for framing in Framing::ALL {
            let Some(known) = KNOWN.iter().find(|known| known.keyword == Some(framing.name())) else {
                continue;
            };
            compared += 1;
            for length in 40..=1500 {
                assert_eq!(
                    known.layer.bytes(length),
                    framing.bytes(length),
                    "{} {length}",
                    known.name
                );
            }
        }
        // All but raw, pppoe-vcmux (the numbers of bridged-llcsnap), and conservative, which no line has.
        assert_eq!(compared, Framing::ALL.len() - 3);
    }
}
