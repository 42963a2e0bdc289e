//! The questions about a home, and the answers as a person writes them.

use super::house::{Backhaul, Device, House, Room, USES};
use netburn_medium::config::{Band, Rating};
use netburn_medium::rating::decode;
use std::io::{BufRead, Read};

/// Maximum length of an answer in bytes.
const MAX_ANSWER: u64 = 200;
const MAX_ROOMS: usize = 20;
const MAX_DEVICES: usize = 40;
/// Maximum length of a side of a room, in decimetres.
const MAX_SIDE: f64 = 500.0;
/// Maximum rate of a line, in Mbit/s.
const MAX_RATE: u32 = 100_000;

/// A person, or a file, that answers.
struct Dialog<'a> {
    input: &'a mut dyn BufRead,
    /// A wrong answer repeats the question. Without a terminal it is an error.
    asks_again: bool,
    say: &'a mut dyn FnMut(&str),
}

/// Asks about a home.
///
/// # Errors
/// A wrong answer that is not from a terminal, or an input that ends early.
pub fn ask(input: &mut dyn BufRead, asks_again: bool, say: &mut dyn FnMut(&str)) -> Result<House, String> {
    let mut dialog = Dialog { input, asks_again, say };
    let (rating, radios) = dialog.answer(
        "Which rating is on the box of the access point or router, such as AX3000? Enter if you don't know it.",
        rating,
    )?;
    let down = dialog.answer(
        "How fast is the internet line down, in Mbit/s, by a speed test or the contract? Enter if you don't know it.",
        rate,
    )?;
    let up = dialog.answer("How fast is it up, in Mbit/s? Enter if you don't know it.", rate)?;
    let has_sqm = dialog.answer(
        "Does the router have SQM or another smart queue, switched on? y or n; Enter for no.",
        yes,
    )?;
    let mut rows = 0;
    let rooms = dialog.list(
        "Which rooms are there? One in each line with its size in metres, from west to east: living 6x4. A line with only - \
         begins another row to the north. Enter ends.",
        ("a home needs a room", MAX_ROOMS),
        |text, rooms: &[Room]| {
            if text == "-" {
                rows += 1;
                return Ok(None);
            }
            room(text, rows, rooms).map(Some)
        },
    )?;
    let rooms = gapless(rooms);
    let units = dialog.answer(
        "In which room is the access point or router? With a mesh kit, the rooms of all its units, the main one first: living, study.",
        |text| units(text, &rooms),
    )?;
    let backhaul = match units.len() {
        1 => Backhaul::Cable,
        _ => dialog.answer("How are the units connected: air or cable?", backhaul)?,
    };
    let uses: Vec<&str> = USES.iter().map(|(word, _)| *word).collect();
    let question = format!(
        "Which devices are used at the same time? One in each line with its room and what it does: phone living call. Several \
         uses are possible: {}. Instead of a room, cable is a cable to the router. Enter ends.",
        uses.join(", ")
    );
    let devices = dialog.list(&question, ("a home needs a device", MAX_DEVICES), |text, devices| {
        device(text, &rooms, devices).map(Some)
    })?;
    Ok(House {
        rating,
        radios,
        line: (down, up),
        has_sqm,
        rooms,
        units,
        backhaul,
        devices,
    })
}

