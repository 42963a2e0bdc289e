//! Access points, stations, their paths, and events on one floor.

use super::Drawing;
use super::canvas::{Canvas, FONT};
use super::labels::{Area, Labels, short_name, text_width};
use super::scale::Panel;
use netburn_analysis::floor_plan::{PlacedAp, PlacedStation};
use netburn_analysis::view::{Mark, Misses};
use netburn_medium::geometry::Position;
use netburn_record::LinkChange;
use netburn_units::{Duration, Instant};

/// Maximum number of events with a label on a floor. Further ones are signs with a description.
const MAX_LABELS: usize = 24;

/// Half the side of an access point in pixels.
const HALF: f64 = 7.0;

/// Minimum distance between two times on a path in pixels.
const TIMES: f64 = 55.0;

/// Kinds of events on a floor plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    Scan,
    Steering,
    Roam,
    Reconnect,
    Lost,
}

netburn_units::variants! {
    pub(super) Sign:
        Scan = "scan",
        Steering = "steering (802.11v or disassociation)",
        Roam = "roam, with its gap",
        Reconnect = "joined the same radio again",
        Lost = "link lost, or join failed",
}

impl Sign {
    /// Kind of an event of a link.
    pub(super) const fn for_change(change: &LinkChange) -> Self {
        match change {
            LinkChange::Roamed { .. } => Sign::Roam,
            LinkChange::Reconnected { .. } => Sign::Reconnect,
            LinkChange::Disconnected { .. } | LinkChange::JoinFailed { .. } => Sign::Lost,
            LinkChange::Scanned { .. } => Sign::Scan,
            LinkChange::TransitionRequested { .. }
            | LinkChange::TransitionAnswered { .. }
            | LinkChange::Disassociated { .. } => Sign::Steering,
        }
    }

    /// Name in a label; `None`: the sign has no label.
    const fn label(self) -> Option<&'static str> {
        match self {
            Sign::Scan | Sign::Steering => None,
            Sign::Roam => Some("roam"),
            Sign::Reconnect => Some("joined again"),
            Sign::Lost => Some("link lost"),
        }
    }
}

/// An event with its place.
struct Event<'a> {
    sign: Sign,
    mark: &'a Mark,
    position: Position,
}

/// Events of stations that have a position.
fn events<'a>(drawing: &Drawing<'a>) -> impl Iterator<Item = Event<'a>> {
    let plan = drawing.plan;
    drawing.marks.iter().filter_map(move |mark| {
        let sign = Sign::for_change(mark.change.as_ref()?);
        let at = Instant::from_nanos((mark.at_s * 1e9).round() as i64);
        let position = plan.position(mark.station?, at)?;
        Some(Event { sign, mark, position })
    })
}

/// Returns true if the drawing has an event of this kind.
pub(super) fn has(drawing: &Drawing<'_>, sign: Sign) -> bool {
    events(drawing).any(|event| event.sign == sign)
}

/// Draws everything on a floor that has a position.
pub(super) fn draw(canvas: &mut Canvas, drawing: &Drawing<'_>, floor: i16, panel: &Panel) {
    let mut labels = Labels::new(panel.edges());
    let floors = drawing.plan.floors.iter().filter(|other| other.number == floor);
    for wall in floors.flat_map(|other| &other.walls) {
        labels.occupy_line(panel.point(wall.from), panel.point(wall.to));
    }
    let mut times = Vec::new();
    for station in &drawing.plan.stations {
        path(
            canvas,
            station,
            hue(drawing, station),
            floor,
            panel,
            (&mut times, &mut labels),
        );
    }
    let on_floor = OnFloor::new(drawing, floor);
    on_floor.draw_signs(canvas, drawing, panel, &mut labels);
    for time in &times {
        labels.occupy(Area::around(time.0, 4.0));
    }
    on_floor.draw_labels(canvas, panel, &mut labels);
    let ink = canvas.theme().ink();
    for (point, text) in times {
        label(canvas, &mut labels, point, 6.0, ink, &text);
    }
}

