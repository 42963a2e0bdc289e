//! Texts that are not valid TOML or exceed a limit, and the format of errors.

use crate::{errors, wrong};
use netburn_scenario::{Document, MAX_STATIONS};

#[test]
fn texts_that_are_not_toml() {
    wrong(
        "[station.tv]\nworkload = browsing\nstart = 5 s\n",
        &[
            "2:12: string values must be quoted, expected literal string; quote strings and quantities: `workload = \"browsing\"`",
            "3:9: string values must be quoted, expected literal string; quote strings and quantities: `start = \"5 s\"`",
        ],
    );
    let empty =
        "the file is empty; add at least one station: `[station.laptop]` and below it `workload = \"browsing\"`";
    for text in ["", "\n\n", "# nothing\n", "\u{feff}"] {
        wrong(text, &[empty]);
    }
    wrong(
        "duration = \"5 s\"\n",
        &["no station; add at least one: `[station.laptop]` and below it `workload = \"browsing\"`"],
    );
    wrong(
        "station = 5\n",
        &["1:11: station: found `5`, expected a table of names"],
    );
    wrong(
        "schema = \"netburn.scenario/9\"\n[station.tv]\n",
        &["1:10: schema: unsupported schema version `netburn.scenario/9`; expected `netburn.scenario/1`"],
    );
    let deep = format!("{} = 1\n", vec!["a"; 50_000].join("."));
    assert!(errors(&deep)[0].contains("nested too deep"), "{:?}", errors(&deep));
}

/// Text from a word processor, a web page or a phone. Each line has one problem, whatever else the parser reports in it.
#[test]
fn typographic_quotation_marks() {
    for (open, close) in [('“', '”'), ('„', '“'), ('«', '»'), ('‘', '’')] {
        wrong(
            &format!("[station.tv]\nworkload = {open}voip{close}\nsignal = {open}-60 dBm{close}\n"),
            &[
                &format!(
                    "2:12: typographic quotation mark: found `{open}`, expected `\"`; write the line as `workload = \"voip\"`"
                ),
                &format!(
                    "3:10: typographic quotation mark: found `{open}`, expected `\"`; write the line as `signal = \"-60 dBm\"`"
                ),
            ],
        );
    }
    // They are characters like any other in a text.
    wrong("title = \"The “best” home\"\n[station.tv]\n", &[]);
}

#[test]
fn names_with_spaces_in_a_header() {
    let form = "expected 1 to 63 letters (a to z, A to Z), digits or `-`";
    for (header, name, written) in [
        ("[station.Living Room TV]", "Living Room TV", "[station.Living-Room-TV]"),
        ("[ap.my router.radio.5g]", "my router", "[ap.my-router.radio.5g]"),
        ("[station.tv (old)]", "tv (old)", "[station.tv-old]"),
    ] {
        let found = errors(&format!("{header}\nworkload = \"voip\"\n"));
        let expected = format!("invalid name `{name}`; write the line as `{written}`; {form}");
        assert!(found[0].ends_with(&expected), "{found:?}");
        assert_eq!(found.len(), 1, "{found:?}");
    }
}

#[test]
fn too_many_stations() {
    let stations: String = (0..=MAX_STATIONS).map(|n| format!("[station.s{n}]\n")).collect();
    wrong(
        &stations,
        &[&format!(
            "{}:10: station: too many stations: found 4097; expected up to 4096",
            MAX_STATIONS + 1
        )],
    );
    let (all_but_one, _) = stations.trim_end().rsplit_once('\n').unwrap();
    wrong(all_but_one, &[]);
}

#[test]
fn many_problems_are_counted() {
    let keys: String = (0..30).map(|n| format!("zzzzzz{n} = 1\n")).collect();
    let found = errors(&format!("{keys}[station.tv]\n"));
    assert_eq!(found.len(), 21);
    assert_eq!(found[20], "and 10 more");
}

#[test]
fn control_characters_of_a_file_are_escaped() {
    let text = "[station.\"a\\u001b[31m\"]\n\"k\\u0007\" = 1\n[workload.mine]\nkind = \"\\u001b]0;x\\u0007\"\n";
    let error = Document::from_toml("x.toml", text).unwrap().resolve().unwrap_err();
    for shown in [error.to_string(), error.render(false)] {
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    }
}

#[test]
fn a_rendered_error_shows_the_line() {
    let text = "[station.tv]\nsignal = \"-62\" # near\n";
    let error = Document::from_toml("x.toml", text).unwrap().resolve().unwrap_err();
    insta::assert_snapshot!(error.render(false), @r#"
    error: station.tv.signal: `-62` has no unit
     --> x.toml:2:10
      |
    2 | signal = "-62" # near
      |          ^^^^^
      |
      = help: write it as `"-62 dBm"`
    "#);
    assert!(!error.render(false).contains('\u{1b}'));
    assert!(error.render(true).contains("\u{1b}["));
}