impl Dialog<'_> {
    /// The next line; `None` at the end.
    fn line(&mut self) -> Result<Option<String>, String> {
        let mut bytes = Vec::new();
        let read = Read::take(&mut *self.input, MAX_ANSWER).read_until(b'\n', &mut bytes);
        let length = read.map_err(|error| format!("the answer can't be read: {error}"))?;
        if length as u64 == MAX_ANSWER {
            return Err(format!("an answer has at most {MAX_ANSWER} bytes"));
        }
        let text = String::from_utf8(bytes).map_err(|_| "an answer is not valid UTF-8".to_owned())?;
        Ok((length > 0).then(|| text.trim().to_owned()))
    }

    fn answer<T>(&mut self, question: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, String> {
        loop {
            (self.say)(question);
            let Some(line) = self.line()? else {
                return Err(format!("the answers end before this question: {question}"));
            };
            match parse(&line) {
                Ok(value) => return Ok(value),
                Err(why) => self.wrong(&line, &why)?,
            }
        }
    }

    /// Answers until an empty line or the end, at least one and at most `most`. `parse` returns `None` for a line that is no
    /// element. `empty` says what is wrong without one.
    fn list<T>(
        &mut self,
        question: &str,
        (empty, most): (&str, usize),
        mut parse: impl FnMut(&str, &[T]) -> Result<Option<T>, String>,
    ) -> Result<Vec<T>, String> {
        (self.say)(question);
        let mut found = Vec::new();
        while let Some(line) = self.line()? {
            if line.is_empty() && found.is_empty() {
                self.wrong(&line, empty)?;
                continue;
            }
            if line.is_empty() {
                break;
            }
            if found.len() == most {
                return Err(format!("there are more than {most} answers"));
            }
            match parse(&line, &found) {
                Ok(value) => found.extend(value),
                Err(why) => self.wrong(&line, &why)?,
            }
        }
        if found.is_empty() {
            return Err(empty.to_owned());
        }
        Ok(found)
    }

    /// Reports a wrong answer. Only a person can correct it.
    fn wrong(&mut self, line: &str, why: &str) -> Result<(), String> {
        let message = if line.is_empty() {
            why.to_owned()
        } else {
            format!("`{}`: {why}", line.escape_debug())
        };
        if !self.asks_again {
            return Err(message);
        }
        (self.say)(&message);
        Ok(())
    }
}

/// A rating, and the names of the radios that it implies. Without one, a radio in 5 GHz.
fn rating(text: &str) -> Result<(Option<String>, Vec<String>), String> {
    if text.is_empty() {
        return Ok((None, vec!["5g".to_owned()]));
    }
    let rating: Rating = text.to_ascii_uppercase().parse().map_err(|why| format!("{why}"))?;
    let decoded = decode(rating, 1).map_err(|why| why.to_string())?;
    let mut names: Vec<String> = Vec::new();
    for radio in &decoded.best.radios {
        let band = match radio.band {
            Band::Ghz2_4 => "2g",
            Band::Ghz5 => "5g",
            Band::Ghz6 => "6g",
        };
        let same = names.iter().filter(|name| name.starts_with(band)).count();
        names.push(if same == 0 {
            band.to_owned()
        } else {
            format!("{band}-{}", same + 1)
        });
    }
    Ok((Some(text.to_ascii_uppercase()), names))
}

fn rate(text: &str) -> Result<Option<u32>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let rate = text.parse().ok().filter(|rate| (1..=MAX_RATE).contains(rate));
    rate.map(Some)
        .ok_or_else(|| format!("expected a number from 1 to {MAX_RATE}, in Mbit/s"))
}

fn yes(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(true),
        "" | "n" | "no" => Ok(false),
        _ => Err("expected y or n".to_owned()),
    }
}

fn backhaul(text: &str) -> Result<Backhaul, String> {
    match text {
        "air" => Ok(Backhaul::Air),
        "cable" => Ok(Backhaul::Cable),
        _ => Err("expected air or cable".to_owned()),
    }
}

/// A name that a scenario accepts.
fn name(text: &str) -> Result<String, String> {
    let is_valid =
        (1..=30).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_valid
        .then(|| text.to_owned())
        .ok_or_else(|| "expected a name of at most 30 letters (a to z), digits or -".to_owned())
}

fn room(text: &str, row: u32, rooms: &[Room]) -> Result<Room, String> {
    let expected = || "expected a name and a size in metres, such as: living 6x4".to_owned();
    let (own, size) = text.split_once(char::is_whitespace).ok_or_else(expected)?;
    let (width, depth) = size.trim().split_once(['x', 'X', '×']).ok_or_else(expected)?;
    let side = |text: &str| {
        let decimetres = (text.trim().parse::<f64>().map_err(|_| expected())? * 10.0).round();
        // Not a number is in no range.
        if (10.0..=MAX_SIDE).contains(&decimetres) {
            Ok(decimetres as u32)
        } else {
            Err(format!("a side of a room is from 1 to {} m", MAX_SIDE / 10.0))
        }
    };
    let own = name(own)?;
    if own == "cable" || rooms.iter().any(|other| other.name == own) {
        return Err(format!("another room, or a cable, has the name {own}"));
    }
    Ok(Room {
        name: own,
        row,
        size: (side(width)?, side(depth)?),
    })
}

/// Rooms whose rows have no gaps, although a row may have been left empty.
fn gapless(mut rooms: Vec<Room>) -> Vec<Room> {
    let mut rows: Vec<u32> = rooms.iter().map(|room| room.row).collect();
    rows.dedup();
    for room in &mut rooms {
        room.row = rows.iter().position(|row| *row == room.row).unwrap_or(0) as u32;
    }
    rooms
}