/// Everything with a position on a floor.
struct OnFloor<'a> {
    misses: Vec<&'a Misses>,
    aps: Vec<&'a PlacedAp>,
    stations: Vec<Place>,
    /// In the order of their signs.
    events: Vec<Event<'a>>,
}

impl<'a> OnFloor<'a> {
    fn new(drawing: &'a Drawing<'a>, floor: i16) -> Self {
        let here = |at: &Position| at.floor == floor;
        let mut events: Vec<Event<'_>> = events(drawing).filter(|event| here(&event.position)).collect();
        events.sort_by_key(|event| event.sign);
        OnFloor {
            misses: drawing.misses.iter().filter(|seen| here(&seen.position)).collect(),
            aps: drawing.plan.aps.iter().filter(|ap| here(&ap.position)).collect(),
            stations: places(drawing).filter(|place| here(&place.position)).collect(),
            events,
        }
    }

    /// Draws the signs, and occupies their areas so that no label covers them.
    fn draw_signs(&self, canvas: &mut Canvas, drawing: &Drawing<'_>, panel: &Panel, labels: &mut Labels) {
        for seen in &self.misses {
            let description = format!(
                "{} of {} operations missed their latency goal",
                seen.missed, seen.operations
            );
            missed(canvas, panel.point(seen.position), &description);
        }
        for ap in &self.aps {
            let point = panel.point(ap.position);
            let description = format!("Access point {} at {}", ap.name, ap.position);
            access_point(canvas, point, &description);
            labels.occupy(Area::around(point, HALF));
        }
        for place in &self.stations {
            let point = panel.point(place.position);
            let description = format!("Station {} at {}", place.label, place.position);
            station(canvas, point, place.hue, &description);
            labels.occupy(Area::around(point, 6.0));
        }
        for event in &self.events {
            let point = panel.point(event.position);
            self::event(canvas, point, event.sign, &description(drawing, event.mark));
            labels.occupy(Area::around(point, event.sign.radius()));
        }
    }

    fn draw_labels(&self, canvas: &mut Canvas, panel: &Panel, labels: &mut Labels) {
        let ink = canvas.theme().ink();
        for ap in &self.aps {
            let point = panel.point(ap.position);
            label(canvas, labels, point, HALF + 3.0, ink, &short_name(&ap.name));
        }
        for place in &self.stations {
            let hue = canvas.theme().hue(place.hue);
            label(canvas, labels, panel.point(place.position), 8.0, &hue, &place.label);
        }
        let labelled = self
            .events
            .iter()
            .filter_map(|event| Some((event, event.sign.label()?)));
        for (event, name) in labelled.take(MAX_LABELS) {
            let gap = match event.sign {
                Sign::Roam => format!(", gap {:.0} ms", event.mark.length_s * 1_000.0),
                _ => String::new(),
            };
            let text = format!("{name} at {:.1} s{gap}", event.mark.at_s);
            let colour = event.sign.colour(canvas);
            label(canvas, labels, panel.point(event.position), 10.0, &colour, &text);
        }
    }
}

/// A position at which a station is placed.
struct Place {
    hue: usize,
    /// Its name, and the time if a change places it.
    label: String,
    position: Position,
}

/// Start of each station's path, and the positions of changes.
fn places<'a>(drawing: &Drawing<'a>) -> impl Iterator<Item = Place> + use<'a> {
    let drawing = *drawing;
    drawing.plan.stations.iter().flat_map(move |station| {
        let name = short_name(&station.name);
        let first = (name.clone(), station.way.first());
        let changes = station
            .changes
            .iter()
            .filter_map(move |(time, position)| Some((format!("{name} from {}", seconds(*time)), (*position)?)));
        let all = std::iter::once(first).chain(changes);
        all.map(move |(label, position)| Place {
            hue: hue(&drawing, station),
            label,
            position,
        })
    })
}

