//! A home as a person describes it, and its scenario.

use std::fmt::Write as _;

/// Uses of a device: the word of an answer, and the workload of a scenario.
pub const USES: [(&str, &str); 8] = [
    ("call", "voice"),
    ("video", "video-call"),
    ("web", "browsing"),
    ("film", "4kstream"),
    ("game", "game"),
    ("cloudgame", "cloud-gaming"),
    ("download", "download"),
    ("upload", "upload"),
];

/// Rates of a line of unknown rate in Mbit/s, down and up: a usual cable line.
const USUAL_LINE: (u32, u32) = (100, 20);

/// A rectangular room. Rooms of a row stand side by side from west to east, the first row in the south.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) name: String,
    /// Row from 0.
    pub(super) row: u32,
    /// In decimetres, from west to east and from south to north.
    pub(super) size: (u32, u32),
}

/// A device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Device {
    pub(super) name: String,
    /// Index of its room; `None` for a device with a cable to the router.
    pub(super) room: Option<usize>,
    /// Workloads.
    pub(super) uses: Vec<&'static str>,
}

/// Connection between the units of a mesh kit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backhaul {
    Air,
    Cable,
}

/// A home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct House {
    /// Rating on the box, such as `AX3000`.
    pub(super) rating: Option<String>,
    /// Names of the radios of a unit.
    pub(super) radios: Vec<String>,
    /// Rates of the internet line in Mbit/s, down and up; `None` if a rate is unknown.
    pub(super) line: (Option<u32>, Option<u32>),
    /// True if the router manages the queue of the line (SQM).
    pub(super) has_sqm: bool,
    pub(super) rooms: Vec<Room>,
    /// Index of the room with the access point, and of those with further units.
    pub(super) units: Vec<usize>,
    pub(super) backhaul: Backhaul,
    pub(super) devices: Vec<Device>,
}

impl House {
    /// The scenario, with comments.
    #[must_use]
    pub fn scenario(&self) -> String {
        let mut out = String::from(
            "# Written from the answers to the questions about a home. Positions are in metres, to the east and to the north of the south-western corner.\n\
             title    = \"My home\"\nduration = \"30 s\"\n\n",
        );
        self.building(&mut out);
        out.push_str("# The server is on the internet, a typical distance away.\n[server.link]\ndelay = \"10 ms\"\n\n");
        self.router(&mut out);
        self.access_points(&mut out);
        for device in &self.devices {
            self.station(device, &mut out);
        }
        out
    }

    fn building(&self, out: &mut String) {
        out.push_str("# Inner and outer walls. Delete an entry where a room is open.\n[building]\nwalls = [\n");
        for wall in self.walls() {
            let _ = writeln!(out, "  \"{wall}\",");
        }
        out.push_str("]\n\n");
    }

    fn router(&self, out: &mut String) {
        out.push_str("# The internet line, whose slower direction is usually the one that delays.\n[router.wan]\n");
        let (down, up) = self.line;
        for (key, rate, usual) in [("down ", down, USUAL_LINE.0), ("up   ", up, USUAL_LINE.1)] {
            if rate.is_none() {
                out.push_str(
                    "# A guess, because the rate is unknown: a speed test or the contract has the right one.\n",
                );
            }
            let _ = writeln!(out, "{key} = \"{} Mbit/s\"", rate.unwrap_or(usual));
        }
        out.push_str("delay = \"5 ms\"\n");
        out.push_str(if self.has_sqm {
            "# SQM: the router keeps the queue of the line short.\ndiscipline = \"cake\"\nshaper     = \"90 %\"\n\n"
        } else {
            "# With SQM in the router, add: discipline = \"cake\" and shaper = \"90 %\".\n\n"
        });
    }