fn found(text: &str, rooms: &[Room]) -> Result<usize, String> {
    rooms.iter().position(|room| room.name == text).ok_or_else(|| {
        let names: Vec<&str> = rooms.iter().map(|room| room.name.as_str()).collect();
        format!(
            "there is no room {}; the rooms are {}",
            text.escape_debug(),
            names.join(", ")
        )
    })
}

fn units(text: &str, rooms: &[Room]) -> Result<Vec<usize>, String> {
    let mut all = Vec::new();
    for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
        let room = found(part, rooms)?;
        if all.contains(&room) {
            return Err("a room has one unit".to_owned());
        }
        all.push(room);
    }
    if all.is_empty() {
        return Err("expected the name of a room".to_owned());
    }
    Ok(all)
}

fn device(text: &str, rooms: &[Room], devices: &[Device]) -> Result<Device, String> {
    let mut parts = text.split([',', ' ']).filter(|part| !part.is_empty());
    let (Some(own), Some(place)) = (parts.next(), parts.next()) else {
        return Err("expected a name, a room and what it does, such as: phone living call".to_owned());
    };
    let own = name(own)?;
    if devices.iter().any(|other| other.name == own) || netburn_scenario::is_reserved_station_name(&own) {
        return Err(format!("the name {own} is taken"));
    }
    let room = match place {
        "cable" => None,
        place => Some(found(place, rooms)?),
    };
    let mut uses: Vec<&'static str> = Vec::new();
    let mut last = "";
    for word in parts {
        // A video call is one use, although its words are two.
        let is_video_call = (last, word) == ("video", "call");
        last = word;
        if is_video_call {
            continue;
        }
        let known = USES.iter().find(|(name, _)| *name == word);
        let (_, workload) = known.ok_or_else(|| {
            let words: Vec<&str> = USES.iter().map(|(name, _)| *name).collect();
            format!("{} is no use; the uses are {}", word.escape_debug(), words.join(", "))
        })?;
        if !uses.contains(workload) {
            uses.push(*workload);
        }
    }
    if uses.is_empty() {
        return Err("expected what the device does, such as call".to_owned());
    }
    Ok(Device { name: own, room, uses })
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;
    use proptest::prelude::*;

    const ANSWERS: &str = "AX3000\n100\n20\nn\nliving 6x4\nstudy 3.5x4\n-\nbed 5x3\n\nliving, bed\nair\n\
                           laptop study video call web\ntv living film\nnas cable upload\n\n";

    fn asked(answers: &[u8]) -> Result<House, String> {
        ask(&mut &*answers, false, &mut |_| ())
    }

    #[test]
    fn answers_become_a_scenario_that_simulates() {
        let text = asked(ANSWERS.as_bytes()).unwrap().scenario();
        let plan = Document::from_toml("home.toml", &text).unwrap().resolve().unwrap();
        let names: Vec<&str> = plan.stations.iter().map(|station| station.name.as_str()).collect();
        assert_eq!(names, ["laptop", "tv", "nas"]);
        // The second row begins behind the first one, which is 4 m deep.
        assert!(text.contains("[ap.bed]\nposition = \"2.5 m, 5.5 m\""), "{text}");
        assert!(text.contains("backhaul = \"living.5g\""), "{text}");
        // Each wall once: 9.5 m in the south, between the rows and in the north 5 m, and three and two across.
        let walls: Vec<&str> = text.lines().filter(|line| line.starts_with("  \"")).collect();
        assert_eq!(walls.len(), 3 + 3 + 2, "{walls:?}");
        assert!(text.contains("\"0 m, 4 m to 9.5 m, 4 m\""), "{text}");
        // A video call and pages.
        assert!(text.contains("workload = [\"video-call\", \"browsing\"]"), "{text}");
    }

    #[test]
    fn a_wrong_answer_of_a_file_is_an_error_and_a_person_is_asked_again() {
        let cases = [
            ("AX3000", "QX1", "QX1"),
            ("100", "fast", "expected a number"),
            ("living 6x4", "living 600x4", "1 to 50 m"),
            ("living 6x4", "living NaNx4", "1 to 50 m"),
            ("study 3.5x4", "living 3x4", "has the name living"),
            ("living, bed", "kitchen", "no room kitchen"),
            ("air", "rope", "air or cable"),
            ("laptop study video call web", "laptop study dance", "dance is no use"),
            ("tv living film", "laptop living film", "is taken"),
        ];
        for (right, wrong, expected) in cases {
            let answers = ANSWERS.replacen(right, wrong, 1);
            let why = asked(answers.as_bytes()).unwrap_err();
            assert!(why.contains(expected), "{why}");
            // The person corrects the answer in the next line.
            let corrected = ANSWERS.replacen(right, &format!("{wrong}\n{right}"), 1);
            let mut said = String::new();
            let house = ask(&mut corrected.as_bytes(), true, &mut |text| said.push_str(text)).unwrap();
            assert_eq!(house, asked(ANSWERS.as_bytes()).unwrap());
            assert!(said.contains(expected), "{said}");
        }
        for answers in [
            "",
            "AX3000\n100",
            // Neither rooms nor devices, and neither of them for a person.
            "\n1\n1\n\n\n",
            "\n\n\n\n\n",
            "\n1\n1\n\nroom 3x3\n\nroom\n\n",
            &"x".repeat(1000),
            "\u{1b}[2J\n",
        ] {
            assert!(asked(answers.as_bytes()).is_err(), "{answers}");
        }
        assert!(asked(b"\xff\n").is_err());
    }

    /// A person who knows no rate, and presses Enter before the first room and the first device.
    #[test]
    fn unknown_rates_are_guesses_and_empty_lists_are_asked_for_again() {
        let answers = "\n\n\n\n\nliving 4x4\n\nliving\n\nphone living call\n\n";
        let mut said = String::new();
        let house = ask(&mut answers.as_bytes(), true, &mut |text| said.push_str(text)).unwrap();
        assert!(
            said.contains("a home needs a room") && said.contains("a home needs a device"),
            "{said}"
        );
        let text = house.scenario();
        assert_eq!(text.matches("# A guess,").count(), 2, "{text}");
        let plan = Document::from_toml("home.toml", &text).unwrap().resolve().unwrap();
        let wan = plan.lines()[0].wan;
        assert_eq!(
            [wan.down, wan.up],
            [100_000_000, 20_000_000].map(|rate| Some(netburn_units::BitRate::from_bps(rate)))
        );
        assert!(ask(&mut answers.as_bytes(), false, &mut |_| ()).is_err());
    }

    proptest! {
        /// Any home whose units of a mesh kit are near each other can be simulated.
        #[test]
        fn every_home_is_a_valid_scenario(
            rating in prop::sample::select(vec!["", "N300", "AC1750", "AX3000", "AX6600", "BE9300"]),
            sizes in prop::collection::vec((10_u32..50, 10_u32..50, any::<bool>()), 1..6),
            units in prop::collection::hash_set(0_usize..8, 1..4),
            is_air: bool,
            devices in prop::collection::vec((0_usize..9, 0_usize..8), 1..10),
            line in (1_u32..2000, 1_u32..2000),
            sqm: bool,
        ) {
            let mut answers = format!("{rating}\n{}\n{}\n{}\n", line.0, line.1, if sqm { "y" } else { "n" });
            let count = sizes.len();
            for (number, (width, depth, is_new)) in sizes.iter().enumerate() {
                if *is_new {
                    answers.push_str("-\n");
                }
                answers.push_str(&format!("room{number} {}x{}\n", f64::from(*width) / 10.0, f64::from(*depth) / 10.0));
            }
            let mut rooms: Vec<usize> = units.iter().map(|unit| unit % count).collect();
            rooms.sort_unstable();
            rooms.dedup();
            let names: Vec<String> = rooms.iter().map(|room| format!("room{room}")).collect();
            answers.push_str(&format!("\n{}\n", names.join(" ")));
            if names.len() > 1 {
                answers.push_str(if is_air { "air\n" } else { "cable\n" });
            }
            for (number, (room, what)) in devices.iter().enumerate() {
                let place = if *room < count { format!("room{room}") } else { "cable".to_owned() };
                answers.push_str(&format!("device{number} {place} {}\n", USES[*what].0));
            }
            let text = asked(answers.as_bytes()).unwrap().scenario();
            let document = Document::from_toml("home.toml", &text);
            let plan = document.and_then(|document| document.resolve()).map_err(|error| format!("{}\n{text}", error.render(false)));
            prop_assert!(plan.is_ok(), "{}", plan.unwrap_err());
        }

        #[test]
        fn any_bytes_are_answers_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = asked(&bytes);
        }
    }
}