/// Index of a station's colour.
fn hue(drawing: &Drawing<'_>, station: &PlacedStation) -> usize {
    drawing.colours.get(station.station).copied().unwrap_or(station.station)
}

/// Points of a path with their times.
type Times = Vec<((f64, f64), String)>;

/// The part of a path on a floor, and the points with their times.
fn path(
    canvas: &mut Canvas,
    station: &PlacedStation,
    hue: usize,
    floor: i16,
    panel: &Panel,
    (times, labels): (&mut Times, &mut Labels),
) {
    let end = station.end_of_way();
    let legs = station.way.legs().iter();
    let legs = legs.filter(|leg| leg.from.floor == floor && leg.begin() < end);
    let (mut line, mut length, mut nanos) = (String::new(), 0.0, 0);
    for leg in legs {
        let until = leg.end().min(end);
        // The floor changes at the end of the leg.
        let to = if until < leg.end() {
            station.way.at(until)
        } else {
            leg.to
        };
        let (from, to) = (panel.point(leg.from), panel.point(to));
        line.push_str(&format!("M{:.1} {:.1}L{:.1} {:.1}", from.0, from.1, to.0, to.1));
        length += distance(from, to);
        labels.occupy_line(from, to);
        nanos += until.as_nanos() - leg.begin().as_nanos();
    }
    if !line.is_empty() {
        let colour = canvas.theme().hue(hue);
        canvas.way(&line, &colour);
    }
    if end <= Instant::ZERO {
        return;
    }
    let mut tick = |time: Instant| {
        let at = station.way.at(time);
        if at.floor == floor {
            let point = panel.point(at);
            dot(canvas, point, hue);
            times.push((point, seconds(time)));
        }
    };
    // The last regular time is at least half a step before the end.
    let step = step(nanos, length);
    let mut time = step;
    while step > 0 && time.saturating_add(step / 2) <= end.as_nanos() {
        tick(Instant::from_nanos(time));
        time = time.saturating_add(step);
    }
    tick(end);
}

/// Time between two ticks in ns, for a path of some pixels that takes `nanos`; 0: there are none.
fn step(nanos: i64, pixels: f64) -> i64 {
    if nanos <= 0 || pixels <= 0.0 {
        return 0;
    }
    let least = nanos as f64 / pixels * TIMES;
    let steps = [
        1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400,
    ];
    let nanos = |seconds: i64| seconds * Duration::from_secs(1).as_nanos() as i64;
    steps
        .into_iter()
        .map(nanos)
        .find(|step| *step as f64 >= least)
        .unwrap_or(0)
}

/// A time in seconds with at most one decimal.
fn seconds(time: Instant) -> String {
    let tenths = (time.as_nanos() + 50_000_000) / 100_000_000;
    match tenths % 10 {
        0 => format!("{} s", tenths / 10),
        rest => format!("{}.{rest} s", tenths / 10),
    }
}

fn distance(from: (f64, f64), to: (f64, f64)) -> f64 {
    (to.0 - from.0).hypot(to.1 - from.1)
}

/// A label near a point, with a line to it if it is not beside it.
fn label(canvas: &mut Canvas, labels: &mut Labels, point: (f64, f64), distance: f64, colour: &str, text: &str) {
    let (width, height) = (text_width(text), FONT + 3.0);
    let area = labels.place(point, (width, height), distance);
    let nearest = (
        point.0.clamp(area.x, area.x + width),
        point.1.clamp(area.y, area.y + height),
    );
    if self::distance(point, nearest) > distance + 8.0 {
        canvas.line(point, nearest, colour, 1.0);
    }
    canvas.text(area.x + width / 2.0, area.y + FONT - 1.0, "middle", colour, text);
}

/// Description of an event.
fn description(drawing: &Drawing<'_>, mark: &Mark) -> String {
    let stations = &drawing.plan.stations;
    let station = stations.iter().find(|station| Some(station.station) == mark.station);
    let name = station.map_or("", |station| station.name.as_str());
    let run = mark.run.map_or_else(String::new, |run| format!(" (run {run})"));
    format!("{name} at {:.3} s{run}: {}", mark.at_s, mark.text)
}

