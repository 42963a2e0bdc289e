//! Valid case files, and the errors of invalid ones.

use netburn_dev::validate::{CaseFile, Goal, Tolerance, run};

const HEAD: &str = "title = \"t\"\n\n[[case]]\nname = \"n\"\nsource = \"s\"\ntrust = \"derived\"\n";

fn parse(text: &str) -> Result<CaseFile, String> {
    CaseFile::parse("cases.toml", text).map_err(|wrong| wrong.to_string())
}

/// Returns the error of a case with these lines, of which the first is line 7.
fn wrong(lines: &str) -> String {
    parse(&format!("{HEAD}{lines}")).unwrap_err()
}

#[test]
fn rows_are_merged_into_their_case() {
    let text = format!(
        "{HEAD}{}",
        "kind = \"duration\"\nphy = { standard = \"802.11n\", mcs = 0 }\ntolerance = \"1 %\"\nbytes = 14\nrows = [\n\
         { name = \"{phy.mcs}/{bytes}\", phy.mcs = 7, expected = \"40 µs\" },\n\
         { name = \"{phy.mcs} with {bytes}\", bytes = 76, phy.mcs = 7, at-most = \"0.05 ms\" },\n]\n"
    );
    let file = parse(&text).unwrap();
    let names: Vec<&str> = file.cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["7/14", "7 with 76"]);
    assert_eq!(
        file.cases[0].expectations[0].goal,
        Goal::Near(40.0, Tolerance::Relative(0.01))
    );
    assert_eq!(file.cases[1].expectations[0].goal, Goal::AtMost(50.0));
    let outcomes = run(&[file], 1, &|_, _| {});
    // 14 and 76 bytes at 260 bits per symbol: 36 µs and 1 and 3 symbols of 4 µs.
    assert_eq!((outcomes[0].value, outcomes[1].value), (40.0, 48.0));
}

#[test]
fn errors_have_line_numbers() {
    let air = "kind = \"air\"\nphy = { standard = \"802.11n\", mcs = 7 }\nstations = 2\nduration = \"1 s\"\nmetric = \"goodput\"\nat-least = \"1 Mbit/s\"\n";
    for (lines, line, expected) in [
        (
            "kind = \"durations\"\n",
            7,
            "unknown kind `durations`; expected one of rate, duration",
        ),
        ("kind = \"rate\"\nfy = 1\n", 8, "unknown field `fy`, expected `phy`"),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11z\" }\n",
            8,
            "unknown standard `802.11z`",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11ac\", mcs = 9 }\n",
            8,
            "expected 0 to 8",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11a\", rate = \"55 Mbit/s\" }\n",
            8,
            "6, 9, 12, 18, 24, 36, 48 and 54",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11n\", mcs = 0 }\n",
            3,
            "expected exactly one of",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11n\", mcs = 0 }\nexpected = \"6.5 Mbit/s\"\n",
            3,
            "missing `tolerance`",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11n\", mcs = 0 }\nexpected = \"6.5 Mbit/s\"\ntolerance = \"1\"\n",
            10,
            "a percentage of the expected value",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11n\", mcs = 0 }\nmetric = \"speed\"\nexpected = 1\n",
            3,
            "expected one of rate",
        ),
        (&format!("{air}queue = \"sfq\"\n"), 13, "`fifo`, "),
        (&format!("{air}hardware = \"2\"\n"), 13, "\"2 aggregates\""),
        (&format!("{air}aql = true\n"), 3, "needs the queue \"airtime\""),
        (&format!("{air}packet = 5000\n"), 3, "100 to 2304"),
        (&format!("{air}rate-control = \"minstrel\"\n"), 3, "needs `snr`"),
        (
            &format!("{air}against = 3\n"),
            13,
            "invalid `against`; expected a table",
        ),
        (
            &format!("{air}rows = 3\n"),
            13,
            "invalid `rows`; expected a list of tables",
        ),
        (&format!("{air}stations = 3\n"), 13, "duplicate key"),
    ] {
        let error = wrong(lines);
        assert!(
            error.starts_with(&format!("cases.toml:{line}: ")) && error.contains(expected),
            "{lines}\n→ {error}"
        );
    }
}

#[test]
fn errors_of_a_whole_file() {
    for (text, expected) in [
        ("", "cases.toml:1: missing `title`"),
        ("title = \"t\"\n", "cases.toml:1: missing [[case]]"),
        ("title = 3\n", "cases.toml:1: invalid `title`; expected a string"),
        ("title = \"t\"\ncases = []\n", "cases.toml:2: unknown key `cases`"),
        (
            "title = \"t\"\n[case]\n",
            "cases.toml:2: invalid cases; expected tables",
        ),
        ("title = \"t\n", "cases.toml:1: "),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.starts_with(expected), "{text}\n→ {error}");
    }
    let twice = format!(
        "{HEAD}kind = \"rate\"\nphy = {{ standard = \"802.11n\" }}\nrows = [{{ phy.mcs = 0, at-most = \"1 Gbit/s\" }}, {{ phy.mcs = 1, at-most = \"1 Gbit/s\" }}]\n"
    );
    assert!(parse(&twice).unwrap_err().contains("duplicate case name `n`"));
}

/// The example in docs/reference/validation-cases.md.
#[test]
fn the_example_of_the_page_is_valid() {
    let page = include_str!("../../../docs/reference/validation-cases.md");
    let (_, example) = page.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let file = parse(example).unwrap();
    assert_eq!(file.cases.len(), 2);
    assert_eq!(file.cases[1].name, "5 stations upstream");
}