    fn access_points(&self, out: &mut String) {
        let names: Vec<&str> = self.units.iter().map(|room| self.rooms[*room].name.as_str()).collect();
        let backhaul = self
            .radios
            .iter()
            .find(|radio| radio.as_str() != "2g")
            .unwrap_or(&self.radios[0]);
        let radios: Vec<String> = names
            .iter()
            .flat_map(|name| self.radios.iter().map(move |radio| format!("\"{name}.{radio}\"")))
            .collect();
        let _ = write!(
            out,
            "# One name for all radios. Each device joins the radio with the strongest signal.\n[network.home]\nradios = [{}]\n\n",
            radios.join(", ")
        );
        for (place, (room, name)) in self.units.iter().zip(&names).enumerate() {
            let (x, y) = self.middle(*room);
            let _ = writeln!(out, "[ap.{name}]\nposition = \"{}, {}\"", metres(x), metres(y));
            out.push_str("# Many vendors have one queue for all devices. OpenWrt has \"airtime\", which is fair.\nqueue    = \"fifo\"\n");
            if let Some(rating) = &self.rating {
                let _ = writeln!(out, "rating   = \"{rating}\"");
            }
            if place > 0 && self.backhaul == Backhaul::Air {
                let _ = writeln!(
                    out,
                    "# Connected through the air. Without this key it has a cable to the router.\nbackhaul = \"{}.{backhaul}\"",
                    names[0]
                );
            }
            if self.rating.is_none() {
                let _ = write!(
                    out,
                    "[ap.{name}.radio.5g]\n# Wi-Fi 6 with 80 MHz, because the rating is unknown.\nstandard = \"802.11ax\"\nwidth    = \"80 MHz\"\n"
                );
            }
            out.push('\n');
        }
    }

    fn station(&self, device: &Device, out: &mut String) {
        let _ = writeln!(out, "[station.{}]", device.name);
        match device.room {
            None => out.push_str("wired    = \"router\"\n"),
            Some(room) => {
                let (x, y) = self.place(device, room);
                let name = &self.rooms[room].name;
                let _ = write!(
                    out,
                    "# In the room {name}.\njoins    = \"home\"\nposition = \"{}, {}\"\n",
                    metres(x),
                    metres(y)
                );
            }
        }
        let uses: Vec<String> = device.uses.iter().map(|one| format!("{one:?}")).collect();
        let _ = write!(out, "workload = [{}]\n\n", uses.join(", "));
    }

    /// The south-western corner of a room and its size, in decimetres. Rooms of a row have the depth of its deepest.
    fn area(&self, room: usize) -> ((u32, u32), (u32, u32)) {
        let own = &self.rooms[room];
        let x = self.rooms[..room]
            .iter()
            .filter(|other| other.row == own.row)
            .map(|other| other.size.0)
            .sum();
        let y = (0..own.row).map(|row| self.depth(row)).sum();
        ((x, y), (own.size.0, self.depth(own.row)))
    }

    fn depth(&self, row: u32) -> u32 {
        let of_row = self.rooms.iter().filter(|room| room.row == row);
        of_row.map(|room| room.size.1).max().unwrap_or(0)
    }

    fn middle(&self, room: usize) -> (u32, u32) {
        let ((x, y), (width, depth)) = self.area(room);
        (x + width / 2, y + depth / 2)
    }

    /// Devices of a room stand in its southern part, one beside the other.
    fn place(&self, device: &Device, room: usize) -> (u32, u32) {
        let ((x, y), (width, depth)) = self.area(room);
        let beside: Vec<&Device> = self.devices.iter().filter(|other| other.room == Some(room)).collect();
        let own = beside.iter().position(|other| *other == device).unwrap_or(0);
        let (own, count) = (own as u32, beside.len() as u32);
        (x + width * (2 * own + 1) / (2 * count.max(1)), y + depth / 4)
    }

    /// All walls, each once: those to the south and the north of each row, and those between the rooms of a row.
    fn walls(&self) -> Vec<String> {
        let rows = self.rooms.iter().map(|room| room.row + 1).max().unwrap_or(0);
        let width = |row: u32| -> u32 {
            self.rooms
                .iter()
                .filter(|room| room.row == row)
                .map(|room| room.size.0)
                .sum()
        };
        let wall = |from: (u32, u32), to: (u32, u32)| {
            format!(
                "{}, {} to {}, {}",
                metres(from.0),
                metres(from.1),
                metres(to.0),
                metres(to.1)
            )
        };
        let mut walls = Vec::new();
        let mut y = 0;
        for row in 0..=rows {
            let below = if row == 0 { 0 } else { width(row - 1) };
            let above = if row == rows { 0 } else { width(row) };
            walls.push(wall((0, y), (below.max(above), y)));
            if row == rows {
                break;
            }
            let top = y + self.depth(row);
            let mut x = 0;
            walls.push(wall((0, y), (0, top)));
            for room in self.rooms.iter().filter(|room| room.row == row) {
                x += room.size.0;
                walls.push(wall((x, y), (x, top)));
            }
            y = top;
        }
        walls
    }
}

/// A length in decimetres as the scenario writes it.
fn metres(decimetres: u32) -> String {
    match decimetres % 10 {
        0 => format!("{} m", decimetres / 10),
        rest => format!("{}.{rest} m", decimetres / 10),
    }
}