impl Sign {
    /// Radius in pixels.
    const fn radius(self) -> f64 {
        match self {
            Sign::Scan => 3.5,
            Sign::Steering => 4.5,
            Sign::Roam | Sign::Reconnect | Sign::Lost => 6.0,
        }
    }

    fn colour(self, canvas: &Canvas) -> String {
        match self {
            Sign::Scan => canvas.theme().faint().to_owned(),
            Sign::Steering => canvas.theme().hue(5),
            Sign::Roam | Sign::Reconnect => canvas.theme().ink().to_owned(),
            Sign::Lost => canvas.theme().failure().to_owned(),
        }
    }
}

/// Sign of an event: a circle for a scan, a diamond for steering and roams, a cross for a lost link.
pub(super) fn event(canvas: &mut Canvas, (x, y): (f64, f64), sign: Sign, description: &str) {
    let (r, colour) = (sign.radius(), sign.colour(canvas));
    let background = canvas.theme().background();
    match sign {
        Sign::Scan => canvas.circle((x, y), r, background, &colour, description),
        Sign::Roam => canvas.sign(&diamond(x, y, r + 1.0), &colour, description),
        Sign::Reconnect => canvas.circle((x, y), r, &colour, background, description),
        Sign::Steering => canvas.sign(
            &format!("M{x:.1} {:.1}l{r:.1} {:.1}h{:.1}z", y - r, 2.0 * r, -2.0 * r),
            &colour,
            description,
        ),
        Sign::Lost => {
            // The arms of the cross end in corners, and half the radius away from the centre they meet.
            let (notch, tip) = (r / 2.0, r);
            let corner = tip - notch;
            let quarter = [(0.0, -notch), (corner, -tip), (tip, -corner)];
            let turned = |(across, down): (f64, f64), turns: usize| match turns {
                0 => (across, down),
                1 => (-down, across),
                2 => (-across, -down),
                _ => (down, -across),
            };
            let mut cross = String::new();
            for (place, (across, down)) in (0..4).flat_map(|turns| quarter.map(|at| turned(at, turns))).enumerate() {
                let command = if place == 0 { 'M' } else { 'L' };
                cross.push_str(&format!("{command}{:.1} {:.1}", x + across, y + down));
            }
            cross.push('z');
            canvas.sign(&cross, &colour, description);
        }
    }
}

fn diamond(x: f64, y: f64, r: f64) -> String {
    format!(
        "M{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}z",
        y - r,
        x + r,
        y + r,
        x - r
    )
}

/// Sign of an access point.
pub(super) fn access_point(canvas: &mut Canvas, (x, y): (f64, f64), description: &str) {
    let (left, top, side) = (x - HALF, y - HALF, 2.0 * HALF);
    let square = format!("M{left:.1} {top:.1}h{side}v{side}h-{side}z");
    let ink = canvas.theme().ink();
    canvas.sign(&square, ink, description);
}

/// Sign of a station at the start of its path.
pub(super) fn station(canvas: &mut Canvas, point: (f64, f64), hue: usize, description: &str) {
    let (fill, border) = (canvas.theme().hue(hue), canvas.theme().background());
    canvas.circle(point, 6.0, &fill, border, description);
}

/// A time on a path.
pub(super) fn dot(canvas: &mut Canvas, point: (f64, f64), hue: usize) {
    let (fill, stroke) = (canvas.theme().background(), canvas.theme().hue(hue));
    canvas.circle(point, 2.5, fill, &stroke, "");
}

/// Place of missed goals.
pub(super) fn missed(canvas: &mut Canvas, point: (f64, f64), description: &str) {
    let stroke = canvas.theme().failure();
    canvas.circle(point, 9.0, "none", stroke, description);
}
