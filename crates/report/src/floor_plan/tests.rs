//! Drawings of floor plans.

use super::*;
use netburn_analysis::view::MarkKind;
use netburn_record::LinkChange;
use netburn_scenario::Document;

const WALK: &str = r#"
duration = "30 s"
[building]
walls = ["4 m, -5 m to 4 m, 5 m"]
[network.home]
radios = ["hall.5g", "attic.5g"]
[ap.hall]
position = "2 m, 0 m"
[ap.hall.radio.5g]
channel = 36
[ap.attic]
position = "22 m, 0 m"
[ap.attic.radio.5g]
channel = 149
[station.phone]
joins = "home"
path = ["2 m, 0 m", "22 m, 0 m"]
workload = "voip"
"#;

fn floor_plan(text: &str) -> FloorPlan {
    let plan = Document::from_toml("test.toml", text).unwrap().resolve().unwrap();
    FloorPlan::new(&plan, None).unwrap()
}

fn drawn(plan: &FloorPlan, marks: &[Mark], theme: Theme) -> String {
    let drawing = Drawing {
        id: "floor-plan",
        title: "A <walk> & a call",
        plan,
        colours: &[4],
        marks,
        misses: &[],
    };
    svg(&drawing, theme)
}

fn mark(at_s: f64, change: Option<LinkChange>, text: &str) -> Mark {
    Mark {
        at_s,
        length_s: 0.045,
        kind: MarkKind::Roam,
        station: Some(0),
        run: None,
        text: text.to_owned(),
        change,
    }
}

fn roamed() -> Option<LinkChange> {
    Some(LinkChange::Roamed {
        from: Some("hall.5g".to_owned()),
        to: Some("attic.5g".to_owned()),
    })
}

/// From 0 to 24 m in 696 pixels, 29 for a metre; from −7 to 7 m, the north at the top. A file has a title of 26 pixels and
/// a heading of 24. The hall at 2 m, 0 m is at 48 + 2 · 29 = 106, 50 + 7 · 29 = 253; its square begins 7 pixels before.
/// The attic at 22 m is at 686. The wall at 4 m is at 164, from 50 + 2 · 29 = 108 to 50 + 12 · 29 = 398. At 1 m/s the
/// station is at 12 m after 10 s: 396.
#[test]
fn pixels() {
    let text = drawn(&floor_plan(WALK), &[mark(10.0, roamed(), "roamed")], Theme::File);
    assert!(text.contains("M99.0 246.0h14v14h-14z"), "{text}");
    assert!(text.contains("M679.0 246.0h14v14h-14z"), "{text}");
    assert!(text.contains("M164.0 398.0L164.0 108.0"), "{text}");
    assert!(text.contains("M106.0 253.0L686.0 253.0"), "{text}");
    // A diamond with a radius of 7.
    assert!(
        text.contains("M396.0 246.0L403.0 253.0L396.0 260.0L389.0 253.0z"),
        "{text}"
    );
    assert!(text.contains(">roam at 10.0 s, gap 45 ms<"), "{text}");
    // 29 pixels for a second: every 2 s, at least 55 pixels.
    for time in [">2 s<", ">10 s<", ">20 s<"] {
        assert!(text.contains(time), "{time}: {text}");
    }
    assert!(!text.contains(">1 s<") && !text.contains(">22 s<"), "{text}");
}

/// TGax residential in 5 GHz, 20 dBm: 46.85 dB of loss at 1 m, so −26.85 dBm there. At 10 m behind a wall of 5 dB:
/// 20 − 76.4 = −56.4 dBm, of the second class.
#[test]
fn classes_of_coverage() {
    assert_eq!(coverage::class(-26.85), 0);
    assert_eq!(coverage::class(-56.4), 1);
    assert_eq!((coverage::class(-67.0), coverage::class(-67.01)), (2, 3));
    assert_eq!(coverage::class(-82.01), 6);
    assert_eq!(coverage::class_name(1), "-60 dBm or more");
    assert_eq!(coverage::class_name(6), "below -82 dBm");
    let alone = WALK.replace("\"22 m, 0 m\"\n[ap", "\"2 m, 0.5 m\"\n[ap");
    let plan = floor_plan(&alone);
    // 48 cells of 250 mm from the west, 28 from the south: 12.125 m, 0.125 m.
    let cell = plan.floors[0].coverage[28 * plan.columns + 48];
    assert_eq!(coverage::class(cell.dbm), 1, "{}", cell.dbm);
}

#[test]
fn names_are_escaped() {
    let mut plan = floor_plan(WALK);
    plan.aps[0].name = "</svg><script>x".to_owned();
    plan.stations[0].name = "a\"b'c&\u{202e}d".to_owned();
    let evil = mark(3.0, roamed(), "<script>alert(1)</script>");
    for theme in [Theme::File, Theme::Page] {
        let text = drawn(&plan, std::slice::from_ref(&evil), theme);
        assert!(!text.contains("<script") && !text.contains('\u{202e}'), "{text}");
        assert_eq!(text.matches("</svg>").count(), 1);
        let parsed = resvg::usvg::roxmltree::Document::parse(&text).unwrap();
        let names = parsed
            .descendants()
            .filter(|node| node.text() == Some("</svg><script>x"));
        assert!(names.count() > 0, "{text}");
    }
}

/// The kind of an event follows from its typed data.
#[test]
fn events_of_other_kinds_have_no_sign() {
    let plan = floor_plan(WALK);
    let none = drawn(&plan, &[], Theme::File);
    assert_eq!(
        drawn(&plan, &[mark(10.0, None, "roamed from hall to attic")], Theme::File),
        none
    );
    let mut elsewhere = mark(10.0, roamed(), "roamed");
    elsewhere.station = Some(7);
    assert_eq!(drawn(&plan, &[elsewhere], Theme::File), none);
    for (change, name) in [
        (LinkChange::Scanned { away: None }, ">scan<"),
        (LinkChange::Disconnected { from: None }, ">link lost, or join failed<"),
        (
            LinkChange::TransitionAnswered { accepted: true },
            ">steering (802.11v or disassociation)<",
        ),
        (LinkChange::Reconnected { to: None }, ">joined the same radio again<"),
    ] {
        let text = drawn(&plan, &[mark(10.0, Some(change), "")], Theme::File);
        assert!(text.contains(name) && !none.contains(name), "{name}: {text}");
    }
}

/// Each floor has a panel, the highest one first.
#[test]
fn floors() {
    let house = WALK.replace("[\"2 m, 0 m\", \"22 m, 0 m\"]", "[\"2 m, 0 m\", \"2 m, 1 m, floor 1\"]");
    let text = drawn(&floor_plan(&house), &[], Theme::Page);
    resvg::usvg::roxmltree::Document::parse(&text).unwrap();
    let place = |heading: &str| text.find(heading).unwrap();
    assert!(place(">Floor 1<") < place(">Floor 0<"), "{text}");
}
