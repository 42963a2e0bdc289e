//! Files of cases that are right, and what is said of those that aren't.

use netburn_study::validate::{CaseFile, Goal, Tolerance, run};

const HEAD: &str = "title = \"t\"\n\n[[case]]\nname = \"n\"\nsource = \"s\"\ntrust = \"derived\"\n";

fn parse(text: &str) -> Result<CaseFile, String> {
    CaseFile::parse("cases.toml", text).map_err(|wrong| wrong.to_string())
}

/// What is said of a case with these lines; the first of them is line 7.
fn wrong(lines: &str) -> String {
    parse(&format!("{HEAD}{lines}")).unwrap_err()
}

#[test]
fn rows_are_laid_over_their_case() {
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
    assert_eq!((outcomes[0].got, outcomes[1].got), (40.0, 48.0));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let air = "kind = \"air\"\nphy = { standard = \"802.11n\", mcs = 7 }\nstations = 2\nduration = \"1 s\"\nmetric = \"goodput\"\nat-least = \"1 Mbit/s\"\n";
    for (lines, at, says) in [
        ("kind = \"durations\"\n", 7, "unknown variant `durations`"),
        ("kind = \"rate\"\nfy = 1\n", 8, "unknown field `fy`, expected `phy`"),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11z\" }\n",
            8,
            "`802.11z` is no standard",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11ac\", mcs = 9 }\n",
            8,
            "valid MCS there: 0 to 8",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11a\", rate = \"55 Mbit/s\" }\n",
            8,
            "6, 9, 12, 18, 24, 36, 48 and 54",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11n\", mcs = 0 }\n",
            3,
            "a metric has one of",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11n\", mcs = 0 }\nexpected = \"6.5 Mbit/s\"\n",
            3,
            "`tolerance` is missing",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11n\", mcs = 0 }\nexpected = \"6.5 Mbit/s\"\ntolerance = \"1\"\n",
            10,
            "a percentage of the expected value",
        ),
        (
            "kind = \"rate\"\nphy = { standard = \"802.11n\", mcs = 0 }\nmetric = \"speed\"\nexpected = 1\n",
            3,
            "metrics of this case are rate",
        ),
        (&format!("{air}queue = \"sfq\"\n"), 13, "fifo, pfifo-fast, station-rr"),
        (&format!("{air}hardware = \"2\"\n"), 13, "\"2 aggregates\""),
        (&format!("{air}aql = true\n"), 3, "belongs to the queue \"airtime\""),
        (&format!("{air}packet = 5000\n"), 3, "100 to 2304"),
        (&format!("{air}rate-control = \"minstrel\"\n"), 3, "without `snr`"),
        (&format!("{air}against = 3\n"), 13, "`against` is a table"),
        (&format!("{air}rows = 3\n"), 13, "rows are a list of tables"),
        (&format!("{air}stations = 3\n"), 13, "duplicate key"),
    ] {
        let said = wrong(lines);
        assert!(
            said.starts_with(&format!("cases.toml:{at}: ")) && said.contains(says),
            "{lines}\n→ {said}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_whole_file() {
    for (text, says) in [
        ("", "cases.toml:1: a file begins with its `title`"),
        ("title = \"t\"\n", "cases.toml:1: there is no [[case]]"),
        ("title = 3\n", "cases.toml:1: a title is a string"),
        ("title = \"t\"\ncases = []\n", "cases.toml:2: unknown key `cases`"),
        ("title = \"t\"\n[case]\n", "cases.toml:2: cases are tables"),
        ("title = \"t\n", "cases.toml:1: "),
    ] {
        let said = parse(text).unwrap_err();
        assert!(said.starts_with(says), "{text}\n→ {said}");
    }
    let twice = format!(
        "{HEAD}kind = \"rate\"\nphy = {{ standard = \"802.11n\" }}\nrows = [{{ phy.mcs = 0, at-most = \"1 Gbit/s\" }}, {{ phy.mcs = 1, at-most = \"1 Gbit/s\" }}]\n"
    );
    assert!(parse(&twice).unwrap_err().contains("a second case is called `n`"));
}

/// The example that docs/VALIDATION.md gives.
#[test]
fn the_example_of_the_page_is_right() {
    let page = include_str!("../../../docs/VALIDATION.md");
    let (_, example) = page.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let file = parse(example).unwrap();
    assert_eq!(file.cases.len(), 2);
    assert_eq!(file.cases[1].name, "5 stations upstream");
}
